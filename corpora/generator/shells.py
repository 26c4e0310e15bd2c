"""Pages of a generated site on which there is nothing to read, its index, and pages of little text, to be told apart by verdicts.

chrome   the frame around an empty main part
script   a shell that scripts fill: a root element, or the site's name and a word
consent  a wall: a consent text with its buttons, nothing behind it
error    "not found": a heading and a sentence or two, the same on every such page; often a way back to the front page
index    a listing: links in sections, without teasers
brief    content: a headline and a paragraph or two in the site's frame
note     content: a paragraph or some with no frame but a link or two before or after
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterator

from corpora.generator import chrome
from corpora.generator.markup import link
from corpora.generator.page import Page
from corpora.generator.plan import Pool, make_plans, make_theme
from corpora.generator.site import names
from corpora.generator.spec import SiteSpec
from corpora.generator.truth import GeneratedPage
from corpora.generator.words import Voice, language, slug

EMPTY_SHELLS = ("chrome", "script", "consent", "error")
SHELLS = (*EMPTY_SHELLS, "index", "brief", "note")


def generate_shells(spec: SiteSpec, shells: tuple[str, ...] = SHELLS, count: int = 2) -> Iterator[GeneratedPage]:
    """So many pages of each kind, with the chrome of the site that `generate_site(spec)` gives; equal bytes for equal specs."""
    lang = language(spec.script)
    name, host, sections = names(spec)
    theme = make_theme(spec, lang, name, host, sections, 1)
    plans, ghosts = make_plans(spec, lang, sections)
    pool = Pool.of(plans, ghosts)
    for shell in shells:
        for number in range(count):
            rng = random.Random(f"{spec.seed}/{spec.script}/{shell}/{number}")
            plan = rng.choice(plans)
            address, title = f"/x/{slug(rng)}", Voice(lang, rng).title()
            if shell in ("error", "consent"):
                title = _constant(spec, shell).title()
            plan = dataclasses.replace(plan, href=address, title=title, optional=frozenset(), original=None)
            page = Page(spec, lang, theme, plan, pool)
            html = _WRITERS[shell](page)
            yield GeneratedPage(
                path=f"{spec.prefix}{plan.href[1:]}.html",
                url=f"https://{host}{plan.href}" if spec.urls else None,
                fetched=plan.fetched.isoformat() + "Z",
                html=html,
                blocks=tuple(page.blocks),
                title=title,
                kind=shell,
                layout=shell,
            )


def _constant(spec: SiteSpec, shell: str) -> Voice:
    """A voice that says the same on every page of the site."""
    return Voice(language(spec.script), random.Random(f"{spec.seed}/{spec.script}/{shell}"))


def _traits(page: Page, shell: str) -> random.Random:
    """What the site's pages of this kind look like."""
    return random.Random(f"{page.theme.seed}/{shell}")


def _chrome(page: Page) -> str:
    return chrome.write(page, body=lambda: None, tail=_traits(page, "chrome").random() < 0.5)


def _script(page: Page) -> str:
    rng = _traits(page, "script")
    if rng.random() < 0.5:
        with page.el("header", "site-header"):
            page.put("div", [link(page.theme.name, "/")], "template", "site-name")
    page.raw('<div id="root"></div>\n')
    if rng.random() < 0.5:
        page.put("div", page.lang.labels["menu"], "template", "loading")
    note = Voice(page.lang, rng).sentences(1)
    page.raw(f"<noscript>{note}</noscript>\n" if rng.random() < 0.7 else "")
    page.raw('<script>window.state = {"items": [1, 2, 3], "text": "' + "lorem " * 40 + '"}</script>\n')
    return chrome.document(page)


def _consent(page: Page) -> str:
    rng, voice = _traits(page, "consent"), _constant(page.spec, "consent")
    if rng.random() < 0.5:
        page.put("div", [link(page.theme.name, "/")], "template", "site-name")
    as_dialog = rng.random() < 0.5 and page.theme.style in ("semantic", "divs")
    page.raw('<div role="dialog" aria-modal="true">\n' if as_dialog else "")
    with page.el("box", "consent"):
        page.put("h2", voice.title(), "template", "consent-heading")
        for _ in range(rng.randint(1, 3)):
            page.put("p", voice.sentences(rng.randint(2, 4)), "template", "consent-text")
        with page.el("box", "choices"):
            page.put("button", page.label("accept"), "template", "cookie-button")
            page.put("button", page.label("settings"), "template", "cookie-button")
    page.raw("</div>\n" if as_dialog else "")
    if rng.random() < 0.5:
        page.put("div", [link(page.lang.labels["licence"], "/licence")], "template", "footer-link")
        page.put("div", [link(page.lang.labels["contact"], "/contact")], "template", "footer-link")
    return chrome.document(page)


def _error(page: Page) -> str:
    rng, voice = _traits(page, "error"), _constant(page.spec, "error-text")
    heading = "404" if rng.random() < 0.3 else page.plan.title
    texts = [voice.sentences(rng.randint(1, 2))]
    home, search = rng.random() < 0.75, rng.random() < 0.3

    def body() -> None:
        page.put("h1", heading, "template", "error-heading")
        for text in texts:
            page.put("p", text, "template", "error-text")
        if search:
            with page.el("form", "search"):
                page.raw('<input type="text" name="q">\n')
                page.put("button", page.label("search"), "template", "search")
        if home:
            page.put("p", [link(page.lang.labels["home"], "/")], "template", "error-home")

    return chrome.write(page, body=body, tail=False, sidebar=rng.random() < 0.5)


def _index(page: Page) -> str:
    rng = _traits(page, "index")
    with_counts = rng.random() < 0.4

    def body() -> None:
        page.put("h1", page.plan.title, "content", "title")
        for _ in range(page.rng.randint(2, 4)):
            page.put("h2", page.voice.menu_label(), "content", "index-heading")
            with page.el("ul", "index"):
                for _ in range(page.rng.randint(5, 9)):
                    pieces = [link(page.voice.title(), f"/stories/{slug(page.rng)}")]
                    page.put("li", pieces, "content", "index-entry")
                    if with_counts:
                        page.put("div", str(page.rng.randint(2, 90)), "dynamic", "index-count")

    return chrome.write(page, body=body, tail=False)


def _brief(page: Page) -> str:
    def body() -> None:
        page.put("h1", page.plan.title, "content", "title")
        for _ in range(page.rng.randint(1, 2)):
            page.paragraph(page.rng.randint(1, 3))

    return chrome.write(page, body=body, tail=_traits(page, "brief").random() < 0.5)


def _note(page: Page) -> str:
    rng = page.rng
    if rng.random() < 0.4:
        with page.el("nav", "note-nav"):
            for label in page.rng.sample(("home", "contact", "licence"), rng.randint(1, 2)):
                page.put(
                    "div",
                    [link(page.lang.labels[label], f"/{label if label != 'home' else ''}")],
                    "template",
                    "note-link",
                )
    if rng.random() < 0.6:
        page.put("h1", page.plan.title, "content", "title")
    for _ in range(rng.randint(1, 4)):
        page.paragraph(rng.randint(1, 3))
    if rng.random() < 0.3:
        page.put("p", page.voice.person(), "content", "signature")
    if rng.random() < 0.3:
        page.put("p", [link(page.lang.labels["home"], "/")], "template", "note-home")
    return chrome.document(page)


_WRITERS = {
    "chrome": _chrome, "script": _script, "consent": _consent, "error": _error, "index": _index, "brief": _brief,
    "note": _note,
}  # fmt: skip
