"""Values -> HTML: the templates of the report, in which every value is escaped.                   (the home of jinja2)"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from templatediff.report.charts import HEAD, HEIGHT, NAMES, STRIP, WIDTH, Piece
from templatediff.report.words import shortened, visible

# What a browser may do with a file of the report: show it, with the report's own style sheet and script. No request leaves.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; base-uri 'none'; form-action 'none'; "
    "object-src 'none'; connect-src 'none'"
)
SPLIT = Markup("<!--rows-->")  #: stands in a template for what is written later; no escaped text can hold it


@cache
def _environment() -> Environment:
    made = Environment(
        loader=FunctionLoader(lambda name: files(__package__).joinpath("html", name).read_text(encoding="utf-8")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=visible,
    )
    made.policies["json.dumps_kwargs"] = {"ensure_ascii": False, "separators": (",", ":")}
    made.globals.update(policy=POLICY, wide=WIDTH, tall=HEIGHT, head=HEAD, strip=STRIP, part_names=NAMES, rows=SPLIT)
    made.filters.update(
        percent=_percent, number=_number, score=_score, plural=_plural, brief=_brief, whole_percent=_whole
    )
    return made


def html(template: str, **values: Any) -> str:
    """A template of the folder `html` with these values, each of them data."""
    return _environment().get_template(template).render(values)


def around(template: str, **values: Any) -> tuple[str, str]:
    """What the template has before its rows, and after them."""
    before, after = html(template, **values).split(SPLIT)
    return before, after


def asset(name: str) -> str:
    """The text of the style sheet or the script."""
    return files(__package__).joinpath("static", name).read_text(encoding="utf-8")


def _percent(share: float) -> str:
    """
    >>> _percent(0.256), _percent(0.004), _percent(0), _percent(0.9996), _percent(1)
    ('26 %', 'under 1 %', '0 %', 'over 99 %', '100 %')
    """
    if 0 < share < 0.005:
        return "under 1 %"
    if 0.995 <= share < 1:
        return "over 99 %"
    return f"{share * 100:.0f} %"


def _whole(piece: Piece) -> str:
    """A piece's percents, as they add up in its strip."""
    return (
        "under 1 %"
        if not piece.percent
        else "over 99 %"
        if piece.percent == 100 and piece.share < 1
        else f"{piece.percent} %"
    )


def _number(count: int) -> str:
    return f"{count:,}"


def _score(p: float) -> str:
    """
    >>> _score(0.974), _score(1.0), _score(0.003)
    ('.97', '1.0', '.00')
    """
    return "1.0" if round(p, 2) >= 1 else f"{p:.2f}"[1:]


def _plural(count: int, word: str) -> str:
    """
    >>> _plural(1, "page"), _plural(2000, "leaf")
    ('1 page', '2,000 leaves')
    """
    return f"{count:,} {word if count == 1 else 'leaves' if word == 'leaf' else word + 's'}"


def _brief(text: str) -> str:
    """A text for a cell of a table, in one line."""
    return shortened(" ".join(text.split()), 160)
