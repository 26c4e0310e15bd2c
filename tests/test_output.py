from __future__ import annotations

import gzip
import io
import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import zstandard

from templatediff.cli import output
from templatediff.cli.output import JsonLines, Writer, open_writer
from templatediff.cli.sink import ReaderGone
from templatediff.errors import OutputError, UsageError


@dataclass(frozen=True)
class Page:
    """As much of an Extraction as a writer sees."""

    path: str
    text: str = "Kestrels hover.\n\nThey face the wind."
    error: Any = None
    title: str | None = "Kestrels"

    @property
    def markdown(self) -> str:
        return "# Kestrels\n\n" + self.text

    @property
    def html(self) -> str:
        return f"<p>{self.text}</p>"

    def to_dict(self, parts: Sequence[str] = ()) -> Mapping[str, Any]:
        extra = {part: getattr(self, part, []) for part in parts}
        return {"path": self.path, "text": self.text, "error": self.error} | extra


DOCUMENT = '<!DOCTYPE html>\n<meta charset="utf-8">\n<title>Kestrels</title>\n{}\n'
FAILED = {"kind": "binary", "message": "no text"}
A, B = Page("a.html"), Page("sub/b", text="二つ目")
BAD = Page("bad.html", text="", error=FAILED)


def write(writer: Writer, *pages: Page) -> None:
    with writer:
        for page in pages:
            writer.write(page)


def written(capfdbinary: pytest.CaptureFixture[bytes]) -> str:
    return capfdbinary.readouterr().out.decode()


