"""Everything around the body: header, menus, sidebar, the tail of the main column, footer."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from html import escape

from corpora.generator.bodies import BODIES
from corpora.generator.markup import Piece, link, value
from corpora.generator.page import Page
from corpora.generator.plan import Appeal
from corpora.generator.spec import BODIES as BODY_OF_KIND


def write(page: Page, body: Callable[[], None] | None = None, *, tail: bool = True, sidebar: bool = True) -> str:
    """The whole document; the truth is in `page.blocks`. `body` stands in for that of the page's kind, without its notices."""
    if page.spec.cookie_bar == "first":
        _cookie_bar(page)
    _header(page)
    with page.el("row", "layout"):
        if sidebar and page.theme.sidebar == "left":
            _sidebar(page)
        with page.el("col", "content-column"):
            _breadcrumbs(page)
            _optional(page, 0)
            with page.el("main", "content"):
                if body is not None:
                    body()
                else:
                    _body(page)
                for part in page.theme.tail if tail else ():
                    _TAIL[part](page)
        if sidebar and page.theme.sidebar == "right":
            _sidebar(page)
    _footer(page)
    if page.spec.cookie_bar == "last":
        _cookie_bar(page)
    return document(page)


def _body(page: Page) -> None:
    with page.el("article", f"page-{page.plan.kind}"):
        BODIES[BODY_OF_KIND.get(page.plan.kind, "licence")](page)
        if page.spec.disclaimer:
            with page.el("box", "notice"):
                page.put("p", page.theme.disclaimer, "promo", "disclaimer")


def document(page: Page) -> str:
    """What has been written so far as a whole document."""
    body = "".join(page.html)
    title = f"{page.plan.title} - {page.theme.name}"
    address = f"https://{page.theme.host}{page.plan.href}"
    head = [
        '<meta charset="utf-8">',
        f"<title>{escape(title, quote=False)}</title>",
        f'<meta name="description" content="{escape(page.plan.teaser)}">',
        '<link rel="stylesheet" href="/static/site.css">',
    ]
    if page.spec.canonical:
        head.append(f'<link rel="canonical" href="{address}">')
        head.append(f'<meta property="og:url" content="{address}">')
    config = {
        "page": page.plan.number,
        "session": page.aside.rng.getrandbits(64),
        "labels": [page.theme.name, title],
    }
    head.append(f"<script>window.config = {json.dumps(config, ensure_ascii=False)};</script>")
    head.append("<style>.content { max-width: 40em } .ad > div { color: #444 }</style>")
    doctype = "<!DOCTYPE html>"
    if page.theme.style == "tables":
        doctype = '<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN">'
    start = f'<html lang="{page.lang.lang}" dir="{page.lang.direction}">'
    lines = "\n".join(head)
    end = '<noscript><img src="/pixel.gif" alt=""></noscript>\n<script src="/static/site.js"></script>'
    body = f'<body class="kind-{page.plan.kind}">\n<!-- built for {page.plan.href} -->\n{body}{end}\n</body>'
    return f"{doctype}\n{start}\n<head>\n{lines}\n</head>\n{body}\n</html>\n"


def _cookie_bar(page: Page) -> None:
    with page.el("box", "consent"):
        page.put("p", page.theme.cookie, "template", "cookie-bar")
        page.put("button", page.label("accept"), "template", "cookie-button")
        page.put("button", page.label("settings"), "template", "cookie-button")


