"""A cheap look at one page before the work: is there anything to read on it?"""

from __future__ import annotations

from pathlib import Path

from templatediff.errors import PageError
from templatediff.glance import columns, first_look
from templatediff.page import Page, host_of
from templatediff.prepare import as_page, page_text
from templatediff.segment import segment
from templatediff.text import visible
from templatediff.verdict import chance

SURE = 0.95  #: P(empty) from which on the answer is no


def is_probably_content(html: Page | str | bytes | Path) -> bool:
    """Whether a page may hold something to read, at about three tenths of the cost of `extract`; one page, no template.

    False only where the look is sure: for a page without text or that cannot be read, a shell that scripts fill, a wall, a
    frame without content; in doubt True. It is a filter before `extract`, whose verdict it does not replace
    (benchmarks/verdicts.py measures both). Never raises for what a page holds; misuse raises UsageError.

    >>> is_probably_content("<script>start()</script>"), is_probably_content("<h1>Otters</h1><p>Otters close their ears.")
    (False, True)
    """
    page = as_page(html)
    if page.failure is not None:
        return False
    try:
        leaves = segment(page_text(page))
    except PageError:
        return False
    if not any(map(visible, leaves.text)):  # nothing, or control characters alone
        return False
    home = host_of(page.url or leaves.head.canonical or leaves.head.og_url)
    return chance("early", first_look(columns(leaves, home))) < SURE
