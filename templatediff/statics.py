"""The site's static text in one file: address, telephone, legal notice, which extraction takes off every page.

A profile remembers the beginning of a long leaf only, so the pages at hand are read once more for the whole of it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from templatediff.crawl import Skipped, Source, read_source
from templatediff.errors import OutputError, PageError
from templatediff.lock import fresh
from templatediff.names import part_name
from templatediff.pipeline import Template
from templatediff.prepare import prepare
from templatediff.remember import MAX_TEXT
from templatediff.template import static_text

MOST_PAGES = 100  #: pages of a site read again for its long leaves; each stands on most pages of a layout


def write_statics(file: Path, templates: Iterable[Template], sources: Mapping[str, list[Source]]) -> None:
    """Write the static text of each site, whole or not at all. `sources` are the pages of a site that may be read again.

    UTF-8, an empty line between sites and leaves; the form is that of `template.static_text`. Raises OutputError, also where
    another run writes it.
    """
    part = part_name(file)
    try:
        with open(fresh(part, file), "w", encoding="utf-8", errors="backslashreplace", newline="\n") as out:
            try:
                for number, template in enumerate(templates):
                    out.write("\n" * bool(number))
                    out.write(
                        static_text(template.site, template.layouts, _in_full(template, sources.get(template.site, [])))
                    )
                out.flush()
                os.replace(part, file)  # before its lock ends
            except BaseException:
                part.unlink(missing_ok=True)
                raise
    except OSError as error:
        raise OutputError(f"cannot write {file}: {error.strerror or error}") from error


def _in_full(template: Template, sources: list[Source]) -> dict[int, str]:
    """The whole text of the long static leaves, by hash, as the first page in order that has each writes it."""
    wanted = {leaf.hash for layout in template.layouts for leaf in layout.static if len(leaf.text) >= MAX_TEXT}
    found: dict[int, str] = {}
    for source in sources[:MOST_PAGES]:
        if len(found) == len(wanted):
            break
        page = read_source(source)
        if isinstance(page, Skipped) or page.failure is not None:
            continue
        try:
            leaves, made = prepare(page, template.options)
        except PageError:
            continue
        for key, text in zip(made.text_hash.tolist(), leaves.text, strict=True):
            if key in wanted:
                found.setdefault(key, text)
    return found
