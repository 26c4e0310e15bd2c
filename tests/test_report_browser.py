"""The report in a real browser: headless Chromium, opened from disk, with no server and no network."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hostile import ATTACKS, HEBREW, HOST, HUGE

from corpora.generator import SiteSpec, generate_site, write_site
from templatediff.report.write import write_report

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install '.[browser]'")
expect = playwright.expect  # waits without evaluating strings, which the policy of the report forbids
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed: apt-get install chromium"),
]
STORY = "pages/www.harbour-gazette.example/harbour/mussel-beds-closed.html.html"
PHONE = {"width": 390, "height": 800}


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    root = hasattr(os, "geteuid") and os.geteuid() == 0  # Chromium's sandbox refuses to work for root
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"] if root else [])
        yield browser
        browser.close()


@dataclass
class Seen:
    """What a browser did beside showing: nothing of this should be."""

    folder: Path
    wrong: list[str] = field(default_factory=list)

    def watch(self, page: Any) -> None:
        page.on("console", lambda message: self.wrong.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: self.wrong.append(f"error: {error}"))
        page.on("dialog", lambda dialog: (self.wrong.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("popup", lambda popup: self.wrong.append(f"popup: {popup.url}"))
        page.on("request", self._request)

    def _request(self, request: Any) -> None:
        if not request.url.startswith(self.folder.as_uri() + "/"):
            self.wrong.append(f"request: {request.url}")


@pytest.fixture
def tab(chromium: Any, request: pytest.FixtureRequest) -> Iterator[Any]:
    """Opens a file of a report, as `tab(folder, name, **context)`; afterwards, nothing but files of it was asked for."""
    contexts, seen = [], []

    def opened(folder: Path, name: str = "index.html", **context: Any) -> Any:
        contexts.append(chromium.new_context(**context))
        page = contexts[-1].new_page()
        page.set_default_timeout(15_000)
        seen.append(Seen(folder))
        seen[-1].watch(page)
        page.goto(address(folder, name))
        return page

    yield opened
    for context in contexts:
        context.close()
    assert [wrong for each in seen for wrong in each.wrong] == []


def address(folder: Path, name: str) -> str:
    path, _, fragment = name.partition("#")
    return (folder / path).as_uri() + (f"#{fragment}" if fragment else "")


def shown(page: Any) -> list[str]:
    return list(page.locator("#leaves li:visible p").all_text_contents())


def test_from_the_overview_to_a_page_by_clicks(demo: Path, tab: Any) -> None:
    page = tab(demo)
    kept = json.loads((demo / "report.json").read_bytes())["shares"]["kept"]
    assert page.locator("h1").inner_text() == f"{round(100 * kept)} % of the text is content"
    page.get_by_role("link", name="Layout 0").first.click()
    assert page.get_by_label("Content region").is_visible()
    page.get_by_role("link", name="7 pages").click()
    page.get_by_role("link", name="Mussel beds closed until the water clears").click()
    assert page.url == address(demo, STORY)
    assert page.get_by_role("listbox", name="Leaves of the page").get_by_role("option").count() == 50


def test_filters_show_what_they_say(demo: Path, tab: Any) -> None:
    page = tab(demo, STORY)
    whole = shown(page)
    page.get_by_text("Kept 8").click()
    kept = shown(page)
    assert len(kept) == 8 and "Mussel beds closed until the water clears" in kept
    assert page.get_by_role("status").inner_text() == "8 leaves"
    page.get_by_text("Dropped 42").click()
    assert sorted(shown(page) + kept) == sorted(whole)
    page.get_by_text("Doubtful 0").click()
    assert shown(page) == [] and page.get_by_role("status").inner_text() == "no leaf is like that"
    page.get_by_text("All 50").click()
    assert shown(page) == whole


def test_doubtful_leaves_come_nearest_to_a_half_first(demo: Path, tab: Any) -> None:
    page = tab(demo)
    page.get_by_role("link", name="Harbour and ferries").click()
    assert page.locator("[name=show]:checked").get_attribute("value") == "q"
    scores = [float(text) for text in page.locator("#leaves li:visible i").all_inner_texts()]
    every = [float(text) for text in page.locator("#leaves li i").all_text_contents()]
    assert len(scores) == sum(0.4 <= p <= 0.6 for p in every) >= 2 and all(0.4 <= p <= 0.6 for p in scores)
    assert [abs(p - 0.5) for p in scores] == sorted(abs(p - 0.5) for p in scores)


def test_a_leaf_is_found_by_keyboard_alone(demo: Path, tab: Any) -> None:
    page = tab(demo, STORY)
    page.keyboard.press("/")
    page.keyboard.type("laboratory head")
    page.keyboard.press("Enter")
    expect(page.locator("#leaves li:not([hidden])")).to_have_count(1)
    page.keyboard.press("ArrowDown")
    focus = page.locator("#leaves li:focus")
    assert "laboratory head Dr Ines Calder said." in focus.inner_text()
    assert focus.get_attribute("aria-selected") == "true"
    told = page.get_by_role("complementary", name="Evidence")
    assert re.search(
        r"Kept.*P\(content\)\s+\.\d{3}.*0 of 6 other pages of the layout.*Because.*on none of ", told.inner_text(), re.S
    )
    assert "body > main:nth-child(3)" in told.inner_text()
    assert page.locator("#evidence").get_attribute("aria-live") == "polite"


def test_keys_go_through_the_leaves_in_order(demo: Path, tab: Any) -> None:
    page = tab(demo, STORY)
    texts = shown(page)

    def focused() -> str:
        return str(page.locator("#leaves li:focus p").text_content())

    for key, number in (
        ("j", 0),
        ("j", 1),
        ("ArrowDown", 2),
        ("k", 1),
        ("ArrowUp", 0),
        ("k", 0),
        ("End", 49),
        ("Home", 0),
    ):
        page.keyboard.press(key)
        assert focused() == texts[number], key
    page.keyboard.press("3")
    assert len(shown(page)) == 8
    page.keyboard.press("j")
    assert focused() == "Mussel beds closed until the water clears"
    page.keyboard.press("Escape")
    assert page.locator("#leaves [aria-selected=true]").count() == 0


def test_d_goes_to_the_next_doubtful_leaf(demo: Path, tab: Any) -> None:
    page = tab(demo, "pages/www.harbour-gazette.example/lists/harbour-and-ferries.html.html")
    for _ in range(3):
        page.keyboard.press("d")
        assert "q" in (page.locator("#leaves li:focus").get_attribute("class") or "").split()


def test_tab_reaches_the_leaves_and_leaves_them(demo: Path, tab: Any) -> None:
    page = tab(demo, STORY)
    page.locator("#search").focus()
    page.keyboard.press("Tab")
    assert page.locator("#leaves li:focus").count() == 1
    page.keyboard.press("Tab")
    assert page.locator("#leaves li:focus").count() == 0


def test_hovering_shows_evidence_and_gives_it_back(demo: Path, tab: Any) -> None:
    page = tab(demo, STORY)
    page.locator("#leaves .k", has_text="Mussel beds closed until").click()
    assert re.search(
        r"Because.*Despite.*\bon 7 of 8 other pages of the site", page.locator("#evidence").inner_text(), re.S
    )
    page.locator("#leaves li", has_text="By Joan Merrick").click()
    assert "person: Joan Merrick" in page.locator("#evidence").inner_text()
    page.locator("#leaves li", has_text="Front page").hover()
    assert page.locator("#evidence h2").inner_text() == "Dropped"
    page.locator("h1").hover()
    assert "person: Joan Merrick" in page.locator("#evidence").inner_text()


def test_lists_are_narrowed_and_ordered(demo: Path, tab: Any) -> None:
    page = tab(demo, "layouts/werkstatt-lindner.example/1-pages-1.html")
    rows = page.locator("#list tbody tr:visible")
    assert rows.count() == 3
    page.locator("#order").select_option("most doubtful first")
    doubtful = [int(text) for text in page.locator("#list tbody tr td:last-child").all_inner_texts()]
    assert doubtful == sorted(doubtful, reverse=True) and doubtful[0] > doubtful[-1]
    page.locator("#narrow").fill("hobel")
    expect(page.locator("#list tbody tr:not([hidden])")).to_have_count(1)
    assert "Holzhobel" in rows.inner_text()


def test_any_page_is_found_by_its_title_or_path(demo: Path, tab: Any) -> None:
    page = tab(demo, "find.html")
    page.keyboard.type("putzhobel werkzeug")
    expect(page.locator("#found li")).to_have_count(1)
    page.locator("#found a").click()
    assert page.url.endswith("werkzeug/putzhobel-nr-4.html.html")


def test_nothing_of_a_hostile_crawl_runs_or_is_loaded(hostile: Path, tab: Any) -> None:
    page = tab(hostile)
    found = sorted(file for file in hostile.rglob("*.html"))
    assert len(found) > 20
    for file in found:
        page.goto(file.as_uri())
        assert page.evaluate("window.stolen") is None, file
        assert page.locator("script[src]").count() == 1
        assert page.locator("img, iframe, object, embed, form, base, style").count() == 0
        assert page.evaluate("[...document.links].every((link) => /^(file|https?):$/.test(link.protocol))")
        assert page.evaluate("getComputedStyle(document.body).display") == "block"


def test_hostile_leaves_can_be_looked_into_too(hostile: Path, tab: Any) -> None:
    name = next(file for file in sorted(hostile.glob(f"pages/{HOST}/*.html")) if "onerror" in file.name)
    page = tab(hostile, str(name.relative_to(hostile)))
    texts = shown(page)
    assert any(ATTACKS[0] in text for text in texts)
    for _ in texts:
        page.keyboard.press("j")
        assert page.locator("#evidence h2").inner_text().startswith(("Kept", "Dropped"))
    page.locator("#search").fill("window.stolen = 1</script>")
    expect(page.locator("#count")).to_have_text(re.compile("leaf|leaves"))
    assert shown(page) and all("window.stolen = 1</script>" in text for text in shown(page))
    assert page.evaluate("window.stolen") is None


def test_a_hostile_page_is_found_and_opened_by_its_name(hostile: Path, tab: Any) -> None:
    page = tab(hostile, "find.html")
    for words in ("onerror=alert", "100%25", "#part?q=1", "\\u202e", "שלום", "caf\ufffd", "report.js"):
        page.goto(address(hostile, "find.html"))
        page.locator("#find").fill(f"{words}")
        expect(page.locator("#count")).to_have_text("1 page")
        page.locator("#found a").click()
        assert page.locator("#leaves li").count() > 10


def test_a_huge_page_is_read_in_parts(hostile: Path, tab: Any) -> None:
    page = tab(hostile, f"pages/{HOST}/{HUGE}.html")
    page.keyboard.press("j")
    page.keyboard.press("End")
    assert "Paragraph" in page.locator("#leaves li:focus").inner_text()
    page.get_by_role("link", name="Part 2").click()
    page.locator("#search").fill("paragraph 2499 of")
    expect(page.locator("#leaves li:not([hidden])")).to_have_count(1)
    assert shown(page) == ["Paragraph 2499 of the huge page says 6245001."]


def test_text_runs_as_its_script_does(hostile: Path, tab: Any, tmp_path: Path) -> None:
    page = tab(hostile, f"pages/{HOST}/index.html.html")
    direction = "(leaf) => getComputedStyle(leaf).direction"
    assert page.locator("#leaves p", has_text=HEBREW[:20]).first.evaluate(direction) == "rtl"
    assert page.locator("#leaves p", has_text="This paragraph").first.evaluate(direction) == "ltr"
    site = generate_site(SiteSpec(kinds=("news",), script="arabic", pages=4, seed=3))
    write_site(site, tmp_path / "crawl", tmp_path / "gold")
    write_report([tmp_path / "crawl"], tmp_path / "report")
    name = sorted((tmp_path / "report" / "pages").rglob("*.html"))[0]
    arabic = tab(tmp_path / "report", str(name.relative_to(tmp_path / "report")))
    assert arabic.locator("#leaves").evaluate(direction) == "rtl"
    assert arabic.locator("#leaves b").first.bounding_box()["x"] > arabic.locator("#leaves p").first.bounding_box()["x"]


@pytest.mark.parametrize("name", ["index.html", "find.html", "layouts/harbour-gazette.example/0.html", STORY])
def test_a_phone_needs_no_sideways_scrolling(demo: Path, tab: Any, name: str) -> None:
    page = tab(demo, name, viewport=PHONE, has_touch=True, is_mobile=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_a_phone_shows_evidence_over_the_page_and_puts_it_away(demo: Path, tab: Any) -> None:
    page = tab(demo, STORY, viewport=PHONE, has_touch=True, is_mobile=True)
    panel = page.locator("#details")
    assert not panel.is_visible()
    page.locator("#leaves li", has_text="Only what is needed").tap()
    assert panel.is_visible() and "Dropped" in panel.inner_text()
    page.get_by_role("button", name="Close").tap()
    assert not panel.is_visible()


# WCAG 2.2, contrast (minimum): 4.5 for text, by relative luminance of the colours as computed.
CONTRASTS = """() => {
  const rgb = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
    .reduce((sum, v, at) => sum + v * [.2126, .7152, .0722][at], 0);
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const found = rgb(getComputedStyle(at).backgroundColor);
      if (found.length < 4 || found[3] === 1) return found;
    }
    return [255, 255, 255];
  };
  const low = [];
  for (const element of document.querySelectorAll("main *, header *")) {
    if (![...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim()) || !element.checkVisibility()) continue;
    if (element.closest("svg")) continue;
    const [one, other] = [light(rgb(getComputedStyle(element).color)), light(behind(element))];
    const ratio = (Math.max(one, other) + .05) / (Math.min(one, other) + .05);
    if (ratio < 4.5) low.push(`${element.tagName}.${element.className} ${element.textContent.slice(0, 30)} ${ratio.toFixed(2)}`);
  }
  return low;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "name",
    ["index.html", "layouts/werkstatt-lindner.example/0.html", "layouts/harbour-gazette.example/1-pages-1.html", STORY],
)
def test_text_is_legible_in_light_and_dark(demo: Path, tab: Any, name: str, scheme: str) -> None:
    page = tab(demo, name, color_scheme=scheme)
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", background)[:3])) < 384) == (scheme == "dark")
    assert page.evaluate(CONTRASTS) == []


def test_labels_are_told_without_colour(demo: Path, tab: Any) -> None:
    page = tab(demo, STORY, forced_colors="active")
    for label, word in (("k", "kept"), ("d", "dropped")):
        leaf = page.locator(f"#leaves .{label}").first
        assert leaf.locator("b").inner_text() == word
    styles = {
        page.locator(f"#leaves .{label}").first.evaluate("(leaf) => getComputedStyle(leaf).borderInlineStartStyle")
        for label in ("k", "d")
    }
    assert styles == {"solid", "double"}


def test_without_script_the_text_is_there(demo: Path, tab: Any) -> None:
    page = tab(demo, STORY, java_script_enabled=False)
    assert len(shown(page)) == 50
    assert not page.locator(".tools").is_visible()
    assert "need the report's own script" in page.locator("main").inner_text()
