from __future__ import annotations

import json
import os
import random
import shutil
import signal
import time
import unicodedata
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
import zstandard

import templatediff as td
from corpora.generator import SiteSpec, generate_site
from templatediff import profile as profile_module
from templatediff.errors import InputError, OutputError, TemplateDiffError, TemplateError
from templatediff.pipeline import load_site
from templatediff.store import PROFILE_FILE, TEMPLATE_FILE, read_profile, save_all, site_folder
from templatediff.upkeep import merge_folders, upgrade_folder

ROOT = Path(__file__).resolve().parent.parent
SCHEMA = json.loads((ROOT / "templatediff" / "template.schema.json").read_text(encoding="utf-8"))
PAGES = [
    f"<nav>Menu</nav><h1>Tide {n}</h1><p>Page {n} tells of the tide, and of boats that wait for it." for n in range(5)
]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A stored site without its profile."""
    td.learn(PAGES, site="a.example").save(tmp_path)
    (tmp_path / "a.example" / PROFILE_FILE).unlink()
    return tmp_path / "a.example"


def document(place: Path) -> Any:
    return json.loads((place / TEMPLATE_FILE).read_text(encoding="utf-8"))


# --- the schema


@pytest.mark.parametrize("kinds", [("news", "forum"), ("product",), ("docs", "listing")], ids=" ".join)
def test_templates_follow_the_schema(tmp_path: Path, kinds: tuple[str, ...]) -> None:
    site = generate_site(SiteSpec(kinds=kinds, pages=8, seed=4))
    td.learn([td.Page(page.html, url=page.url) for page in site.pages]).save(tmp_path)
    (place,) = tmp_path.iterdir()
    jsonschema.validate(document(place), SCHEMA, jsonschema.Draft202012Validator)


def test_the_schema_is_one_and_refuses_what_it_does_not_know(place: Path) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(document(place), SCHEMA)
    for wrong in (
        {**document(place), "surprise": 1},
        {**document(place), "format": 2},
        {**document(place), "pages": -1},
        {name: value for name, value in document(place).items() if name != "site"},
    ):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, SCHEMA)


def test_every_key_of_the_schema_is_written_and_explained(place: Path) -> None:
    layout = document(place)["layouts"][0]
    defs = SCHEMA["$defs"]
    for found, known in (
        (document(place), SCHEMA),
        (layout, defs["layout"]),
        (layout["static"][0], defs["static"]),
        (layout["slots"][0], defs["slot"]),
    ):
        assert sorted(found) == sorted(known["properties"]) == sorted(known["required"])
        assert all("description" in each for each in known["properties"].values())


# --- hostile and damaged files


def changed(path: str, value: Any) -> Callable[[Any], None]:
    def change(found: Any) -> None:
        *parents, last = [int(step) if step.isdigit() else step for step in path.split(".")]
        for step in parents:
            found = found[step]
        found[last] = value

    change.__name__ = f"{path}={value!r:.20}"
    return change


@pytest.mark.parametrize(
    "change",
    [
        changed("layouts", 7),
        changed("layouts", None),
        changed("layouts.0", []),
        changed("layouts.0.static.0.n", 10**9),
        changed("layouts.0.static.0.n", 10**18),
        changed("layouts.0.static.0.k", -1),
        changed("layouts.0.static.0.k", 99),
        changed("layouts.0.static.0.hash", "f" * 40),
        changed("layouts.0.static.0.hash", "no"),
        changed("layouts.0.pages", 10**12),
        changed("layouts.0.centre", {"zz": 1}),
        changed("layouts.0.centre", []),
        changed("layouts.0.slots.0", "x"),
        changed("pages", -1),
        changed("pages", 10**15),
        changed("pages", "many"),
        changed("join_below", 10**9),
        changed("options.ngram_order", 77),
        changed("options", {}),
        changed("site", 5),
        changed("site", "../../etc"),
        changed("site", "/etc/passwd"),
        changed("site", "b.example"),
        changed("site", "a.example\x00"),
        changed("site", "\ud800"),
        changed("format", 1.5),
        changed("profile", 7),
        changed("options.markup", "a" * 100_000),
        changed("layouts.0.slots.0.share", "a" * 100_000),
        changed("site", "a" * 100_000),
    ],
    ids=lambda change: change.__name__,
)
def test_a_hostile_template_gives_one_clear_error(place: Path, change: Callable[[Any], None]) -> None:
    found = document(place)
    change(found)
    (place / TEMPLATE_FILE).write_text(json.dumps(found))
    with pytest.raises(TemplateError, match=r"template\.json") as caught:
        load_site(place)
    assert len(str(caught.value).splitlines()) == 1 and len(str(caught.value)) < 700


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("[" * 200_000, id="deep and cut"),
        pytest.param("[" * 100_000 + "]" * 100_000, id="deep"),
        pytest.param('{"format": ' + "9" * 5000 + "}", id="huge number"),
        pytest.param('{"format": 1, "pages": 1e999}', id="infinite number"),
        pytest.param('{"format": 1, "pages": NaN}', id="no number"),
        pytest.param("[]", id="no object"),
        pytest.param("", id="empty"),
        pytest.param('{"format": 1', id="cut"),
        pytest.param("\ud800".encode("utf-8", "surrogatepass"), id="not UTF-8"),
        pytest.param("<html>", id="foreign"),
    ],
)
def test_what_is_no_template_at_all_gives_one_clear_error(place: Path, text: str | bytes) -> None:
    (place / TEMPLATE_FILE).write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(TemplateError, match=r"template\.json is damaged|template\.json is format"):
        load_site(place)


def test_names_of_sites_never_lead_out_of_the_folder(tmp_path: Path) -> None:
    names = ["..", ".", "", "../up", "/etc", "a/../../b", "a\\b", "a\0b", "con", "A", "a", "x" * 300, "x" * 301, "日本"]
    names += ["rules.toml", "template.json", "profile.zst", ".part"]
    folder = tmp_path / "templates"
    save_all({name: td.learn(PAGES[:2], site=name) for name in names if name}, folder)
    assert [each.name for each in tmp_path.iterdir()] == ["templates"]
    assert sorted(td.load(folder)) == sorted(name for name in names if name)
    assert len({site_folder(name).casefold() for name in names}) == len(names)


def test_a_site_whose_name_is_no_text_is_spelled_out(tmp_path: Path) -> None:
    td.learn(PAGES[:2], site="caf\udce9").save(tmp_path)
    assert list(td.load(tmp_path)) == ["caf\\xe9"]


def test_no_file_system_takes_the_folders_of_two_sites_for_one() -> None:
    """Some ignore case, some the Unicode form; two sites in one folder would be learnt as one."""
    names = [
        "caf\u00e9",
        "cafe\u0301",
        "CAF\u00c9",
        "s",
        "\u017f",
        "k",
        "K",
        "\u212a",
        "ss",
        "\u00df",
        "\u0130",
        "i\u0307",
    ]
    folders = [site_folder(name) for name in names]
    assert len({unicodedata.normalize("NFC", folder).casefold() for folder in folders}) == len(names)
    assert len({unicodedata.normalize("NFD", folder).casefold() for folder in folders}) == len(names)


def test_a_folder_of_rules_alone_is_a_site_not_learnt_yet(tmp_path: Path) -> None:
    """So is what a first run leaves behind that was killed before it wrote."""
    (tmp_path / "crawl" / "a.example").mkdir(parents=True)
    for number, page in enumerate(PAGES):
        (tmp_path / "crawl" / "a.example" / f"{number}.html").write_text(page)
    td.learn(PAGES, site="b.example").save(tmp_path / "templates")
    (tmp_path / "templates" / "a.example").mkdir()
    (tmp_path / "templates" / "a.example" / "rules.toml").write_text('[[drop]]\ncontains = "boats"\n')
    totals = td.Totals()
    found = list(td.extract_crawl([tmp_path / "crawl"], tmp_path / "templates", site="a.example", totals=totals))
    assert [record.mode for record in found] == ["gist"] * 5 and not any("boats" in record.text for record in found)
    assert totals.warnings[0].startswith("no template of a.example in ")


def test_a_linked_folder_goes_by_the_name_of_the_link(place: Path) -> None:
    elsewhere = place.rename(place.parent.parent / "elsewhere")
    place.symlink_to(elsewhere)
    assert list(td.load(place.parent)) == ["a.example"]
    assert merge_folders([place.parent, place.parent], place.parent.parent / "merged") == ["a.example"]


def test_the_folder_of_one_site_is_told_from_a_template_folder(place: Path) -> None:
    with pytest.raises(InputError, match="is the folder of one site: give the folder that it lies in"):
        td.load(place)


def test_a_folder_that_was_renamed_is_told_so(place: Path) -> None:
    place.rename(place.with_name("backup"))
    with pytest.raises(TemplateError, match=r"of the site 'a\.example', which belongs into a folder a\.example"):
        td.load(place.parent)


def test_a_template_without_profile_does_not_go_beside_the_profile_of_another(place: Path, tmp_path: Path) -> None:
    alone = load_site(place)
    td.learn(PAGES[:3], site="a.example").save(tmp_path / "other")
    with pytest.raises(OutputError, match=r"has a profile\.zst"):
        alone.save(tmp_path / "other")


def raw(data: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(b"templatediff profile\n" + data)


DEEP = b"\x91" * 100_000 + b"\xc0"
HEAD = b"\x94\x01" + msgspec.msgpack.encode("a.example") + msgspec.msgpack.encode(td.Options().to_dict())
KEY = b"\x9d\xa1k\x00\xa0\x00\xc0\xc0\xc0"
MANY = msgspec.msgpack.encode(KEY + b"\xdd\x0f\xff\xff\xff" + b"\xa0" * 1000)
WIDE = msgspec.msgpack.encode(
    KEY + b"\x90\x90\x80\x90\xdc\x00\x1a" + msgspec.msgpack.encode(bytes(40_000_000)) + b"\xc4\x00" * 25 + b"\x90"
)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(DEEP, id="deep"),
        pytest.param(b"\x94\x01\xa1a\x80\xdd\xff\xff\xff\xff", id="says to hold four billion pages"),
        pytest.param(b"\x94\x01\xa1a\x80\x90", id="no options"),
        pytest.param(b"\x94\xcf" + b"\xff" * 8, id="huge format"),
        pytest.param(b"\xc6\xff\xff\xff\xff", id="says to be four gigabytes"),
        pytest.param(msgspec.msgpack.encode([1, "a.example", td.Options().to_dict(), [b"x"]]), id="no fingerprint"),
        pytest.param(msgspec.msgpack.encode([1, "a.example", td.Options().to_dict(), [DEEP]]), id="deep fingerprint"),
        pytest.param(HEAD + b"\xdd\x0f\xff\xff\xff" + b"\xc4\x00" * 1_000_000, id="very many empty pages"),
        pytest.param(HEAD + b"\x91" + MANY, id="a page of very many names"),
        pytest.param(HEAD + b"\x91" + WIDE, id="a page with a very long column"),
        pytest.param(msgspec.msgpack.encode([1, "../up", td.Options().to_dict(), []]), id="a path as site"),
        pytest.param(msgspec.msgpack.encode([1, "b.example", td.Options().to_dict(), []]), id="another site"),
    ],
)
def test_a_hostile_profile_gives_one_clear_error(place: Path, body: bytes) -> None:
    (place / PROFILE_FILE).write_bytes(raw(body))
    with pytest.raises(TemplateError, match=r"profile\.zst"):
        load_site(place)


def test_a_profile_that_unpacks_to_too_much_is_refused(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (place / PROFILE_FILE).write_bytes(raw(bytes(1_000_000)))
    monkeypatch.setattr(profile_module, "MAX_PROFILE_BYTES", 100_000)
    with pytest.raises(TemplateError, match="it says to hold 1,000,021 bytes"):
        load_site(place)


def test_flipped_bytes_are_read_or_refused_never_worse(tmp_path: Path) -> None:
    td.learn(PAGES, site="a.example").save(tmp_path)
    place = tmp_path / "a.example"
    whole = zstandard.ZstdDecompressor().decompress((place / PROFILE_FILE).read_bytes())
    text = (place / TEMPLATE_FILE).read_bytes()
    rng = random.Random(5)
    for number in range(120):
        data = bytearray(whole if number % 2 else text)
        for _ in range(rng.choice((1, 1, 3))):
            data[rng.randrange(30, len(data))] = rng.randrange(256)
        if number % 2:
            (place / PROFILE_FILE).write_bytes(zstandard.ZstdCompressor().compress(bytes(data)))
        else:
            (place / PROFILE_FILE).unlink(missing_ok=True)
            (place / TEMPLATE_FILE).write_bytes(bytes(data))
        try:
            load_site(place).extract(PAGES[0])
        except TemplateDiffError as error:
            assert len(str(error).splitlines()) == 1


# --- old or new, never half


def write_for_ever(one: Path, two: Path, folder: Path, ready: Connection) -> None:
    """Replaces the template of one site by that of the other, and back, until the process is killed."""
    templates = load_site(one), load_site(two)
    ready.send("ready")
    while True:
        for template in templates:
            save_all({"a.example": template}, folder)


def test_between_the_two_files_a_reader_gets_the_new_state_and_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A run is stopped where the new profile is in place and the new template.json is not."""
    td.learn(PAGES[:3], site="a.example").save(tmp_path)
    place = tmp_path / "a.example"
    old = (place / TEMPLATE_FILE).read_bytes()
    real = os.replace

    def replace(part: Path, file: Path) -> None:
        if file.name == TEMPLATE_FILE:
            assert json.loads(part.read_text())["pages"] == 5, "it is whole before anything is put in place"
            raise KeyboardInterrupt
        real(part, file)

    whole = td.learn(PAGES, site="a.example")
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr("templatediff.store.os.replace", replace)
        whole.save(tmp_path)
    assert (place / TEMPLATE_FILE).read_bytes() == old
    found = td.load(tmp_path)["a.example"]
    assert found.to_json() == whole.to_json() and found.extract(PAGES[4]).siblings == 4
    assert f"{place / TEMPLATE_FILE} is not of the profile.zst beside it" in caplog.text
    caplog.clear()
    upgrade_folder(tmp_path)
    assert td.load(tmp_path)["a.example"].pages == 5 and document(place)["pages"] == 5 and not caplog.text


