"""Pages of a crawl -> where the site of each comes from, and what it is."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from templatediff.crawl import Source
from templatediff.given import Given
from templatediff.html import Head
from templatediff.page import Page, host_of, registrable_domain
from templatediff.prepare import named_host
from templatediff.text import valid

# where a page's site comes from: ("site", name, how it was found) is settled; ("folder", folder, folder's name, host or
# "") waits until all pages of the folder are read
Group = tuple[str, ...]
BY_OPTION, BY_SIDECAR, BY_FOLDER, BY_URL, BY_PAGES = "option", "sidecar", "folder", "URL", "links in the pages"


def group_of(given: Given, source: Source, page: Page, head: Head | None) -> Group:
    """Where a page's site comes from; `head` is asked where nothing else tells."""
    if given.site is not None:
        return ("site", valid(given.site), BY_OPTION)
    if page.site:
        return ("site", page.site, BY_SIDECAR)
    if given.site_from == "folder":
        return ("site", valid(source.folder_site), BY_FOLDER)
    host = host_of(page.url)
    if host:
        return ("site", registrable_domain(host) if given.site_from == "domain" else host, BY_URL)
    named = named_host(head) if head is not None else None
    if named and given.site_from == "domain":
        named = registrable_domain(named)
    return ("folder", source.folder, valid(source.folder_site), named or "")


def resolve(groups: Iterable[Group | None]) -> dict[Group, tuple[str, str]]:
    """(site, how it was found) of each group: the host named by more than half of a folder's pages, else each page's own,
    else the folder."""
    counts: dict[str, Counter[Group]] = defaultdict(Counter)
    found: dict[Group, tuple[str, str]] = {}
    for group in groups:
        if group is None:
            continue
        if group[0] == "site":
            found[group] = group[1], group[2]
        else:
            counts[group[1]][group] += 1
    for members in counts.values():
        total = sum(members.values())
        chosen = next((group[3] for group, count in members.items() if group[3] and 2 * count > total), None)
        for group in members:
            named = chosen or group[3]
            found[group] = (named, BY_PAGES) if named else (group[2], BY_FOLDER)
    return found
