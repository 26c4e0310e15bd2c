"""What the verbs share: groups of options, each given to the verb as one value, and speech on stderr."""

from __future__ import annotations

import functools
import os
import re
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar

import click

from templatediff.errors import InputError, UsageError
from templatediff.limits import DEFAULT, MIB, Limits
from templatediff.options import MARKUP, NGRAM_ORDERS, SHORT_LEAVES, Options
from templatediff.spool import Spool, writing_temporaries
from templatediff.text import valid

if TYPE_CHECKING:
    from templatediff.page import Page

PARTS = ("markdown", "html", "leaves")  # what --with may add to a record

# what worker processes have from the beginning; a single page needs no layouts, which take the second
PRELOAD = ("templatediff.warm", "scipy.cluster.hierarchy")

Verb = Callable[..., Any]


def cores() -> int:
    """How many processes can run at once for us (a container may allow fewer than the machine has)."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@dataclass(frozen=True, slots=True)
class Crawl:
    """What to read, how its pages are dated and their sites named: the arguments of `extract`, `learn` and `template check`."""

    paths: tuple[Path, ...]
    fetched: str | None
    limit: int | None
    exclude: tuple[str, ...]
    site: str | None
    site_from: str
    fields: Mapping[str, str]

    def arguments(self) -> dict[str, Any]:
        """As the library's crawl functions name them; the paths stand apart."""
        names = ("fetched", "limit", "exclude", "site", "site_from", "fields")
        return {name: getattr(self, name) for name in names}


def crawl_options(verb: Verb) -> Verb:
    """INPUT..., --files-from, --fetched, --field, --limit, --exclude, --site and --site-from, given to the verb as `crawl`."""
    return _crawl_options(verb, needed=True)


def crawl_options_or_none(verb: Verb) -> Verb:
    """The same where no INPUT at all is well too: `crawl.paths` is then empty."""
    return _crawl_options(verb, needed=False)


def _crawl_options(verb: Verb, *, needed: bool) -> Verb:

    @click.argument(
        "inputs",
        metavar="INPUT..." if needed else "[INPUT...]",
        nargs=-1,
        type=click.Path(readable=False, path_type=Path),
    )
    @click.option(
        "--files-from",
        metavar="FILE|-",
        type=click.Path(path_type=Path),
        help="Read further INPUTs from FILE, or from stdin: one path a line.",
    )
    @click.option("--site", metavar="NAME", help="All pages are of the site NAME.")
    @click.option(
        "--site-from",
        type=click.Choice(("auto", "folder", "domain")),
        help="Name sites by host (auto, the default), by the folder of the page, or by registrable domain.",
    )
    @click.option("--limit", metavar="N", type=click.IntRange(min=1), help="Take at most N pages of each site.")
    @click.option(
        "--exclude",
        metavar="GLOB",
        multiple=True,
        help="Leave pages alone whose URL, or path where no URL is known, matches GLOB: they neither teach nor come "
        "out. * matches / too. Repeatable.",
    )
    @click.option("--fetched", metavar="DATE", help="When pages without a date of their own were fetched (ISO 8601).")
    @field_option
    @functools.wraps(verb)
    def with_crawl(
        inputs: tuple[Path, ...],
        files_from: Path | None,
        site: str | None,
        site_from: str | None,
        limit: int | None,
        exclude: tuple[str, ...],
        fetched: str | None,
        fields: dict[str, str],
        **rest: Any,
    ) -> Any:
        if site is not None and site_from is not None:
            raise UsageError("--site names the site of every page and --site-from finds it: give one of the two")
        if site is not None and not site.strip():
            raise UsageError("--site is empty: give the site's name, such as its host")
        site = site if site is None else valid(site)  # bytes that are no text are spelled out, as in names of folders
        if fetched is not None:
            from templatediff.page import utc_text

            fetched = utc_text(fetched, "--fetched")
        paths = _paths(inputs, files_from) if needed or inputs or files_from is not None else ()
        return verb(crawl=Crawl(paths, fetched, limit, exclude, site, site_from or "auto", fields), **rest)

    return with_crawl


def field_option(verb: Verb) -> Verb:
    """--field, given to the verb as `fields`."""
    option = click.option(
        "--field",
        "fields",
        metavar="KEY=NAME",
        multiple=True,
        callback=lambda ctx, param, value: field_names(value),
        help="In JSON lines the field NAME has the html, url or fetched (KEY) of a page. Repeatable.",
    )
    return option(verb)


def field_names(given: tuple[str, ...]) -> dict[str, str]:
    """The values of --field.

    >>> field_names(("html=raw", "url=address=full"))
    {'html': 'raw', 'url': 'address=full'}
    >>> field_names(("text=x",))
    Traceback (most recent call last):
    ...
    templatediff.errors.UsageError: --field is 'text=x': give html=NAME, url=NAME or fetched=NAME
    """
    names: dict[str, str] = {}
    for one in given:
        key, _, name = one.partition("=")
        if key not in ("html", "url", "fetched") or not name:
            raise UsageError(f"--field is {one!r}: give html=NAME, url=NAME or fetched=NAME")
        if names.setdefault(key, name) != name:
            raise UsageError(f"--field names {key} twice: give one of the two")
    return names


