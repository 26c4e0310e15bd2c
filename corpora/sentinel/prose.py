"""Cases of running text: shapes and lengths of articles, short and non-prose blocks, broken markup, appeals in the text."""

from __future__ import annotations

from collections.abc import Callable

from corpora.sentinel.page import Page

Case = Callable[[Page], str]


def _article(style: str) -> Case:
    return lambda page: page.framed(lambda: page.title() + page.paragraphs(4), style)


def _of_length(characters: int) -> Case:
    def case(page: Page) -> str:
        def body() -> str:
            return page.title() + page.block("p1", True, "<p>{}</p>", page.words.characters(characters))

        return page.framed(body)

    return case


def _nothing(page: Page) -> str:
    """A menu and four words: there is no article."""
    return page.menu("semantic") + page.block("four-words", None, "<p>{}</p>", page.words.phrase(4))


def _list_items(page: Page) -> str:
    def body() -> str:
        return page.title() + "<ul>\n" + page.paragraphs(8, 2, "<li>{}</li>", "item") + "</ul>\n"

    return page.framed(body)


def _short_paragraphs(page: Page) -> str:
    def body() -> str:
        texts = (page.words.characters(90 + 5 * number) for number in range(10))
        return page.title() + "".join(
            page.block(f"p{number}", True, "<p>{}</p>", text) for number, text in enumerate(texts, start=1)
        )

    return page.framed(body)


# --- short and non-prose blocks --------------------------------------------------------------------------


def _table(page: Page) -> str:
    rows = "".join("<tr><td>{}</td><td>{}</td><td>{}</td></tr>" for _ in range(4))
    texts = [page.words.phrase(1 + number % 2) for number in range(12)]
    heads = [page.constant(f"column/{number}", lambda source: source.phrase(1)) for number in range(3)]
    head = "<tr><th>{}</th><th>{}</th><th>{}</th></tr>"
    return page.block("table", True, f"<table>{head}{rows}</table>", *heads, *texts)


def _code(page: Page) -> str:
    names = [page.words.coin() for _ in range(9)]
    lines = [f"{names[0]} = {names[1]}({names[2]})", f"for {names[3]} in {names[4]}:"]
    lines += [f"    {names[5]}.{names[6]}({names[3]})", f"{names[7]} = {names[8]} + 1"]
    return page.block("code", True, "<pre><code>{}</code></pre>", "\n".join(lines))


def _figure(page: Page) -> str:
    caption = page.block("caption", True, "<figcaption>{}</figcaption>", page.words.phrase(5))
    return f'<figure><img src="/photo.jpg" alt="">{caption}</figure>\n'


def _data(page: Page) -> str:
    """A table, a caption, code."""

    def body() -> str:
        return (
            page.title()
            + page.paragraphs(2)
            + _table(page)
            + _figure(page)
            + page.paragraphs(2, name="q")
            + _code(page)
        )

    return page.framed(body)


def _lines(page: Page) -> str:
    """Lines under 25 characters, verse, an address."""

    def body() -> str:
        lines = [page.words.phrase(2) for _ in range(6)]
        return (
            page.title()
            + page.paragraphs(2)
            + page.block("short-line", True, "<p>{}</p>", page.words.phrase(2))
            + page.paragraphs(1, name="q")
            + page.block("verse", True, "<p>{}<br>{}<br>{}<br>{}</p>", *lines[:4])
            + page.block("address", True, "<address>{}<br>{}</address>", *lines[4:])
            + page.paragraphs(1, name="r")
        )

    return page.framed(body)


def _terms(page: Page) -> str:
    """Terms with definitions, a quotation of one line."""

    def body() -> str:
        pairs = "".join("<dt>{}</dt><dd>{}</dd>" for _ in range(4))
        texts = [page.words.phrase(2 + 2 * (number % 2)) for number in range(8)]
        return (
            page.title()
            + page.paragraphs(2)
            + page.block("definitions", True, f"<dl>{pairs}</dl>", *texts)
            + page.paragraphs(1, name="q")
            + page.block("quotation", True, "<blockquote><p>{}</p></blockquote>", page.words.phrase(5) + ".")
        )

    return page.framed(body)


# --- broken markup: the same blocks as in `well-formed` --------------------------------------------------


def _markup(paragraph: str, after: str = "") -> Case:
    def case(page: Page) -> str:
        def body() -> str:
            text = page.title()
            for number in range(1, 5):
                first, second, third = (page.say(1) for _ in range(3))
                text += page.block(f"p{number}", True, paragraph, first, second, third) + after
            return text

        return page.framed(body, "named")

    return case


# --- appeals -------------------------------------------------------------------------------------------------


