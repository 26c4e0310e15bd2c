"""Labelled page -> its extraction, and what it adds to the totals of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from templatediff import render
from templatediff.drift import PageFit
from templatediff.extraction import (
    EXPLAINED,
    SOURCE,
    Containers,
    Extraction,
    Texts,
    explained,
    leaf_records,
)
from templatediff.fingerprint import Fingerprint
from templatediff.hashes import bytes_hash
from templatediff.headline import headline
from templatediff.label import Labels, label
from templatediff.leaves import Leaves
from templatediff.limits import Limits
from templatediff.options import Options
from templatediff.page import Page, fetched_text, normal_url
from templatediff.prepare import named_host
from templatediff.reasons import Reasons
from templatediff.rules import Rule
from templatediff.segment import segment
from templatediff.slots import Value
from templatediff.template import SiteTemplate
from templatediff.text import visible
from templatediff.verdict import EMPTY


@dataclass(frozen=True, slots=True)
class Tally:
    """What one page adds to the totals of a run: its leaves, how the template fits it where that was asked for, the
    rules that matched and the pairs of them that disagreed.
    """

    static: int = 0
    dynamic: int = 0
    content: int = 0
    fit: PageFit | None = None
    matched: frozenset[Rule] = frozenset()
    conflicts: frozenset[tuple[Rule, Rule]] = frozenset()


def record_of(
    page: Page,
    site: str | None,
    text: str,
    leaves: Leaves,
    labels: Labels,
    template: SiteTemplate | None,
    options: Options,
    parts: tuple[str, ...],
    limits: Limits,
) -> tuple[Extraction, Tally]:
    """The extraction of a labelled page with the parts that are wanted now, and what it adds to the totals."""
    kept = labels.kept.tolist()
    content = render.text(leaves, kept)
    verdict, reason = labels.verdict, labels.reason
    if not leaves.has_body:
        reason = "the page has no body"
    if not visible(content):
        verdict, content = EMPTY, ""
    head = leaves.head
    made = Extraction(
        path=page.path,
        url=page.url or _absolute(head.canonical) or _absolute(head.og_url),
        site=site or named_host(head),
        layout=labels.layout if labels.siblings else None,
        mode="template" if labels.siblings else "gist",
        siblings=labels.siblings,
        title=headline(labels, leaves.text),
        text=content,
        verdict=verdict,
        confidence=labels.confidence,
        reason=reason,
        fetched=fetched_text(page),
        lang=head.lang,
        text_hash=f"{bytes_hash(content.encode('utf-8', 'surrogatepass')):016x}",
        error=None,
        source=page.source,
    )
    if "markdown" in parts or "html" in parts:
        rich = leaves if leaves.markup else segment(text, options, rich=True, limits=limits)
        if "markdown" in parts:
            made._parts["markdown"] = render.markdown(rich, kept, url=made.url)
        if "html" in parts:
            made._parts["html"] = render.html(rich, kept, url=made.url)
    changes = Counter(labels.changes())
    tally = Tally(changes["static"], changes["dynamic"], sum(kept))
    if labels.ruling is not None:
        tally = replace(tally, matched=labels.ruling.matched, conflicts=labels.ruling.conflicts)
    if "leaves" in parts or EXPLAINED in parts:
        reasons = Reasons(labels)
        records = leaf_records(leaves, reasons, values_of(leaves, labels, template))
        if "leaves" in parts:
            made._parts["leaves"] = records
        if EXPLAINED in parts:
            made._parts[EXPLAINED] = explained(records, leaves, reasons)
    if SOURCE in parts:
        made._parts[SOURCE] = text
    return made, tally


def _absolute(url: str | None) -> str | None:
    return url if url and normal_url(url) else None


def values_of(leaves: Texts, labels: Labels, template: SiteTemplate | None) -> list[tuple[Value, ...]]:
    """The slot values in each leaf; none in gist mode."""
    if template is None or not labels.siblings:
        return [()] * len(leaves)
    return template.slots_of(labels.layout).of(labels.context.page, leaves.text)


@dataclass(frozen=True, slots=True)
class _Remembered:
    """A page as a profile remembers it, in the form of its leaves."""

    page: Fingerprint

    @property
    def text(self) -> Sequence[str]:
        return self.page.texts

    @property
    def row(self) -> Sequence[int]:
        found: list[int] = self.page.row.tolist()
        return found

    @property
    def elements(self) -> Containers:
        return self.page

    def __len__(self) -> int:
        return len(self.page)


def remembered(template: SiteTemplate, page: Fingerprint) -> tuple[str, str | None, list[dict[str, Any]]]:
    """(verdict, title, leaf records) of a page that the template's profile remembers: its first leaves, long ones cut.

    The template's rules, which are about whole pages, have no say.
    """
    leaves = _Remembered(page)
    labels = label(page, template, template.weights)
    records = leaf_records(leaves, Reasons(labels), values_of(leaves, labels, template))
    return labels.verdict, headline(labels, page.texts), records
