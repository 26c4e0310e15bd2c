"""Labels -> the page's headline, and the part of its title that is its own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from templatediff.fingerprint import Fingerprint
from templatediff.hashes import text_hash, title_parts
from templatediff.label import Labels
from templatediff.repetition import View, among


def headline(labels: Labels, texts: Sequence[str]) -> str | None:
    """The page's headline: the highest heading that is its title or a part of it, else its main heading if that agrees with
    the title, else the title without the site's part. A part that most siblings' titles have too is the site's; so is the
    highest heading where it is chrome and no more than a part (a name above the menu), and the content has a longer part."""
    context, page = labels.context, labels.context.page
    of_site = np.zeros(len(page), bool)
    if context.site is not None:
        of_site = 2 * context.k(context.site, "title") > context.site.n
    named = np.flatnonzero((page.heading > 0) & among(page.title_hashes, page.text_hash) & ~of_site)
    if len(named):
        highest = int(named[np.argmin(page.heading[named])])
        kept = named[labels.kept[named]]
        whole = page.text_hash[highest] == text_hash(page.title or "")
        if len(kept) and not labels.kept[highest] and not whole:
            return max(texts[highest], texts[int(kept[np.argmin(page.heading[kept])])], key=len)
        return texts[highest]
    place = context.main_heading
    if (
        place >= 0
        and not of_site[place]
        and (context.title_share[place] >= 0.5 or (page.heading[place] == 1 and not page.title))
    ):
        return texts[place]
    return own_title(page, labels.site) or (texts[place] if place >= 0 else None)


def own_title(page: Fingerprint, site: View | None) -> str | None:
    """The title without the parts that siblings' titles have too ("Story - Section - Site" gives "Story")."""
    if not page.title:
        return None
    parts = title_parts(page.title)
    if site is not None and site.n and len(parts) > 1:
        shared = site.k("title", np.array([text_hash(part) for part in parts], np.uint64))
        own = [part for part, count in zip(parts, shared.tolist(), strict=True) if 2 * count <= site.n]
        if own:
            return max(own, key=len)
    return page.title