def _appeal(characters: int, density: float = 0.0, stop: bool = True, shown: bool = False) -> Case:
    """A paragraph beside the article's own element: of so many characters, so much of it a link."""

    def case(page: Page) -> str:
        linked = round(characters * density)

        def text() -> tuple[str, ...]:
            words = page.words
            if not linked:
                return (page.constant("appeal", lambda _: words.characters(characters, stop)),)
            plain = page.constant("appeal", lambda _: words.characters(characters - linked - 2, False))
            return plain, page.constant("appeal-link", lambda _: _linked(page, linked))

        def body() -> str:
            markup = '<p>{} <a href="/join">{}</a>.</p>' if linked else "<p>{}</p>"
            article = '<div class="story">\n' + page.title() + page.paragraphs(4) + "</div>\n"
            return article + page.block("appeal", False, markup, *text(), needs_siblings=not shown)

        return page.framed(body, "named")

    return case


def _linked(page: Page, characters: int) -> str:
    """Link text of exactly so many characters."""
    first = characters // 2
    return f"{page.words.coin(first).capitalize()} {page.words.coin(characters - first - 1)}"


def promo(page: Page) -> str:
    """An appeal inside the article that looks like its text."""
    text = page.constant("promo", lambda source: source.sentences(2))
    return page.block("promo", False, "<p>{}</p>", text, needs_siblings=True)


def newsletter(page: Page) -> str:
    """A call with a form."""
    text = page.constant("newsletter", lambda source: source.sentences(1))
    button = page.constant("newsletter-button", lambda source: source.phrase(2))
    form = '<form action="/letter"><p>{}</p><input type="email" name="m"><button>{}</button></form>'
    return page.block("newsletter", False, f'<div class="box">{form}</div>', text, button)


def teaser(page: Page) -> str:
    """Paid text with a heading and a link, the same on every page."""
    texts = [page.constant("paid/head", lambda source: source.phrase(4))]
    texts.append(page.constant("paid/text", lambda source: source.sentences(2)))
    texts.append(page.constant("paid/link", lambda source: source.phrase(2)))
    markup = '<div class="box"><h4>{}</h4><p>{}</p><p><a href="https://shop.example/">{}</a></p></div>'
    return page.block("paid-teaser", False, markup, *texts, needs_siblings=True)


def related(page: Page) -> str:
    """A paragraph on another story, without a link, the same on every page."""
    text = page.constant("related", lambda source: f"{source.phrase(3)}: {source.phrase(6).lower()}")
    return page.block("related", False, "<p>{}</p>", text, needs_siblings=True)


def _related_changing(page: Page) -> str:
    """The same, but for a constant beginning another on every page."""
    start = page.constant("related", lambda source: source.phrase(3))
    return page.block("related", False, "<p>{}: {}</p>", start, page.words.phrase(6).lower(), needs_siblings=True)


def _with(*inside: Callable[[Page], str]) -> Case:
    def case(page: Page) -> str:
        def body() -> str:
            text = page.title() + page.paragraphs(2)
            for number, part in enumerate(inside):
                text += part(page) + page.paragraphs(1, name="qrst"[number])
            return text + page.paragraphs(1, name="z")

        return page.framed(body)

    return case


CASES: dict[str, Case] = {
    "article": _article("semantic"),
    "article-named": _article("named"),
    "article-bare": _article("bare"),
    "near-empty": _nothing,
    "list-items": _list_items,
    "ten-short-paragraphs": _short_paragraphs,
    "one-paragraph-408": _of_length(408),
    **{f"length-{count}": _of_length(count) for count in (120, 250, 500, 800, 1500)},
    "data": _data,
    "lines": _lines,
    "terms": _terms,
    "well-formed": _markup("<p>{} <b>{}</b> <i>{}</i></p>"),
    "unclosed-paragraphs": _markup("<p>{} <b>{}</b> <i>{}</i>"),
    "crossed-tags": _markup("<p>{} <b>{} <i></b>{}</i></p>"),
    "stray-ends": _markup("<p>{} <b>{}</b> <i>{}</i></p>", "</span></b></section></td>\n"),
    "appeal-143": _appeal(120, 0.143, shown=True),
    "appeal-278": _appeal(120, 0.278, shown=True),
    "appeal-81": _appeal(81),
    "appeal-60-stop": _appeal(60),
    "appeal-59": _appeal(59, stop=False),
    "promo": _with(promo),
    "newsletter": _with(newsletter),
    "paid-teaser": _with(teaser),
    "related-unlinked": _with(related),
    "related-changing": _with(_related_changing),
    "all-appeals": _with(promo, newsletter, teaser, related),
}
