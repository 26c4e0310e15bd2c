from __future__ import annotations

import gc
import itertools
import json
import shutil
import sys
import tracemalloc
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from click.testing import CliRunner, Result
from hostile import ATTACKS, HEBREW, HOST, HUGE

from templatediff.cli.program import program
from templatediff.errors import OutputError
from templatediff.extraction import EXPLAINED
from templatediff.pipeline import Extraction, load
from templatediff.record import remembered
from templatediff.report import folder as folder_module
from templatediff.report import leaves, lists, overview, write
from templatediff.report.folder import ReportFolder
from templatediff.report.write import write_report
from templatediff.run import Totals, extract_crawl

DEMO = Path(__file__).parent.parent / "corpora" / "demo"
STORY = "pages/www.harbour-gazette.example/harbour/mussel-beds-closed.html.html"
TAGS = """
    html head meta title link script body header nav a main h1 h2 p small b i bdi ul ol li dl dt dd div span section
    figure figcaption svg g rect circle line text title defs pattern table thead tbody tr th td code mark aside
    fieldset legend label input select option button kbd noscript
"""


class Document(HTMLParser):
    """What a file of the report is made of."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.data: list[str] = []
        self._script = False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attributes)))
        self._script = tag == "script"

    def handle_endtag(self, tag: str) -> None:
        self._script = False

    def handle_data(self, data: str) -> None:
        (self.data if self._script else self.words).append(data)

    @property
    def text(self) -> str:
        return "".join(self.words)

    def addresses(self) -> Iterator[str]:
        for _tag, attributes in self.tags:
            for name in ("href", "src"):
                if name in attributes:
                    yield attributes[name] or ""


def run(*arguments: object) -> Result:
    return CliRunner().invoke(program, ["report", *(str(argument) for argument in arguments)])


def files(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


def documents(folder: Path) -> dict[str, Document]:
    return {name: Document(data.decode()) for name, data in files(folder).items() if name.endswith(".html")}


def document(folder: Path, name: str) -> Document:
    return Document((folder / name).read_text(encoding="utf-8"))


SMALL = """<!DOCTYPE html><html lang=en><title>{name} - Field notes</title>
<div class=top><a href=/>Home</a> <a href=/b>Birds</a></div><h1>{name}</h1><p>{text}</p>
<div class=foot>Field notes of a made-up valley. All birds are drawn from memory.</div></html>"""


def small_pages(folder: Path, count: int) -> Path:
    """A site of `count` small pages."""
    folder.mkdir()
    words = (
        "heron",
        "wren",
        "swift",
        "crane",
        "dipper",
        "marsh",
        "stream",
        "wind",
        "verge",
        "moss",
        "pond",
        "gate",
        "nest",
    )
    for number in range(count):
        text = " ".join(words[(number * place * place + place) % len(words)] for place in range(1, 40))
        (folder / f"{number:04}.html").write_text(SMALL.format(name=f"Bird {number}", text=f"{text} {number}."))
    return folder


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    """A crawl of three small pages."""
    return small_pages(tmp_path / "crawl", 3)


@pytest.fixture(params=["demo", "hostile"])
def report(request: pytest.FixtureRequest) -> Path:
    found: Path = request.getfixturevalue(request.param)
    return found


def test_every_link_leads_to_a_file_of_the_report(report: Path) -> None:
    led: set[Path] = set()
    for name, document in documents(report).items():
        for address in document.addresses():
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                assert parts.scheme in ("http", "https"), address
                continue
            assert not parts.query
            target = (report / name).parent / unquote(parts.path, errors="strict")
            assert target.resolve().is_relative_to(report.resolve())
            assert target.is_file(), f"{name} leads to {address}"
            led.add(target.resolve())
    assert {file for file in report.resolve().rglob("*.html")} <= led | {report.resolve() / "index.html"}


def test_no_file_holds_markup_of_a_page(report: Path) -> None:
    for name, document in documents(report).items():
        assert {tag for tag, _ in document.tags} <= set(TAGS.split()), name
        for tag, attributes in document.tags:
            assert not [key for key in attributes if key.startswith("on") or key in ("style", "srcdoc", "srcset")], name
            if tag == "script":
                assert attributes.get("type") == "application/json" or (attributes["src"] or "").endswith("report.js")
            if tag == "link":
                assert (attributes["href"] or "").endswith("report.css")
            if tag == "a" and urlsplit(attributes["href"] or "").scheme:
                assert attributes["rel"] == "noreferrer noopener external"
        for data in document.data:
            json.loads(data)


def test_a_browser_may_use_the_report_s_own_script_and_style_alone(report: Path) -> None:
    for name, document in documents(report).items():
        found = [attributes for tag, attributes in document.tags if attributes.get("http-equiv")]
        assert len(found) == 1, name
        policy = dict(part.split(" ", 1) for part in (found[0]["content"] or "").split("; "))
        assert policy["default-src"] == policy["connect-src"] == policy["base-uri"] == "'none'"
        assert policy["script-src"] == policy["style-src"] == "'self'"


def test_the_text_of_pages_is_there_as_text(hostile: Path) -> None:
    found = "".join(document.text for name, document in documents(hostile).items() if name.startswith("pages/"))
    for attack in ATTACKS:
        assert attack in found
    assert HEBREW in found
    assert "before␁␛[31mred␡" in found
    assert "\x1b" not in found


def test_names_of_pages_make_safe_names_of_files(hostile: Path) -> None:
    names = [name for name in files(hostile) if name.startswith(f"pages/{HOST}/")]
    assert len({name.casefold() for name in names}) == len(names)
    assert not [name for name in names if set(name) & set('<>:"|?*\\\n\u202e')]
    assert f"pages/{HOST}/%3Cimg src=x onerror=alert(1)%3E.html.html" in names
    assert f"pages/{HOST}/caf%E9.html.html" in names


def test_a_failed_page_is_told_with_its_reason(hostile: Path) -> None:
    for name in ("index.html", f"pages/{HOST}/deep.html.html"):
        assert "nested about 4,097 deep" in document(hostile, name).text
    assert json.loads((hostile / "report.json").read_text())["failed"] == 1


def test_a_long_page_is_shown_in_parts(hostile: Path) -> None:
    parts = [f"pages/{HOST}/{HUGE}.html", f"pages/{HOST}/{HUGE}.2.html"]
    first, second = (document(hostile, name) for name in parts)
    shown = [sum(tag == "li" for tag, _ in part.tags) for part in (first, second)]
    assert shown[0] > leaves.LEAVES_A_FILE - 1 and shown[1] > 500
    assert "Paragraph 2499 of the huge page" in second.text
    assert f"../../{parts[1]}" in list(first.addresses())
    assert max(map(len, first.words)) <= 20_000


def test_every_leaf_stands_on_its_page_with_label_and_evidence(demo: Path) -> None:
    for record in extract_crawl([DEMO], parts=(EXPLAINED,)):
        document = Document((demo / f"pages/{record.path}.html").read_text())
        data = json.loads(document.data[0])
        labels = [attributes["class"] for tag, attributes in document.tags if tag == "li" and "class" in attributes]
        assert len(labels) == len(data["leaves"]) == len(record.explain())
        before: list[str] = []
        for label, told, leaf in zip(labels, data["leaves"], record.explain(), strict=True):
            p, k, n, level, change, tokens, shared, rest, reasons, against, hidden = told
            before = [*before[:shared], *filter(None, rest.split(" > "))]
            assert (label or "")[0] == ("k" if leaf["content"] else "d")
            assert label.endswith(" q") == (0.4 <= leaf["p"] <= 0.6)
            assert (p, k, n, tokens) == (leaf["p"], leaf["k"], leaf["n"], leaf["tokens"])
            assert (data["words"][level] or None, data["words"][change]) == (leaf["level"], leaf["change"])
            assert " > ".join(before) == leaf["selector"]
            assert [data["words"][number] for number in reasons] == leaf["reasons"]
            assert [data["words"][number] for number in against] == leaf["against"]
            assert hidden == leaf["hidden"]
            assert leaf["text"] in document.text


def test_slots_are_marked_with_their_type(demo: Path) -> None:
    document = Document((demo / STORY).read_text())
    marks = [attributes["data-type"] for tag, attributes in document.tags if tag == "mark"]
    assert {"person", "date", "count", "text"} <= set(marks)


def test_the_layout_is_drawn_with_its_region_slots_and_static_leaves(demo: Path) -> None:
    document = Document((demo / "layouts/harbour-gazette.example/0.html").read_text())
    classes = Counter(word for _, attributes in document.tags for word in (attributes.get("class") or "").split())
    assert classes["region"] == 1
    assert classes["static"] > 10 and classes["t-person"] and classes["t-date"]
    assert "Old slipway to reopen after eleven years" in document.text
    assert "7 of 7" in document.text


def test_pictures_say_in_words_what_they_show(report: Path) -> None:
    for name, document in documents(report).items():
        for tag, attributes in document.tags:
            if tag == "svg":
                assert attributes.get("aria-hidden") == "true" or attributes.get("aria-label"), name
                assert attributes.get("aria-hidden") == "true" or attributes["role"] == "img"


def test_pages_without_a_layout_have_no_template_to_draw(tmp_path: Path) -> None:
    (tmp_path / "one.html").write_text(SMALL.format(name="Alone", text="One page alone has no template. " * 9))
    assert run(tmp_path / "one.html", "-o", tmp_path / "report", "--ngram-order", 2).exit_code == 0
    told = next((tmp_path / "report" / "layouts").glob("*/none.html")).read_text()
    assert "fit no layout" in told and "drawn on a page" not in told


def test_the_figures_are_those_of_the_run(demo: Path) -> None:
    totals = Totals()
    leaves_of = sum(len(record.leaves) for record in extract_crawl([DEMO], parts=("leaves",), totals=totals))
    told = json.loads((demo / "report.json").read_text())
    assert (told["pages"], told["leaves"]) == (totals.pages, leaves_of)
    assert (told["static"], told["dynamic"], told["content"]) == (totals.static, totals.dynamic, totals.content)
    assert sum(told["shares"].values()) == pytest.approx(1, abs=0.001)
    for key in ("pages", "leaves", "content", "doubtful"):
        assert sum(layout[key] for layout in told["layouts"]) == told[key]
    assert [(layout["site"], layout["layout"]) for layout in told["layouts"]] == [
        ("harbour-gazette.example", 0),
        ("harbour-gazette.example", 1),
        ("werkstatt-lindner.example", 0),
        ("werkstatt-lindner.example", 1),
    ]


def test_jobs_and_the_order_of_inputs_leave_the_bytes_alone(tmp_path: Path) -> None:
    crawl, others = small_pages(tmp_path / "crawl", 50), small_pages(tmp_path / "others", 10)
    assert run(crawl, others, "-o", tmp_path / "one", "--jobs", 1).exit_code == 0
    assert run(others, crawl, "-o", tmp_path / "two", "--jobs", 2).exit_code == 0
    assert files(tmp_path / "one") == files(tmp_path / "two")


def test_lists_come_in_chunks_that_lead_to_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lists, "CHUNK", 10)
    write_report([small_pages(tmp_path / "crawl", 25)], tmp_path / "report")
    base = tmp_path / "report/layouts/crawl"
    chunks = [Document((base / f"0-pages-{number}.html").read_text()) for number in (1, 2, 3)]
    listed = [[address for address in chunk.addresses() if "/pages/" in address] for chunk in chunks]
    assert [len(each) for each in listed] == [10, 10, 5]
    assert len({address for each in listed for address in each}) == 25
    for chunk, beside in zip(chunks, ((2,), (1, 3), (2,)), strict=True):
        steps = [attributes["href"] for tag, attributes in chunk.tags if attributes.get("rel") in ("prev", "next")]
        assert {(step or "").rpartition("/")[2] for step in steps} == {f"0-pages-{number}.html" for number in beside}
    assert not (base / "0-pages-4.html").exists()
    leads = list(Document((base / "0.html").read_text()).addresses())
    assert {f"0-pages-{number}.html" for number in (1, 2, 3)} <= set(leads)
    found = [
        row for data in Document((tmp_path / "report/find.html").read_text()).data if data for row in json.loads(data)
    ]
    assert len(found) == 25


def test_the_overview_comes_in_chunks_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overview, "LAYOUTS_A_FILE", 3)
    write_report([DEMO], tmp_path / "report")
    first, second = (document(tmp_path / "report", name) for name in ("index.html", "overview/2.html"))
    assert "overview/2.html" in list(first.addresses())
    assert "../layouts/werkstatt-lindner.example/1.html" in list(second.addresses())


def test_a_report_replaces_a_report(crawl: Path, tmp_path: Path) -> None:
    folder = tmp_path / "report"
    assert run(crawl, "-o", folder).exit_code == 0
    assert (folder / "pages/0002.html.html").is_file()
    (crawl / "0002.html").unlink()
    assert run(crawl, "-o", folder).exit_code == 0
    assert not (folder / "pages/0002.html.html").exists()
    assert {file.name for file in tmp_path.iterdir()} == {"crawl", "report"}


def test_an_empty_folder_is_taken(crawl: Path, tmp_path: Path) -> None:
    (tmp_path / "report").mkdir()
    assert run(crawl, "-o", tmp_path / "report").exit_code == 0
    assert (tmp_path / "report/index.html").is_file()


EXCHANGES = pytest.mark.skipif(sys.platform not in ("linux", "darwin"), reason="this system cannot exchange folders")
FOREIGN = ["foreign", "foreign part", "file", "notes among it", "notes within it", "link to foreign"]


@pytest.mark.parametrize("what", FOREIGN)
def test_what_no_report_made_is_never_touched(crawl: Path, tmp_path: Path, what: str) -> None:
    folder, mine = tmp_path / "report", tmp_path / "report" / "mine.txt"
    if what == "foreign part":
        mine = tmp_path / "report.part" / "mine.txt"
    if what == "notes within it":
        mine = folder / "pages" / "mine.txt"
    if what.startswith("notes"):
        assert run(crawl, "-o", folder).exit_code == 0
    if what == "file":
        mine = folder
    if what == "link to foreign":
        mine = tmp_path / "elsewhere" / "mine.txt"
    mine.parent.mkdir(exist_ok=True)
    mine.write_text("precious")
    if what == "link to foreign":
        folder.symlink_to(mine.parent)
    result = run(crawl, "-o", folder)
    assert result.exit_code == 2
    assert str(folder if what == "file" or what.startswith("notes") else mine.parent) in result.stderr
    assert mine.read_text() == "precious"


def test_a_report_that_fails_leaves_what_was_there(
    crawl: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "report"
    assert run(crawl, "-o", folder).exit_code == 0
    before = files(folder)

    def full(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(write, "write_overview", full)
    result = run(crawl, "-o", folder, "--limit", 2)
    assert result.exit_code == 2 and "No space left" in result.stderr
    assert files(folder) == before
    assert {file.name for file in tmp_path.iterdir()} == {"crawl", "report"}


def test_a_killed_report_is_cleared_by_the_next(crawl: Path, tmp_path: Path) -> None:
    part = tmp_path / "report.part"
    with pytest.raises(KeyboardInterrupt), ReportFolder(tmp_path / "report") as folder:
        folder.write("pages/a.html", "half")
        shutil.copytree(part, tmp_path / "kept")
        raise KeyboardInterrupt
    (tmp_path / "kept").rename(part)  # as a kill would leave it
    assert run(crawl, "-o", tmp_path / "report").exit_code == 0
    assert not part.exists() and not (tmp_path / "report/pages/a.html").exists()


@pytest.mark.parametrize("left", [b"", b'{"made b'])
def test_a_report_killed_at_its_first_byte_is_cleared_too(crawl: Path, tmp_path: Path, left: bytes) -> None:
    part = tmp_path / "report.part"
    part.mkdir()
    (part / "report.json").write_bytes(left)
    assert run(crawl, "-o", tmp_path / "report").exit_code == 0
    assert {file.name for file in tmp_path.iterdir()} == {"crawl", "report"}


@EXCHANGES
def test_a_kill_while_the_old_report_is_taken_away_leaves_what_the_next_run_clears(
    crawl: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(crawl, "-o", tmp_path / "report").exit_code == 0

    def killed(*arguments: object) -> None:
        raise KeyboardInterrupt

    def exchanged(one: Path, other: Path) -> bool:
        patched.setattr(Path, "unlink", killed)
        return exchange(one, other)

    exchange = folder_module._exchanged
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(folder_module, "_exchanged", exchanged)
        write_report([crawl], tmp_path / "report")
    assert (tmp_path / "report.part" / "report.json").is_file()  # the old one
    assert run(crawl, "-o", tmp_path / "report").exit_code == 0
    assert {file.name for file in tmp_path.iterdir()} == {"crawl", "report"}


@EXCHANGES
def test_a_report_stands_there_at_all_times(crawl: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "report"
    assert run(crawl, "-o", folder).exit_code == 0

    def moved(*arguments: object) -> None:
        raise AssertionError("for a moment there is no report")

    monkeypatch.setattr(Path, "rename", moved)
    write_report([crawl], folder, limit=2)
    assert json.loads((folder / "report.json").read_bytes())["pages"] == 2
    assert {file.name for file in tmp_path.iterdir()} == {"crawl", "report"}


def test_where_folders_cannot_be_exchanged_a_report_is_replaced_all_the_same(
    crawl: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_module, "_exchanged", lambda one, other: False)
    for limit in (3, 2):
        write_report([crawl], tmp_path / "report", limit=limit)
        assert json.loads((tmp_path / "report/report.json").read_bytes())["pages"] == limit
    assert {file.name for file in tmp_path.iterdir()} == {"crawl", "report"}


def test_a_report_inside_the_input_is_warned_of(crawl: Path, tmp_path: Path) -> None:
    result = run(crawl, "-o", crawl / "report")
    assert result.exit_code == 0 and f"{crawl / 'report'} is inside {crawl}: " in result.stderr
    assert " is inside " not in run(crawl, "-o", tmp_path / "report").stderr


def test_one_run_at_a_time_writes_a_report(crawl: Path, tmp_path: Path) -> None:
    folder = tmp_path / "report"
    with ReportFolder(folder) as first:
        first.write("pages/a.html", "first")
        second = run(crawl, "-o", folder)
        assert second.exit_code == 2 and f"{folder} is being written by another run" in second.stderr
        first.finish({})
    assert (folder / "pages/a.html").read_text() == "first"
    assert run(crawl, "-o", folder).exit_code == 0


def test_the_name_of_unfinished_output_is_refused(crawl: Path, tmp_path: Path) -> None:
    result = run(crawl, "-o", tmp_path / "report.part")
    assert result.exit_code == 2 and "give another name" in result.stderr


def test_a_folder_without_permission_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*arguments: object, **rest: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "mkdir", refused)
    with pytest.raises(OutputError, match="Permission denied"), ReportFolder(tmp_path / "report"):
        pass


def test_totals_and_size_are_told(crawl: Path, tmp_path: Path) -> None:
    result = run(crawl, "-o", tmp_path / "report")
    count, size = len(files(tmp_path / "report")), sum(map(len, files(tmp_path / "report").values()))
    assert f"{count} files, {size / 1e6:,.1f} MB: open {tmp_path / 'report' / 'index.html'}" in result.stderr
    assert "3 pages, 1 site, 1 layout; leaves:" in result.stderr
    assert run(crawl, "-o", tmp_path / "report", "-q").stderr == ""


def test_nothing_to_report_on_is_wrong_usage(tmp_path: Path) -> None:
    result = run("-o", tmp_path / "report")
    assert result.exit_code == 2 and "--templates DIR" in result.stderr
    result = run("--templates", tmp_path, "--ngram-order", 2, "-o", tmp_path / "report")
    assert result.exit_code == 2 and "bring their own options" in result.stderr
    empty = tmp_path / "empty"
    empty.mkdir()
    assert run(empty, "-o", tmp_path / "report").exit_code == 2
    assert not (tmp_path / "report").exists() and not (tmp_path / "report.part").exists()


@pytest.fixture(scope="module")
def templates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("templates") / "T"
    assert CliRunner().invoke(program, ["learn", str(DEMO), "-o", str(folder)]).exit_code == 0
    return folder


def test_templates_alone_are_drawn_from_their_memory(templates: Path, tmp_path: Path) -> None:
    result = run("--templates", templates, "-o", tmp_path / "report")
    assert result.exit_code == 0, result.stderr
    assert {name for name in files(tmp_path / "report") if name.startswith("pages/")} == set()
    layout, other = (
        document(tmp_path / "report", f"layouts/{site}.example/0.html")
        for site in ("harbour-gazette", "werkstatt-lindner")
    )
    assert "content region" not in layout.text  # words of the style sheet
    assert any(attributes.get("class") == "region" for _, attributes in layout.tags)
    assert "5 pages of the template's memory" in other.text
    assert any("t-person" in (attributes.get("class") or "") for tag, attributes in layout.tags if tag == "mark")


def test_template_json_alone_has_its_parts_listed(templates: Path, tmp_path: Path) -> None:
    bare = tmp_path / "T"
    shutil.copytree(templates, bare)
    for profile in bare.rglob("profile.*"):
        profile.unlink()
    assert run("--templates", bare, "-o", tmp_path / "report").exit_code == 0
    layout = Document((tmp_path / "report/layouts/harbour-gazette.example/0.html").read_text())
    assert "The Harbour Gazette" in layout.text and "7 of 7" in layout.text
    assert not any(attributes.get("class") == "region" for _, attributes in layout.tags)


def test_a_remembered_page_is_labelled_as_the_crawl_labels_it(templates: Path) -> None:
    crawl = {record.url: record for record in extract_crawl([DEMO], parts=("leaves",))}
    template = load(templates)["werkstatt-lindner.example"]
    compared = 0
    for page in template.sample.leaders:
        verdict, _, told = remembered(template, page)
        whole = next(record for url, record in crawl.items() if url and url.rstrip("/") == (page.url or "").rstrip("/"))
        assert verdict == whole.verdict
        for one, other in zip(told, whole.leaves, strict=True):
            assert one["text"] == other["text"][:240]
            same = ("selector", "change", "k", "n", "level", "content", "p", "tokens", "reasons")
            assert [one[key] for key in same] == [other[key] for key in same]
            compared += 1
    assert compared > 100


def test_drift_is_told_where_templates_are_given(templates: Path, tmp_path: Path) -> None:
    assert run(DEMO, "--templates", templates, "-o", tmp_path / "fits").exit_code == 0
    assert "fits" in Document((tmp_path / "fits/index.html").read_text()).text
    site, other = "harbour-gazette.example", tmp_path / "crawl"
    other.mkdir()
    for number in range(6):
        words = f"Words of page {number}, quite new to everyone who reads them here today. " * 5
        (other / f"{number}.html").write_text(f"<table><tr><td><font>{words}</font></td></tr></table>")
    assert run(other, "--site", site, "--templates", templates, "-o", tmp_path / "drifted").exit_code == 0
    told = Document((tmp_path / "drifted/index.html").read_text()).text
    assert "drifted" in told and "learn again" in told


def made_up(number: int) -> Extraction:
    """A record of a page of 10 leaves and some 8 KB."""
    text = f"Leaf of page {number}. " * 40
    leaf: dict[str, Any] = {
        "selector": "body > p:nth-child(1)", "start": 0, "tokens": 160, "change": "dynamic", "k": 1, "n": 9,
        "level": "layout", "content": True, "p": 0.5, "slot": None, "value": None, "reasons": [f"reason {number}"],
        "text": text, "slots": [], "against": [], "hidden": False,
    }  # fmt: skip
    return Extraction(
        f"site.example/{number}.html", None, "site.example", 0, "template", 9, f"Page {number}", text, "content", 0.9,
        None, None, None, "0", None, {EXPLAINED: [leaf | {"text": f"{place} {text}"} for place in range(10)]},
    )  # fmt: skip


def test_nothing_is_kept_of_a_page_but_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lists, "CHUNK", 100)
    with ReportFolder(tmp_path / "report") as folder:
        report = write._Report(folder)
        sizes = []
        tracemalloc.start()
        for number in range(4 * lists.CHUNK + 1):
            report.page(made_up(number))
            if number % lists.CHUNK == 0:
                gc.collect()
                sizes.append(tracemalloc.get_traced_memory()[0])
        tracemalloc.stop()
        report.finish(Totals())
    # The text of one page is 8 KB. What is kept is the name of its file: see FileNames.
    # A leak grows in every chunk; what else lives in the process of the tests may grow in one.
    assert min(after - before for before, after in itertools.pairwise(sizes[1:])) / lists.CHUNK < 500


def test_the_most_doubtful_pages_are_named_first(tmp_path: Path) -> None:
    doubtful = write.Doubtful()
    for number in range(100):
        doubtful.add(number % 7, SimpleNamespace(number=number))
    counts = [(count, page.number) for count, page in doubtful.pages()]
    assert counts[:3] == [(6, 6), (6, 13), (6, 20)] and len(counts) == 20


def test_a_report_that_cannot_begin_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(place: Path, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OutputError, match="No space left on device"), ReportFolder(tmp_path / "report"):
        pytest.fail("there is no place for it")
    assert list(tmp_path.iterdir()) == []
