"""`extract --dry-run`: what a run would read, a block of lines for each site."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from templatediff.cli.speech import plural, printable

if TYPE_CHECKING:
    from templatediff.survey import SiteSurvey

SHAPES = 12  # URL shapes of a site that are listed
_FOUND = {
    "option": "named by --site",
    "sidecar": "named by sidecars",
    "URL": "found by URL",
    "links in the pages": "found by the pages' canonical links or og:url",
    "folder": "named by the folder",
}


def plan(surveys: Sequence[SiteSurvey]) -> str:
    """What was found, for people."""
    return "\n".join("".join(f"{line}\n" for line in _lines(survey)) for survey in surveys)


def _lines(survey: SiteSurvey) -> Iterator[str]:
    if survey.name:
        how = ", ".join(
            _FOUND[found] + (f" ({count:,})" if len(survey.found) > 1 else "")
            for found, count in _by_number(survey.found)
        )
        yield f"{printable(survey.name)}: {plural(survey.pages, 'page')}, {how}"
        if survey.shown < survey.pages:
            yield f"  {survey.shown:,} of them come out"
        shapes = _by_number(survey.shapes)
        wide = len(f"{shapes[0][1]:,}") if shapes else 0
        yield from (f"  {count:>{wide},}  {printable(shape)}" for shape, count in shapes[:SHAPES])
        if len(shapes) > SHAPES:
            yield f"  and {plural(len(shapes) - SHAPES, 'URL shape')} more"
    else:
        yield "no site:"
    if survey.skipped:
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in _by_number(survey.skipped))
        yield f"  skipped: {kinds}"
    if survey.failures:
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in _by_number(Counter(f[1] for f in survey.failures)))
        yield f"  cannot be read: {kinds}"


def _by_number(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))
