"""One page beside a crawl: learn from the crawl, then extract that page alone."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from templatediff import pipeline
from templatediff.applying import Applier
from templatediff.crawl import Fields, Skipped, Source, only_source, read_source
from templatediff.errors import InputError, PageError, UsageError
from templatediff.extraction import Extraction, failed
from templatediff.given import Given, Progress, Totals
from templatediff.limits import Limits
from templatediff.options import Options
from templatediff.page import Failure, Page, host_of
from templatediff.parallel import Crew, crewed
from templatediff.reading import Reading
from templatediff.run import prepared
from templatediff.selection import Selection


def extract_beside(
    file: str | Path,
    paths: Sequence[str | Path],
    jobs: int | Crew = 1,
    *,
    options: Options | None = None,
    limits: Limits | None = None,
    site: str | None = None,
    url: str | None = None,
    exclude: Iterable[str] = (),
    fields: Mapping[str, str] | None = None,
    parts: Sequence[str] = (),
    totals: Totals | None = None,
    progress: Progress | None = None,
) -> Extraction:
    """The content of the page in `file` as `extract_crawl(paths)` gives it, were it the only page asked for.

    The page may be one of the crawl or not; its own near-duplicates there are no evidence. A page of the crawl has its
    path, URL and site from there. For another `site` names the one of the crawl's sites that it belongs to, else its `url`,
    else what it says itself, else the crawl's only site. The other arguments are those of `extract_crawl`.

    Raises InputError where the crawl has no page, or none of the page's site; UsageError for a url or site of a page that
    is in the crawl, where both are known.
    """
    totals = totals if totals is not None else Totals()
    with crewed(jobs, limits) as crew:
        selection = Selection(exclude=tuple(exclude))
        given = Given(options, selection=selection, fields=Fields.of(fields), limits=crew.limits)
        given, reading = prepared(paths, given, None, crew, False, None, (), totals, progress)
        asked = only_source(file, fields=given.fields)
        found = _in_crawl(reading, asked)
        if found is not None and (site is not None or url is not None):
            raise UsageError(f"{file} is a page of the input, which tells its URL and site: leave --url and --site out")
        source, name = found or (asked, None)
        page = read_source(source, crew.limits.max_bytes)
        if isinstance(page, Skipped):
            raise InputError(f"{file} is no HTML page ({page.kind})")
        page = replace(page, url=url or page.url)
        try:
            if name is None:
                name = site or page.site or host_of(page.url) or crew.call(_named, page, options, crew.limits)
                name = _known(name, sorted(set(reading.sites)), file, asked=site is not None)
            return crew.call(_extracted, given, replace(page, site=name), options, tuple(parts))
        except PageError as error:
            return failed(page, name, Failure(error.kind, error.message))


def _named(page: Page, options: Options | None, limits: Limits) -> str | None:
    """The site that a page names itself."""
    return host_of(pipeline.extract(page, options=options, limits=limits).url)


def _extracted(given: Given, page: Page, options: Options | None, parts: tuple[str, ...]) -> Extraction:
    assert page.site is not None
    template = Applier(given, ()).template(page.site)
    return pipeline.extract(
        page, template=template, options=None if template else options, parts=parts, limits=given.limits
    )  # fmt: skip


def _in_crawl(reading: Reading, asked: Source) -> tuple[Source, str] | None:
    """The source and site of a file, or a member of an archive, that is a page of the crawl."""
    real = os.path.realpath(asked.file)
    member = asked.member.name if asked.member is not None else None
    for source, site in zip(reading.sources, reading.sites, strict=True):
        if (source.member.name if source.member is not None else None) != member:
            continue
        if os.path.basename(source.file) == os.path.basename(real) and os.path.realpath(source.file) == real:
            return source, site
    return None


def _known(name: str | None, sites: list[str], file: str | Path, *, asked: bool) -> str:
    """The site of the crawl that a page from outside belongs to."""
    if name in sites:
        return str(name)
    if len(sites) == 1 and not asked:
        return sites[0]
    some = ", ".join(sites[:5]) + (", ..." if len(sites) > 5 else "")
    of = f"is of {name}" if name else "names no site"
    raise InputError(f"{file} {of}, and the input has {some}: name its site with --site")
