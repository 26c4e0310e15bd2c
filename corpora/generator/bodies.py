"""The bodies of the page kinds: what stands in the main column between headline and tail."""

from __future__ import annotations

from collections.abc import Callable

from corpora.generator.markup import Piece, link, value
from corpora.generator.page import Page
from corpora.generator.words import slug

_CODE_WORDS = ("load", "merge", "item", "count", "rows", "index", "path", "limit", "parse", "store")


def article(page: Page) -> None:
    """Headline, byline, lead, sections, a figure, now and then a quotation, a list, a poem with a refrain."""
    page.put("h1", page.plan.title, "content", "title")
    byline(page)
    lead(page)
    sections = page.count(4)
    for number in range(sections):
        if number:
            page.put("h2", page.voice.title(), "content", "heading")
        for _ in range(page.rng.randint(1, 3)):
            page.paragraph(page.rng.randint(2, 4))
        if number == 0:
            in_article_promo(page)
            if page.rng.random() < 0.6:
                figure(page)
        elif number == 1:
            _extra(page)
    quotation(page)


def forum(page: Page) -> None:
    """A thread: per post its author, dates, counts, text, signature and buttons."""
    page.put("h1", page.plan.title, "content", "title")
    people = [page.voice.person() for _ in range(4)]
    signatures = [page.voice.sentences(1) for _ in people]
    previous = ""
    for number in range(page.count(8)):
        who = page.rng.randrange(len(people))
        with page.el("post", "post"):
            if page.has("forum-meta"):
                with page.el("box", "post-author"):
                    page.put(
                        "div",
                        [link(people[who], f"/people/{who}", "author", "person")],
                        "dynamic",
                        "post-author",
                    )
                    page.put("div", page.label("joined", d=_past(page)), "dynamic", "post-joined")
                    page.put(
                        "div",
                        page.label("posts_n", n=str(page.rng.randint(1, 9000))),
                        "dynamic",
                        "post-count",
                    )
                with page.el("box", "post-head"):
                    page.put("div", page.label("posted", d=_past(page)), "dynamic", "post-date")
            with page.el("box", "post-body"):
                if previous and page.rng.random() < 0.3:
                    with page.el("blockquote", "quoted"):
                        page.put("p", previous, "content", "quoted")
                for _ in range(page.rng.randint(1, 3)):
                    page.paragraph(page.rng.randint(1, 3))
                previous = page.blocks[-1].text
            if page.has("forum-meta") and who % 2 == 0:
                with page.el("box", "signature"):
                    page.put("div", signatures[who], "dynamic", "signature")
            with page.el("box", "post-buttons"):
                for key in ("reply", "quote", "report"):
                    page.put("div", [link(page.lang.labels[key], f"#{key}")], "template", "post-button")
        if number == 0:
            in_article_promo(page)


def product(page: Page) -> None:
    """Name, price, description, features, specification, what buyers say."""
    page.put("h1", page.plan.title, "content", "title")
    with page.el("box", "offer"):
        page.put("p", [value(page.voice.price(), "price", "price")], "content", "price")
    with page.el("box", "buy"):
        page.put("button", page.label("add_cart"), "template", "buy")
    with page.el("box", "description"):
        for _ in range(page.count(4)):
            page.paragraph(page.rng.randint(2, 4))
        if page.rng.random() < 0.7:
            figure(page)
        with page.el("ul", "features"):
            for _ in range(page.count(4)):
                page.put("li", page.voice.title(), "content", "list-item")
    in_article_promo(page)
    if page.static("labels"):
        page.put("h2", page.label("specs"), "content", "heading", static=True)
        specification(page)
    with page.el("box", "reviews"):
        page.put("h2", page.label("reviews"), "content", "heading", static=True)
        for _ in range(page.count(3)):
            with page.el("box", "review"):
                if page.has("byline"):
                    with page.el("box", "review-head"):
                        name = page.voice.person()
                        page.put(
                            "div",
                            page.label("byline", "review", p=name, d=_past(page)),
                            "dynamic",
                            "review-byline",
                        )
                with page.el("box", "review-body"):
                    page.paragraph(page.rng.randint(1, 3), "review")


