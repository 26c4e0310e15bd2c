"""The picture of the package, kept true: imports run one way, and each engine has one home."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "templatediff"

# From the bottom up: a module imports only from lines above its own. Modules in one line stay apart.
LAYERS = [
    line.split()
    for line in """
    _version errors names
    limits lock options yardstick
    judge spool
    text
    page marks nesting
    charsets
    plausible
    decode html attributes
    crawl selection tags
    groups leaves
    values segment steps
    glance hashes
    addresses characters
    fingerprint
    remember
    cuts
    patterns selectors
    repetition
    profile
    layout
    sample
    slots score
    rules
    template
    drift compare
    upgrade
    store
    gist
    context
    evidence
    passages
    lessons overall
    verdict choose copies
    units
    label facts
    wording headline
    reasons search
    inline outline
    runs
    rebuild
    parallel render
    extraction prepare
    record
    pipeline
    statics upkeep precheck journal given
    sites
    reading
    applying survey
    warm
    run
    beside
    report
    cli
    __init__
    __main__
    """.strip().splitlines()
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}

# Third-party engines, and where alone they may be seen.
HOMES = {
    "selectolax": {"html"},
    "xxhash": {"hashes"},
    "webencodings": {"charsets"},
    "chardetng_py": {"plausible"},
    "nltk": {"text"},
    "stopwordsiso": {"text"},
    "publicsuffixlist": {"page"},
    "fastwarc": {"crawl"},
    "click": {"cli"},
    "rich": {"cli"},
    "nh3": {"render"},
    "html_to_markdown": {"render"},
    "scipy": {"layout"},
    "jinja2": {"report"},
    "markupsafe": {"report"},
}
# The names that projects are installed by, where they are not the names that are imported.
PROJECTS = {
    "chardetng_py": "chardetng-py",
    "html_to_markdown": "html-to-markdown",
    "sklearn": "scikit-learn",
    "scipy": "scikit-learn",  # which brings it
    "markupsafe": "jinja2",  # which brings it
}

MODULES = sorted(PACKAGE.rglob("*.py"))


def layer(file: Path) -> str:
    """The module in the list that a file is, or is part of."""
    return file.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(file: Path) -> Iterator[str]:
    """Full names of all that a file imports, in functions and under TYPE_CHECKING too."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file.name} has a relative import"
            assert node.module is not None
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def inside(name: str) -> str | None:
    """The module of ours that an imported name belongs to; None for what is not ours."""
    parts = name.split(".")
    if parts[0] != "templatediff":
        return None
    return parts[1] if len(parts) > 1 and parts[1] in LEVEL else "__init__"


def engines(file: Path) -> set[str]:
    names = {name.split(".")[0] for name in imports(file)}
    return names - set(sys.stdlib_module_names) - {"templatediff"}


def test_every_module_has_its_place_in_the_list() -> None:
    assert {layer(file) for file in MODULES} <= set(LEVEL)


@pytest.mark.parametrize("file", MODULES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_imports_come_from_above_only(file: Path) -> None:
    mine = layer(file)
    for name in imports(file):
        other = inside(name)
        if other is not None and other != mine:
            assert LEVEL[other] < LEVEL[mine], f"{mine} imports {name}, which is not above it"


@pytest.mark.parametrize("file", MODULES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_an_engine_is_seen_only_in_its_home(file: Path) -> None:
    for engine in engines(file) & set(HOMES):
        assert layer(file) in HOMES[engine], f"{engine} belongs to {' and '.join(sorted(HOMES[engine]))}"


def test_every_engine_is_a_declared_dependency() -> None:
    declared = {
        re.split(r"[^\w.-]", requirement)[0].lower()
        for requirement in tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    }
    used = {PROJECTS.get(engine, engine) for file in MODULES for engine in engines(file)}
    assert used == declared
