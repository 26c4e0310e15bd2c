from __future__ import annotations

import numpy as np
import pytest

from templatediff.choose import LOWEST, best_threshold, guarded
from templatediff.evidence import Context
from templatediff.fingerprint import Fingerprint, fingerprint
from templatediff.options import Options
from templatediff.segment import segment


def of(html: str) -> Fingerprint:
    return fingerprint(segment(html), Options(), content_hash=0)


def test_the_threshold_is_half_of_the_best_expected_f1_within_bounds() -> None:
    sure = np.array([0.99, 0.99, 0.01])
    assert best_threshold(sure, np.array([50, 50, 50])) == pytest.approx(0.5, abs=0.01)
    doubtful = np.array([0.4, 0.38, 0.35])
    assert LOWEST <= best_threshold(doubtful, np.array([50, 50, 50])) < 0.4


def test_a_content_page_is_never_emptied() -> None:
    page = of("<p>one two three</p><p>four five six</p>")
    context = Context(page, None, None)
    kept, reason = guarded(context, np.array([0.2, 0.25]), np.zeros(2, bool))
    assert kept.tolist() == [False, True] and reason and "likeliest" in reason
