"""What is settled before a page is written: addresses, titles, dates, and the constant texts of the site."""

from __future__ import annotations

import dataclasses
import datetime
import random
from collections.abc import Callable
from dataclasses import dataclass

from corpora.generator.spec import BODIES, STYLES_OF_KINDS, SiteSpec
from corpora.generator.words import Language, Voice, slug

_FOLDERS = {
    "semantic": "stories", "tables": "texts", "soup": "read", "flat": "notes", "news": "news", "blog": "blog",
    "forum": "forum", "product": "shop", "listing": "topics", "docs": "manual", "licence": "legal",
}  # fmt: skip
#: Titles of pages that the site has and the crawl has not: linked, never written.
GHOSTS = 16


@dataclass(frozen=True, slots=True)
class Plan:
    """One page before it is written."""

    number: int
    kind: str
    design: int
    slug: str
    href: str
    title: str
    teaser: str
    section: str
    author: str
    date: datetime.date
    fetched: datetime.datetime
    optional: frozenset[int]
    quotes: bool = False
    original: Plan | None = None

    @property
    def layout(self) -> str:
        """Page kind and design."""
        return self.kind if self.design == 1 else f"{self.kind}@{self.design}"


@dataclass(frozen=True, slots=True)
class Pool:
    """The pages that others link to: those of the crawl, then the ghosts; and those a manual's menu lists."""

    plans: tuple[Plan, ...]
    manual: tuple[Plan, ...]

    @classmethod
    def of(cls, plans: list[Plan], ghosts: list[Plan]) -> Pool:
        """All but the licence pages; the manual's menu names the first 20 manual pages."""
        pool = (*(plan for plan in plans if plan.kind != "licence"), *ghosts)
        manual = [plan for plan in pool if plan.kind == "docs" and plan.original is None]
        return cls(pool, tuple(manual[:20]))

    def others(self, plan: Plan, count: int, draw: random.Random) -> list[Plan]:
        """Other pages, no near-duplicates of `plan` among them; the cost does not grow with the site."""
        group = (plan.original or plan).href
        found: dict[str, Plan] = {}
        for place in draw.sample(range(len(self.plans)), min(len(self.plans), 4 * count + 8)):
            other = self.plans[place]
            key = (other.original or other).href
            if key != group and len(found) < count:
                found.setdefault(key, other)
        return list(found.values())


@dataclass(frozen=True, slots=True)
class Appeal:
    """A promo: heading, text, and the words of its link."""

    heading: str
    text: str
    action: str


@dataclass(frozen=True, slots=True)
class Theme:
    """The constant texts and the arrangement of one design of a site."""

    seed: str
    style: str
    name: str
    host: str
    tagline: str
    menu: tuple[tuple[str, tuple[str, ...]], ...]
    columns: tuple[tuple[str, tuple[str, ...]], ...]
    about: str
    address: str
    cookie: str
    promo: Appeal
    disclaimer: str
    newsletter: Appeal
    optional: tuple[Appeal, ...]
    ads: tuple[Appeal, ...]
    shares: tuple[str, ...]
    sidebar: str
    menu_as: str
    crumbs_as: str
    specs_as: str
    tail: tuple[str, ...]
    quotation: tuple[str, str]
    refrain: str
    licence: tuple[str, ...]


def make_theme(spec: SiteSpec, lang: Language, name: str, host: str, sections: tuple[str, ...], design: int) -> Theme:
    """The constant texts of a design; designs share the site's name and its sections."""
    seed = f"{spec.seed}/{spec.script}/theme{design}"
    rng = random.Random(seed)
    voice = Voice(lang, rng)

    def labels(count: int) -> tuple[str, ...]:
        return tuple(dict.fromkeys(voice.menu_label() for _ in range(count)))

    def appeal(sentences: int) -> Appeal:
        return Appeal(voice.title(), voice.sentences(sentences), voice.menu_label())

    style = spec.style or STYLES_OF_KINDS[spec.kinds[0]]
    if design > 1:
        style = {
            "semantic": "divs",
            "divs": "semantic",
            "soup": "semantic",
            "tables": "divs",
            "flat": "divs",
        }[style]
    tail = ["tags", "share", "comments", "related", "pager"]
    rng.shuffle(tail)
    constant = Voice(lang, random.Random(f"{spec.seed}/{spec.script}/constant"))
    return Theme(
        seed=seed,
        style=style,
        name=name,
        host=host,
        tagline=voice.title(),
        menu=tuple((section, labels(rng.randint(2, 4))) for section in sections),
        columns=tuple((voice.menu_label(), labels(rng.randint(3, 6))) for _ in range(3)),
        about=voice.sentences(2),
        address=voice.address(),
        cookie=voice.sentences(3),
        promo=appeal(2),
        disclaimer=voice.sentences(2),
        newsletter=appeal(1),
        optional=tuple(appeal(1) for _ in range(spec.optional_blocks)),
        ads=tuple(appeal(1) for _ in range(5)),
        shares=labels(4),
        sidebar=rng.choice(("left", "right", "right")),
        menu_as=rng.choice(("list", "list", "bar")),
        crumbs_as=rng.choice(("list", "line")),
        specs_as=rng.choice(("table", "table", "dl")),
        tail=tuple(tail),
        quotation=(constant.sentences(2), constant.person()),
        refrain=constant.sentences(1),
        licence=tuple(constant.sentences(count) for count in (3, 4, 3, 5, 4)),
    )


