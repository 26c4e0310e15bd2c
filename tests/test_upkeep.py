from __future__ import annotations

import itertools
import json
from contextlib import AbstractContextManager
from multiprocessing import get_context
from pathlib import Path

import pytest

import templatediff as td
from corpora.generator import SiteSpec, generate_pages, generate_site, write_site
from templatediff import profile as profile_module
from templatediff import upkeep
from templatediff.errors import InputError, MismatchError, TemplateError, UsageError
from templatediff.options import Options
from templatediff.prepare import prepare
from templatediff.profile import SiteProfile
from templatediff.store import PROFILE_FILE, TEMPLATE_FILE, read_profile
from templatediff.upkeep import merge_folders, put

SITE = generate_site(SiteSpec(kinds=("news",), pages=12, seed=31, months=("2024-01", "2024-02")))
PAGES = [td.Page(page.html, url=page.url, fetched=page.fetched) for page in SITE.pages]


def pieces(folder: Path) -> dict[str, bytes]:
    return {file.parent.name + "/" + file.name: file.read_bytes() for file in sorted(folder.glob("*/*"))}


# --- merge


def test_merging_equals_learning_at_once(tmp_path: Path) -> None:
    whole = td.learn(PAGES, site="a.example")
    merged = td.merge(td.learn(PAGES[:5], site="a.example"), td.learn(PAGES[3:], site="a.example"))
    assert merged.profile is not None and whole.profile is not None
    assert merged.profile.to_bytes() == whole.profile.to_bytes()
    assert merged.to_json() == whole.to_json()
    for name, part in (("one", PAGES[:5]), ("two", PAGES[3:])):
        td.learn(part, site="a.example").save(tmp_path / name)
    assert merge_folders([tmp_path / "two", tmp_path / "one"], tmp_path / "both") == ["a.example"]
    whole.save(tmp_path / "whole")
    assert pieces(tmp_path / "both") == pieces(tmp_path / "whole")


def test_different_sites_stand_side_by_side(tmp_path: Path) -> None:
    a, b = td.learn(PAGES[:3], site="a.example"), td.learn(PAGES[3:], site="b.example")
    both = td.merge({"a.example": a}, {"b.example": b})
    assert both == {"a.example": a, "b.example": b}
    a.save(tmp_path / "one")
    b.save(tmp_path / "two")
    td.learn(PAGES[:2], site="c.example").save(tmp_path / "two")
    assert merge_folders([tmp_path / "one", tmp_path / "two"], tmp_path / "one") == [
        "a.example",
        "b.example",
        "c.example",
    ]
    assert sorted(td.load(tmp_path / "one")) == ["a.example", "b.example", "c.example"]
    with pytest.raises(UsageError, match=r"two sites, a\.example and b\.example"):
        td.merge(a, b)


def test_merging_a_folder_with_itself_changes_nothing(tmp_path: Path) -> None:
    td.learn(PAGES, site="a.example").save(tmp_path)
    before = pieces(tmp_path)
    merge_folders([tmp_path, tmp_path], tmp_path)
    assert pieces(tmp_path) == before