def files(folder: Path) -> dict[str, str]:
    return {
        file.relative_to(folder).as_posix(): file.read_text("utf-8")
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


# --- JSON lines


@pytest.mark.parametrize(
    ("name", "unpack"),
    [
        ("out.jsonl", lambda data: data),
        ("out.jsonl.gz", gzip.decompress),
        ("out.jsonl.zst", lambda data: zstandard.ZstdDecompressor().stream_reader(data).read()),
    ],
)
def test_a_file_holds_one_line_a_page_and_the_same_bytes_each_time(
    tmp_path: Path, name: str, unpack: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / name
    write(open_writer(target, None), A, B, BAD)
    data = target.read_bytes()
    assert [json.loads(line)["path"] for line in unpack(data).splitlines()] == ["a.html", "sub/b", "bad.html"]
    assert "二つ目".encode() in unpack(data)
    monkeypatch.setattr("time.time", lambda: 0.0)
    other = tmp_path / "other" / name
    write(open_writer(other, None), A, B, BAD)
    assert other.read_bytes() == data
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted([name, "other"])


def test_with_adds_keys_at_the_end_of_a_line(tmp_path: Path) -> None:
    target = tmp_path / "out.jsonl"
    write(open_writer(target, None, ("markdown", "leaves")), A)
    assert list(json.loads(target.read_text())) == ["path", "text", "error", "markdown", "leaves"]


def test_a_name_that_is_not_utf_8_is_spelled_out_and_the_line_is_valid() -> None:
    line = output.json_line({"path": "caf\udce9.html", "nested": [{"a": "\ud800"}], "n": 1})
    assert json.loads(line.decode()) == {"path": "caf\\xe9.html", "nested": [{"a": "\\ud800"}], "n": 1}


def test_output_is_replaced_when_it_is_done_and_not_before(tmp_path: Path) -> None:
    target, part = tmp_path / "out.jsonl", tmp_path / "out.jsonl.part"
    target.write_text("earlier")
    part.write_text("left over " * 100)
    with open_writer(target, None) as writer:
        writer.write(A)
        assert target.read_text() == "earlier"
    assert json.loads(target.read_text())["path"] == "a.html"
    assert not part.exists()


def test_an_interrupted_run_leaves_a_part_and_the_earlier_output(tmp_path: Path) -> None:
    target = tmp_path / "out.jsonl"
    target.write_text("earlier")
    with pytest.raises(KeyboardInterrupt), open_writer(target, None) as writer:
        writer.write(A)
        raise KeyboardInterrupt
    assert target.read_text() == "earlier"
    assert json.loads((tmp_path / "out.jsonl.part").read_text())["path"] == "a.html"


@pytest.mark.parametrize("name", ["out.jsonl", "out.jsonl.gz", "folder"])
def test_a_run_that_wrote_nothing_leaves_nothing(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError), open_writer(tmp_path / name, None):
        raise ValueError
    assert list(tmp_path.iterdir()) == []


def test_a_link_keeps_pointing_to_the_replaced_file(tmp_path: Path) -> None:
    real, link = tmp_path / "real.jsonl", tmp_path / "link.jsonl"
    real.write_text("earlier")
    link.symlink_to(real)
    write(open_writer(link, None), A)
    assert link.is_symlink()
    assert json.loads(real.read_text())["path"] == "a.html"


def test_a_pipe_is_written_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.jsonl"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write(open_writer(pipe, None), A)
    assert json.loads(os.read(reader, 10_000))["path"] == "a.html"
    os.close(reader)
    assert pipe.is_fifo()


@pytest.mark.parametrize(
    ("target", "form", "message"),
    [
        ("folder", "jsonl", "is a folder: JSON lines need a file"),
        ("file", None, "is a file: -o names a folder"),
        ("file/below.jsonl", None, "cannot write .*: (Not a directory|File exists)"),
        ("file/below", "text", "cannot write .*: (Not a directory|File exists)"),
    ],
)
def test_an_output_that_cannot_be_is_refused_before_anything_is_read(
    tmp_path: Path, target: str, form: str | None, message: str
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("mine")
    with pytest.raises(OutputError, match=message):
        write(open_writer(tmp_path / target, form), A)
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_a_full_disk_is_an_output_error() -> None:
    with pytest.raises(OutputError, match="cannot write /dev/full: No space left on device"):
        write(open_writer(Path("/dev/full"), "jsonl"), *[A] * 10_000)


# --- several pages on stdout


def test_one_page_comes_as_it_is(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    write(open_writer(None, "text"), A)
    assert written(capfdbinary) == "Kestrels hover.\n\nThey face the wind.\n"


def test_several_pages_come_under_their_paths_and_failed_ones_not(
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    write(open_writer(None, "markdown"), A, BAD, Page("new\nline", text=""), B)
    assert written(capfdbinary) == (
        "==> a.html <==\n# Kestrels\n\nKestrels hover.\n\nThey face the wind.\n\n"
        "==> new\\nline <==\n# Kestrels\n\n==> sub/b <==\n# Kestrels\n\n二つ目\n"
    )


def test_html_of_several_pages_needs_a_folder(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    write(open_writer(None, "html"), A)
    assert "<p>Kestrels" in written(capfdbinary)
    with pytest.raises(UsageError, match="give -o FOLDER"):
        write(open_writer(None, "html"), A, B)
    assert written(capfdbinary) == ""


def test_a_terminal_gets_no_control_characters(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    page = Page("a.html", text="a\x1b]0;title\x07\tb\n\u202ec")
    write(open_writer(None, "text"), page)
    assert written(capfdbinary) == "a]0;title\tb\n\u202ec\n"
    monkeypatch.setattr(output, "is_terminal", lambda stream: True)
    write(open_writer(None, "text"), page)
    assert written(capfdbinary) == "a]0;title\tb\n\\u202ec\n"


def test_keys_for_json_lines_are_refused_for_other_output() -> None:
    with pytest.raises(UsageError, match="--with adds keys to JSON lines"):
        open_writer(None, "text", ("leaves",))


def test_a_reader_that_has_gone_is_told_from_a_full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    class Closed(io.BytesIO):
        def write(self, data: object) -> int:
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(Closed()))
    with pytest.raises(ReaderGone):
        write(JsonLines(None, ()), A)


def test_a_closed_stdout_is_an_output_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(OutputError, match="standard output is closed"):
        write(JsonLines(None, ()), A)


# --- a folder


@pytest.mark.parametrize(
    ("form", "ending", "text"),
    [
        (None, ".md", "# Kestrels\n\n二つ目\n"),
        ("markdown", ".md", "# Kestrels\n\n二つ目\n"),
        ("text", ".txt", "二つ目\n"),
        ("html", ".html", DOCUMENT.format("<p>二つ目</p>")),
    ],
)
def test_a_folder_has_a_file_a_page_and_an_index(out: Path, form: str | None, ending: str, text: str) -> None:
    write(open_writer(out, form), A, B, BAD)
    found = files(out)
    assert list(found) == ["a.html" + ending, "index.jsonl", "sub/b" + ending]
    assert found["sub/b" + ending] == text
    assert [json.loads(line) for line in found["index.jsonl"].splitlines()] == [
        {"path": "a.html", "error": None, "file": "a.html" + ending},
        {"path": "sub/b", "error": None, "file": "sub/b" + ending},
        {"path": "bad.html", "error": FAILED, "file": None},
    ]
    assert list(out.parent.iterdir()) == [out]


def test_the_index_takes_the_keys_of_with(out: Path) -> None:
    write(open_writer(out, "text", ("leaves",)), A)
    assert json.loads((out / "index.jsonl").read_text()) == {
        "path": "a.html", "error": None, "leaves": [], "file": "a.html.txt",
    }  # fmt: skip


def test_a_page_without_content_has_an_empty_file(out: Path) -> None:
    write(open_writer(out, "text"), Page("a", text=""))
    assert files(out)["a.txt"] == ""


def test_a_second_run_replaces_its_files_and_leaves_others(out: Path) -> None:
    write(open_writer(out, None), A, Page("bad.html"), B)
    (out / "mine.txt").write_text("mine")
    write(open_writer(out, None), A, BAD)
    found = files(out)
    assert found["a.html.md"] == "# Kestrels\n\nKestrels hover.\n\nThey face the wind.\n"
    assert found["mine.txt"] == "mine"
    assert "sub/b.md" in found
    assert "bad.html.md" not in found  # it failed this time: the content of last time would be misleading
    assert len(found["index.jsonl"].splitlines()) == 2


def test_an_unfinished_folder_is_called_part_and_makes_way_for_the_next(out: Path) -> None:
    with pytest.raises(KeyboardInterrupt), open_writer(out, None) as writer:
        writer.write(A)
        raise KeyboardInterrupt
    assert not out.exists()
    part = out.with_name("out.part")
    assert sorted(file.name for file in part.iterdir()) == ["a.html.md", "index.jsonl"]
    write(open_writer(out, None), B)
    assert sorted(files(out)) == ["index.jsonl", "sub/b.md"]
    assert not part.exists()


def test_a_folder_called_part_that_is_not_ours_is_left_alone(out: Path) -> None:
    part = out.with_name("out.part")
    part.mkdir()
    (part / "diary.txt").write_text("mine")
    with pytest.raises(OutputError, match=r"out\.part is in the way"):
        write(open_writer(out, None), A)
    assert files(part) == {"diary.txt": "mine"}


def test_nothing_leaves_the_folder_by_names_or_links(tmp_path: Path, out: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "bad.html.md").write_text("mine")
    out.mkdir()
    (out / "sub").symlink_to(elsewhere)
    (out / "a.html.md").symlink_to(elsewhere / "target")
    pages = [A, B, Page("../../escape"), Page("/absolute"), Page("sub/bad.html", text="", error=FAILED)]
    write(open_writer(out, None), *pages)
    assert files(elsewhere) == {"bad.html.md": "mine"}
    assert sorted(files(out)) == [
        "%/absolute.md", "%2E%2E/%2E%2E/escape.md", "a.html.md", "index.jsonl", "sub/b.md",
    ]  # fmt: skip
    assert sorted(file.name for file in tmp_path.iterdir()) == ["elsewhere", "out"]


def test_an_output_that_is_or_holds_an_input_is_refused(tmp_path: Path) -> None:
    crawl = tmp_path / "crawl"
    crawl.mkdir()
    output.check_apart(crawl / "out", (crawl,))
    for target in (crawl, tmp_path, tmp_path / "x" / ".." / "crawl"):
        with pytest.raises(UsageError, match="is or holds the input"):
            output.check_apart(target, (crawl,))


def test_a_page_is_never_overwritten(tmp_path: Path) -> None:
    page = tmp_path / "a.html"
    page.write_text("<!doctype html><p>Kestrels hover.")
    with pytest.raises(UsageError, match="is an HTML page"):
        output.check_apart(page, (tmp_path,))
    output.check_apart(tmp_path / "b.html", (tmp_path,))


def test_a_folder_of_the_input_that_holds_pages_is_no_output(tmp_path: Path) -> None:
    """Nothing in the output is read: its pages would be left out and nobody told."""
    inside = tmp_path / "a"
    inside.mkdir()
    (inside / "notes.md").write_text("# Kestrels")
    output.check_apart(inside, (tmp_path,))
    (inside / "page.html").write_text("<!doctype html><p>Kestrels hover.")
    with pytest.raises(UsageError, match="holds pages of the input"):
        output.check_apart(inside, (tmp_path / "b", tmp_path))
    output.check_apart(inside, (tmp_path / "b",))
    (inside / "index.jsonl").write_text("")  # of an earlier run with --format html
    output.check_apart(inside, (tmp_path,))
