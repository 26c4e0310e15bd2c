"""Text -> lexemes: words, marks and typed values (dates, prices, numbers, identifiers) as one unit each.

Language independent: a date is a day, a word and a year in any script, or figures in one of the usual orders; a price is
a number beside a sign of currency (or one of its written names). Nothing here knows what a page is about.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from templatediff.text import UNSPACED

WORD, MARK, DATE, TIME, PRICE, NUMBER, IDENTIFIER = "word", "mark", "date", "time", "price", "number", "identifier"
#: what a slot may be; the first five are also kinds of lexemes
SLOT_TYPES = ("date", "time", "price", "number", "identifier", "count", "person", "links", "options", "text")
TYPED = frozenset([DATE, TIME, PRICE, NUMBER, IDENTIFIER])

_YEAR = r"(?:(?:1[6-9]|20|25|57)\d\d|[\u0660-\u0669\u06f0-\u06f9\u0966-\u096f]{4})(?!\d)"
_NAME = r"[^\W\d_][^\s\d.,;:/()]{1,14}"  # of a month; some have marks that are no letters to a regular expression
_JOIN = r"(?:[^\W\d_]{1,3}\s+)?"  # "12 de mayo de 2024"
_CLOCK = r"\d{1,2}:\d{2}(?::\d{2})?(?:\s?[apAP]\.?[mM]\b\.?)?"
_DATES = (
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?!\d)",
    r"\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d{2})(?!\d)",
    r"\d{4}\s?[\u5e74\ub144]\s?\d{1,2}\s?[\u6708\uc6d4](?:\s?\d{1,2}\s?[\u65e5\uc77c])?",
    rf"\d{{1,2}}(?:\.|\u00ba|st\b|nd\b|rd\b|th\b|er\b)?\s+{_JOIN}{_NAME}\.?,?\s+{_JOIN}{_YEAR}",
    rf"\b{_NAME}\.?\s+\d{{1,2}}(?:st|nd|rd|th)?,?\s+{_YEAR}",
    rf"{_YEAR}\.?\s+{_NAME}\s+\d{{1,2}}\b\.?",
)
_DATE = rf"(?<!\d)(?:{'|'.join(_DATES)})(?:(?:T|,?\s+(?:[^\W\d_]{{1,3}}\.?\s+)?){_CLOCK}(?:Z|[+\-]\d\d:?\d\d)?)?"
_SIGN = r"[$\u00a2-\u00a5\u060b\u09f2\u0e3f\u17db\u20a0-\u20c0\ufdfc\uff04\uffe0\uffe1\uffe5\uffe6]"
_CURRENCY = (
    r"(?:USD|EUR|GBP|JPY|CHF|CNY|AUD|CAD|INR|RUB|PLN|CZK|SEK|NOK|DKK|HUF|TRY|BRL|ILS|KRW|AED|SAR|THB|MXN|ZAR|Fr|Kr|kr|z\u0142"
    r"|K\u010d|Ft|lei|\u043b\u0432|\u0440\u0443\u0431|\u0433\u0440\u043d|\u062f\u0631\u0647\u0645|\u0631\u064a\u0627\u0644"
    r"|\u062c\u0646\u064a\u0647|\u062f\u064a\u0646\u0627\u0631|\u0e1a\u0e32\u0e17|TL|Rp|R\$|euros?|dollars?)(?![^\W\d_])\.?"
)
_EASTERN = r"[\u5186\u5143\uc6d0]"
_DIGITS = r"\d+(?:[.,'\u2019\u00a0\u202f]\d{3})*(?:[.,]\d+)?"
_PRICE = (
    rf"(?:{_SIGN}|\b(?:US|R|A|C)?\$|\b{_CURRENCY})\s?[\-\u2212]?{_DIGITS}|{_DIGITS}(?:,[\-\u2013])?\s?"
    rf"(?:{_SIGN}|{_CURRENCY}|{_EASTERN})"
)
_NUMBER = rf"[+\-\u2212]?{_DIGITS}(?:\s?%)?(?:\s?[\u00d7x\u2013/]\s?{_DIGITS})*"
_IDENTIFIER = (
    r"(?<![^\W_])(?=[\w\-./#]*\d)(?:#\d+|(?=[\w\-./]*[A-Za-z])[A-Za-z0-9]+(?:[-_./][A-Za-z0-9]+)+"
    r"|(?=[A-Za-z0-9]*[A-Za-z])(?=[A-Za-z]*\d[A-Za-z0-9]*\d[A-Za-z0-9]*\d)[A-Za-z0-9]+)(?![A-Za-z0-9])"
)
_WORDS = rf"(?P<word>{UNSPACED.pattern}|(?:(?!{UNSPACED.pattern})[^\W\d])+)|(?P<mark>[^\s\w]|\w)"
_PLAIN = re.compile(_WORDS)  # without a digit there is no typed value
_LEXEME = re.compile(
    rf"(?P<date>{_DATE})|(?P<time>(?<!\d){_CLOCK}(?!\d))|(?P<price>{_PRICE})|(?P<identifier>{_IDENTIFIER})"
    rf"|(?P<number>(?<!\d){_NUMBER})|{_WORDS}"
)
_UNIT = 3  # letters of a unit of measurement at most ("kg", "min")
_LONGEST = 160  # characters of a typed value with words around it
MOST_VALUES = 400  #: values looked at to tell a type


@dataclass(frozen=True, slots=True)
class Lexeme:
    """One unit of a text: `kind`, what it is compared by (`form`), and where it stands, text[start:end]."""

    kind: str
    form: str
    start: int
    end: int


def lexemes(text: str) -> list[Lexeme]:
    """The lexemes of a text in order. Typed values compare by kind; a number with its unit alone is one number.

    >>> [(one.kind, one.form) for one in lexemes("By Ann on 3 May 2024")]
    [('word', 'by'), ('word', 'ann'), ('word', 'on'), ('date', '<date>')]
    >>> [one.form for one in lexemes("12 kg")], [one.form for one in lexemes("2024年5月1日 AB-12")]
    (['<number>'], ['<date>', '<identifier>'])
    """
    found = []
    for match in (_LEXEME if any(map(str.isdigit, text)) else _PLAIN).finditer(text):
        kind = match.lastgroup or MARK
        form = f"<{kind}>" if kind in TYPED else match[0].casefold()
        found.append(Lexeme(kind, form, match.start(), match.end()))
    if len(found) == 2 and found[0].kind == NUMBER and found[1].kind == WORD:
        unit = found[1]
        if unit.end - unit.start <= _UNIT and not UNSPACED.search(text):
            return [Lexeme(NUMBER, f"<{NUMBER}>", found[0].start, unit.end)]
    return found


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without white space and separating marks at its ends.

    >>> trimmed("by Ann Lee , ", 3, 12)
    (3, 10)
    """
    while start < end and (text[start].isspace() or text[start] in ",;:|/\u00b7\u2022\u203a\u00bb\u3001\uff0c\u060c"):
        start += 1
    while end > start and (
        text[end - 1].isspace() or text[end - 1] in ",;:|/\u00b7\u2022\u203a\u00bb\u3001\uff0c\u060c"
    ):
        end -= 1
    return start, end


