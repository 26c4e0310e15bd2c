"""How well slots are found on generated sites: precision and recall of slots, of their values, and of their types.

    python -m benchmarks.slots [--pages 24] [--seed 900] [--kinds news,product] [--scripts latin,thai] [--worst 20]

The matching rule. A site is learned; each of its pages is then extracted with the template. Its leaves are laid over the
truth's blocks in document order (a block may take several leaves: lines of code). A value found matches a value of the
truth if both are of the same block and their tokens are equal (case, white space and marks do not count); each value
matches once. Precision is the share of values found that match, recall the share of true values that are matched.
Not counted: slots that stand on one page of a page kind alone (no other page can tell that they change), and pages of
which the site has no other of the kind.

A slot of the truth (site, page kind, name) is found if at least half of its values are matched; a slot found (site,
layout, type, role of its block, place among the block's values) is right if at least half of its values match. Type: of
the matched values, the share whose type agrees ("option" and "options", "date" and "time" are one).
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import templatediff as td
from corpora.generator import KINDS, SCRIPTS, GeneratedPage, SiteSpec, generate_site
from templatediff.text import tokens

TYPES = {"option": "options", "time": "date"}


@dataclass
class Tally:
    """Counts over pages. `slots` hold [values, matched] for each slot of the truth and each slot found."""

    true: int = 0
    found: int = 0
    matched: int = 0
    typed: int = 0
    true_slots: dict[Any, list[int]] = field(default_factory=lambda: defaultdict(lambda: [0, 0]))
    found_slots: dict[Any, list[int]] = field(default_factory=lambda: defaultdict(lambda: [0, 0]))
    faults: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    confusion: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, other: Tally) -> None:
        """Count another tally's pages here too."""
        for name in ("true", "found", "matched", "typed"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.true_slots.update(other.true_slots)
        self.found_slots.update(other.found_slots)
        self.faults.update(other.faults)
        self.confusion.update(other.confusion)

    def figures(self) -> dict[str, float]:
        """Precision and recall of values and of slots, and agreement of types, 0..1."""
        right = sum(2 * matched >= values for values, matched in self.found_slots.values())
        known = sum(2 * matched >= values for values, matched in self.true_slots.values())
        return {
            "precision": self.matched / max(self.found, 1),
            "recall": self.matched / max(self.true, 1),
            "slot precision": right / max(len(self.found_slots), 1),
            "slot recall": known / max(len(self.true_slots), 1),
            "type": self.typed / max(self.matched, 1),
        }


def measure(spec: SiteSpec) -> Tally:
    """Learn a generated site and compare what is found on its pages with the truth."""
    site = generate_site(spec)
    pages = [td.Page(page.html, url=page.url, fetched=page.fetched) for page in site.pages]
    template = td.learn(pages, site=site.name)
    records = [template.extract(page) for page in pages]
    on: dict[tuple[str, str], set[str]] = defaultdict(set)
    of_kind: dict[str, set[str]] = defaultdict(set)
    for page in site.pages:
        of_kind[page.layout].add(page.original or page.path)
        for block in page.blocks:
            for slot in block.slots:
                on[page.layout, slot.name].add(page.original or page.path)
    tally = Tally()
    for page, record in zip(site.pages, records, strict=True):
        if len(of_kind[page.layout]) > 1:
            _compare(page, record, spec, on, tally)
    return tally


def _compare(
    page: GeneratedPage,
    record: td.Extraction,
    spec: SiteSpec,
    on: dict[tuple[str, str], set[str]],
    tally: Tally,
) -> None:
    for block, leaves in zip(
        page.blocks, _laid_over([block.text for block in page.blocks], record.leaves), strict=True
    ):
        alone = {slot.name for slot in block.slots if len(on[page.layout, slot.name]) < 2}
        true = [(slot.name, slot.type, tokens(slot.value)) for slot in block.slots if slot.name not in alone]
        found = [(one["type"], tokens(one["value"])) for leaf in leaves for one in leaf["slots"]]
        if len(leaves) > 1 and found:
            found = [(found[0][0], [word for _, words in found for word in words])]
        if alone and not true:
            continue
        names = [(spec, record.layout, leaf["slot"], block.role) for leaf in leaves[:1]] * len(found)
        tally.true += len(true)
        tally.found += len(found)
        free = list(found)
        for name, kind, words in true:
            match = next((one for one in free if one[1] == words), None)
            tally.true_slots[spec, page.layout, name][0] += 1
            if match is None:
                tally.faults["missed", block.role, f"{block.text[:60]} | {found[:3]}"] += 1
                continue
            free.remove(match)
            tally.matched += 1
            tally.true_slots[spec, page.layout, name][1] += 1
            wanted, got = TYPES.get(kind, kind), TYPES.get(match[0], match[0])
            tally.typed += wanted == got
            tally.confusion[wanted, got] += wanted != got
        for number, name in enumerate(names):
            tally.found_slots[name, number][0] += 1
            tally.found_slots[name, number][1] += found[number] not in free
        for one in free:
            tally.faults["extra", block.role, f"{block.text[:60]} | {one}"] += 1


def _laid_over(blocks: Sequence[str], leaves: Sequence[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """The leaves of each block; none for what is no text to the extractor (the entries of a selection box)."""
    laid: list[list[dict[str, Any]]] = []
    place = 0
    for block in blocks:
        left = "".join(block.split())
        own: list[dict[str, Any]] = []
        while left:
            text = "".join(leaves[place]["text"].split()) if place < len(leaves) else None
            if text is None or not left.startswith(text):
                break
            own.append(leaves[place])
            left = left[len(text) :]
            place += 1
        laid.append(own)
    if place < len(leaves):
        raise ValueError(f"no block for the leaf {leaves[place]['text'][:60]!r}")
    return laid


def specs(pages: int, seed: int, kinds: Iterable[str], scripts: Iterable[str]) -> list[SiteSpec]:
    """One site for each page kind and script, and one of three kinds for each script; each its own seed."""
    made = []
    for number, script in enumerate(scripts):
        for place, kind in enumerate(kinds):
            made.append(SiteSpec(kinds=(kind,), script=script, pages=pages, seed=seed + 100 * number + place))
        mixed = ("news", "forum", "product")
        made.append(SiteSpec(kinds=mixed, script=script, pages=3 * pages // 2, seed=seed + 100 * number + 50))
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=24, help="pages of a site of one kind")
    parser.add_argument(
        "--seed", type=int, default=900, help="first seed; figures are reported with seeds not looked at before"
    )
    parser.add_argument("--kinds", default=",".join(KINDS), help="page kinds (default: all)")
    parser.add_argument("--scripts", default=",".join(SCRIPTS), help="scripts (default: all)")
    parser.add_argument("--worst", type=int, default=0, help="show so many of the most frequent faults")
    options = parser.parse_args()
    total = Tally()
    by: dict[str, Tally] = {}
    for spec in specs(options.pages, options.seed, options.kinds.split(","), options.scripts.split(",")):
        tally = measure(spec)
        total.add(tally)
        for group in ("+".join(spec.kinds), spec.script):
            by.setdefault(group, Tally()).add(tally)
    names = list(total.figures())
    print(f"| sites | {' | '.join(names)} | values |\n|---|{'---:|' * (len(names) + 1)}")
    for group, tally in [*by.items(), ("all", total)]:
        print(f"| {group} | {' | '.join(f'{figure:.3f}' for figure in tally.figures().values())} | {tally.true:,} |")
    by_role = Counter[tuple[str, str]]()
    for (what, role, _), count in total.faults.items():
        by_role[what, role] += count
    for (what, role), count in by_role.most_common(options.worst):
        examples = [text for (w, r, text) in total.faults if (w, r) == (what, role)][:3]
        print(f"{count:6} {what:6} {role:20} {' ## '.join(examples)}")
    if options.worst:
        print({f"{one} as {other}": count for (one, other), count in total.confusion.most_common(12)})


if __name__ == "__main__":
    main()
