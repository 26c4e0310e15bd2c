"""Marks: what a leaf lies inside of, one bit each, inherited by everything below."""

from __future__ import annotations

HEADER, NAV, FOOTER, ASIDE, MAIN, ARTICLE, SECTION, FORM, DIALOG = (1 << bit for bit in range(9))
HIDDEN, ARIA_HIDDEN, LIST, CELL, HEADER_CELL, CODE, QUOTE, FIGURE, CAPTION = (1 << bit for bit in range(9, 18))
BUTTON, DETAILS, TERM, NOSCRIPT, ADDRESS, LABEL, TABLE = (1 << bit for bit in range(18, 25))

MARK_NAMES = [
    "header", "nav", "footer", "aside", "main", "article", "section", "form", "dialog", "hidden", "aria-hidden",
    "list", "cell", "header-cell", "code", "quote", "figure", "caption", "button", "details", "term", "noscript",
    "address", "label", "table",
]  # fmt: skip

MARK_OF_TAG = {
    "header": HEADER, "nav": NAV, "menu": LIST, "footer": FOOTER, "aside": ASIDE, "main": MAIN, "article": ARTICLE,
    "section": SECTION, "form": FORM, "fieldset": FORM, "search": FORM, "dialog": DIALOG, "ul": LIST, "ol": LIST,
    "dl": LIST, "dir": LIST, "table": TABLE, "td": CELL, "th": CELL | HEADER_CELL, "pre": CODE, "listing": CODE,
    "xmp": CODE, "plaintext": CODE, "blockquote": QUOTE, "figure": FIGURE, "figcaption": CAPTION, "caption": CAPTION,
    "button": BUTTON, "details": DETAILS, "summary": DETAILS, "dt": TERM, "address": ADDRESS, "legend": LABEL,
    "noscript": NOSCRIPT,
}  # fmt: skip
MARK_OF_ROLE = {
    "banner": HEADER, "navigation": NAV, "menu": NAV, "menubar": NAV, "contentinfo": FOOTER, "complementary": ASIDE,
    "main": MAIN, "article": ARTICLE, "search": FORM, "form": FORM, "dialog": DIALOG, "alertdialog": DIALOG,
    "button": BUTTON, "list": LIST,
}  # fmt: skip