def listing(page: Page) -> None:
    """An introduction and entries: linked title, teaser, date, and a link to read on."""
    page.put("h1", page.plan.title, "content", "title")
    page.paragraph(2)
    for number in range(page.count(11)):
        with page.el("post", "entry"):
            title, href, teaser = page.voice.title(), f"/stories/{slug(page.rng)}", page.voice.sentences(2)
            if number % 4 == 3 and (known := page.others(1, page.rng)):
                title, href, teaser = known[0].title, known[0].href, known[0].teaser
            page.put("h2", [link(title, href, "entry-title")], "content", "entry-title")
            page.put("p", teaser, "content", "entry-teaser")
            with page.el("box", "entry-foot"):
                if page.has("date"):
                    page.put("div", [value(_past(page), "entry-date", "date")], "dynamic", "entry-date")
                page.put("div", [link(page.lang.labels["read_more"], href)], "template", "read-more")
        if number == 2:
            in_article_promo(page)


def docs(page: Page) -> None:
    """A manual page: sections, code, a table of parameters, a note, "See also"."""
    page.put("h1", page.plan.title, "content", "title")
    headings = [page.voice.title() for _ in range(page.count(3))]
    if page.has("page-toc"):
        with page.el("nav", "page-toc"):
            page.put("div", page.label("on_page"), "template", "toc-heading")
            with page.el("ul", "toc"):
                for number, heading in enumerate(headings):
                    page.put("li", [link(heading, f"#s{number}", "page-toc")], "dynamic", "page-toc")
    lead(page)
    page.paragraph(3)
    for number, heading in enumerate(headings):
        page.put("h2", heading, "content", "heading")
        page.paragraph(page.rng.randint(2, 3))
        code(page)
        page.paragraph(page.rng.randint(1, 3))
        if number == 0:
            parameters(page)
            in_article_promo(page)
        elif number == 1:
            with page.el("note", "note"):
                page.put("p", page.label("note"), "content", "note-label", static=True)
                page.paragraph(2)
    quotation(page)
    if page.static("see-also"):
        page.put("h2", page.label("see_also"), "content", "heading", static=True)
        with page.el("ul", "see-also"):
            for other in page.others(3, page.rng):
                page.put("li", [link(other.title, other.href, "see-also")], "content", "see-also")


def licence(page: Page) -> None:
    """A text that is the same wherever it stands, under a headline the footer links by the same word."""
    page.put("h1", page.plan.title, "content", "title", static=True)
    for text in page.theme.licence:
        page.put("p", text, "content", "paragraph", static=True)


BODIES: dict[str, Callable[[Page], None]] = {
    "article": article,
    "forum": forum,
    "product": product,
    "listing": listing,
    "docs": docs,
    "licence": licence,
}


def lead(page: Page) -> None:
    """The first sentence; other pages that recommend this one repeat it as teaser, if the site works so."""
    text = page.plan.teaser if page.spec.lead_as_teaser else page.voice.sentences(1)
    page.put("p", text, "content", "lead")


def byline(page: Page) -> None:
    """Who and when, time to read, views."""
    with page.el("box", "byline-box"):
        date = page.aside.date(page.plan.date)
        if page.has("byline"):
            page.put("div", page.label("byline", p=page.plan.author, d=date), "dynamic", "byline")
        elif page.has("date"):
            page.put("div", page.label("posted", d=date), "dynamic", "date")
        if page.has("counter"):
            page.put("div", page.label("minutes_n", n=str(page.aside.rng.randint(2, 14))), "dynamic", "minutes")
            page.put("div", page.label("views_n", n=str(page.aside.rng.randint(15, 98_000))), "dynamic", "views")


def in_article_promo(page: Page) -> None:
    """The same appeal on every page, in the middle of the content."""
    if page.spec.in_article_promo:
        promo = page.theme.promo
        with page.el("box", "inline-promo"):
            page.put(
                "p",
                [Piece(promo.text + page.lang.gap), link(promo.action, "/join")],
                "promo",
                "in-article-promo",
            )


def figure(page: Page) -> None:
    """An image with alternative text and a caption."""
    with page.el("figure", "figure"):
        page.raw(f'<img src="/media/{slug(page.rng, 1)}.jpg" alt="{page.voice.phrase()}" width="640">\n')
        page.put("figcaption", page.voice.sentences(1), "content", "caption")


