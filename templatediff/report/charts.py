"""Histograms and shares as geometry: numbers that the pages draw as inline SVG, and what they say in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from templatediff.report.tally import PARTS, Bar

WIDTH, HEIGHT = 640, 150  #: of a histogram's plot, in user units
HEAD = 16  #: room above it for the count of the tallest bar
GAP = 3
STRIP = 1000  #: width of a strip

NAMES = {
    "kept": "content",
    "changing": "template that changes",
    "static": "template that stays",
    "unknown": "dropped, with nothing to compare",
}


@dataclass(frozen=True, slots=True)
class Column:
    """One bar as drawn: kept leaves stand on the axis, dropped ones on them, their `count` above. Lengths in user units."""

    label: str
    count: str
    x: float
    width: float
    kept: float
    dropped: float
    says: str


@dataclass(frozen=True, slots=True)
class Histogram:
    """`most` is the tallest bar's number of leaves; heights go by the square root, so that small bars are seen."""

    columns: Sequence[Column]
    most: int
    says: str


def histogram(bars: Sequence[Bar], what: str) -> Histogram:
    """Bars as columns. `what` begins the text for who cannot see the picture.

    >>> drawn = histogram([Bar("0", 1, 3), Bar("1", 0, 0)], "On k of 1 other pages")
    >>> drawn.most, drawn.columns[0].says
    (4, '0: 1 kept, 3 dropped')
    >>> drawn.says
    'On k of 1 other pages. 0: 1 kept, 3 dropped.'
    """
    most = max((bar.kept + bar.dropped for bar in bars), default=0)
    wide = (WIDTH + GAP) / max(len(bars), 1)
    columns = []
    for number, bar in enumerate(bars):
        total = bar.kept + bar.dropped
        height = HEIGHT * (total / most) ** 0.5 if total else 0.0
        kept = height * bar.kept / total if total else 0.0
        says = f"{bar.label}: {bar.kept:,} kept, {bar.dropped:,} dropped"
        columns.append(
            Column(
                bar.label,
                brief_count(total),
                round(number * wide, 1),
                round(wide - GAP, 1),
                round(kept, 1),
                round(height - kept, 1),
                says,
            )
        )
    told = "; ".join(column.says for column in columns if column.kept or column.dropped)
    return Histogram(columns, most, f"{what}. {told or 'No leaves'}.")


def brief_count(number: int) -> str:
    """A count in at most four characters, below a billion; "" for none.

    >>> [brief_count(number) for number in (0, 829, 1249, 9_960, 53_800, 999_700, 12_345_678)]
    ['', '829', '1.2k', '10k', '54k', '1M', '12M']
    """
    if number < 1000:
        return str(number or "")
    size, unit = (number / 1e3, "k") if number < 999_500 else (number / 1e6, "M")
    return f"{size:.1f}".removesuffix(".0") + unit if size < 9.95 else f"{size:.0f}{unit}"


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a strip."""

    kind: str
    x: float
    width: float
    share: float
    name: str
    percent: int = 0  # of the strip; those of a strip add up to 100


def share_strip(shares: Mapping[str, float]) -> list[Piece]:
    """Shares of the text side by side, in the order of PARTS; what is not there is left out.

    >>> [(piece.kind, piece.x, piece.width, piece.percent) for piece in share_strip({"kept": 0.25, "static": 0.75})]
    [('kept', 0.0, 250.0, 25), ('static', 250.0, 750.0, 75)]
    """
    found = [(part, shares[part]) for part in PARTS if shares.get(part)]
    pieces, x = [], 0.0
    for (part, share), percent in zip(found, percents([share for _, share in found]), strict=True):
        pieces.append(Piece(part, round(x, 1), round(share * STRIP, 1), share, NAMES[part], percent))
        x += share * STRIP
    return pieces


def percents(shares: Sequence[float]) -> list[int]:
    """Shares that add up to 1 as whole percents that add up to 100 (largest remainders; the first wins a tie).

    >>> percents([0.415, 0.076, 0.509]), percents([])
    ([41, 8, 51], [])
    """
    floors = [int(100 * share) for share in shares]
    rest = sorted(range(len(shares)), key=lambda number: floors[number] - 100 * shares[number])
    missing = round(100 * sum(shares)) - sum(floors)
    return [floor + (number in rest[:missing]) for number, floor in enumerate(floors)]


def page_strip(parts: Sequence[tuple[str, int]]) -> list[Piece]:
    """A page from its first leaf to its last, each as wide as it has tokens; alike neighbours are one piece.

    >>> [(piece.kind, piece.width) for piece in page_strip([("static", 1), ("static", 1), ("kept", 2)])]
    [('static', 500.0), ('kept', 500.0)]
    """
    runs = [(kind, sum(max(tokens, 1) for _, tokens in run)) for kind, run in groupby(parts, key=lambda part: part[0])]
    total = sum(tokens for _, tokens in runs)
    pieces, x = [], 0
    for kind, tokens in runs:
        width = round(tokens * STRIP / total, 1)
        pieces.append(Piece(kind, round(x * STRIP / total, 1), width, tokens / total, NAMES[kind]))
        x += tokens
    return pieces