def test_what_another_run_learns_while_folders_are_merged_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Merging into one of the folders reads that under its lock: here it is written at the last moment before."""
    td.learn(PAGES[:4], site="a.example").save(tmp_path / "one")
    td.learn(PAGES[4:8], site="a.example").save(tmp_path / "two")
    late = td.learn(PAGES[8:], site="a.example").profile
    real = upkeep.writing

    def writing(folder: Path, site: str) -> AbstractContextManager[Path]:
        monkeypatch.undo()
        assert late is not None
        put(late, folder, update=True)
        return real(folder, site)

    monkeypatch.setattr(upkeep, "writing", writing)
    merge_folders([tmp_path / "one", tmp_path / "two"], tmp_path / "one")
    td.learn(PAGES, site="a.example").save(tmp_path / "whole")
    assert pieces(tmp_path / "one") == pieces(tmp_path / "whole")


def test_a_damaged_site_stops_a_merge_before_anything_is_written(tmp_path: Path) -> None:
    for site in ("a.example", "z.example"):
        td.learn(PAGES[:3], site=site).save(tmp_path / "one")
    (tmp_path / "one" / "z.example" / PROFILE_FILE).unlink()
    (tmp_path / "one" / "z.example" / TEMPLATE_FILE).write_text("{}")
    with pytest.raises(TemplateError, match=r"z\.example/template\.json"):
        merge_folders([tmp_path / "one"], tmp_path / "both")
    assert not (tmp_path / "both").exists()


def test_an_update_without_a_memory_to_add_to_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    td.learn(PAGES[:3], site="a.example").save(tmp_path)
    (tmp_path / "a.example" / PROFILE_FILE).unlink()
    added = td.learn(PAGES[3:], site="a.example").profile
    assert added is not None
    put(added, tmp_path, update=True)
    assert "a.example has no profile.zst to add to: its template is learnt anew" in caplog.text
    caplog.clear()
    put(added, tmp_path, update=True)
    assert not caplog.text


def test_other_options_are_refused_and_nothing_is_written(tmp_path: Path) -> None:
    other = td.learn(PAGES[3:], site="z.example", options=Options(ngram_order=2, markup="keep"))
    td.learn(PAGES[:3], site="z.example").save(tmp_path / "one")
    td.learn(PAGES[:3], site="a.example").save(tmp_path / "one")
    other.save(tmp_path / "two")
    with pytest.raises(MismatchError, match="different markup, ngram_order") as caught:
        merge_folders([tmp_path / "one", tmp_path / "two"], tmp_path / "both")
    assert caught.value.differing == ("markup", "ngram_order")
    assert not (tmp_path / "both").exists()
    with pytest.raises(MismatchError, match="markup, ngram_order"):
        td.merge(td.load(tmp_path / "one")["z.example"], other)


def test_a_template_alone_is_copied_but_not_merged(tmp_path: Path) -> None:
    for name in ("one", "two"):
        td.learn(PAGES[:4], site="a.example").save(tmp_path / name)
    (tmp_path / "one" / "a.example" / PROFILE_FILE).unlink()
    merge_folders([tmp_path / "one"], tmp_path / "copy")
    text = (tmp_path / "one" / "a.example" / TEMPLATE_FILE).read_bytes()
    assert pieces(tmp_path / "copy") == {f"a.example/{TEMPLATE_FILE}": text}
    with pytest.raises(TemplateError, match=r"one/a\.example has no profile\.zst"):
        merge_folders([tmp_path / "one", tmp_path / "two"], tmp_path / "both")


def test_rules_stay_where_they_are(tmp_path: Path) -> None:
    for name in ("one", "two"):
        td.learn(PAGES[:4], site="a.example").save(tmp_path / name)
        (tmp_path / name / "a.example" / "rules.toml").write_text(f'[[drop]]\ntext = "{name}"\n')
    merge_folders([tmp_path / "one", tmp_path / "two"], tmp_path / "two")
    assert (tmp_path / "two" / "a.example" / "rules.toml").read_text() == '[[drop]]\ntext = "two"\n'


# --- update


def crawl_of(folder: Path, numbers: range) -> Path:
    part = generate_site(SiteSpec(kinds=("news",), pages=12, seed=31, months=("2024-01", "2024-02")))
    write_site(type(part)(part.name, part.host, tuple(part.pages[n] for n in numbers), part.lang, part.script), folder,
               sidecars=True)  # fmt: skip
    return folder


def test_updating_equals_learning_the_union(tmp_path: Path) -> None:
    one, two = crawl_of(tmp_path / "one", range(0, 7)), crawl_of(tmp_path / "two", range(5, 12))
    td.learn_crawl([one], tmp_path / "t")
    td.learn_crawl([two], tmp_path / "t", update=True)
    td.learn_crawl([one, two], tmp_path / "union")
    assert pieces(tmp_path / "t") == pieces(tmp_path / "union")


def test_since_forgets_older_and_undated_pages(tmp_path: Path) -> None:
    crawl = crawl_of(tmp_path / "crawl", range(12))
    (name,) = td.learn_crawl([crawl], tmp_path / "t")
    undated = tmp_path / "undated"
    undated.mkdir()
    (undated / "page.html").write_text(
        f"<link rel=canonical href=https://{SITE.host}/x><p>An undated page of the site."
    )
    td.learn_crawl([undated], tmp_path / "t", update=True, site=name)
    profile = read_profile(tmp_path / "t" / name)
    assert profile is not None and len(profile) == 13
    td.learn_crawl([undated], tmp_path / "t", update=True, since="2024-02", site=name)
    profile = read_profile(tmp_path / "t" / name)
    assert profile is not None
    assert {entry.month for entry in profile.entries()} == {"2024-02"} and len(profile) == 6


def test_since_that_leaves_nothing_leaves_the_template(tmp_path: Path) -> None:
    crawl = crawl_of(tmp_path / "crawl", range(4))
    td.learn_crawl([crawl], tmp_path / "t")
    before, totals = pieces(tmp_path / "t"), td.Totals()
    assert td.learn_crawl([crawl], tmp_path / "t", update=True, since="2025-01-01", totals=totals) == []
    assert pieces(tmp_path / "t") == before
    (warning,) = totals.warnings
    assert "was fetched since 2025-01-01T00:00:00Z: its template is left as it was" in warning


@pytest.mark.parametrize("known", ["old", "none"])
def test_since_forgets_before_it_learns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, known: str) -> None:
    """Old pages of the same month, of the template or of INPUT, take no place from new ones."""
    monkeypatch.setattr(profile_module, "PAGES_A_MONTH", 4)
    monkeypatch.setattr(profile_module, "PAGES_A_SHAPE", 0)
    monkeypatch.setattr(profile_module, "_PRUNE_AT", 1)
    days = {f"https://a.example/{number}": 1 + 20 * (number >= 12) for number in range(18)}
    for name, chosen in (("old", list(days)[:12]), ("new", list(days))):
        for number, url in enumerate(chosen):
            file = tmp_path / name / f"{number}.html"
            file.parent.mkdir(exist_ok=True)
            file.write_text(f"<p>Page {number} of the site, with a text of its own.")
            sidecar = json.dumps({"url": url, "fetched": f"2024-05-{days[url]:02}T00:00:00Z"})
            file.with_name(file.name + ".meta.json").write_text(sidecar)
    if known == "old":
        td.learn_crawl([tmp_path / "old"], tmp_path / "t")
    td.learn_crawl([tmp_path / "new"], tmp_path / "t", update=True, since="2024-05-10")
    profile = read_profile(tmp_path / "t" / "a.example")
    assert profile is not None
    assert [entry.version[0] for entry in profile.entries()] == ["2024-05-21T00:00:00Z"] * 4


@pytest.mark.parametrize(("update", "since"), [(False, "2024-01-01"), (True, "yesterday")])
def test_since_needs_update_and_a_date(tmp_path: Path, update: bool, since: str) -> None:
    with pytest.raises(UsageError, match=r"update|ISO 8601"):
        td.learn_crawl([crawl_of(tmp_path / "c", range(2))], tmp_path / "t", update=update, since=since)


def test_updates_of_one_folder_at_the_same_time_lose_no_page(tmp_path: Path) -> None:
    crawls = [crawl_of(tmp_path / f"crawl{n}", range(3 * n, 3 * n + 3)) for n in range(4)]
    context = get_context("forkserver")
    runs = [
        context.Process(target=td.learn_crawl, args=([crawl], tmp_path / "t"), kwargs={"update": True})
        for crawl in crawls
    ]
    for run in runs:
        run.start()
    for run in runs:
        run.join()
    assert [run.exitcode for run in runs] == [0] * 4
    td.learn_crawl(crawls, tmp_path / "whole")
    assert pieces(tmp_path / "t") == pieces(tmp_path / "whole")


def test_a_folder_without_templates_cannot_be_merged(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no template folder"):
        merge_folders([tmp_path / "none"], tmp_path)


# --- redesigns


def learnt_after_redesign(old: int, new: int, folder: Path) -> None:
    """The new design of a site is learnt from its first pages and applied, while the old one stays a layout."""
    spec = SiteSpec(kinds=("news",), pages=2 * old, seed=8, months=("2024-01", "2024-05"), redesign="2024-05")
    pages = generate_pages(spec)
    for count in (old, new):
        batch = SiteProfile("a.example", Options())
        for page in itertools.islice(pages, count):
            batch.add(prepare(td.Page(page.html, url=page.url, fetched=page.fetched), Options())[1])
        put(batch, folder, update=True)
    template = td.load(folder)["a.example"]
    assert template.profile is not None
    layouts: dict[str, set[int]] = {"2024-01": set(), "2024-05": set()}
    for entry in template.profile.entries():
        layouts[entry.month].add(template.sample.layout_of[template.sample.groups_of[entry.key][-1]])
    assert len(layouts["2024-05"]) == 1 and not layouts["2024-01"] & layouts["2024-05"]
    for page in itertools.islice(pages, 20):
        made = td.extract(td.Page(page.html, url=page.url), template=template, parts=["leaves"])
        assert {made.layout} == layouts["2024-05"]
        chrome = {block.text for block in page.blocks if block.static and block.kind == "template"}
        assert not chrome & {leaf["text"] for leaf in made.leaves if leaf["content"]}


def test_a_redesign_is_learnt_from_its_first_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profile_module, "PAGES_A_MONTH", 48)
    learnt_after_redesign(150, 30, tmp_path)


@pytest.mark.slow
def test_a_redesign_after_ten_thousand_pages_is_learnt_from_fifty(tmp_path: Path) -> None:
    learnt_after_redesign(10_000, 50, tmp_path)
