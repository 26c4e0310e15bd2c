"""The report in its order: templates are seen, pages go by, figures come last. Nothing is kept of a page but counts."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from templatediff._version import __version__
from templatediff.extraction import EXPLAINED
from templatediff.names import FileNames
from templatediff.parallel import Crew
from templatediff.pipeline import load_site
from templatediff.record import remembered
from templatediff.report.folder import ReportFolder
from templatediff.report.layouts import LayoutReport
from templatediff.report.lists import AllPages, Row
from templatediff.report.overview import Failure, write_overview
from templatediff.report.pages import names_of, row_of, write_page
from templatediff.report.render import asset
from templatediff.report.tally import Doubtful, Tally
from templatediff.report.words import link, spelled
from templatediff.run import Progress, Totals, extract_crawl
from templatediff.store import site_folders

if TYPE_CHECKING:
    from templatediff.extraction import Extraction
    from templatediff.pipeline import Template
    from templatediff.template import SiteTemplate

MOST_FAILURES = 50  #: failed pages named on the overview
REMEMBERED = 24  #: pages of each layout that are labelled where there are templates alone

Key = tuple[str, int | None]  # site, layout


@dataclass(slots=True)
class _Report:
    """A report under way."""

    folder: ReportFolder
    remembered: bool = False
    names: FileNames = field(default_factory=FileNames)
    layouts: dict[Key, LayoutReport] = field(default_factory=dict)
    whole: Tally = field(default_factory=Tally)
    doubtful: Doubtful = field(default_factory=Doubtful)
    failures: list[Failure] = field(default_factory=list)
    all_pages: AllPages = field(init=False)

    def __post_init__(self) -> None:
        for name in ("report.css", "report.js"):
            self.folder.write(name, asset(name))
        self.all_pages = AllPages(self.folder)

    def layout(self, site: str, number: int | None) -> LayoutReport:
        if (site, number) not in self.layouts:
            self.layouts[site, number] = LayoutReport(self.folder, site, number)
        return self.layouts[site, number]

    def template(self, template: SiteTemplate) -> None:
        for layout in template.layouts:
            self.layout(template.site, layout.id).describe(layout)

    def memory(self, template: SiteTemplate) -> None:
        """What a template remembers of its pages: those of smallest rank of each layout."""
        self.template(template)
        for layout in template.sample.layouts:
            found = self.layout(template.site, layout.id)
            for group in sorted(layout.groups)[:REMEMBERED] if template.sample.leaders else ():
                leader = template.sample.leaders[group]
                verdict, title, leaves = remembered(template, leader)
                found.tally.add(verdict, leaves)
                self.whole.add(verdict, leaves)
                page = {"title": title, "path": spelled(leader.url or ""), "href": None, "lang": leader.lang}
                found.offer(verdict, leaves, page)

    def page(self, page: Extraction) -> None:
        layout = self.layout(page.site or "-", page.layout)
        leaves = page.explain()
        files = names_of(self.names, page.path or "-", leaves)
        row = row_of(page, leaves, files[0])
        for tally in (self.whole, layout.tally):
            tally.add(page.verdict, leaves, page.error is not None)
        layout.pages.add(row)
        self.all_pages.add(row, layout.site)
        self.doubtful.add(row.doubtful, row)
        if page.error is not None and len(self.failures) < MOST_FAILURES:
            self.failures.append(Failure(link(row.file), spelled(row.path), page.error.kind, page.error.message))
        write_page(self.folder, page, leaves, row, files, layout.file, layout.pages.chunks[-1].file)
        example = {"title": row.name, "path": spelled(row.path), "href": link(row.file, 2), "lang": page.lang}
        layout.offer(page.verdict, leaves, example)

    def finish(self, totals: Totals) -> None:
        self.all_pages.close()
        order = sorted(self.layouts, key=lambda key: (key[0], key[1] is None, key[1] or 0))
        for site, number in order:
            fit = totals.fits[site].layouts.get(number) if site in totals.fits else None
            self.layouts[site, number].finish(fit, self.remembered)
        layouts = [self.layouts[key] for key in order]
        doubtful = cast("list[tuple[int, Row]]", self.doubtful.pages())
        write_overview(self.folder, layouts, self.whole, doubtful, self.failures, totals, self.remembered)
        self.folder.finish(_figures(self.whole, layouts))


def write_report(
    paths: Iterable[str | Path],
    folder: str | Path,
    templates: str | Path | None = None,
    jobs: int | Crew = 1,
    *,
    totals: Totals | None = None,
    progress: Progress | None = None,
    **crawl: Any,
) -> tuple[int, int]:
    """Write the report of a crawl, or (no `paths`) of a folder of templates, into `folder`; (files, bytes) written.

    `templates` and `crawl` are as in `extract_crawl`. A folder that an earlier report made is replaced, any other refused.
    The bytes do not depend on `jobs`. Raises InputError, OutputError, TemplateError, UsageError.
    """
    totals = totals if totals is not None else Totals()
    paths = list(paths)
    place = ReportFolder(Path(folder))
    with place:
        if paths:
            _of_crawl(place, paths, templates, jobs, totals, progress, crawl)
        elif templates is not None:
            _of_templates(place, Path(templates), totals, progress)
    return place.files, place.bytes


def _of_crawl(
    place: ReportFolder,
    paths: list[str | Path],
    templates: str | Path | None,
    jobs: int | Crew,
    totals: Totals,
    progress: Progress | None,
    crawl: dict[str, Any],
) -> None:
    report = _Report(place)
    records = extract_crawl(
        paths,
        templates,
        jobs,
        parts=(EXPLAINED,),
        ignore=[place.target, place.part],
        see=report.template,
        totals=totals,
        progress=progress,
        **crawl,
    )
    with contextlib.closing(cast("Generator[Extraction]", records)):  # ends its processes on an error
        for record in records:
            report.page(record)
    report.finish(totals)


def _of_templates(place: ReportFolder, folder: Path, totals: Totals, progress: Progress | None) -> None:
    report = _Report(place, remembered=True)
    found = site_folders(folder)
    for number, site in enumerate(found, 1):
        template: Template = load_site(site)
        report.memory(template)
        totals.sites += 1
        totals.layouts += len(template.layouts)
        totals.pages += template.pages
        if progress is not None:
            progress("read", number, len(found))
    report.finish(totals)


def _figures(whole: Tally, layouts: list[LayoutReport]) -> dict[str, Any]:
    return {
        "templatediff": __version__,
        **_counts(whole),
        "layouts": [{"site": each.site, "layout": each.id, **_counts(each.tally)} for each in layouts],
    }


def _counts(tally: Tally) -> dict[str, Any]:
    return {
        "pages": tally.pages,
        "failed": tally.failed,
        "verdicts": dict(sorted(tally.verdicts.items())),
        "leaves": tally.leaves,
        "content": tally.kept,
        "static": tally.static,
        "dynamic": tally.dynamic,
        "doubtful": tally.doubtful,
        "shares": {part: round(share, 4) for part, share in tally.shares().items()},
    }
