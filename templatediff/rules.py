"""rules.toml: the user's own word on what is content, read from a template folder, never written.

    [[keep]]                     # or [[drop]]
    selector = "div.byline"      # the leaf's element, one around it, or an inline element that holds all of its text
    text = "Read more"           # the leaf's whole text; contains = "..." a part of it (both without regard to case)
    regex = "^Photo: "           # searched in the text
    slot = "date"                # the type of a slot in the leaf

A rule holds where all that it names hold. DIR/<site>/rules.toml goes before DIR/rules.toml, which is for all sites; in one
file keep goes before drop. Rules go before everything else that judges a leaf, guards included.
"""

from __future__ import annotations

import os
import re
import tomllib
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from templatediff.errors import TemplateError
from templatediff.fingerprint import Ints
from templatediff.html import Tree, parse, selected, selector_fault
from templatediff.leaves import Leaves
from templatediff.marks import NOSCRIPT
from templatediff.slots import Value
from templatediff.text import normal
from templatediff.values import SLOT_TYPES

RULES_FILE = "rules.toml"
ACTIONS = ("keep", "drop")
CONDITIONS = ("selector", "text", "contains", "regex", "slot")
_MAX_BYTES = 1 << 20
_LONGEST_WORDS = 200  # characters of a value that an error repeats
_TABLE = re.compile(r"""\s*\[\[\s*["']?(\w+)["']?\s*\]\]""")
_KEY = re.compile(r"""(?:\s*\[+\s*["']?(?:keep|drop)["']?\s*\.|\s*\[*)\s*["']?([\w-]+)["']?\s*[=\].]""")


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule; None for what it does not name. `where` is its file and line, `of_site` whether it is one site's own."""

    action: str
    where: str
    of_site: bool
    selector: str | None = None
    text: str | None = None
    contains: str | None = None
    regex: str | None = None
    slot: str | None = None

    def __str__(self) -> str:
        told = [f"{name} {_cut(value)}" for name in CONDITIONS if (value := getattr(self, name)) is not None]
        return f"{self.action} by {' and '.join(told)} ({self.where})"


@dataclass(frozen=True, slots=True)
class Ruling:
    """What rules say of one page's leaves: `keep` and `drop` of shape (n,), the rule that decided each leaf, the rules
    that matched, and the pairs (rule that won, rule that lost) that disagreed on a leaf."""

    keep: Ints
    drop: Ints
    by: tuple[Rule | None, ...]
    matched: frozenset[Rule]
    conflicts: frozenset[tuple[Rule, Rule]]


def read_rules(folder: Path, place: Path) -> tuple[Rule, ...]:
    """The rules for the site in folder `place` of a template folder, in the order in which they count.

    Raises TemplateError that lists every mistake, with file and line.
    """
    mistakes: list[str] = []
    found = [
        rule
        for file in (place / RULES_FILE, folder / RULES_FILE)
        for rule in _read(file, file.parent == place, mistakes)
    ]
    if mistakes:
        raise TemplateError("; ".join(mistakes))
    return tuple(sorted(found, key=lambda rule: (not rule.of_site, ACTIONS.index(rule.action))))


def judge(rules: Sequence[Rule], html: str, leaves: Leaves, values: Sequence[Sequence[Value]]) -> Ruling:
    """What the rules say of a page, given its text, its leaves, and the slot values in each."""
    holding = _Holding(html, leaves, values)
    by: list[Rule | None] = [None] * len(leaves)
    matched: set[Rule] = set()
    conflicts: set[tuple[Rule, Rule]] = set()
    for rule in rules:
        for leaf in holding.of(rule):
            matched.add(rule)
            first = by[leaf]
            if first is None:
                by[leaf] = rule
            elif first.action != rule.action:
                conflicts.add((first, rule))
    keep = np.array([rule is not None and rule.action == "keep" for rule in by], bool)
    drop = np.array([rule is not None and rule.action == "drop" for rule in by], bool)
    return Ruling(keep, drop, tuple(by), frozenset(matched), frozenset(conflicts))


def reports(rules: Sequence[Rule], matched: Counter[Rule], conflicts: Counter[tuple[Rule, Rule]]) -> list[str]:
    """Warnings after a run: rules that matched nowhere, and those that disagreed; both counted in pages."""
    told = [f"{rule} never matched" for rule in rules if rule not in matched]
    told += [
        f"{first} goes before {other} on {count:,} page{'s' if count > 1 else ''} where both match"
        for (first, other), count in sorted(conflicts.items(), key=lambda one: (one[0][0].where, one[0][1].where))
    ]
    return told


class _Holding:
    """Which leaves of a page each condition holds for."""

    def __init__(self, html: str, leaves: Leaves, values: Sequence[Sequence[Value]]) -> None:
        self.html, self.leaves, self.values = html, leaves, values
        self.plain = [normal(text) for text in leaves.text]
        self.paths: list[str] = []
        self.tree: Tree | None = None  # parsed once, and only where a rule has a selector

    def of(self, rule: Rule) -> list[int]:
        held = list(range(len(self.plain)))
        if rule.slot is not None:
            held = [leaf for leaf in held if any(value.slot.type == rule.slot for value in self.values[leaf])]
        if rule.text is not None:
            wanted = normal(rule.text)
            held = [leaf for leaf in held if self.plain[leaf] == wanted]
        if rule.contains is not None:
            wanted = normal(rule.contains)
            held = [leaf for leaf in held if wanted in self.plain[leaf]]
        if rule.regex is not None:
            pattern = re.compile(rule.regex)
            held = [leaf for leaf in held if pattern.search(self.leaves.text[leaf])]
        return self._selected(rule.selector, held) if rule.selector is not None and held else held

    def _selected(self, selector: str, held: list[int]) -> list[int]:
        elements = self.leaves.elements
        if self.tree is None:
            self.paths = [elements.selector(row) for row in self.leaves.row]
            self.tree = parse(self.html, scripting=not any(marks & NOSCRIPT for marks in elements.marks), limits=None)
        found = [(path, normal(text)) for path, text in selected(self.tree, selector)]
        around = {path for path, _ in found}
        return [
            leaf
            for leaf in held
            if any(step in around for step in _steps(self.paths[leaf]))
            or any(path.startswith(self.paths[leaf] + " > ") and text == self.plain[leaf] for path, text in found)
        ]