def _header(page: Page) -> None:
    theme = page.theme
    with page.el("header", "site-header"):
        page.put("div", [link(page.lang.labels["skip"], "#content")], "template", "skip")
        page.put("div", [link(theme.name, "/")], "template", "site-name")
        page.put("div", theme.tagline, "template", "tagline")
        if page.has("today"):
            with page.el("box", "today-box"):
                day = page.aside.date(page.plan.fetched.date())
                page.put("div", page.label("today", d=day), "dynamic", "today")
        with page.el("form", "search"):
            page.raw('<input type="hidden" name="site" value="1"><input type="text" name="q">\n')
            page.put("button", page.label("search"), "template", "search")
        page.put("div", [link(page.lang.labels["login"], "/login")], "template", "login")
    with page.el("nav", "main-menu"):
        if theme.menu_as == "bar":
            _menu_bar(page)
        else:
            with page.el("ul", "menu"):
                for number, (label, entries) in enumerate(theme.menu):
                    page.put("li", [link(label, f"/s{number}")], "template", "nav")
                    for entry in entries:
                        page.put("li", [link(entry, f"/s{number}/{len(entry)}")], "template", "sub-nav")
    if page.has("ticker") and (news := page.others(1, page.aside.rng)):
        with page.el("box", "ticker"):
            page.put("div", [link(news[0].title, news[0].href, "ticker")], "dynamic", "ticker")


def _menu_bar(page: Page) -> None:
    """All entries in one run of text, as menus without lists have them."""
    for number, (label, entries) in enumerate(page.theme.menu):
        pieces = [link(label, f"/s{number}")]
        for entry in entries:
            pieces += [Piece(" | "), link(entry, f"/s{number}/{len(entry)}")]
        page.put("div", pieces, "template", "nav")


def _breadcrumbs(page: Page) -> None:
    if not page.has("breadcrumb"):
        return
    home, section = page.lang.labels["home"], page.plan.section
    with page.el("nav", "breadcrumbs"):
        if page.theme.crumbs_as == "line":
            crumbs = [
                link(home, "/"),
                Piece(" › "),
                link(section, "/s", "crumb-section", "option"),
                Piece(" › "),
            ]
            page.put("div", [*crumbs, value(page.plan.title, "crumb-title")], "dynamic", "breadcrumb")
        else:
            with page.el("ol", "crumbs"):
                page.put("li", [link(home, "/")], "template", "crumb-home")
                page.put("li", [link(section, "/s", "crumb-section", "option")], "dynamic", "crumb-section")
                page.put("li", page.plan.title, "dynamic", "crumb-title")


def _tags(page: Page) -> None:
    if not page.has("tags"):
        return
    with page.el("box", "tags"):
        page.put("div", page.label("tags"), "template", "tags-heading")
        with page.el("ul", "tag-list"):
            for topic in page.voice.topics[: page.aside.rng.randint(2, 4)]:
                page.put("li", [link(topic, f"/tags/{len(topic)}", "tag")], "dynamic", "tag")


def _share(page: Page) -> None:
    with page.el("box", "share"):
        page.put("div", page.label("share"), "template", "share-heading")
        for label in page.theme.shares:
            page.put("div", [link(label, "#share")], "template", "share")


def _comments(page: Page) -> None:
    if page.has("comments"):
        with page.el("box", "comment-count"):
            count = str(page.aside.rng.randint(0, 480))
            page.put("div", page.label("comments_n", n=count), "dynamic", "comment-count")


def _related(page: Page) -> None:
    if not page.has("related"):
        return
    with page.el("box", "related"):
        page.put("h3", page.label("related"), "template", "related-heading")
        for other in page.others(4, page.aside.rng):
            with page.el("box", "related-item"):
                page.put("div", [link(other.title, other.href, "related")], "dynamic", "related")
                if BODY_OF_KIND.get(page.plan.kind) == "product":
                    page.put(
                        "div",
                        [value(page.aside.price(), "related-price", "price")],
                        "dynamic",
                        "related-price",
                    )
                else:
                    page.put("div", other.teaser, "dynamic", "related-teaser")


def _pager(page: Page) -> None:
    if not page.has("pager"):
        return
    with page.el("nav", "pager"):
        for key, other in zip(("prev", "next"), page.others(2, page.aside.rng), strict=False):
            page.put("div", [link(page.lang.labels[key], other.href)], "template", "pager-label")
            page.put("div", [link(other.title, other.href, "pager")], "dynamic", "pager")
        total = page.aside.rng.randint(2, 30)
        numbers = page.label("page_n", "pager", n=str(page.aside.rng.randint(1, total)), m=str(total))
        page.put("div", numbers, "dynamic", "pager-numbers")


