from __future__ import annotations

import pytest

import templatediff as td
from corpora.generator import SiteSpec, generate_site
from templatediff.drift import LayoutFit, PageFit, SiteFit, in_words, page_fit
from templatediff.prepare import prepare

SPEC = SiteSpec(kinds=("news",), pages=16, seed=21, months=("2023-01", "2024-05"))


def pages_of(spec: SiteSpec) -> list[td.Page]:
    return [td.Page(page.html, url=page.url, fetched=page.fetched) for page in generate_site(spec).pages]


def fit_of(template: td.Template, page: td.Page) -> PageFit:
    made = prepare(page, template.options)[1]
    return page_fit(template.sample.as_seen(made), template.sample, template.sample.layout_for(made))


@pytest.fixture(scope="module")
def template() -> td.Template:
    return td.learn(pages_of(SPEC)[:8], site="example.org")


def test_other_pages_of_the_same_design_fit(template: td.Template) -> None:
    for page in pages_of(SPEC)[8:]:
        fit = fit_of(template, page)
        assert fit.found is not None and fit.found > 0.8 and fit.unexplained < 0.3
        assert not fit.drifted


def test_a_redesign_drifts_though_the_site_keeps_its_sections(template: td.Template) -> None:
    for page in pages_of(SPEC.but(redesign="2024-05"))[8:]:
        fit = fit_of(template, page)
        assert fit.drifted
        assert fit.found is not None and fit.found < 0.1 and fit.unexplained > 0.5


def test_what_the_template_was_learnt_from_fits_it_even_alone() -> None:
    page = td.Page("<h1>A lone page</h1><p>It says this, that and the other, and has no siblings.</p>")
    assert fit_of(td.learn([page], site="a"), page) == PageFit(0, None, 0.0)


def test_a_page_without_text_drifts_unless_the_template_knows_such_pages(template: td.Template) -> None:
    shell = td.Page("<div id=app></div><script>render()</script>")
    assert fit_of(template, shell) == PageFit(None, 0.0, 1.0)
    assert fit_of(template, shell).drifted
    some_empty = td.learn([*pages_of(SPEC)[:8], td.Page("<div></div>")], site="example.org")
    assert not fit_of(some_empty, shell).drifted


@pytest.mark.parametrize(
    ("drifted", "pages", "verdict"),
    [
        (0, 1, False),
        (1, 1, True),
        (1, 2, False),  # one odd page of two is no redesign
        (2, 3, True),
        (4, 10, False),
        (5, 20, True),
        (5, 25, False),
    ],
)
def test_when_a_site_has_drifted(drifted: int, pages: int, verdict: bool) -> None:
    fit = SiteFit()
    for number in range(pages):
        fit.add(PageFit(None, 0.1, 0.9) if number < drifted else PageFit(0, 1.0, 0.0))
    assert fit.drifted is verdict
    assert sum(each.pages for each in fit.layouts.values()) == pages


def test_low_shares_alone_are_no_drift() -> None:
    assert not PageFit(0, 0.0, 0.1).drifted, "the text is where the template knows text"
    assert not PageFit(0, 0.9, 0.9).drifted, "the frame is there, whatever it holds"
    assert PageFit(None, None, 0.9).drifted


def test_the_figures_in_words() -> None:
    fit = LayoutFit()
    fit.add(PageFit(None, 0.05, 0.8))
    assert in_words("a.example", fit) == (
        "a.example has drifted from its template: 1 of 1 pages; 5% of the template's leaves found, 80% of the text "
        "unexplained: learn again, or --update"
    )
