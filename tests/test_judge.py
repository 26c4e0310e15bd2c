from __future__ import annotations

import gzip
import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import zstandard
from click.testing import CliRunner, Result

from benchmarks import data
from templatediff.cli.program import program
from templatediff.errors import InputError
from templatediff.judge import GoldBlock, GoldPage, Results, evaluate, read_gold, read_results, summary

LONG = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
PAGE = GoldPage(
    LONG,
    path="a.html",
    set="small",
    blocks=(
        GoldBlock("text", LONG, True),
        GoldBlock("menu", "Home Contact", False),
        GoldBlock("promo", "Join us, seventeen", False, needs_siblings=True),
        GoldBlock("headline", "A headline", None),
    ),
)


def lines(file: Path, records: Sequence[Any]) -> Path:
    file.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return file


def run(*arguments: object, given: str | None = None) -> Result:
    return CliRunner().invoke(program, [str(argument) for argument in arguments], input=given)


def blocks(text: str) -> dict[str, tuple[float, bool]]:
    (page,) = evaluate([PAGE], Results({"a.html": text})).pages
    return {block.name: (block.share, block.wrong) for block in page.blocks}


def test_a_content_block_is_kept_from_95_per_cent_of_its_own_tokens_on() -> None:
    # "seventeen" stands in the promo too, so sixteen tokens are the text's own
    assert blocks(LONG)["text"] == (1.0, False)
    assert blocks(LONG.replace("two", ""))["text"] == (0.9375, True)


def test_one_token_is_a_leak() -> None:
    found = blocks(f"{LONG} CONTACT")
    assert found["menu"] == (0.5, True) and found["promo"] == (0.0, False)


def test_what_counts_on_neither_side_is_never_wrong() -> None:
    assert blocks("")["headline"] == (0.0, False) and blocks("a headline")["headline"] == (1.0, False)


def test_tokens_may_be_named_and_blocks_without_own_tokens_are_left_out() -> None:
    page = GoldPage("", path="a", blocks=(GoldBlock("x", "same words", False), GoldBlock("y", "same words", True)))
    assert evaluate([page], Results({})).pages[0].blocks == ()
    named = GoldPage("", path="a", blocks=(GoldBlock("x", "same words", False, tokens=("words",)),))
    assert [block.wrong for block in evaluate([named], Results({"a": "these words"})).pages[0].blocks] == [True]


def test_sets_are_counted_apart_and_missing_pages_are_empty() -> None:
    other = GoldPage("some other text here", path="b.html", set="other")
    found = evaluate([PAGE, other], Results({"a.html": LONG}))
    assert list(found.sets()) == ["small", "other"]
    assert found.sets()["small"].f1 == 1.0 and found.sets()["other"].f1 == 0.0
    whole = summary(found.pages)
    assert (whole.pages, whole.missing, whole.f1) == (2, 1, 0.5)
    assert (whole.blocks, whole.kept, whole.chrome, whole.leaked, whole.siblings) == (1, 1, 1, 0, 1)


def test_two_empty_texts_agree() -> None:
    assert evaluate([GoldPage("", path="a")], Results({"a": ""})).pages[0].score.f1 == 1.0


def test_results_without_gold_are_named_and_gold_without_any_result_is_an_error() -> None:
    assert evaluate([PAGE], Results({"a.html": "", "z.html": ""})).unknown == ("z.html",)
    with pytest.raises(InputError, match=r"no page in common: the gold has 'a.html', the results have 'z.html'"):
        evaluate([PAGE], Results({"z.html": ""}))


def test_pages_are_found_by_url_where_the_gold_has_no_path(tmp_path: Path) -> None:
    gold = read_gold(lines(tmp_path / "gold.jsonl", [{"url": "https://a.example/1", "text": "one two"}]))
    results = read_results(lines(tmp_path / "r.jsonl", [{"url": "https://a.example/1", "text": "one two", "more": 1}]))
    assert evaluate(gold, results).pages[0].score.f1 == 1.0


URL = "https://a.example/1"
NAMED = {
    "gold by URL, result by both": ({"url": URL}, [{"path": "p", "url": URL}], True),
    "gold by both, result by URL": ({"path": "p", "url": URL}, [{"url": URL}], True),
    "another capture of the URL": ({"path": "q", "url": URL}, [{"path": "p", "url": URL}, {"path": "x"}], False),
}


