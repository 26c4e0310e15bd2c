"""What is worked out of a page once is kept: no page of a crawl is cut twice, and all comes out as without that."""

from __future__ import annotations

import errno
from pathlib import Path

import numpy as np
import pytest

import templatediff as td
from corpora.generator import SiteSpec, generate_site
from templatediff import applying, cuts, lessons, reading
from templatediff.fingerprint import Fingerprint
from templatediff.options import Options
from templatediff.page import Page
from templatediff.pipeline import extract_counted
from templatediff.prepare import prepare
from templatediff.profile import SiteProfile
from templatediff.segment import segment
from templatediff.spool import process_folder


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    folder = tmp_path / "crawl"
    folder.mkdir()
    for number, page in enumerate(generate_site(SiteSpec(kinds=("news", "docs"), pages=8, seed=5)).pages):
        (folder / f"{number}.html").write_text(page.html, encoding="utf-8")
    return folder


def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    calls: list[int] = []
    whole = segment

    def counting(text: str, *arguments: object, **named: object) -> object:
        calls.append(len(text))
        return whole(text, *arguments, **named)  # type: ignore[arg-type]

    for home in ("prepare", "record"):
        monkeypatch.setattr(f"templatediff.{home}.segment", counting)
    return calls


def test_a_page_is_cut_once(crawl: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = counted(monkeypatch)
    made = list(td.extract_crawl(crawl, parts=("leaves",)))
    assert len(made) == 8
    assert len(calls) == 8


def test_markdown_is_made_from_the_html_beside_what_was_kept(crawl: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = counted(monkeypatch)
    made = list(td.extract_crawl(crawl, parts=("markdown",)))
    assert len(calls) == 16  # once plain, once with inline markup
    alone = {one.path: one.markdown for one in td.extract_crawl(crawl)}
    assert {one.path: one.markdown for one in made} == alone


@pytest.mark.parametrize("most", [0, 40_000])
def test_without_room_the_records_are_the_same(crawl: Path, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    before = [one.to_dict() for one in td.extract_crawl(crawl)]
    monkeypatch.setattr(reading, "Keeper", lambda folder: cuts.Keeper(folder, most))
    calls = counted(monkeypatch)
    assert [one.to_dict() for one in td.extract_crawl(crawl)] == before
    assert 8 < len(calls) <= 16


def test_a_page_that_changed_meanwhile_is_read_as_it_was(crawl: Path) -> None:
    expected = [one.text for one in td.extract_crawl(crawl)]
    records = td.extract_crawl(crawl, progress=lambda stage, done, _: None)
    found = [next(records).text]
    (crawl / "7.html").write_text("<p>Something else altogether, which nobody has seen before.", encoding="utf-8")
    found += [one.text for one in records]
    assert found == expected


def test_what_is_kept_is_given_back_whole(tmp_path: Path) -> None:
    page = generate_site(SiteSpec(kinds=("docs",), pages=1, seed=3)).pages[0]
    given = Page(page.html, "https://a.example/1", "2024-05-01", "1.html", site="a.example", source={"id": [1, None]})
    leaves, made = prepare(given, Options())
    keeper = cuts.Keeper(str(tmp_path))
    first, second = keeper.add(given, leaves, made), keeper.add(given, leaves, made)
    assert first is not None and second is not None and second.start == first.size
    for cut in (first, second):
        kept = cuts.read(cut, "1.html")
        assert kept is not None
        back, its_leaves, its_print = kept
        assert (back.url, back.fetched, back.path, back.site, back.source) == (
            given.url, given.fetched, given.path, given.site, given.source,
        )  # fmt: skip
        assert its_leaves == leaves
        for name in Fingerprint.__dataclass_fields__:
            one, other = getattr(its_print, name), getattr(made, name)
            if isinstance(other, np.ndarray):
                assert one.dtype == other.dtype, name
                assert one.tolist() == other.tolist(), name
            else:
                assert one == other, name
        assert cuts.is_of(its_print, given)
        assert not cuts.is_of(its_print, Page(page.html + " "))


def test_what_cannot_be_kept_is_cut_again(tmp_path: Path) -> None:
    keeper = cuts.Keeper(str(tmp_path))
    given = Page("<p>Some words.", path="\udcff.html", source={"id": 1 << 70})
    assert keeper.add(given, *prepare(given, Options())) is None  # a number too large
    given = Page("<p>Some words.", path="\udcff.html", source={"id": "\ud800"})
    assert keeper.add(given, *prepare(given, Options())) is None  # half a character
    given = Page("<p>Some words.", path="\udcff.html")
    cut = keeper.add(given, *prepare(given, Options()))
    assert cut is not None
    assert cuts.read(cut, "\udcff.html") is not None
    Path(cut.file).write_bytes(b"\x93")
    assert cuts.read(cut, "\udcff.html") is None
    Path(cut.file).unlink()
    assert cuts.read(cut, "\udcff.html") is None


def test_what_is_kept_gives_way_where_the_disk_is_full(crawl: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = [one.to_dict() for one in td.extract_crawl(crawl)]
    whole, refused = SiteProfile.save, []

    def save(profile: SiteProfile, file: Path) -> None:
        if list(file.parent.parent.glob("*.cuts")):
            refused.append(file)
            file.write_bytes(b"half")
            raise OSError(errno.ENOSPC, "No space left on device")
        whole(profile, file)

    monkeypatch.setattr(SiteProfile, "save", save)
    assert [one.to_dict() for one in td.extract_crawl(crawl)] == before
    assert len(refused) == 1


def test_a_full_disk_ends_keeping(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = [Page(page.html, path=f"{n}.html") for n, page in enumerate(generate_site(SiteSpec(pages=3, seed=3)).pages)]
    made = [prepare(page, Options()) for page in pages]
    keeper = cuts.Keeper(str(tmp_path))
    kept = keeper.add(pages[0], *made[0])
    assert kept is not None and cuts.read(kept, "0.html") is not None
    with monkeypatch.context() as patch:
        patch.setattr(cuts, "open", lambda name, mode: Path("/dev/full").open(mode), raising=False)  # noqa: SIM115
        assert keeper.add(pages[1], *made[1]) is None
    assert not list(tmp_path.iterdir()), "others need the room"
    assert keeper.add(pages[2], *made[2]) is None
    assert cuts.read(kept, "0.html") is None


def test_nothing_is_left_behind(crawl: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spools = tmp_path / "spools"
    spools.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(spools))
    for _ in td.extract_crawl(crawl, parts=()):
        assert list(spools.rglob("*.cuts"))
    assert list(spools.rglob("*")) == [process_folder()], "which goes with the process"


def test_with_a_limit_of_pages_what_was_kept_is_of_the_right_page(crawl: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = [(one.path, one.text) for one in td.extract_crawl(crawl, limit=3)]
    assert [path for path, _ in found] == ["0.html", "1.html", "2.html"]
    monkeypatch.setattr(reading, "Keeper", lambda folder: cuts.Keeper(folder, 0))
    assert found == [(one.path, one.text) for one in td.extract_crawl(crawl, limit=3)]


def test_the_evidence_of_a_page_that_taught_is_worked_out_once(crawl: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    whole = lessons.rows
    monkeypatch.setattr(
        lessons, "rows", lambda context, names: (calls.append(context.page.key), whole(context, names))[1]
    )
    once = [one.to_dict() for one in td.extract_crawl(crawl, parts=())]
    assert len(calls) == len(set(calls)) == 8
    monkeypatch.setattr(applying, "FirstLooks", lambda: lessons.FirstLooks(0))
    assert [one.to_dict() for one in td.extract_crawl(crawl, parts=())] == once
    assert len(calls) == 24


def test_first_looks_know_a_page_in_one_form_only() -> None:
    html = "<title>Birds</title>" + "".join(
        f"<p>Line number {number} of a page on birds and trees.</p>" for number in range(9)
    )
    _, made = prepare(Page(html, "https://a.example/1"), Options())
    _, other = prepare(Page(html + "<p>More.", "https://a.example/1"), Options())
    looks = lessons.FirstLooks()
    matrix = np.zeros((len(made), 3), np.float32)
    looks.keep(made, matrix, np.zeros(len(made)))
    found = looks.of(made)
    assert found is not None and found[0] is matrix
    assert looks.of(other) is None
    looks = lessons.FirstLooks(most=matrix.nbytes)
    looks.keep(made, matrix, np.zeros(len(made)))
    assert looks.of(made) is None


def test_first_looks_are_not_of_a_page_of_which_a_profile_keeps_smaller_numbers() -> None:
    """A profile has 16 bits for the place of a container and for its step: a page of very many is judged by what it holds."""

    def page(number: int, more: str = "") -> td.Page:
        story = "".join(
            f"<div><p>Line {line} of story {number}: the {bird} sat on tree {number * line}, and it sang, as they do.</p></div>"
            for line, bird in enumerate(("wren", "tit", "robin", "crow", "owl"))
        )
        nav = "<nav><a href=/>Home</a> <a href=/birds>Birds</a></nav>"
        return td.Page(
            f"<title>Story {number}</title>{nav}{more}{story}<footer>Imprint</footer>", f"https://a.example/{number}"
        )

    letters = str.maketrans("0123456789", "abcdefghij")
    placed = page(8, "<i></i>" * 66_000)
    named = page(9, "".join(f"<p id={str(number).translate(letters)}></p>" for number in range(66_000)))
    template = td.learn([placed, named, *map(page, range(5))], site="a.example")
    looks = lessons.FirstLooks()
    template.get_ready(looks)
    for given, known in ((placed, False), (named, False), (page(1), True)):
        seen = template.sample.as_seen(prepare(given, template.options)[1])
        assert (looks.of(seen) is not None) == known
        made, _ = extract_counted(given, template, template.options, None, ("leaves",), looks=looks)
        assert made.to_dict(("leaves",)) == template.extract(given).to_dict(("leaves",))


def test_what_the_pages_of_a_template_teach_is_found_when_it_is_first_applied(
    crawl: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    calls: list[str] = []
    whole = lessons.rows
    monkeypatch.setattr(
        lessons, "rows", lambda context, names: (calls.append(context.page.key), whole(context, names))[1]
    )
    pages = sorted(crawl.glob("*.html"))
    template = td.learn(pages, site="a.example")
    template.save(tmp_path)
    assert template.to_json()["layouts"]
    assert not calls
    template.extract(pages[0])
    assert len(calls) == 9  # those that teach, and the page
    template.extract(pages[1])
    assert len(calls) == 10
    assert td.load(tmp_path)["a.example"].extract(pages[1]).to_dict() == template.extract(pages[1]).to_dict()
