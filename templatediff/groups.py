"""What of a page is one group of leaves: the lines of a code block, the rows of a data table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from templatediff.html import TEXT_ID, Node, tag_id, tag_ids
from templatediff.tags import SKIPPED


def code_lines(node: Node) -> tuple[list[str], list[int]]:
    """Lines of a preformatted element, indentation kept, with the characters of each that are linked."""
    pieces: list[tuple[str, bool]] = []
    breaks, links, skipped = tag_id("br"), tag_id("a"), tag_ids(SKIPPED)
    stack = [(iter([node]), False)]
    while stack:
        children, linked = stack[-1]
        for child in children:
            number = child.tag_id
            if number == TEXT_ID:
                pieces.append((child.text_content or "", linked))
            elif number == breaks:
                pieces.append(("\n", False))
            elif number > TEXT_ID and number not in skipped:
                stack.append((child.iter(include_text=True, skip_empty=False), linked or number == links))
                break
        else:
            stack.pop()
    lines, counts = [""], [0]
    for text, is_link in pieces:
        for number, part in enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n")):
            if number:
                lines.append("")
                counts.append(0)
            lines[-1] += part
            counts[-1] += len(part) if is_link else 0
    return lines, counts


def join_tables(group: list[int], rows_of_leaf: Sequence[int], tables: Iterable[Sequence[int]]) -> None:
    """Give the leaves of each row of a data table a common group: at least two cells, no block layout inside. `tables` are
    [first leaf, end leaf, cells, nested tables or layout blocks]."""
    for first, end, cells, layout_blocks in tables:
        if layout_blocks or cells < 2 or end - first > 3 * cells:
            continue
        for leaf in range(first, end):
            if group[leaf] < 0:
                group[leaf] = rows_of_leaf[leaf]