def make_plans(spec: SiteSpec, lang: Language, sections: tuple[str, ...]) -> tuple[list[Plan], list[Plan]]:
    """The pages to write, and the ghosts: pages that are only linked."""
    rng = random.Random(f"{spec.seed}/{spec.script}/plans")
    voice = Voice(lang, rng, topics=12)
    authors = tuple(voice.person() for _ in range(6))
    kinds = [spec.kinds[number % len(spec.kinds)] for number in range(spec.pages)]
    carriers = [_share(rng, kinds, spec.optional_share) for _ in range(spec.optional_blocks)]
    quoting = [n for n, kind in enumerate(kinds) if BODIES[kind] in ("article", "docs")]
    quotes = set(rng.sample(quoting, min(len(quoting), spec.quotation_pages)))
    if "quotation" not in spec.static_content:
        quotes = set()
    slugs: set[str] = set()
    titles: set[str] = set()

    def plan(number: int, kind: str) -> Plan:
        month = spec.months[min(max(number, 0) * len(spec.months) // spec.pages, len(spec.months) - 1)]
        first = datetime.datetime.fromisoformat(f"{month}-01")
        fetched = first + datetime.timedelta(days=rng.randrange(27), seconds=rng.randrange(86_400))
        title = _fresh(voice.title, titles)
        name = _fresh(lambda: slug(rng), slugs)
        return Plan(
            number=number,
            kind=kind,
            design=2 if spec.redesign and month >= spec.redesign else 1,
            slug=name,
            href=f"/{_FOLDERS[kind]}/{name}",
            title=title,
            teaser=voice.sentences(1),
            section=rng.choice(sections),
            author=rng.choice(authors),
            date=fetched.date() - datetime.timedelta(days=rng.randrange(900)),
            fetched=fetched,
            optional=frozenset(n for n, pages in enumerate(carriers) if number in pages),
            quotes=number in quotes,
        )

    pages = [plan(number, kind) for number, kind in enumerate(kinds)]
    ghosts = [plan(-1, kinds[number % len(kinds)]) for number in range(GHOSTS)]
    for _ in range(spec.near_duplicates):
        original = rng.choice(pages[: spec.pages])
        name = _fresh(lambda: slug(rng), slugs)
        href = f"{original.href.rpartition('/')[0]}/{name}"
        pages.append(dataclasses.replace(original, number=len(pages), slug=name, href=href, original=original))
    if "licence" in spec.static_content:
        licence = plan(spec.pages - 1, "licence")
        title = lang.labels["licence"]
        for href in ("/licence", "/legal/licence"):
            pages.append(
                dataclasses.replace(
                    licence, number=len(pages), slug="licence", href=href, title=title, optional=frozenset()
                )
            )
    return pages, ghosts


def _fresh(draw: Callable[[], str], taken: set[str]) -> str:
    """The first draw that is not taken yet; it is then."""
    while (found := draw()) in taken:
        pass
    taken.add(found)
    return found


def _share(rng: random.Random, kinds: list[str], share: float) -> frozenset[int]:
    """So many pages of each kind, drawn."""
    chosen: list[int] = []
    for kind in dict.fromkeys(kinds):
        pages = [number for number, other in enumerate(kinds) if other == kind]
        chosen += rng.sample(pages, round(share * len(pages)))
    return frozenset(chosen)