def _paths(inputs: tuple[Path, ...], files_from: Path | None) -> tuple[Path, ...]:
    dash = Path("-")
    if dash in inputs:
        if len(inputs) > 1 or files_from is not None:
            raise UsageError(
                "- is what stands on stdin, a page or JSON lines, and stands alone: give it without other inputs"
            )
        return (spooled_stdin(),)
    listed = tuple(_listed(files_from)) if files_from is not None else ()
    if not inputs and files_from is None:
        raise UsageError("nothing to read: name a crawl folder, pages, --files-from FILE, or - for stdin")
    if not inputs and not listed:
        raise InputError(f"no path in {files_from}: it holds one path a line")
    return (*inputs, *listed)


def _listed(files_from: Path) -> list[Path]:
    """The paths that a list names."""
    from templatediff.crawl import read_list

    return [Path(line) for line in read_list(stdin() if str(files_from) == "-" else files_from)]


def stdin() -> BinaryIO:
    """Standard input as bytes; InputError where the caller closed it."""
    if sys.stdin is None:
        raise InputError("standard input is closed: there is nothing to read")
    return sys.stdin.buffer


def spooled_stdin(most: int = DEFAULT.max_bytes) -> Path:
    """A file "-" in a folder "stdin" that holds the page, or the JSON lines, on stdin until the command ends.

    Those names become the record's path and, where the page names no host, its site.
    """
    spool = Spool()
    page = Path(spool.folder, "stdin", "-")
    click.get_current_context().call_on_close(lambda: spool.remove())  # which keeps it until then
    data = stdin().read(most + 1)  # one byte more than a page may have, so that a longer one is told from it
    with writing_temporaries():
        page.parent.mkdir()
        with page.open("wb") as out:
            out.write(data)
            if data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"{":
                shutil.copyfileobj(stdin(), out)  # JSON lines may be of any length
                return page
    read_page(page, "stdin", most)  # refused here, where the page has a name that tells a person something
    return page


def read_page(file: Path, called: str, most: int, fields: Mapping[str, str] | None = None) -> tuple[Page, str]:
    """The page in a file, and the name of the folder that holds it; InputError if it is no page."""
    from templatediff.crawl import Fields, Skipped, only_source, read_source

    source = only_source(file, called, Fields.of(fields))
    found = read_source(source, most)
    if isinstance(found, Skipped):
        raise InputError(f"{called} is no HTML page ({found.kind})")
    return found, source.folder_site


def page_options(verb: Verb) -> Verb:
    """--leaf-tags, --short-leaves, --ngram-order and --markup, given to the verb as `options`.

    That is None where none of the four is given: stored templates then bring their own.
    """

    @click.option(
        "--leaf-tags",
        metavar="TAG,...",
        help="Elements that hold a leaf of their own (default: the block elements, div, p, table, li, ...).",
    )
    @click.option(
        "--short-leaves",
        type=click.Choice(SHORT_LEAVES),
        help="Whether leaves of few words are labelled together with their neighbour: "
        "as the site's own word counts say (auto, the default), always (join), never (keep).",
    )
    @click.option(
        "--ngram-order",
        type=click.Choice([str(order) for order in NGRAM_ORDERS]),
        help="Words per n-gram (default 3): higher is more exact and slower.",
    )
    @click.option(
        "--markup",
        type=click.Choice(MARKUP),
        help="Whether inline tags count when two leaves are compared: no (strip, the default), yes (keep).",
    )
    @functools.wraps(verb)
    def with_options(
        leaf_tags: str | None,
        short_leaves: str | None,
        ngram_order: str | None,
        markup: str | None,
        **rest: Any,
    ) -> Any:
        given: dict[str, Any] = {"short_leaves": short_leaves, "markup": markup}
        given["ngram_order"] = int(ngram_order) if ngram_order is not None else None
        given["leaf_tags"] = _element_names(leaf_tags) if leaf_tags is not None else None
        given = {name: value for name, value in given.items() if value is not None}
        return verb(options=Options(**given) if given else None, **rest)

    return with_options


def _element_names(text: str) -> frozenset[str]:
    """The value of --leaf-tags."""
    from templatediff.html import tag_ids

    names = {name.lower() for name in re.split(r"[,\s]+", text) if name}
    unknown = sorted(name for name in names if not tag_ids(frozenset([name])))
    if unknown or not names:
        raise UsageError(
            f"--leaf-tags is {text!r}: give names of HTML elements, such as div, p, table"
            + (f" (no element is called {', '.join(unknown)})" if unknown else "")
        )
    return frozenset(names)


