from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from templatediff.names import MAX_COMPONENT, MAX_NAME, FileNames, safe_component


def names(*paths: str, ending: str = ".md") -> list[str]:
    found = FileNames(reserved=("index.jsonl",))
    return [found.name(path, ending) for path in paths]


@pytest.mark.parametrize(
    ("path", "name"),
    [
        pytest.param("a/b.html", "a/b.html.md", id="ending-is-appended"),
        pytest.param("a/b", "a/b.md", id="no-ending"),
        pytest.param("日本/記事.html", "日本/記事.html.md", id="any-script"),
        pytest.param("with space.html", "with space.html.md", id="inner-space"),
        pytest.param("p.php?id=1&a=b", "p.php%3Fid=1&a=b.md", id="query"),
        pytest.param("100%25.html", "100%25.html.md", id="percent"),
        pytest.param("a\nb\x1b.html", "a%0Ab%1B.html.md", id="control-characters"),
        pytest.param("caf\udce9.html", "caf%E9.html.md", id="byte-that-is-not-utf-8"),
        pytest.param("../../etc/passwd", "%2E%2E/%2E%2E/etc/passwd.md", id="parent-folders"),
        pytest.param("/etc/passwd", "%/etc/passwd.md", id="absolute"),
        pytest.param("a\\..\\b.html", "a%5C..%5Cb.html.md", id="backslashes"),
        pytest.param("C:/x.html", "C%3A/x.html.md", id="drive"),
        pytest.param("aux/nul.html", "%61ux/%6Eul.html.md", id="devices"),
        pytest.param("a./b /c.html", "a%2E/b%20/c.html.md", id="trailing-dot-and-space"),
        pytest.param("-", "-.md", id="stdin"),
        pytest.param(".hidden", ".hidden.md", id="hidden"),
    ],
)
def test_a_path_becomes_a_safe_name(path: str, name: str) -> None:
    assert names(path) == [name]


@pytest.mark.parametrize(
    "paths",
    [
        pytest.param(["A.html", "a.html"], id="case"),
        pytest.param(["A/x", "a/x"], id="case-of-folder"),
        pytest.param(["\u00e9", "e\u0301"], id="unicode-form"),
        pytest.param(["a:b", "a%3Ab"], id="escape-and-literal"),
        pytest.param(["x" * 300 + "1", "x" * 300 + "2"], id="same-beginning-of-long-names"),
        pytest.param(["x", "x.md/y"], id="file-then-folder"),
        pytest.param(["x.md/y", "x"], id="folder-then-file"),
        pytest.param(["index.jsonl/a", "b"], id="folder-called-as-the-index"),
        pytest.param(["straße", "STRASSE"], id="case-folding"),
        pytest.param(["/".join(["d" * 90] * 20 + [end]) for end in "ab"], id="long-paths"),
    ],
)
def test_paths_that_could_meet_get_names_that_do_not(paths: list[str]) -> None:
    check_apart(names(*paths))
    assert names(*paths) == names(*paths)


def check_apart(found: list[str]) -> None:
    """All can stand in one folder, also on a file system that ignores case."""
    files = {name.casefold() for name in found} | {"index.jsonl"}
    assert len(files) == len(found) + 1
    folders = {
        "/".join(parts[:depth])
        for parts in (name.casefold().split("/") for name in found)
        for depth in range(1, len(parts))
    }
    assert not files & folders


PATHS = st.lists(
    st.text(st.sampled_from("aA.%:~/é\u0301\udcff \n-日\x00"), min_size=1, max_size=8)
    | st.text(min_size=1, max_size=6)
    | st.integers(1, 400).map(lambda length: "n" * length),
    unique=True,
    max_size=12,
)


@given(PATHS)
def test_names_are_apart_and_inside_the_folder_whatever_the_paths(paths: list[str]) -> None:
    found = names(*paths)
    check_apart(found)
    for name in found:
        components = name.split("/")
        assert not {"", ".", ".."} & set(components)
        assert max(len(component.encode()) for component in components) <= 255
        assert len(name.encode()) <= MAX_NAME + MAX_COMPONENT
        assert not any(ord(character) < 32 or character in '\\:*?"<>|' for character in name)


def test_plain_components_stay_as_they_are() -> None:
    assert safe_component("Kestrel-2024_(notes), v1.2+final~.html") == "Kestrel-2024_(notes), v1.2+final~.html"
