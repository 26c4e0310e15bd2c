"""Elements by name -> what the walk of `templatediff.segment` does at each, as a table by the parser's numbers."""

from __future__ import annotations

from functools import lru_cache

from templatediff.html import tag_ids
from templatediff.marks import MARK_OF_TAG
from templatediff.options import BLOCK_TAGS, Options

# What the walk does at an element.
BLOCK, SKIP, BR, LINK, IMAGE, STRONG, FALLBACK, KEPT_INLINE, SPACE = range(1, 10)

# What else the walk must know of an element: its heading level, 1 to 6, or that it is
CODE_BLOCK, ROW, A_CELL, A_TABLE, LAYOUT = range(7, 12)  # the last: a block that a cell of a data table does not hold
_KIND_OF_TAG = {
    **{f"h{level}": level for level in range(1, 7)},
    **dict.fromkeys(["pre", "listing", "xmp", "plaintext"], CODE_BLOCK),
    **dict.fromkeys(["td", "th"], A_CELL),
    **dict.fromkeys(["article", "section", "nav", "header", "footer", "aside", "main", "form", "hr"], LAYOUT),
    "tr": ROW,
    "table": A_TABLE,
}

SKIPPED = frozenset([
    "script", "style", "template", "iframe", "embed", "video", "audio", "canvas", "svg", "textarea", "select",
    "input", "datalist", "noembed", "noframes", "head", "title", "meta", "link", "map", "area", "source", "track",
    "progress", "meter",
])  # fmt: skip
_KEPT_INLINE_TAGS = frozenset([
    "em", "i", "u", "s", "del", "ins", "sub", "sup", "code", "kbd", "samp", "var", "mark", "small", "cite", "q",
    "abbr", "time", "bdo", "bdi",
])  # fmt: skip

Entry = tuple[int, str, int, int]
PLAIN: Entry = (0, "", 0, 0)
BODY: Entry = (0, "body", 0, 0)


@lru_cache(16)
def entries_of(options: Options, scripting: bool) -> dict[int, Entry]:
    """Parser number of an element -> (what the walk does there, its name, its marks, its heading level or one of the kinds
    of table parts); absent: an inline element whose tags say nothing, or one unknown to HTML."""
    actions = dict.fromkeys(_KEPT_INLINE_TAGS, KEPT_INLINE)
    actions |= dict.fromkeys(BLOCK_TAGS, SPACE)
    actions |= dict.fromkeys(options.leaf_tags, BLOCK)
    actions |= dict.fromkeys(SKIPPED, SKIP)
    actions |= {"b": STRONG, "strong": STRONG, "br": BR, "a": LINK, "img": IMAGE, "noscript": FALLBACK}
    actions |= {"body": BLOCK, "hr": BLOCK}
    if not scripting:  # what stands in for scripts is a block of its own, so that its leaves carry the mark
        actions["noscript"] = BLOCK
    found: dict[int, Entry] = {}
    for tag, action in actions.items():
        for number in tag_ids(frozenset([tag])):
            found[number] = (action, tag, MARK_OF_TAG.get(tag, 0), _KIND_OF_TAG.get(tag, 0))
    return found
