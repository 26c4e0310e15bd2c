"""The second reading of a crawl: every page's content, with the templates that are in place."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from templatediff import cuts
from templatediff.crawl import Skipped, Source, read_source
from templatediff.cuts import Cut
from templatediff.drift import SiteFit, in_words
from templatediff.errors import InputError
from templatediff.extraction import SOURCE, Extraction, failed
from templatediff.given import Given, Progress, Totals
from templatediff.journal import Entry, Journal, Row
from templatediff.lessons import FirstLooks
from templatediff.options import Options
from templatediff.page import Failure, Page
from templatediff.parallel import Crew
from templatediff.pipeline import Template, extract_counted, load_site
from templatediff.reading import CHUNK, Work, lost_page
from templatediff.record import Tally
from templatediff.rules import Rule, reports
from templatediff.store import holds_site, site_folder

_FROM_HTML = frozenset(["markdown", "html", SOURCE])  # parts
# pages behind the derived templates that a worker keeps at hand, some 0.14 MB each: one large site
_KEPT_TEMPLATES = 256


class Applier:
    """Extracts sources with the templates of a folder, keeping a few derived templates at hand."""

    def __init__(self, given: Given, parts: tuple[str, ...]) -> None:
        self.given = given
        self.parts = parts
        self.at_hand: OrderedDict[str, Template | None] = OrderedDict()
        self.looks: tuple[str, FirstLooks] | None = None  # of the site whose template was derived last

    def __call__(self, work: Sequence[Work]) -> list[tuple[Extraction, Tally] | None]:
        return [self.one(each.source, each.site, self.parts, each.failure, each.cut) for each in work]

    def ready(self, work: Work) -> None:
        """The template is there before the page has its turn."""
        self.template(work.site)

    @staticmethod
    def crashed(work: Work, why: str, *arguments: Any) -> list[tuple[Extraction, Tally] | None]:
        """The record of a page that failed twice."""
        return [_lost(work.source, work.site, why)]

    @staticmethod
    def joined(
        parts: list[list[tuple[Extraction, Tally] | None]],
    ) -> list[tuple[Extraction, Tally] | None]:
        return [one for part in parts for one in part]

    def one(
        self,
        source: Source,
        site: str,
        parts: tuple[str, ...],
        failure: Failure | None = None,
        cut: Cut | None = None,
    ) -> tuple[Extraction, Tally] | None:
        if failure is not None:
            return _lost(source, site, failure.message)
        given, template = self.given, self.template(site)
        rules = given.rules.get(site)
        kept = cuts.read(cut, source.path) if cut is not None else None
        if kept is not None and not rules and not _FROM_HTML & set(parts):
            page = kept[0]
        else:
            found = read_source(source, given.limits.max_bytes)
            if isinstance(found, Skipped):
                return None
            page = found
            kept = kept if kept is not None and cuts.is_of(kept[2], page) else None
        options = template.options if template is not None else given.options or Options()
        return extract_counted(
            page, template, options, site, parts, fit=given.fit, rules=rules, limits=given.limits,
            prepared=kept[1:] if kept is not None else None,
            looks=self.looks[1] if self.looks is not None and self.looks[0] == site else None,
        )  # fmt: skip

    def template(self, site: str) -> Template | None:
        if self.given.named is not None:
            return self.given.named.get(site)
        if self.given.templates is None:
            return None
        if site in self.at_hand:
            self.at_hand.move_to_end(site)
            return self.at_hand[site]
        place = Path(self.given.templates, site_folder(site))
        self.looks = (site, FirstLooks())
        found = load_site(place, self.looks[1]) if holds_site(place) else None
        self.at_hand[site] = found
        while (
            len(self.at_hand) > 1 and sum(each.pages if each else 1 for each in self.at_hand.values()) > _KEPT_TEMPLATES
        ):
            self.at_hand.popitem(last=False)
        return found


def _lost(source: Source, site: str, why: str) -> tuple[Extraction, Tally]:
    page = lost_page(source, why)
    assert page.failure is not None
    return failed(page, site, page.failure), Tally()


def apply(
    given: Given,
    work: list[Work],
    crew: Crew,
    parts: Sequence[str] | None,
    totals: Totals,
    progress: Progress | None,
    journal: Journal | None = None,
    past: Sequence[Entry] = (),
) -> Iterator[Extraction]:
    """The record of each page in `work`, in order, but for the first, whose entries are in `past`; `totals` is counted up
    while they are drawn."""
    wanted = tuple(parts) if parts is not None else ()
    chunks = [work[start : start + CHUNK] for start in range(len(past), len(work), CHUNK)]
    applier = Applier(given, wanted) if parts is None else None
    counter = _Counter(totals)
    totals.failures.clear()
    for (source, name, *_), entry in zip(work, past, strict=False):
        counter.add(source.path, name, entry.row, entry.tally)
    done = len(past)
    if progress is not None and done:
        progress("extract", done, len(work))
    for chunk, records in zip(chunks, crew.in_order(Applier, (given, wanted), chunks), strict=True):
        for (source, name, *_), record in zip(chunk, records, strict=True):
            done += 1
            if record is None:  # it was a page in the first reading: the file changed since
                failure = Failure("changed", "changed while it was read")
                record = failed(Page(b"", path=source.path), name, failure), Tally()
            made, tally = record
            counter.add(source.path, name, made, tally)
            if journal is not None:
                journal.add(Entry(Row.of(made), tally), given.rules.get(name, ()))
            if progress is not None:
                progress("extract", done, len(work))
            yield replace(made, _again=on_demand(applier, source, name)) if applier is not None else made
    counter.close(given, (each.site for each in work))


class _Counter:
    """Counts records into totals."""

    def __init__(self, totals: Totals) -> None:
        self.totals = totals
        self.layouts: set[tuple[str | None, int]] = set()
        self.matched: Counter[Rule] = Counter()
        self.conflicts: Counter[tuple[Rule, Rule]] = Counter()

    def add(self, path: str, site: str, made: Extraction | Row, tally: Tally) -> None:
        totals = self.totals
        totals.pages += 1
        totals.static += tally.static
        totals.dynamic += tally.dynamic
        totals.content += tally.content
        self.matched.update(tally.matched)
        self.conflicts.update(tally.conflicts)
        if tally.fit is not None:
            totals.fits.setdefault(site, SiteFit()).add(tally.fit)
        if made.error is not None:
            totals.failed += 1
            totals.failures.append((path, made.error.kind, made.error.message))
        if made.layout is not None:
            self.layouts.add((made.site, made.layout))
            totals.layouts = len(self.layouts)

    def close(self, given: Given, sites: Iterable[str]) -> None:
        """What is told at the end: rules that disagreed or never matched, sites that drifted."""
        in_play = dict.fromkeys(rule for name in sorted(set(sites)) for rule in given.rules.get(name, ()))
        self.totals.warnings.extend(reports(list(in_play), self.matched, self.conflicts))
        fits = sorted(self.totals.fits.items())
        self.totals.warnings.extend(in_words(name, fit.whole) for name, fit in fits if fit.drifted)


def on_demand(applier: Applier, source: Source, site: str) -> Callable[[tuple[str, ...]], Extraction]:
    """What works a record's parts out when it is asked for them."""

    def again(parts: tuple[str, ...]) -> Extraction:
        found = applier.one(source, site, parts)
        if found is None or found[0].error is not None:
            raise InputError(f"{source.path} can no longer be read")
        return found[0]

    return again