def part_options(verb: Verb) -> Verb:
    """--with and --leaves, given to the verb as `parts` in the order of PARTS."""

    @click.option(
        "--with",
        "parts",
        metavar=",".join(PARTS),
        callback=lambda ctx, param, value: part_names(value or ""),
        help="Add these keys to each JSON line.",
    )
    @click.option("--leaves", is_flag=True, help="Short for --with leaves.")
    @functools.wraps(verb)
    def with_parts(parts: tuple[str, ...], leaves: bool, **rest: Any) -> Any:
        wanted = {*parts, "leaves"} if leaves else set(parts)
        return verb(parts=tuple(part for part in PARTS if part in wanted), **rest)

    return with_parts


def part_names(text: str) -> tuple[str, ...]:
    """The value of --with.

    >>> part_names("html, leaves,html"), part_names("")
    (('html', 'leaves'), ())
    >>> part_names("pdf")
    Traceback (most recent call last):
    ...
    templatediff.errors.UsageError: --with is 'pdf': choose from markdown, html, leaves
    """
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not set(names) <= set(PARTS):
        raise UsageError(f"--with is {text!r}: choose from {', '.join(PARTS)}")
    return names


class Size(click.ParamType):  # type: ignore[type-arg]  # generic in newer releases of click only
    """Bytes: a whole number, perhaps with K, M or G for 1024, 1024² or 1024³ of them.

    >>> [Size().convert(text, None, None) for text in ("500", "64K", "1.5g")]
    [500, 65536, 1610612736]
    """

    name = "size"
    _factors: ClassVar[dict[str, int]] = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMG]?)", value.strip(), re.I)
        size = int(float(found[1]) * self._factors[found[2].upper()]) if found else 0
        if size < 1:
            self.fail(f"{value!r} is no size: give bytes, or 500K, 32M, 2G", param, ctx)
        return size


def jobs_option(verb: Verb) -> Verb:
    """--jobs and the limits of a page, given to the verb as `crew`: a guarded `parallel.Crew`, closed at its end."""
    option = click.option(
        "--jobs",
        metavar="N",
        type=click.IntRange(min=1),
        default=cores,
        help="Processes to work in (default: the cores). Results do not depend on it.",
    )
    return option(limit_options(verb))


def limit_options(verb: Verb) -> Verb:
    """The limits of a page, given to the verb as `crew`, of one process where there is no --jobs."""

    @click.option(
        "--max-bytes",
        metavar="SIZE",
        type=Size(),
        default=DEFAULT.max_bytes,
        help=f"The most bytes of a page, decompressed (default: {DEFAULT.max_bytes // MIB}M).",
    )
    @click.option(
        "--max-nodes",
        metavar="N",
        type=click.IntRange(min=1),
        default=DEFAULT.max_nodes,
        help=f"The most elements of a page (default: {DEFAULT.max_nodes:,}).",
    )
    @click.option(
        "--max-depth",
        metavar="N",
        type=click.IntRange(min=1),
        default=DEFAULT.max_depth,
        help=f"The most elements inside each other (default: {DEFAULT.max_depth:,}).",
    )
    @click.option(
        "--max-attributes",
        metavar="N",
        type=click.IntRange(min=1),
        default=DEFAULT.max_attributes,
        help=f"The most attributes of a tag (default: {DEFAULT.max_attributes:,}).",
    )
    @click.option(
        "--max-leaves",
        metavar="N",
        type=click.IntRange(min=1),
        default=DEFAULT.max_leaves,
        help=f"The most leaves of a page (default: {DEFAULT.max_leaves:,}).",
    )
    @click.option(
        "--max-seconds",
        metavar="N",
        type=click.FloatRange(min=0, min_open=True),
        default=DEFAULT.max_seconds,
        help=f"The most seconds that a page may take (default: {DEFAULT.max_seconds:g}); it is tried twice.",
    )
    @click.option(
        "--max-memory",
        metavar="SIZE",
        type=Size(),
        default=DEFAULT.max_memory,
        help=f"The most memory that a page may take (default: {DEFAULT.max_memory // MIB}M); it is tried twice.",
    )
    @functools.wraps(verb)
    def with_crew(**given: Any) -> Any:
        from templatediff.parallel import Crew

        limits = Limits(**{name: given.pop(name) for name in [*given] if name.startswith("max_")})
        preload = PRELOAD if "jobs" in given else PRELOAD[:1]
        crew = Crew(given.pop("jobs", 1), limits, guarded=True, preload=preload)
        return verb(crew=click.get_current_context().with_resource(crew), **given)

    return with_crew


def speech_options(verb: Verb) -> Verb:
    """--quiet and -v, given to the verb as `progress`: a `templatediff.cli.progress.Progress`."""

    @click.option("--quiet", "-q", is_flag=True, help="No progress, totals and warnings on stderr; errors only.")
    @click.option("--verbose", "-v", count=True, help="Say more on stderr; twice for what is of use in a bug report.")
    @functools.wraps(verb)
    def with_progress(quiet: bool, verbose: int, **rest: Any) -> Any:
        from templatediff.cli.progress import Progress, log_to_stderr

        if quiet and verbose:
            raise UsageError("--quiet and -v ask for opposite things: give one of the two")
        log_to_stderr(verbose, quiet=quiet)
        return verb(progress=Progress(quiet=quiet, verbose=verbose), **rest)

    return with_progress
