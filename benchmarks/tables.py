"""Rows -> Markdown tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from benchmarks.measure import ORACLE, Row
from benchmarks.scoring import Mean, mean_by_site

Key = Callable[[Row], str | None]
Measure = Callable[[Row], float]
#: Means over sets count sets of so many sites; smaller ones are too noisy to weigh the same.
LARGE = 10
BY: dict[str, Key] = {
    "set": lambda row: row.set,
    "type": lambda row: row.page_type,
    "site": lambda row: f"{row.set}/{row.site}",
}
MEASURES: dict[str, Measure] = {
    "f1": lambda row: row.f1,
    "precision": lambda row: row.precision,
    "recall": lambda row: row.recall,
    "words": lambda row: row.words,
    "bare": lambda row: row.bare,
}
Cells = dict[str, dict[str, Mean]]


def cells(rows: Iterable[Row], key: Key, measure: Measure) -> Cells:
    """group -> extractor -> mean with interval; groups sorted, rows without one left out."""
    values: dict[str, dict[str, list[Row]]] = {}
    for row in rows:
        group = key(row)
        if group is not None:
            values.setdefault(group, {}).setdefault(row.extractor, []).append(row)
    return {
        group: {
            name: mean_by_site([measure(row) for row in found], [(row.set, row.site) for row in found])
            for name, found in values[group].items()
        }
        for group in sorted(values)
    }


def overall(table: Cells, names: Sequence[str], excluded: dict[str, frozenset[str]], least: int) -> list[float | None]:
    """Per extractor the plain mean over groups with `least` sites or more, None when a group is missing or
    was trained on: a mean over other groups would not compare."""
    groups = [group for group, found in table.items() if max(mean.sites for mean in found.values()) >= least]
    means: list[float | None] = []
    for name in names:
        found = [table[group].get(name) for group in groups]
        if not groups or None in found or excluded.get(name, frozenset()) & set(groups):
            means.append(None)
        else:
            means.append(sum(mean.value for mean in found if mean) / len(groups))
    return means


def table(
    rows: Sequence[Row],
    by: str,
    names: Sequence[str],
    excluded: dict[str, frozenset[str]],
    measure: str = "f1",
) -> str:
    """A Markdown table: a line a group, a column an extractor, the means over groups below.

    The first column of `names` and those of templatediff carry their 95 % interval by site. A value in
    brackets was measured on pages on which that extractor was trained.
    """
    found = cells(rows, BY[by], MEASURES[measure])
    lines = [
        f"| {by} | pages | sites | {' | '.join(names)} |",
        "|---|" + "---:|" * (len(names) + 2),
    ]
    for group, means in found.items():
        most = max(means.values(), key=lambda mean: mean.pages)
        shown = [_cell(means.get(name), name, group in excluded.get(name, frozenset())) for name in names]
        lines.append(f"| {group} | {most.pages} | {most.sites} | {' | '.join(shown)} |")
    if by != "site":
        for text, least in ((f"mean of {by}s", 1), (f"mean of {by}s with {LARGE}+ sites", LARGE)):
            means_over = overall(found, names, excluded, least)
            if not any(means_over):
                continue
            shown = ["" if mean is None else f"**{_short(mean)}**" for mean in means_over]
            lines.append(f"| {text} | | | {' | '.join(shown)} |")
    return "\n".join(lines)


def _short(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")


def _cell(mean: Mean | None, name: str, trained: bool) -> str:
    if mean is None:
        return ""
    text = _short(mean.value)
    if name.startswith("templatediff"):
        text += f" ({_short(mean.low)}-{_short(mean.high)})"
    return f"[{text}]" if trained else text


def comparison(rows: Sequence[Row], by: str, ours: str, peers: Sequence[str], measure: str = "f1") -> str:
    """How far `ours` is ahead of the best peer of each group by a measure, page by page, and how much of the gap to the
    oracle that closes. The interval is of the difference on the same pages, by site."""
    value = MEASURES[measure]
    found = cells(rows, BY[by], value)
    counted: list[tuple[int, float, float, float | None]] = []  # sites, best peer, ours, oracle
    on_page = {(row.extractor, row.page): row for row in rows}
    lines = [
        f"| {by} | best peer | its F1 | {ours} | ahead by (95 %) | gap to oracle closed |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for group, means in found.items():
        rivals = [name for name in peers if name in means]
        if ours not in means or not rivals:
            continue
        best = max(rivals, key=lambda name: means[name].value)
        pairs = [
            (row, on_page[best, row.page])
            for row in rows
            if row.extractor == ours and BY[by](row) == group and (best, row.page) in on_page
        ]
        ahead = mean_by_site([value(a) - value(b) for a, b in pairs], [(a.set, a.site) for a, _ in pairs])
        oracle = means[ORACLE].value if ORACLE in means else None
        counted.append((means[ours].sites, means[best].value, means[ours].value, oracle))
        lines.append(
            f"| {group} | {best} | {_short(means[best].value)} | {_short(means[ours].value)} "
            f"| {ahead.value:+.3f} ({ahead.low:+.3f} to {ahead.high:+.3f}) | {_closed(*counted[-1][1:])} |"
        )
    for text, least in ((f"mean of {by}s", 1), (f"mean of {by}s with {LARGE}+ sites", LARGE)):
        chosen = [entry for entry in counted if entry[0] >= least]
        if chosen:
            best_mean = sum(entry[1] for entry in chosen) / len(chosen)
            our_mean = sum(entry[2] for entry in chosen) / len(chosen)
            oracles = [entry[3] for entry in chosen if entry[3] is not None]
            ceiling = sum(oracles) / len(oracles) if len(oracles) == len(chosen) else None
            lines.append(
                f"| {text} | | **{_short(best_mean)}** | **{_short(our_mean)}** "
                f"| **{our_mean - best_mean:+.3f}** | {_closed(best_mean, our_mean, ceiling)} |"
            )
    return "\n".join(lines)


def _closed(best: float, ours: float, ceiling: float | None) -> str:
    """The share of the gap between the best peer and the oracle that is closed; "" where we are behind."""
    if ceiling is None or ours <= best or ceiling <= best:
        return ""
    return f"{(ours - best) / (ceiling - best):.0%}"


def failures(rows: Iterable[Row]) -> str:
    """Pages on which an extractor failed, a line each extractor and reason."""
    counts: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if row.error:
            counts.setdefault((row.extractor, row.error.partition(":")[0]), []).append(row.page)
    return "\n".join(
        f"- {name}: {len(found)} x {kind} (first: {found[0]})" for (name, kind), found in sorted(counts.items())
    )