def quotation(page: Page) -> None:
    """The quotation that a few pages share."""
    if page.plan.quotes:
        words, who = page.theme.quotation
        with page.el("blockquote", "quotation"):
            page.put("p", words, "content", "quotation", static=True)
            page.put("p", who, "content", "quotation-source", static=True)


def specification(page: Page) -> None:
    """Labels, the same on every product, each beside its value."""
    labels, rng = page.lang.labels, page.rng
    size = " × ".join(str(rng.randint(5, 220)) for _ in range(3)) + " cm"
    rows = (
        ("weight", value(f"{rng.randint(1, 90)}.{rng.randint(0, 9)} kg", "weight", "number")),
        ("size", value(size, "size", "number")),
        ("colour", value(rng.choice(page.lang.classes["A"]), "colour", "option")),
        ("material", value(page.voice.phrase(), "material")),
        ("sku", value(f"{slug(rng, 1)[:2].upper()}-{rng.randint(1000, 99999)}", "sku", "identifier")),
        ("origin", value(page.voice.made_up(), "origin")),
        ("stock", value(labels[rng.choice(("in_stock", "sold_out"))], "stock", "option")),
    )
    table = page.theme.specs_as == "table"
    with page.el("table" if table else "dl", "specs"):
        for key, cell in rows:
            if table:
                page.raw("<tr>")
            page.put("th" if table else "dt", page.label(key), "content", "spec-label", static=True)
            page.put("td" if table else "dd", [cell], "content", "spec-value")
            if table:
                page.raw("</tr>\n")


def parameters(page: Page) -> None:
    """A table whose head stays the same."""
    if page.static("labels"):
        page.put("h3", page.label("parameters"), "content", "heading", static=True)
    with page.el("table", "parameters"):
        if page.static("labels"):
            page.raw("<tr>")
            for key in ("name", "type", "default", "description"):
                page.put("th", page.label(key), "content", "column-label", static=True)
            page.raw("</tr>\n")
        for _ in range(page.rng.randint(2, 4)):
            page.raw("<tr>")
            name = f"{page.rng.choice(_CODE_WORDS)}_{slug(page.rng, 1)}"
            page.put("td", [Piece(name, "code")], "content", "parameter")
            page.put("td", page.rng.choice(("int", "str", "bool", "float")), "content", "parameter-type")
            page.put("td", str(page.rng.choice((0, 1, 2, 8, 64, 100))), "content", "parameter-default")
            page.put("td", page.voice.sentences(1), "content", "parameter-text")
            page.raw("</tr>\n")


def code(page: Page) -> None:
    """A few lines of a program, indented, its keywords marked."""
    names = [slug(page.rng, 1) for _ in range(4)]
    verb, other = page.rng.sample(_CODE_WORDS, 2)
    limit = page.rng.randint(2, 900)

    def keyword(word: str) -> Piece:
        return Piece(word, "span.k")

    pieces = [
        keyword("def"), Piece(f" {verb}_{names[0]}({names[1]}, {other}={limit}):\n    {names[2]} = []\n    "),
        keyword("for"), Piece(f" {names[3]} "), keyword("in"), Piece(f" {names[1]}:\n        "),
        keyword("if"), Piece(f" {names[3]} < {other}:\n            {names[2]}.append({names[3]} + 1)\n    "),
        keyword("return"), Piece(f" {names[2]}\n"),
    ]  # fmt: skip
    page.put("pre", pieces, "content", "code", code=True)


def _extra(page: Page) -> None:
    """A list or a poem, on some pages."""
    chance = page.rng.random()
    if chance < 0.35:
        with page.el("ul", "points"):
            for _ in range(page.rng.randint(3, 5)):
                page.put("li", page.voice.sentences(1), "content", "list-item")
    elif chance < 0.6 and page.static("refrain"):
        refrain = page.theme.refrain if page.spec.shared_refrain else page.voice.sentences(1)
        for _ in range(3):
            page.paragraph(2, "verse")
            page.put("p", refrain, "content", "refrain", static=page.spec.shared_refrain)


def _past(page: Page) -> str:
    """A date before the page was fetched."""
    day = page.plan.fetched.date().toordinal() - page.rng.randint(1, 1500)
    return page.voice.date(page.plan.fetched.date().fromordinal(day))