def value_type(
    values: Sequence[str],
    link_share: float = 0.0,
    per_page: float = 1.0,
    beside_date: bool = False,
    constant: bool = False,
) -> str:
    """What most of the values are: "date", "time", "price", "number", "count", "identifier", "person", "links",
    "options" or "text".

    `link_share` of the characters are links; `per_page` values stand on a page; `beside_date`: in a byline;
    `constant`: constant words stand around the value, which make a whole number a count.

    >>> value_type(["12.05.2024", "1 June 2023"]), value_type(["4,50 \\u20ac", "EUR 12"]), value_type(["3 comments"] * 3)
    ('date', 'price', 'count')
    >>> value_type(["Ann Lee", "Bo van Dyk", "Cy O'Hara"]), value_type(["News", "Sport", "News"] * 3)
    ('person', 'options')
    """
    if not values:
        return "text"
    values = values[:MOST_VALUES]
    kinds = Counter(_kind(value, constant) for value in values)
    kind, most = max(kinds.items(), key=lambda one: (one[1], one[0]))
    if kind != "text" and most * 5 >= len(values) * 4:
        return kind
    if sum(_like_person(value, beside_date) for value in values) * 10 >= len(values) * 9:
        return "person"
    distinct = len(set(values))
    if link_share > 0.8 and per_page > 2.5:
        return "links"
    if len(values) >= 6 and distinct * 3 <= len(values):
        return "options"
    return "links" if link_share > 0.8 else "text"


def _kind(value: str, constant: bool) -> str:
    if len(value) > _LONGEST or not any(map(str.isdigit, value)):
        return "text"
    found = lexemes(value)
    kinds = [one.kind for one in found if one.kind != MARK]
    typed = [kind for kind in kinds if kind in TYPED]
    if len(kinds) > 12 or len(typed) != 1:
        return "text"
    (kind,) = typed
    if kind != NUMBER:
        return kind if len(kinds) <= (12 if kind == DATE else 6) else "text"
    if len(kinds) == 1:
        return "count" if constant and re.fullmatch(r"[\d.,\s\u00a0\u202f/\u2013]+", value) else NUMBER
    return "count" if len(kinds) <= 6 else "text"


def _like_person(value: str, beside_date: bool) -> bool:
    """Two to four words that begin with capitals, or, where the script has none, a short name in a byline."""
    words = value.split()
    if len(value) > 40 or any(map(str.isdigit, value)) or len(words) > 4:
        return False
    if value.upper() != value.lower():
        capitals = sum(word[:1].isupper() and not word.isupper() for word in words)
        return len(words) >= 2 and capitals >= 2 and words[0][:1].isupper() and words[-1][:1].isupper()
    return beside_date and (len(words) >= 2 or 2 <= len(value) <= 8)
