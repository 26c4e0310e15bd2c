"""Write the demonstration crawl from its texts: python corpora/make_demo.py

Two made-up sites under corpora/demo/<host>/, their gold under corpora/demo-gold/<host>/, the texts in
corpora/demo-texts/. The files are committed; a test holds that this script still gives their bytes.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Callable, Iterator
from html import escape
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from corpora.generator.markup import Piece, Style, Writer, link

HERE = Path(__file__).resolve().parent
Text = dict[str, Any]
_LINK = re.compile(r"\[([^]]+)\]\(([^)]+)\)")


def demo_pages() -> Iterator[tuple[str, str, str]]:
    """(path without ending, HTML, gold) of every page, site by site."""
    for name, pages in (("harbour-gazette", gazette), ("werkstatt-lindner", lindner)):
        texts = tomllib.loads((HERE / "demo-texts" / f"{name}.toml").read_text(encoding="utf-8"))
        yield from pages(texts)


def main() -> int:
    """Write all pages and their gold."""
    for path, html, gold in demo_pages():
        page, text = HERE / "demo" / f"{path}.html", HERE / "demo-gold" / f"{path}.gold.txt"
        for file, content in ((page, html), (text, gold)):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content, encoding="utf-8", newline="\n")
    return 0


def gazette(site: Text) -> Iterator[tuple[str, str, str]]:
    """The newspaper: semantic HTML5, articles and listings."""
    articles = {article["slug"]: article for article in site["article"]}
    order = list(articles)

    def address(slug: str) -> str:
        return f"/{articles[slug]['section'].lower()}/{slug}"

    def tail(page: Writer, here: int) -> None:
        article = articles[order[here]]
        with page.el("box", "after-story"):
            page.put("div", f"{article['comments']} comments", "dynamic", "comments")
            page.put("div", "Share this story", "template", "share")
        with page.el("aside", "related"):
            page.put("h3", "More from the Gazette", "template", "related-heading")
            with page.el("ul", "related-list"):
                for step in (2, 3, 5):
                    other = articles[order[(here + step) % len(order)]]
                    page.put("li", [link(other["title"], address(other["slug"]))], "dynamic", "related")
        with page.el("nav", "pager"):
            for word, other in (("Earlier story:", here - 1), ("Later story:", here + 1)):
                slug = order[other % len(order)]
                page.put("p", [Piece(word + " "), link(articles[slug]["title"], address(slug))], "dynamic", "pager")

    def story(page: Writer, here: int) -> None:
        article = articles[order[here]]
        page.put("h1", article["title"], "content", "title")
        byline = f"By {article['author']}, {article['date']} · {article['minutes']} min read"
        page.put("p", byline, "dynamic", "byline")
        running_text(page, article["text"][:2])
        promo(page, site)
        with page.el("figure", "figure"):
            page.raw(f'<img src="/photos/{article["slug"]}.jpg" alt="{escape(article["alt"])}">\n')
            page.put("figcaption", article["caption"], "content", "caption")
        running_text(page, article["text"][2:])
        page.put("p", site["disclaimer"], "promo", "disclaimer")

    for number, slug in enumerate(order):
        article = articles[slug]
        page = Writer(Style("semantic", site["host"], slug))

        def body(page: Writer = page, number: int = number, section: str = article["section"]) -> None:
            with page.el("nav", "breadcrumbs"), page.el("ol", "crumbs"):
                page.put("li", [link("Front page", "/")], "template", "crumb")
                page.put("li", [link(section, f"/{section.lower()}")], "dynamic", "crumb")
            with page.el("article", "story"):
                story(page, number)
            tail(page, number)

        yield document(page, site, address(slug), article["title"], "en", number, body, _most_read(site, number))
    for number, listing in enumerate(site["listing"]):
        page = Writer(Style("semantic", site["host"], listing["slug"]))

        def entries(page: Writer = page, listing: Text = listing, number: int = number) -> None:
            page.put("h1", listing["title"], "content", "title")
            page.put("p", listing["intro"], "content", "intro")
            for slug in listing["entries"]:
                with page.el("post", "entry"):
                    page.put("h2", [link(articles[slug]["title"], address(slug))], "content", "entry-title")
                    page.put("p", site["teasers"][slug], "content", "entry-teaser")
                    page.put("div", articles[slug]["date"], "dynamic", "entry-date")
                    page.put("div", [link("Read the story", address(slug))], "template", "read-more")
            with page.el("nav", "pages"):
                page.put("div", f"Page 1 of {6 - number}", "dynamic", "pager")

        href = f"/lists/{listing['slug']}"
        yield document(page, site, href, listing["title"], "en", number + 9, entries, _most_read(site, number))


def lindner(site: Text) -> Iterator[tuple[str, str, str]]:
    """The workshop: plain divs, products with a table of data, and guides."""
    products = {product["slug"]: product for product in site["product"]}
    order = list(products)

    def related(page: Writer, here: int) -> None:
        with page.el("box", "dazu-passend"):
            page.put("h3", "Dazu passt", "template", "related-heading")
            for step in (1, 2):
                other = products[order[(here + step) % len(order)]]
                page.put("div", [link(other["title"], f"/werkzeug/{other['slug']}")], "dynamic", "related")
                page.put("div", other["price"], "dynamic", "related-price")

    for number, product in enumerate(site["product"]):
        page = Writer(Style("divs", site["host"], product["slug"]))

        def goods(page: Writer = page, product: Text = product, number: int = number) -> None:
            with page.el("box", "brotkrumen"):
                page.put("div", f"Werkzeug › {product['title']}", "dynamic", "breadcrumb")
            with page.el("box", "ware"):
                page.put("h1", product["title"], "content", "title")
                with page.el("box", "kauf"):
                    page.put("p", product["price"], "content", "price")
                    page.put("button", "In den Warenkorb", "template", "buy")
                page.raw(f'<img src="/bilder/{product["slug"]}.jpg" alt="{escape(product["alt"])}">\n')
                page.put("p", product["caption"], "content", "caption")
                running_text(page, product["text"])
                promo(page, site)
                page.put("h2", "Technische Angaben", "content", "heading", static=True)
                with page.el("table", "angaben"):
                    for label, value in zip(site["labels"], product["values"], strict=True):
                        page.raw("<tr>")
                        page.put("th", label, "content", "spec-label", static=True)
                        page.put("td", value, "content", "spec-value")
                        page.raw("</tr>\n")
                page.put("p", site["disclaimer"], "promo", "disclaimer")
            related(page, number)

        yield document(page, site, f"/werkzeug/{product['slug']}", product["title"], "de", number, goods)
    for number, guide in enumerate(site["guide"]):
        page = Writer(Style("divs", site["host"], guide["slug"]))

        def manual(page: Writer = page, guide: Text = guide, number: int = number) -> None:
            with page.el("box", "brotkrumen"):
                page.put("div", f"Anleitungen › {guide['title']}", "dynamic", "breadcrumb")
            with page.el("box", "anleitung"):
                page.put("h1", guide["title"], "content", "title")
                page.put("div", f"Zuletzt geändert am {guide['date']}", "dynamic", "date")
                running_text(page, guide["text"][:4])
                promo(page, site)
                running_text(page, guide["text"][4:])
                page.put("h2", "Siehe auch", "content", "heading", static=True)
                with page.el("ul", "siehe-auch"):
                    for slug in guide["see"]:
                        page.put("li", [link(products[slug]["title"], f"/werkzeug/{slug}")], "content", "see-also")
                page.put("p", site["disclaimer"], "promo", "disclaimer")
            with page.el("box", "blaettern"):
                other = site["guide"][(number + 1) % len(site["guide"])]
                pieces = [Piece("Nächste Anleitung: "), link(other["title"], f"/anleitungen/{other['slug']}")]
                page.put("div", pieces, "dynamic", "pager")

        yield document(page, site, f"/anleitungen/{guide['slug']}", guide["title"], "de", number + 7, manual)


def running_text(page: Writer, texts: list[str]) -> None:
    """Paragraphs, headings, quotations and lists, as the texts mark them."""
    inside = False
    for text in texts:
        if inside and not text.startswith("- "):
            page.raw("</ul>\n")
        if not inside and text.startswith("- "):
            page.raw("<ul>\n")
        inside = text.startswith("- ")
        if inside:
            page.put("li", _pieces(text[2:]), "content", "list-item")
        elif text.startswith("## "):
            page.put("h2", text[3:], "content", "heading")
        elif text.startswith("> "):
            with page.el("blockquote"):
                page.put("p", text[2:], "content", "quotation")
        else:
            page.put("p", _pieces(text), "content", "paragraph")
    if inside:
        page.raw("</ul>\n")


def promo(page: Writer, site: Text) -> None:
    """The appeal in the middle of the content."""
    with page.el("box", "unterstuetzen" if site["host"].endswith("lindner.example") else "support"):
        page.put("p", [Piece(site["promo"] + " "), link(site["promo_link"], "/join")], "promo", "in-article-promo")


def document(
    page: Writer,
    site: Text,
    href: str,
    title: str,
    lang: str,
    number: int,
    body: Callable[[], None],
    most_read: list[tuple[str, str]] | None = None,
) -> tuple[str, str, str]:
    """The page around a body, its path and its gold."""
    words = _WORDS[lang]
    with page.el("box", "consent"):
        page.put("p", site["cookie"], "template", "cookie-bar")
        page.put("button", words["accept"], "template", "cookie-button")
        page.put("button", words["refuse"], "template", "cookie-button")
    with page.el("header", "site-header"):
        page.put("div", [link(site["name"], "/")], "template", "site-name")
        page.put("div", site["tagline"], "template", "tagline")
        with page.el("nav", "menu"), page.el("ul", "menu-list"):
            for entry in site["menu"]:
                page.put("li", [link(entry, f"/{entry.lower().replace(' ', '-')}")], "template", "nav")
    with page.el("main", "main"):
        body()
    with page.el("aside", "side"):
        if most_read:
            page.put("h3", words["most_read"], "template", "most-read-heading")
            with page.el("ol", "most-read"):
                for text, target in most_read:
                    page.put("li", [link(text, target)], "dynamic", "most-read")
        with page.el("box", "ad"):
            heading, text = site["ads"][number % len(site["ads"])]
            page.put("div", words["advert"], "template", "ad-label")
            page.put("div", [link(heading, "/out")], "dynamic", "ad")
            page.put("div", text, "dynamic", "ad")
        with page.el("box", "letter"):
            page.put("p", site["newsletter"], "promo", "newsletter")
            page.put("button", words["subscribe"], "promo", "newsletter")
    with page.el("footer", "site-footer"):
        with page.el("ul", "footer-links"):
            for entry in site["footer"]:
                page.put("li", [link(entry, f"/{entry.lower().replace(' ', '-')}")], "template", "footer-link")
        page.put("p", site["address"], "template", "address")
        page.put("p", site["copyright"], "template", "copyright")
    html = f"""<!DOCTYPE html>
