"""Kept leaves and images -> runs of inline content, each for one element of the outline.

An image is kept where text beside it is kept: in the deepest container around it that holds any leaf, the leaf
next before the image or the leaf next after it is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from templatediff.inline import LINE_END, inline_html, inline_image, inline_markdown, plain
from templatediff.leaves import Leaves
from templatediff.outline import CELLS, HEADINGS, Outline, begins_block

Resolve = Callable[[str], str]


@dataclass(slots=True)
class Run:
    """Inline content that belongs together: the row of its home and its HTML in pieces."""

    home: int
    pieces: list[str]


def runs_of(leaves: Leaves, kept: Sequence[bool], outline: Outline, resolve: Resolve, markdown: bool) -> list[Run]:
    """The kept leaves and images as runs: one for what `<br>` parts, for what stands in one heading, one flat cell or
    one block of code, and for images with the text that follows them in their container."""
    runs: list[Run] = []
    images = _kept_images(leaves, kept)
    image_row = -1  # container of the image that was written last, if no leaf came after it
    begun, run_begun = -1, -2  # leaf that began the block being read, and the one being written
    for leaf in range(len(leaves) + 1):
        for image, row in images.get(leaf, ()):
            written = inline_image(image, resolve, markdown)
            if not written:
                continue
            same_home = bool(runs) and runs[-1].home == outline.home[row]
            if same_home and (image_row == row or _is_one_run(outline.name_of_home(row), markdown)):
                runs[-1].pieces += [" ", written]
            else:
                runs.append(Run(outline.home[row], [written]))
            image_row, run_begun = row, -2
        if leaf == len(leaves):
            break
        row, breaks = leaves.row[leaf], leaves.breaks[leaf]
        if begins_block(leaves, leaf):
            begun = leaf
        if not kept[leaf]:
            continue
        name = outline.name_of_home(row)
        between = ""  # begins a run
        if runs and runs[-1].home == outline.home[row]:
            if name == "pre":
                between = "\n" * max(1, breaks)
            elif image_row == row:
                between = " "
            elif breaks == 1 and run_begun == begun and not (markdown and name in HEADINGS):
                between = LINE_END if markdown and name not in CELLS else "<br>"
            elif _is_one_run(name, markdown):
                between = " " if name in HEADINGS else "<br>"
        content = _content(leaves, leaf, name, between, resolve, markdown)
        if between:
            runs[-1].pieces += [between, content]
        else:
            runs.append(Run(outline.home[row], [content]))
        image_row, run_begun = -1, begun
    return runs


def _is_one_run(name: str, markdown: bool) -> bool:
    return name in HEADINGS or (markdown and name in CELLS)


def _content(leaves: Leaves, leaf: int, name: str, between: str, resolve: Resolve, markdown: bool) -> str:
    """Inline HTML of one leaf in a home of this name."""
    markup = leaves.markup[leaf] if leaves.markup else escape(leaves.text[leaf], quote=False)
    group = leaves.group[leaf]
    if group >= 0 and leaves.elements.tag[group] != "tr":  # a line of code
        line = escape(plain(markup), quote=False) if markdown else markup
        return line if name == "pre" else f"<code>{line}</code>"
    if not markdown:
        return inline_html(markup, resolve)
    line_start = between != " " and name not in HEADINGS and name not in CELLS
    return inline_markdown(markup, resolve, line_start)


def _kept_images(leaves: Leaves, kept: Sequence[bool]) -> dict[int, list[tuple[str, int]]]:
    """Leaf -> (HTML, row) of the images to be written before it, by the rule at the head of this module."""
    found: dict[int, list[tuple[str, int]]] = {}
    if not leaves.images or not leaves.text:
        return found
    parent = leaves.elements.parent
    first, last = [len(leaves)] * len(parent), [-1] * len(parent)
    for leaf, row in enumerate(leaves.row):
        first[row], last[row] = min(first[row], leaf), leaf
    for row in range(len(parent) - 1, 0, -1):
        first[parent[row]] = min(first[parent[row]], first[row])
        last[parent[row]] = max(last[parent[row]], last[row])
    holder = list(range(len(parent)))
    for row in range(1, len(parent)):
        if last[row] < 0:
            holder[row] = holder[parent[row]]
    for leaf, image, row in leaves.images:
        around = holder[row]
        if (first[around] < leaf and kept[leaf - 1]) or (leaf <= last[around] and kept[leaf]):
            found.setdefault(leaf, []).append((image, row))
    return found
