"""HTML of an extracted article -> plain text, for peers that give back HTML."""

from __future__ import annotations

import lxml.etree
import lxml.html

_BLOCK_NAMES = (
    "address article aside blockquote body br caption dd details div dl dt fieldset figcaption figure footer "
    "form h1 h2 h3 h4 h5 h6 header hr legend li main nav ol p pre section summary table tbody td tfoot th "
    "thead tr ul"
)
_BLOCKS = frozenset(_BLOCK_NAMES.split())
_SILENT = frozenset(("script", "style", "noscript", "template"))


def html_to_text(html: str) -> str:
    """Text with a line end at both sides of block elements; "" for what lxml cannot parse.

    >>> html_to_text("<div><p>One <b>t</b>wo</p>three</div>")
    'One two\\nthree'
    """
    if not html.strip():
        return ""
    try:
        root = lxml.html.fromstring(html)
    except (lxml.etree.ParserError, ValueError):
        return ""
    pieces: list[str] = []
    silent = 0
    for event, element in lxml.etree.iterwalk(root, events=("start", "end", "comment", "pi")):
        tag = element.tag if isinstance(element.tag, str) else None
        if event == "start":
            silent += tag in _SILENT
            if tag in _BLOCKS:
                pieces.append("\n")
            if element.text and not silent:
                pieces.append(element.text)
            continue
        if event == "end":
            silent -= tag in _SILENT
            if tag in _BLOCKS:
                pieces.append("\n")
        if element.tail and not silent and element is not root:
            pieces.append(element.tail)
    lines = (" ".join(line.split()) for line in "".join(pieces).split("\n"))
    return "\n".join(line for line in lines if line)
