"""The main job end to end: laws, sites, failures, and the Python interface."""

from __future__ import annotations

import io
import os
import pickle
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from multiprocessing.reduction import ForkingPickler
from pathlib import Path

import pytest

import templatediff as td
from corpora.generator import SiteSpec, generate_site, write_site
from templatediff.errors import InputError, MismatchError, TemplateError, UsageError
from templatediff.options import Options
from templatediff.pipeline import derive
from templatediff.profile import merge
from templatediff.store import PROFILE_FILE, TEMPLATE_FILE, read_profile, site_folder

DEMO = Path(__file__).resolve().parent.parent / "corpora" / "demo"


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three generated sites in one folder: two kinds and a lone page."""
    folder = tmp_path_factory.mktemp("crawl")
    write_site(generate_site(SiteSpec(kinds=("news", "forum"), pages=10, seed=11)), folder, sidecars=True)
    write_site(
        generate_site(SiteSpec(kinds=("product",), script="japanese", pages=6, seed=12)),
        folder,
        sidecars=True,
    )
    (folder / "alone").mkdir()
    (folder / "alone" / "page").write_text(
        "<!doctype html><title>A lone page</title><p>The ferry runs on Sundays too, says the harbour office."
    )
    return folder


def lines(records: Iterator[td.Extraction], parts: tuple[str, ...] = ("leaves",)) -> list[dict[str, object]]:
    return [record.to_dict(parts) for record in records]


@pytest.fixture(scope="module")
def extracted(crawl: Path) -> list[dict[str, object]]:
    """The records of the crawl, with leaves."""
    return lines(td.extract_crawl([crawl], parts=("leaves",)))


def test_every_page_comes_out_in_order_and_totals_add_up(crawl: Path) -> None:
    totals = td.Totals()
    found = list(td.extract_crawl([crawl], totals=totals))
    paths = [record.path or "" for record in found]
    assert paths == sorted(paths, key=str.encode) and len(paths) == totals.pages == 17
    assert totals.sites == len({record.site for record in found}) == 3
    assert totals.failed == 0 and totals.static + totals.dynamic > 0 and totals.content > 0


def test_the_record_has_the_keys_of_the_contract_in_order(crawl: Path) -> None:
    record = next(iter(td.extract_crawl([crawl]))).to_dict(("html", "markdown", "leaves"))
    assert list(record) == [
        "path",
        "url",
        "site",
        "layout",
        "mode",
        "siblings",
        "title",
        "text",
        "verdict",
        "confidence",
        "reason",
        "fetched",
        "lang",
        "text_hash",
        "error",
        "markdown",
        "html",
        "leaves",
    ]
    leaf = record["leaves"][0]
    assert list(leaf) == [
        "selector",
        "start",
        "tokens",
        "change",
        "k",
        "n",
        "level",
        "content",
        "p",
        "slot",
        "value",
        "reasons",
        "text",
        "slots",
    ]


def test_learning_then_applying_gives_the_bytes_of_extracting(
    crawl: Path, extracted: list[dict[str, object]], tmp_path: Path
) -> None:
    td.learn_crawl([crawl], tmp_path / "templates")
    assert lines(td.extract_crawl([crawl], tmp_path / "templates", parts=("leaves",))) == extracted
    assert lines(td.extract_crawl([crawl], td.load(tmp_path / "templates"), parts=("leaves",))) == extracted


def test_update_equals_learning_on_the_union(crawl: Path, tmp_path: Path) -> None:
    files = sorted(str(file) for file in crawl.rglob("*") if file.is_file() and not file.name.endswith(".json"))
    td.learn_crawl([crawl], tmp_path / "whole")
    random.Random(3).shuffle(files)
    td.learn_crawl(files[::2], tmp_path / "parts")
    td.learn_crawl(files[1::2], tmp_path / "parts", update=True)
    for site in (tmp_path / "whole").iterdir():
        for name in (PROFILE_FILE, TEMPLATE_FILE):
            assert (site / name).read_bytes() == (tmp_path / "parts" / site.name / name).read_bytes(), name


def test_two_halves_merged_equal_the_whole(crawl: Path, tmp_path: Path) -> None:
    files = sorted(str(file) for file in crawl.rglob("*.html"))
    for name, chosen in (("whole", files), ("one", files[::2]), ("two", files[1::2])):
        td.learn_crawl(chosen, tmp_path / name)
    for place in (tmp_path / "whole").iterdir():
        one, two = (read_profile(tmp_path / half / place.name) for half in ("one", "two"))
        whole = read_profile(place)
        assert one is not None and two is not None and whole is not None
        assert merge(one, two).to_bytes() == whole.to_bytes()
        assert derive(merge(one, two)).to_json() == derive(whole).to_json()


def test_the_order_of_inputs_does_not_matter(crawl: Path) -> None:
    folders = sorted(place for place in crawl.iterdir())
    one, other = (lines(td.extract_crawl(order, parts=("leaves",))) for order in (folders, folders[::-1]))
    assert one == other


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [2, 4])
def test_the_number_of_processes_does_not_matter(tmp_path: Path, jobs: int) -> None:
    write_site(generate_site(SiteSpec(kinds=("news", "docs"), pages=60, seed=4)), tmp_path, sidecars=True)
    assert lines(td.extract_crawl([tmp_path], jobs=jobs, parts=("leaves",))) == lines(
        td.extract_crawl([tmp_path], parts=("leaves",))
    )


def test_extract_with_update_learns_new_sites_first(
    crawl: Path, extracted: list[dict[str, object]], tmp_path: Path
) -> None:
    folders = sorted(place for place in crawl.iterdir())
    templates = tmp_path / "t"
    td.learn_crawl([folders[0]], templates)
    assert lines(td.extract_crawl([crawl], templates, update=True)) == extracted
    assert len(list(templates.iterdir())) == 3


def test_a_site_without_template_is_done_in_gist_mode_and_warned_of(crawl: Path, tmp_path: Path) -> None:
    td.learn_crawl([crawl / "alone"], tmp_path / "t", site="elsewhere")
    totals = td.Totals()
    found = list(td.extract_crawl([crawl], tmp_path / "t", totals=totals))
    assert {record.mode for record in found} == {"gist"} and {record.siblings for record in found} == {0}
    assert len(totals.warnings) == 3 and all("gist mode" in warning for warning in totals.warnings)


def test_templates_made_with_other_options_are_refused_with_their_names(crawl: Path, tmp_path: Path) -> None:
    td.learn_crawl([crawl / "alone"], tmp_path / "t")
    with pytest.raises(UsageError, match="ngram_order"):
        list(td.extract_crawl([crawl / "alone"], tmp_path / "t", options=Options(ngram_order=2)))
    with pytest.raises(MismatchError, match="markup"):
        td.learn_crawl([crawl / "alone"], tmp_path / "t", update=True, options=Options(markup="keep"))


def write(folder: Path, pages: dict[str, str | bytes]) -> Path:
    for name, html in pages.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(html if isinstance(html, bytes) else html.encode())
    return folder


def page(text: str, canonical: str | None = None) -> str:
    link = f'<link rel="canonical" href="https://{canonical}/x">' if canonical else ""
    return f"<!doctype html><title>{text}</title>{link}<p>{text} is told here in one sentence."


def sites(folder: Path, **how: str) -> dict[str | None, str | None]:
    return {record.path: record.site for record in td.extract_crawl([folder], **how)}  # type: ignore[arg-type]


def test_the_site_is_the_host_named_by_more_than_half_of_a_folder(tmp_path: Path) -> None:
    write(
        tmp_path,
        {"a/1": page("one", "www.x.org"), "a/2": page("two", "x.org"), "a/3": page("three", "y.org")},
    )
    assert set(sites(tmp_path).values()) == {"x.org"}


def test_without_a_majority_each_page_has_its_own_host_else_the_folder(tmp_path: Path) -> None:
    write(
        tmp_path,
        {"a/1": page("one", "x.org"), "a/2": page("two", "y.org"), "a/b/3": page("three"), "4": page("four")},
    )
    assert sites(tmp_path) == {"a/1": "x.org", "a/2": "y.org", "a/b/3": "a/b", "4": tmp_path.name}


def test_mirrors_folders_domains_and_given_names(tmp_path: Path) -> None:
    write(tmp_path, {"blog.x.co.uk/1.html": page("one"), "www.x.co.uk/a/2.html": page("two", "y.org")})
    assert set(sites(tmp_path).values()) == {"blog.x.co.uk", "x.co.uk"}
    assert set(sites(tmp_path, site_from="domain").values()) == {"x.co.uk"}
    assert set(sites(tmp_path, site_from="folder").values()) == {"blog.x.co.uk", "www.x.co.uk/a"}
    assert set(sites(tmp_path, site="mine").values()) == {"mine"}


def test_canonical_serves_the_url_but_not_the_identity(tmp_path: Path) -> None:
    write(tmp_path, {"a/1": page("one", "x.org"), "a/2": page("two", "x.org")})
    found = list(td.extract_crawl([tmp_path]))
    assert [record.url for record in found] == ["https://x.org/x"] * 2
    assert [record.siblings for record in found] == [1, 1], "two pages that name one canonical address stay two"


def test_the_same_page_twice_counts_once(tmp_path: Path) -> None:
    write(tmp_path, {"a/1.html": page("one"), "a/2.html": page("one"), "a/3.html": page("three")})
    assert [record.siblings for record in td.extract_crawl([tmp_path])] == [1, 1, 1]


def test_limit_is_pages_a_site_and_learns_from_no_others(tmp_path: Path) -> None:
    names = {f"{site}/{number}.html": page(f"{site} {number}") for site in "ab" for number in range(4)}
    write(tmp_path, names)
    limited = list(td.extract_crawl([tmp_path], limit=2))
    assert [record.path for record in limited] == ["a/0.html", "a/1.html", "b/0.html", "b/1.html"]
    assert {record.siblings for record in limited} == {1}


def test_bad_pages_are_records_with_a_reason_and_the_rest_comes_out(tmp_path: Path) -> None:
    import gzip

    write(
        tmp_path,
        {
            "s/binary.html": bytes(range(256)) * 20,
            "s/cut.html": gzip.compress(page("cut").encode() * 50)[:60],
            "s/deep.html": "<div>" * 50_000 + "x",
            "s/empty.html": "",
            "s/frames.html": "<!doctype html><frameset><frame src=a.html></frameset>",
            "s/good.html": page("good"),
            "s/picture.png": b"\x89PNG\r\n\x1a\n" + bytes(50),
            "s/shell.html": "<!doctype html><body><div id=app></div><script>start()</script>",
        },
    )
    totals = td.Totals()
    found = {record.path: record for record in td.extract_crawl([tmp_path], totals=totals)}
    assert {path: record.verdict for path, record in found.items()} == {
        "s/binary.html": "error", "s/cut.html": "error", "s/deep.html": "error", "s/empty.html": "empty",
        "s/frames.html": "empty", "s/good.html": "content", "s/shell.html": "empty",
    }  # fmt: skip
    assert all(record.reason for record in found.values() if record.verdict != "content")
    assert all((record.text == "") == (record.verdict in ("empty", "error")) for record in found.values())
    assert totals.failed == 3 and totals.pages == 7 and totals.skipped == {"image": 1}
    assert [kind for _, kind, _ in totals.failures] == ["binary", "truncated", "too-deep"]


def test_names_that_are_no_utf8_are_no_trouble(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b"/caf\xe9"
    os.mkdir(folder)
    for number in range(2):
        with open(folder + b"/%d\xff.html" % number, "wb") as file:
            file.write(page(f"number {number}").encode())
    found = list(td.extract_crawl([tmp_path]))
    assert {record.site for record in found} == {"caf\\xe9"} and [record.siblings for record in found] == [1, 1]
    assert td.extract("<p>A lone surrogate \ud800 in the middle of a sentence.").verdict == "content"


def test_nothing_to_read_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no-such"):
        list(td.extract_crawl([tmp_path / "no-such"]))
    (tmp_path / "notes.txt").write_text("no page")
    with pytest.raises(InputError, match=r"no HTML page.*1 text"):
        list(td.extract_crawl([tmp_path]))


@pytest.mark.parametrize("given", ["https://example.org/a", "pages/a.html", "./a", "crawl/page", "file:///a", "a.html"])
def test_a_path_or_url_as_text_is_refused(given: str) -> None:
    with pytest.raises(ValueError, match="looks like a path or URL"):
        td.extract(given)


def test_a_folder_is_no_page_and_one_path_is_a_crawl(tmp_path: Path) -> None:
    write(tmp_path, {"a/1.html": page("one", "x.org")})
    with pytest.raises(ValueError, match="is a folder"):
        td.extract(tmp_path)
    assert [record.site for record in td.extract_crawl(str(tmp_path))] == ["x.org"]
    assert td.extract(page("one", "x.org")).site == "x.org"


def test_pages_without_text_teach_nothing_and_that_is_said(tmp_path: Path) -> None:
    write(tmp_path, {"a/1.html": ""})
    with pytest.raises(InputError, match="no page with text"):
        td.learn_crawl([tmp_path], tmp_path / "t")


def test_the_site_s_name_in_a_heading_is_no_title_of_a_page() -> None:
    pages = [
        f"<title>Story {n} | Paper</title><nav><h1>Paper</h1></nav><h2>Story {n}</h2><p>Text number {n} is its own."
        for n in range(6)
    ]
    template = td.learn(pages, site="paper.example")
    assert [template.extract(page).title for page in pages] == [f"Story {n}" for n in range(6)]
    assert template.extract("<title>Paper</title><h1>Paper</h1><p>All stories, by day.").title == "Paper"


def test_the_site_s_name_above_the_menu_is_no_title_of_a_page_alone() -> None:
    story = (
        "<p>" + "The trust means to grind flour at the bridge again, and has found two millers and a smith for it. " * 3
    )

    def shown(name: str, heading: str, title: str) -> str | None:
        menu = f"<h1>{name}</h1><nav><a href=/n>News</a> <a href=/s>Sport</a></nav>"
        return td.extract(f"<title>{title}</title>{menu}<div id=content><h2>{heading}</h2>{story}</div>").title

    assert shown("The Weekly", "Mill sold to a trust", "Mill sold to a trust - The Weekly") == "Mill sold to a trust"
    # a short part of the title that stands in the content, such as a section's name, is no headline
    assert shown("Mill sold to a trust", "Towns", "Mill sold to a trust - Towns") == "Mill sold to a trust"


def test_the_title_is_the_heading_that_the_title_names_though_other_pages_list_it() -> None:
    name = "The library lends out its roof"
    others = [
        f"<title>Story {n} - Paper</title><h1>Story {n}</h1><p>Text number {n}.<ul><li><a href=/x>{name}</a></ul>"
        for n in range(5)
    ]
    template = td.learn(others, site="s")
    found = template.extract(
        f"<title>{name} - Paper</title><h1>{name}</h1><p>Text of it.<h2>Rules of the roof</h2><p>More of it."
    )
    assert found.title == name


def test_text_without_markup_is_a_page() -> None:
    assert td.extract("The tide turned at noon, and the boats went out again.").text.startswith("The tide")


def test_templates_are_new_values_pickle_and_save(tmp_path: Path) -> None:
    pages = [generated.html for generated in generate_site(SiteSpec(kinds=("blog",), pages=6, seed=2)).pages]
    first = td.learn(pages[:3], site="example.org")
    before = first.to_json()
    updated = first.update(pages[3:])
    assert first.to_json() == before
    assert updated.to_json() == td.learn(pages, site="example.org").to_json()
    updated.save(tmp_path)
    loaded = td.load(tmp_path)["example.org"]
    copy = ForkingPickler.dumps(updated)
    copy = pickle.Unpickler(io.BytesIO(copy)).load()  # as templates go to worker processes
    for template in (loaded, copy):
        assert template.extract(pages[0]).to_dict(("leaves",)) == updated.extract(pages[0]).to_dict(("leaves",))


def test_template_json_alone_still_drops_what_it_knows(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    site = generate_site(SiteSpec(kinds=("news",), pages=8, seed=3))
    td.learn([generated.html for generated in site.pages], site="example.org").save(tmp_path)
    (tmp_path / "example.org" / PROFILE_FILE).unlink()
    template = td.load(tmp_path)["example.org"]
    assert "template.json alone" in caplog.text
    found = template.extract(site.pages[0].html)
    assert found.mode == "template" and found.siblings > 0 and found.layout is not None
    static = {leaf.text for layout in template.layouts for leaf in layout.static}
    assert static and not static & set(found.text.split("\n\n"))


@pytest.mark.parametrize(
    "damage",
    [
        "",
        "{",
        "[]",
        "{}",
        '{"format": 99}',
        '{"format": 1, "layouts": 3}',
        "[" * 100_000,
        '{"format": 1e999}',
    ],
)
def test_a_damaged_template_is_one_clear_error(tmp_path: Path, damage: str) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / TEMPLATE_FILE).write_text(damage)
    with pytest.raises(TemplateError, match=TEMPLATE_FILE):
        td.load(tmp_path)


def test_a_damaged_template_json_is_refused_beside_a_good_profile_too(tmp_path: Path) -> None:
    td.learn([page("one"), page("two")], site="s").save(tmp_path)
    for damage, said in (("{", "damaged"), ('{"format": 9}', "format 9, this release reads 1: upgrade")):
        (tmp_path / "s" / TEMPLATE_FILE).write_text(damage)
        with pytest.raises(TemplateError, match=said):
            td.load(tmp_path)


def test_site_names_make_folders_of_their_own_inside_the_folder() -> None:
    names = ["a/b", "A/b", "a%2Fb", "..", ".", "con", "x" * 400, "x" * 401, "\u4f8b.jp", "a", "A"]
    folders = [site_folder(name) for name in names]
    assert len({folder.casefold() for folder in folders}) == len(names)
    assert not any("/" in folder or folder in ("", ".", "..") or len(folder.encode()) > 200 for folder in folders)


def test_import_does_not_load_scikit_learn_nor_does_one_page() -> None:
    code = (
        "import sys, templatediff as td; assert 'numpy' not in sys.modules; td.extract('<p>One sentence of a page.');"
        "assert 'sklearn' not in sys.modules and 'scipy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_inputs_are_not_altered() -> None:
    html = bytearray(b"<p>The tide turned at noon, and the boats went out.</p>")
    before = bytes(html)
    td.extract(bytes(html))
    assert bytes(html) == before


def test_the_demonstration_crawl(tmp_path: Path) -> None:
    shutil.copytree(DEMO, tmp_path / "demo")
    found = list(td.extract_crawl([tmp_path / "demo"]))
    assert len(found) == 17 and {record.site for record in found} == {
        "harbour-gazette.example",
        "werkstatt-lindner.example",
    }
    gold = DEMO.parent / "demo-gold"
    for record in found:
        wanted = (gold / f"{(record.path or '').removesuffix('.html')}.gold.txt").read_text(encoding="utf-8")
        assert (record.title or "") in wanted
