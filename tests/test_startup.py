"""What is imported when: starting must cost little, and no process needs scikit-learn to label a page."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from templatediff import learn_crawl

ROOT = Path(__file__).parent.parent
DEMO = ROOT / "corpora" / "demo"
PAGE = DEMO / "www.harbour-gazette.example" / "harbour" / "mussel-beds-closed.html"

# runs the command line, then names what it has loaded of the packages in question
_RUN = """
import sys
from templatediff.cli import main
sys.argv = ["templatediff", *sys.argv[1:]]
try:
    main()
except SystemExit as done:
    assert not done.code, done.code
heavy = "sklearn scipy numpy nltk rich nh3 html_to_markdown jinja2 stopwordsiso selectolax multiprocessing".split()
print(*(name for name in heavy if name in sys.modules), file=sys.stderr)
"""

# a worker as `parallel` makes it, asked after each of its two tasks what it has loaded
_WORKERS = """
import sys
from templatediff.parallel import Crew
from templatediff.applying import Applier
from templatediff.given import Given
from templatediff.reading import Work, _Learner
from templatediff.crawl import list_sources

class Learner(_Learner):
    def __call__(self, chunk):
        super().__call__(chunk)
        return loaded()

class Extractor(Applier):
    def ready(self, source):
        pass

    def __call__(self, chunk):
        super().__call__([Work(source, "a.example") for source in chunk])
        return loaded()

def loaded():
    return [name for name in ("sklearn",) if name in sys.modules]

if __name__ == "__main__":
    sources = list_sources([sys.argv[1]])
    chunks = [sources[:6], sources[6:12], sources[12:]]
    for make, arguments in ((Learner, (Given(),)), (Extractor, (Given(templates=sys.argv[2]), ()))):
        with Crew(2) as crew:
            for found in crew.in_order(make, arguments, chunks):
                assert not found, (make, found)
    print("done")
"""


def loaded(*arguments: object) -> set[str]:
    """The heavy packages that one command has imported when it is done."""
    done = subprocess.run(
        [sys.executable, "-c", _RUN, *map(str, arguments)],
        capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    return set(done.stderr.splitlines()[-1].split())


@pytest.mark.parametrize("arguments", [["--help"], ["extract", "--help"], ["--version"]])
def test_help_imports_neither_numbers_nor_parsers(arguments: list[str]) -> None:
    assert not loaded(*arguments) - {"rich"}


@pytest.mark.parametrize("parts", ["", "markdown", "leaves"])
def test_a_page_needs_no_scikit_learn(parts: str) -> None:
    extract = (
        "import sys, pathlib, templatediff as td\ntd.extract(pathlib.Path(sys.argv[1]), parts=sys.argv[2].split())\n"
    )
    names = "print(*(name for name in ('numpy', 'sklearn', 'scipy', 'nltk', 'jinja2') if name in sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", extract + names, str(PAGE), parts],
        capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.stdout.split() == ["numpy"], "numpy, which is needed, shows that what is looked for is seen"


def test_a_stored_template_is_applied_without_scikit_learn(tmp_path: Path) -> None:
    assert "sklearn" not in loaded("learn", DEMO, "-o", tmp_path / "templates", "--jobs", 1)
    found = loaded("extract", DEMO, "--templates", tmp_path / "templates", "-o", tmp_path / "out.jsonl", "--jobs", 1)
    assert "sklearn" not in found


def test_workers_need_no_scikit_learn(tmp_path: Path) -> None:
    script = tmp_path / "workers.py"
    script.write_text(_WORKERS, encoding="utf-8")
    learn_crawl([DEMO], tmp_path / "templates")
    done = subprocess.run(
        [sys.executable, str(script), str(DEMO), str(tmp_path / "templates")],
        capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.stdout.split() == ["done"], done.stderr
