from __future__ import annotations

import numpy as np
import pytest

from templatediff.evidence import Context
from templatediff.fingerprint import Fingerprint, fingerprint
from templatediff.options import Options
from templatediff.pipeline import learn
from templatediff.segment import segment
from templatediff.units import together


def of(html: str) -> Fingerprint:
    return fingerprint(segment(html), Options(), content_hash=0)


def test_cells_of_a_data_row_and_lines_of_code_live_and_die_together() -> None:
    page = of("<table><tr><th>Weight<td>three kilograms in all<tr><th>Height<td>2 m</table><pre>a = 1\nb = 2</pre>")
    p = together(Context(page, None, None), np.array([0.1, 0.9, 0.2, 0.2, 0.9, 0.1]), 0)[0]
    assert p[0] == p[1] == pytest.approx((0.1 + 0.9 * 4) / 5, abs=1e-3)
    assert p[2] == p[3] and p[4] == p[5]


def test_a_label_that_the_siblings_have_stays_beside_a_value_that_changes() -> None:
    values = [
        ("three kilograms in all", "slate grey"),
        ("nine grams", "amber and green"),
        ("two tons or more", "as you like"),
    ]
    sheets = [
        f"<table><tr><th>Weight<td>{weight}<tr><th>Colour<td>{colour}</table><dl><dt>Made of<dd>{colour} paper</dl>"
        for weight, colour in values
    ]
    template = learn(sheets, site="x")
    page = template.sample.as_seen(of(sheets[0]))
    site, layout, _ = template.views(page)
    p = together(Context(page, site, layout), np.array([0.05, 0.9, 0.05, 0.9, 0.05, 0.9]), 0)[0]
    assert p.tolist() == [0.9] * 6
    alone = together(Context(page, None, None), np.array([0.05, 0.9, 0.05, 0.9, 0.05, 0.9]), 0)[0]
    assert (alone < 0.9).all()


def test_column_labels_go_with_the_row_below_them() -> None:
    page = of("<table><tr><th>Day<th>Tide<tr><td>Monday the third<td>low at noon</table><table><tr><th>Alone</table>")
    context = Context(page, None, None)
    p, _ = together(context, np.array([0.1, 0.1, 0.9, 0.9, 0.1]), 0)
    assert p[0] == p[1] == p[2] == p[3] == pytest.approx((0.1 * 2 + 0.9 * 6) / 8, abs=1e-3)
    assert p[4] == 0.1


def test_short_leaves_join_their_neighbour_only_when_told() -> None:
    page = of("<div><p>A sentence of quite a few words stands here.</p><p>So it is.</p></div>")
    p = np.array([0.9, 0.1])
    assert together(Context(page, None, None), p, 0)[0].tolist() == [0.9, 0.1]
    joined, _ = together(Context(page, None, None), p, 5)
    assert joined[0] == joined[1] > 0.5
