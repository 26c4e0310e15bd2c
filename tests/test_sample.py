from __future__ import annotations

import random

import templatediff as td
from corpora.generator import SiteSpec, generate_site
from templatediff.fingerprint import fingerprint
from templatediff.options import Options
from templatediff.pipeline import derive
from templatediff.prepare import prepare
from templatediff.profile import SiteProfile
from templatediff.sample import take
from templatediff.segment import segment

WORDS = ["tide", "lock", "heron", "mole", "quay", "pier", "oar", "reef", "gull", "buoy", "sail", "rope", "mast", "keel"]
TOP = "<nav><ul><li>Start</li><li>Harbour</li><li>People</li></ul></nav>"
END = "<footer><p>All rights are kept by the harbour office.</p></footer>"


def prose(rng: random.Random) -> str:
    return " ".join(rng.choices(WORDS, k=40)) + "."


def article(number: int) -> str:
    rng = random.Random(number)
    return f"{TOP}<article><h1>{prose(rng)[:30]}</h1><div class=body><p>{prose(rng)}</p><p>{prose(rng)}</p></div></article>{END}"


def thread(number: int) -> str:
    rng = random.Random(-number)
    posts = "".join(
        f"<tr><td class=who><b>{rng.choice(WORDS)}</b><td class=post><blockquote>{prose(rng)}</blockquote><i>Quote this</i>"
        for _ in range(4)
    )
    return f"{TOP}<form><table class=thread>{posts}</table></form>{END}"


def slug(number: int) -> str:
    return "-".join(random.Random(number).choices(WORDS, k=4))


def learnt(rare: str, common: str, pages: int, every: int) -> td.Template:
    """A site of articles with a thread among every so many pages."""
    profile = SiteProfile("a.example", Options())
    for number in range(pages):
        is_rare = number % every == 7
        url = (rare if is_rare else common).format(slug(number))
        html = thread(number) if is_rare else article(number)
        profile.add(prepare(td.Page(html, url=f"https://a.example/{url}"), Options())[1])
    return derive(profile)


def test_a_layout_of_one_page_in_500_is_learnt_by_its_urls() -> None:
    template = learnt("forum/thread/{}", "news/{}", 1500, 500)
    assert [layout.pages for layout in template.layouts][-1] == 3 and len(template.layouts) == 2
    made = template.extract(td.Page(thread(9999), url="https://a.example/forum/thread/unseen-one"))
    assert made.layout == 1 and made.reason is None
    labels = {leaf["text"]: leaf for leaf in made.leaves}
    assert labels["Quote this"]["level"] == "layout" and labels["Quote this"]["k"] == 3


def test_where_urls_do_not_tell_a_rare_layout_is_learnt_if_the_sample_has_it() -> None:
    """Slugs in the root make every page a shape of its own."""
    page = learnt("{}", "{}", 60, 20).extract(td.Page(thread(9999), url="https://a.example/unseen-one"))
    assert page.layout is not None and page.reason is None


def test_a_page_of_an_unseen_layout_is_judged_by_the_site_and_that_is_said() -> None:
    page = learnt("{}", "{}", 7, 1000).extract(td.Page(thread(9999), url="https://a.example/unseen-one"))
    assert page.mode == "template" and page.layout is None
    assert page.reason == "fits no layout of the site: judged by the site as a whole"
    assert {leaf["level"] for leaf in page.leaves} == {"site"}
    assert not any(leaf["content"] for leaf in page.leaves if leaf["text"] in ("Start", "Harbour", "People"))


def test_a_site_whose_names_change_by_page_is_one_layout() -> None:
    site = generate_site(SiteSpec(kinds=("soup",), pages=8, seed=21))
    profile = SiteProfile("example.org", Options())
    for number, page in enumerate(site.pages):
        profile.add(fingerprint(segment(page.html), Options(), content_hash=number, key_url=page.url))
    sample = take(profile)
    assert sample.by_depth and [layout.pages for layout in sample.layouts] == [8]