_TAIL = {"tags": _tags, "share": _share, "comments": _comments, "related": _related, "pager": _pager}


def _sidebar(page: Page) -> None:
    with page.el("col", "side-column"), page.el("aside", "sidebar"):
        if page.plan.kind == "docs":
            _manual_menu(page)
        _optional(page, 1)
        if page.has("most-read"):
            with page.el("box", "most-read"):
                page.put("h3", page.label("most_read"), "template", "most-read-heading")
                with page.el("ol", "ranking"):
                    for other in _ranking(page):
                        page.put("li", [link(other[0], other[1], "most-read")], "dynamic", "most-read")
        if page.has("ads"):
            for advert in page.aside.rng.sample(page.theme.ads, 2):
                _advert(page, advert)
        if page.spec.newsletter:
            call = page.theme.newsletter
            with page.el("box", "newsletter"):
                page.put("h3", page.label("newsletter"), "promo", "newsletter")
                page.put("p", call.text, "promo", "newsletter")
                page.put("div", page.label("email"), "promo", "newsletter")
                page.put("button", page.label("subscribe"), "promo", "newsletter")
        for number in range(2, page.spec.optional_blocks):
            _optional(page, number)


def _ranking(page: Page) -> list[tuple[str, str]]:
    """Five out of a pool of eight that is the same for all pages."""
    plans = page.pool.plans
    places = random.Random(f"{page.theme.seed}/ranking").sample(range(len(plans)), min(8, len(plans)))
    chosen = page.aside.rng.sample(places, min(5, len(places)))
    return [(plans[place].title, plans[place].href) for place in chosen]


def _manual_menu(page: Page) -> None:
    with page.el("nav", "manual-menu"), page.el("ul", "manual-pages"):
        for other in page.pool.manual:
            page.put("li", [link(other.title, other.href)], "template", "manual-menu")


def _advert(page: Page, advert: Appeal) -> None:
    with page.el("box", "ad"):
        page.put("div", page.label("advert"), "template", "ad-label")
        page.put("div", [link(advert.heading, "/out", "ad", "option")], "dynamic", "ad")
        page.put("div", [value(advert.text, "ad-text", "option")], "dynamic", "ad")


def _optional(page: Page, number: int) -> None:
    """An appeal that a share of the pages carries."""
    if number in page.plan.optional:
        appeal = page.theme.optional[number]
        with page.el("box", f"appeal-{number}"):
            page.put("div", appeal.heading, "promo", f"optional-{number}")
            page.put(
                "p",
                [Piece(appeal.text + page.lang.gap), link(appeal.action, "/o")],
                "promo",
                f"optional-{number}",
            )


def _footer(page: Page) -> None:
    theme = page.theme
    with page.el("footer", "site-footer"):
        for heading, entries in theme.columns:
            with page.el("box", "footer-column"):
                page.put("div", heading, "template", "footer-heading")
                with page.el("ul", "footer-links"):
                    for number, entry in enumerate(entries):
                        page.put("li", [link(entry, f"/f/{number}")], "template", "footer-link")
        with page.el("box", "imprint"):
            page.put("p", theme.about, "template", "about")
            page.put("p", theme.address, "template", "address")
            with page.el("form", "language"), page.el("select", "languages"):
                for language in ("English", "Deutsch", "中文"):
                    page.put("option", language, "template", "language")
            page.put("div", [link(page.lang.labels["contact"], "/contact")], "template", "footer-link")
            page.put("div", [link(page.lang.labels["licence"], "/licence")], "template", "footer-link")
            page.put("p", f"© 2024 {theme.name}. {page.lang.labels['rights']}", "template", "copyright")
            page.put("div", [link(page.lang.labels["top"], "#top")], "template", "top")
        if page.has("counter"):
            with page.el("box", "counter"):
                visitors = str(page.aside.rng.randint(10_000, 9_000_000))
                page.put("div", page.label("visitors_n", n=visitors), "dynamic", "visitors")