@pytest.mark.parametrize("case", NAMED)
def test_a_url_serves_where_a_side_has_no_path(case: str, tmp_path: Path) -> None:
    named, results, found = NAMED[case]
    gold = read_gold(lines(tmp_path / "g.jsonl", [named | {"text": "one"}, {"path": "x", "text": "one"}]))
    made = evaluate(gold, read_results(lines(tmp_path / "r.jsonl", [one | {"text": "one"} for one in results])))
    assert made.pages[0].found is found and made.unknown == (() if found else ("p",))


def test_a_url_of_several_results_names_none(tmp_path: Path) -> None:
    results = read_results(lines(tmp_path / "r.jsonl", [{"path": p, "url": URL, "text": p} for p in "ab"]))
    with pytest.raises(InputError, match="is the URL of several results: name the page in the gold by its path"):
        evaluate([GoldPage("a", url=URL)], results)


def test_a_byte_order_mark_and_windows_line_ends_are_no_fault(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_bytes(b'\xef\xbb\xbf{"path":"a","text":"x"}\r\n{"path":"b","text":"y"}\r\n')
    assert read_results(tmp_path / "r.jsonl").texts == {"a": "x", "b": "y"}


FAULTY = {
    "no JSON": ("{", "line 1: "),
    "no text": ('{"path": "a"}', "line 1: Object missing required field `text`"),
    "no name": ('{"text": "x"}', "line 1: has neither path nor url"),
    "twice": ('{"path": "a", "text": "x"}\n\n{"path": "a", "text": "y"}', "line 3: 'a' comes twice"),
    "other keys": ('{"file": "a", "content": "x"}', "line 1: .*`text`; its keys are file, content"),
    "too deep": (
        '{"path": "a", "text": "x", "z": ' + "[" * 100_000 + "]" * 100_000 + "}",
        "line 1: JSON is nested too deep",
    ),
    "wrong type": ('{"path": "a", "text": 1}', r"line 1: Expected `str( \| null)?`, got `int`"),
}


@pytest.mark.parametrize("case", FAULTY)
@pytest.mark.parametrize("read", [read_gold, read_results])
def test_a_bad_line_is_named(case: str, read: Any, tmp_path: Path) -> None:
    text, message = FAULTY[case]
    (tmp_path / "x.jsonl").write_text(text)
    with pytest.raises(InputError, match=message):
        read(tmp_path / "x.jsonl")


BAD_BLOCKS = {
    "unknown key": ({"name": "a", "text": "x", "content": True, "colour": 1}, "unknown field `colour`"),
    "no content": ({"name": "a", "text": "x"}, "missing required field `content`"),
    "two words": ({"name": "a", "text": "x", "content": True, "tokens": ["x y"]}, "'x y' is no single token"),
    "capital": ({"name": "a", "text": "x", "content": True, "tokens": ["X"]}, "'X' is no single token in lower case"),
}


@pytest.mark.parametrize("case", BAD_BLOCKS)
def test_a_bad_block_is_named(case: str, tmp_path: Path) -> None:
    block, message = BAD_BLOCKS[case]
    with pytest.raises(InputError, match=message):
        read_gold(lines(tmp_path / "x.jsonl", [{"path": "a", "text": "x", "blocks": [block]}]))


def test_many_bad_lines_are_counted(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text("{\n" * 25)
    with pytest.raises(InputError, match=r"line 10: .*; and 15 more$"):
        read_results(tmp_path / "x.jsonl")


def test_compressed_results_are_read(tmp_path: Path) -> None:
    data = b'{"path":"a","text":"x"}\n'
    (tmp_path / "r.jsonl.gz").write_bytes(gzip.compress(data))
    frames = zstandard.compress(data) + zstandard.compress(data.replace(b'"a"', b'"b"'))
    (tmp_path / "r.jsonl.zst").write_bytes(frames)
    assert read_results(tmp_path / "r.jsonl.gz").texts == {"a": "x"}
    assert read_results(tmp_path / "r.jsonl.zst").texts == {"a": "x", "b": "x"}
    (tmp_path / "torn.jsonl.gz").write_bytes(gzip.compress(data)[:-6])
    (tmp_path / "torn.jsonl.zst").write_bytes(frames[:-6])
    for name in ("torn.jsonl.gz", "torn.jsonl.zst"):
        with pytest.raises(InputError, match=r"cannot read .*ended before the end"):
            read_results(tmp_path / name)


def test_null_text_is_empty_text(tmp_path: Path) -> None:
    assert read_results(lines(tmp_path / "r.jsonl", [{"path": "a", "text": None}])).texts == {"a": ""}


# --- the verb ----------------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    block = {"name": "menu", "text": "Home Contact", "content": False}
    gold = [
        {"path": "a.html", "text": LONG, "set": "s", "blocks": [block]},
        {"path": "b.html", "text": "x y", "set": "t"},
    ]
    results = [{"path": "a.html", "text": f"Home\n{LONG}"}, {"path": "c.html", "text": ""}]
    return lines(tmp_path / "gold.jsonl", gold), lines(tmp_path / "results.jsonl", results)


def test_the_table_has_a_line_a_set(files: tuple[Path, Path]) -> None:
    done = run("eval", *files)
    assert done.exit_code == 0
    rows = [line.split() for line in done.stdout.splitlines()]
    assert [row[0] for row in rows] == ["set", "s", "t", "all"]
    assert rows[1][1:5] == ["1", "0.9333", "1.0000", "0.9655"] and rows[1][8:11] == ["1", "of", "1"]
    assert "1 page without a result, scored as empty text (first: b.html)" in done.stderr
    assert "1 result for pages that the gold does not have, left out (first: c.html)" in done.stderr


def test_pages_and_their_wrong_blocks_are_listed(files: tuple[Path, Path]) -> None:
    done = run("eval", *files, "--pages", "--quiet")
    assert done.stderr == ""
    assert [line.split() for line in done.stdout.splitlines()][6] == ["a.html", "0.9333", "1.0000", "0.9655", "menu"]


def test_json_has_every_page_and_block(files: tuple[Path, Path]) -> None:
    found = json.loads(run("eval", *files, "--format", "json").stdout)
    assert found["all"]["pages"] == 2 and found["all"]["missing"] == 1 and found["unknown"] == ["c.html"]
    assert [one["set"] for one in found["sets"]] == ["s", "t"]
    (block,) = found["pages"][0]["blocks"]
    assert block == {"name": "menu", "content": False, "needs_siblings": False, "share": 0.5, "wrong": True}


def test_a_folder_of_gold_is_scored_as_the_reference_does(tmp_path: Path) -> None:
    reference = data.SHARED / "score.py"
    if not reference.is_file():
        pytest.skip(f"{reference.parent.name}/{reference.name} is not beside the repository")
    demo = data.ROOT / "corpora" / "demo-gold"
    folder = Path(shutil.copytree(demo, tmp_path / "gold"))
    names = [file.relative_to(folder).as_posix().removesuffix(".gold.txt") for file in folder.rglob("*.gold.txt")]
    texts = {name: (folder / f"{name}.gold.txt").read_text(encoding="utf-8") for name in names}
    records = [{"path": f"{name}.html", "text": text[: 60 * place]} for place, (name, text) in enumerate(texts.items())]
    results = lines(tmp_path / "r.jsonl", records[:-2])
    told = subprocess.run(
        [sys.executable, reference, folder, results], capture_output=True, text=True, check=True
    ).stdout
    row = run("eval", folder, results, "--quiet").stdout.splitlines()[-1].split()
    assert told.split()[1::2] == row[1:] and 0 < float(row[4]) < 1


def test_results_may_come_on_stdin(files: tuple[Path, Path]) -> None:
    given = files[1].read_text()
    assert run("eval", files[0], "-", given=given).stdout == run("eval", *files).stdout


def test_a_missing_file_and_a_folder_without_gold_are_errors(files: tuple[Path, Path], tmp_path: Path) -> None:
    for gold, results in ((tmp_path / "no", files[1]), (files[0], tmp_path / "no"), (tmp_path, files[1])):
        done = run("eval", gold, results)
        assert done.exit_code == 2 and done.stderr.startswith("templatediff: error: ") and not done.stdout