def test_an_error_names_the_file_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "a.example" / PROFILE_FILE).mkdir(parents=True)
    with pytest.raises(OutputError, match=r"a\.example/profile\.zst: Is a directory"):
        td.learn(PAGES, site="a.example").save(tmp_path)
    assert [file.name for file in (tmp_path / "a.example").iterdir()] == [PROFILE_FILE]


def test_template_json_names_its_profile_and_older_ones_do_not(place: Path) -> None:
    whole = td.learn(PAGES, site="a.example")
    assert whole.profile is not None and document(place)["profile"] == whole.profile.digest()
    alone = load_site(place)
    assert alone.to_json() == document(place)
    older = document(place)
    del older["profile"]
    (place / TEMPLATE_FILE).write_text(json.dumps(older))
    assert load_site(place).to_json() == {**older, "profile": None}


def test_a_run_killed_at_any_moment_leaves_whole_files(tmp_path: Path) -> None:
    """A process that replaces a template by another over and over is killed at moments drawn at random."""
    states = []
    for name, pages in (("one", PAGES[:3]), ("two", PAGES)):
        td.learn(pages, site="a.example").save(tmp_path / name)
        states.append((tmp_path / name / "a.example" / PROFILE_FILE).read_bytes())
    texts = [(tmp_path / name / "a.example" / TEMPLATE_FILE).read_bytes() for name in ("one", "two")]
    rng = random.Random(3)
    places = [tmp_path / name / "a.example" for name in ("one", "two")]
    place = tmp_path / "target" / "a.example"
    shutil.copytree(tmp_path / "one", place.parent)  # on a busy machine the first kill may come before the first write
    context = get_context("forkserver")
    for _ in range(6):
        ready, theirs = context.Pipe(duplex=False)
        process = context.Process(target=write_for_ever, args=(*places, place.parent, theirs), daemon=True)
        with ready, theirs:
            process.start()
            theirs.close()
            assert ready.recv() == "ready"
        time.sleep(0.05 + rng.random() * 0.1)
        process.kill()
        process.join()
        assert process.exitcode == -signal.SIGKILL
        assert (place / PROFILE_FILE).read_bytes() in states
        assert (place / TEMPLATE_FILE).read_bytes() in texts
        found = read_profile(place)
        assert found is not None and len(found) in (3, 5)
    td.learn(PAGES, site="a.example").save(place.parent)
    assert sorted(file.name for file in place.iterdir()) == [PROFILE_FILE, TEMPLATE_FILE], (
        "what was left is cleared away"
    )
