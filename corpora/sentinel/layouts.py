"""Cases of layout: regions that compete, misleading names, dialogs, copies, records, documentation, goods, listings."""

from __future__ import annotations

from corpora.sentinel.page import Page
from corpora.sentinel.prose import Case


def _two_regions(page: Page) -> str:
    """Two dense columns, both content."""

    def body() -> str:
        left = "<div>\n" + page.title() + page.paragraphs(4, name="left") + "</div>\n"
        return left + "<div>\n" + page.paragraphs(4, name="right") + "</div>\n"

    return page.framed(body, "named")


def _in_aside(page: Page) -> str:
    """The article stands in an aside."""
    head = page.menu("semantic")
    return head + "<aside>\n" + page.title() + page.paragraphs(4) + "</aside>\n" + page.foot("semantic")


def _misleading_content(page: Page) -> str:
    """The article's class names are those of a sidebar."""
    head = page.menu("named")
    body = page.title() + page.paragraphs(4, markup='<p class="comment ad">{}</p>')
    return f'{head}<div class="sidebar promo widget"><div class="footer-box">\n{body}</div></div>\n{page.foot("named")}'


def _misleading_chrome(page: Page) -> str:
    """The chrome's class names are those of an article."""
    head = page.links("menu", 6, '<div class="article content">*</div>', '<a class="entry-title" href="#">{}</a> ')
    body = '<div class="x1">\n' + page.title() + page.paragraphs(4) + "</div>\n"
    aside = page.links(
        "side", 5, '<div class="post-content main"><ul>*</ul></div>', '<li><a href="#">{}</a></li>', words=4
    )
    return head + body + aside + page.foot("bare")


_CONSENT = ("consent/1", "consent/2", "consent/3", "consent/4", "consent/5")


def _consent(attributes: str, shown: bool) -> Case:
    """Consent text longer than the article."""

    def case(page: Page) -> str:
        texts = [page.constant(key, lambda source: source.sentences(3)) for key in _CONSENT]
        buttons = [page.constant(f"button/{number}", lambda source: source.phrase(2)) for number in range(2)]
        markup = "<p>{}</p>" * len(texts) + "<button>{}</button><button>{}</button>"
        wall = page.block(
            "consent", False, f"<div{attributes}>{markup}</div>", *texts, *buttons, needs_siblings=not shown
        )
        return wall + page.framed(lambda: page.title() + page.paragraphs(2))

    return case


def _aria_hidden(page: Page) -> str:
    """A dialog is open, and the page behind it is hidden from assistive technology until it is closed."""
    behind = page.framed(lambda: page.title() + page.paragraphs(4))
    text = page.constant("dialog", lambda source: source.sentences(2))
    button = page.constant("dialog-button", lambda source: source.phrase(2))
    markup = '<div role="dialog" aria-modal="true"><p>{}</p><button>{}</button></div>'
    return f'<div id="app" aria-hidden="true">\n{behind}</div>\n' + page.block("dialog", False, markup, text, button)


def _menu_copies(page: Page) -> str:
    """The menu for wide and for narrow screens."""
    wide = page.menu("semantic")
    narrow = wide.replace('class="main-nav"', 'class="mobile-nav"')
    return wide + narrow + "<main>\n" + page.title() + page.paragraphs(4) + "</main>\n" + page.foot("semantic")


def _article_copies(page: Page) -> str:
    """The article for wide and for narrow screens."""

    def body() -> str:
        story = page.title("<h2>{}</h2>") + page.paragraphs(4)
        return f'<div class="wide">\n{story}</div>\n<div class="narrow">\n{story}</div>\n'

    return page.framed(body, "named")


def _refrain(page: Page) -> str:
    """A refrain is content, however often it comes."""

    def body() -> str:
        text = page.title() + page.paragraphs(1, markup="<p>{}</p>", name="first")
        refrain = page.say(1)
        for name in ("second", "third"):
            text += page.block("refrain", True, "<p>{}</p>", refrain) + page.paragraphs(1, name=name)
        return text + page.block("refrain", True, "<p>{}</p>", refrain)

    return page.framed(body)


def _several_articles(page: Page) -> str:
    """Four articles in one main."""
    text = page.menu("semantic") + "<main>\n"
    for number in range(1, 5):
        heading = page.block(f"heading{number}", None, "<h2>{}</h2>", page.words.phrase(4))
        text += f"<article>\n{heading}{page.paragraphs(2, name=f'a{number}p')}</article>\n"
    return text + "</main>\n" + page.foot("semantic")


def _forum(page: Page) -> str:
    """Six posts by three members, whose signatures stand under all that they write."""

    def body() -> str:
        text = page.title()
        for number in range(1, 7):
            member = number % 3
            name = page.constant(f"member/{member}", lambda source: source.phrase(1))
            signature = page.constant(f"signature/{member}", lambda source: source.phrase(6))
            author = page.block(f"author{member}", None, '<div class="author">{}</div>', name)
            post = page.paragraphs(1, 3, '<div class="text">{}</div>', f"post{number}-")
            markup = '<div class="signature">{}</div>'
            line = page.block(f"signature{member}", False, markup, signature, needs_siblings=True)
            text += f'<div class="post">\n{author}{post}{line}</div>\n'
        return text

    return page.framed(body, "named")