<html lang="{lang}">
<head>
<meta charset="utf-8">
<title>{escape(title, quote=False)} | {escape(site["name"], quote=False)}</title>
<link rel="canonical" href="https://{site["host"]}{href}">
<link rel="stylesheet" href="/site.css">
<script>window.page = {{"number": {number}}};</script>
</head>
<body>
{"".join(page.html)}</body>
</html>
"""
    gold = "\n\n".join(block.text for block in page.blocks if block.kind == "content")
    return f"{site['host']}{href}", html, gold + "\n"


_WORDS = {
    "en": {
        "accept": "Accept all",
        "refuse": "Only what is needed",
        "most_read": "Most read this week",
        "advert": "Advertisement",
        "subscribe": "Send it to me",
    },
    "de": {
        "accept": "Einverstanden",
        "refuse": "Ablehnen",
        "most_read": "Meistgelesen",
        "advert": "Anzeige",
        "subscribe": "Eintragen",
    },
}


def _most_read(site: Text, number: int) -> list[tuple[str, str]]:
    """Four stories; the list moves on by one every second page."""
    articles = site["article"]
    chosen = [articles[(number // 2 + step) % len(articles)] for step in range(4)]
    return [(article["title"], f"/{article['section'].lower()}/{article['slug']}") for article in chosen]


def _pieces(text: str) -> list[Piece]:
    pieces: list[Piece] = []
    done = 0
    for found in _LINK.finditer(text):
        pieces += [Piece(text[done : found.start()]), link(found[1], found[2])]
        done = found.end()
    return [*pieces, Piece(text[done:])]


if __name__ == "__main__":
    sys.exit(main())