def _steps(path: str) -> Iterator[str]:
    """A path and those of the elements around it, the body first."""
    end = path.find(" > ")
    while end >= 0:
        yield path[:end]
        end = path.find(" > ", end + 1)
    yield path


def _read(file: Path, of_site: bool, mistakes: list[str]) -> list[Rule]:
    try:
        if not os.path.lexists(file):
            return []
        if not file.is_file():
            raise TemplateError(f"{file} is no file: rules are read from a TOML file of this name")
        if file.stat().st_size > _MAX_BYTES:
            raise TemplateError(f"{file} is larger than {_MAX_BYTES:,} bytes: no rules.toml is")
        text = file.read_text(encoding="utf-8-sig")
        document = tomllib.loads(text)
    except OSError as error:
        raise TemplateError(f"cannot read {file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        mistakes.append(f"{file} line {line}: not UTF-8")
        return []
    except tomllib.TOMLDecodeError as error:  # tells the line
        mistakes.append(f"{file}: {error}")
        return []
    except (ValueError, RecursionError) as error:
        fault = "nested too deep" if isinstance(error, RecursionError) else "a number that is too long"
        mistakes.append(f"{file} line {_line_of_fault(text, type(error))}: {fault}")
        return []
    lines = _Lines(text)
    rules = []
    for action, tables in document.items():
        if action not in ACTIONS:
            mistakes.append(
                f"{file} line {lines.of_key(action)}: {_cut(action)} is unknown: rules are [[keep]] and [[drop]]"
            )
            continue
        if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
            mistakes.append(f"{file} line {lines.of_key(action)}: write [[{action}]], with its conditions below")
            continue
        for number, table in enumerate(tables):
            wrong = [
                f"{file} line {lines.of(action, number, key)}: {fault}"
                for key, fault in _faults(table)
                if fault is not None
            ]
            mistakes.extend(wrong)
            if not wrong:
                rules.append(Rule(action, f"{file} line {lines.of(action, number)}", of_site, **table))
    return rules


def _faults(table: dict[str, Any]) -> Iterator[tuple[str | None, str | None]]:
    """(key, what is wrong with it) of a rule."""
    if not table:
        yield None, f"a rule without a condition: give one of {', '.join(CONDITIONS)}"
    for key, value in table.items():
        if key not in CONDITIONS:
            yield key, f"{_cut(key)} is unknown: conditions are {', '.join(CONDITIONS)}"
        elif not isinstance(value, str) or not value.strip():
            yield key, f"{key} is {_cut(value)}: give a text in quotes"
        elif key == "selector":
            fault = selector_fault(value)
            yield key, fault and f"selector {_cut(value)} {fault}"
        elif key == "slot" and value not in SLOT_TYPES:
            yield key, f"slot is {_cut(value)}: choose {', '.join(SLOT_TYPES)}"
        elif key == "regex":
            try:
                re.compile(value)
            except (re.error, RecursionError, OverflowError) as error:
                yield key, f"regex {_cut(value)} cannot be read: {error}"


def _cut(value: object) -> str:
    """A value as an error or warning repeats it."""
    written = repr(value)
    return written if len(written) <= _LONGEST_WORDS else written[:_LONGEST_WORDS] + "\u2026"


def _line_of_fault(text: str, kind: type[Exception]) -> int:
    """The line that the reader raises `kind` for, where it tells none: the first by whose end it does."""
    lines = text.split("\n")

    def raised(number: int) -> bool:
        try:
            tomllib.loads("\n".join(lines[: number + 1]))
        except (ValueError, RecursionError) as error:
            return type(error) is kind
        return False

    return bisect_left(range(len(lines)), True, key=raised) + 1


class _Lines:
    """Where the tables and keys of a rules file stand: tomllib does not tell."""

    def __init__(self, text: str) -> None:
        self.tables: dict[tuple[str, int], int] = {}
        self.keys: dict[tuple[str, int, str], int] = {}
        self.first: dict[str, int] = {}
        counts: Counter[str] = Counter()
        table = ("", 0)
        for number, line in enumerate(text.split("\n"), start=1):
            if header := _TABLE.match(line):
                table = (header[1], counts[header[1]])
                counts[header[1]] += 1
                self.tables[table] = number
            if key := _KEY.match(line):
                self.keys.setdefault((*table, key[1]), number)
                self.first.setdefault(key[1], number)

    def of(self, action: str, number: int, key: str | None = None) -> int:
        """The line of a rule, or of a key in it."""
        line = self.tables.get((action, number), self.of_key(action))
        return self.keys.get((action, number, key), line) if key is not None else line

    def of_key(self, key: str) -> int:
        return self.first.get(key, 1)