def _docs(page: Page) -> str:
    """Documentation with admonitions, a tree of pages and a way on."""
    head = page.menu("semantic")
    tree = page.links("tree", 9, '<nav class="toctree"><ul>*</ul></nav>', '<li><a href="#">{}</a></li>')
    text = "<main>\n" + page.title() + page.paragraphs(2)
    for kind in ("note", "warning"):
        label = page.constant(f"label/{kind}", lambda source: source.phrase(1))
        markup = f'<div class="admonition {kind}"><p class="admonition-title">{{}}</p><p>{{}}</p></div>'
        text += page.block(f"admonition-{kind}", True, markup, label, page.say(2))
        text += page.paragraphs(1, name=f"after-{kind}")
    lines = "\n".join(f"{page.words.coin()}({page.words.coin()})" for _ in range(3))
    text += page.block("code", True, "<pre>{}</pre>", lines) + "</main>\n"
    way = page.links("way", 2, '<nav class="prev-next">*</nav>', '<a href="#">{}</a> ', own=True)
    return head + tree + text + way + page.foot("semantic")


def _product(style: str) -> Case:
    """A product with a table of data, beside a button and other goods."""

    def case(page: Page) -> str:
        def body() -> str:
            labels = [page.constant(f"spec/{number}", lambda source: source.phrase(1)) for number in range(6)]
            values = [page.words.phrase(2) for _ in labels]
            rows = "".join("<tr><th>{}</th><td>{}</td></tr>" for _ in labels)
            cells = [text for pair in zip(labels, values, strict=True) for text in pair]
            buy = page.constant("buy", lambda source: source.phrase(2))
            return (
                page.title()
                + page.paragraphs(2, 2)
                + page.block("buy", False, "<button>{}</button>", buy)
                + page.block("specification", True, f"<table>{rows}</table>", *cells)
                + page.links(
                    "others", 4, '<div class="others"><ul>*</ul></div>', '<li><a href="#">{}</a></li>', own=True
                )
            )

        return page.framed(body, style)

    return case


def _listing(page: Page) -> str:
    """Eight entries with title and teaser; a pager."""

    def body() -> str:
        text = page.title()
        for number in range(1, 9):
            markup = f'<div class="entry"><h2><a href="/story/{page.number}{number}">{{}}</a></h2><p>{{}}</p></div>'
            text += page.block(f"entry{number}", True, markup, page.words.phrase(4), page.say(1))
        return text + page.links("pager", 4, '<div class="pager">*</div>', '<a href="#">{}</a> ', words=1)

    return page.framed(body, "named")


def _sidebar(page: Page) -> str:
    """Breadcrumb, share buttons, most-read list, tags."""
    head = page.menu("semantic")
    crumbs = page.links("crumbs", 2, '<nav aria-label="breadcrumb">*</nav>', '<a href="#">{}</a> › ', words=1)
    story = "<article>\n" + page.title() + page.paragraphs(4)
    share = page.links("share", 4, '<ul class="share">*</ul>', '<li><a href="#">{}</a></li>', words=1)
    tags = page.links("tags", 3, '<p class="tags">*</p>', '<a href="#">{}</a>, ', own=True, words=1)
    most = page.links("most-read", 5, "<aside><ol>*</ol></aside>", '<li><a href="#">{}</a></li>', own=True, words=5)
    return f"{head}<main>\n{crumbs}{story}{share}{tags}</article></main>\n{most}{page.foot('semantic')}"


def _legal(page: Page) -> str:
    """A long notice without links in the footer."""
    notice = page.constant("legal", lambda source: source.sentences(5))
    body = page.framed(lambda: page.title() + page.paragraphs(3))
    return body + page.block("legal", False, "<footer><p>{}</p></footer>", notice)


def _old_tables(page: Page) -> str:
    """Layout by tables, as pages were once made."""
    menu = page.links("menu", 6, "<td>*</td>", '<a href="#">{}</a><br>')
    story = page.title("<font size=+2>{}</font><br><br>") + page.paragraphs(4, markup="{}<br><br>")
    return f"<table><tr>{menu}<td>{story}</td></tr></table>\n{page.foot('bare')}"


def _flat(page: Page) -> str:
    """No element but breaks and links."""
    menu = page.links("menu", 6, "*<br>", '<a href="#">{}</a> | ')
    return menu + page.title("<b>{}</b><br>") + page.paragraphs(4, markup="{}<br><br>") + page.foot("bare")


CASES: dict[str, Case] = {
    "two-regions": _two_regions,
    "article-in-aside": _in_aside,
    "misleading-content": _misleading_content,
    "misleading-chrome": _misleading_chrome,
    "consent-dialog": _consent(' role="dialog" aria-modal="true"', True),
    "consent-plain": _consent("", False),
    "aria-hidden": _aria_hidden,
    "menu-copies": _menu_copies,
    "article-copies": _article_copies,
    "refrain": _refrain,
    "several-articles": _several_articles,
    "forum": _forum,
    "documentation": _docs,
    "product": _product("semantic"),
    "product-bare": _product("bare"),
    "listing": _listing,
    "sidebar": _sidebar,
    "legal-notice": _legal,
    "old-tables": _old_tables,
    "flat": _flat,
}
