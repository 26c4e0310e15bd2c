"""What all tests share: the server of worker processes, and reports that several files look at and leave as they are."""

from __future__ import annotations

from pathlib import Path

import pytest
from hostile import write_hostile

from templatediff.cli.common import PRELOAD
from templatediff.parallel import Crew
from templatediff.report.write import write_report

DEMO = Path(__file__).parent.parent / "corpora" / "demo"


@pytest.fixture(scope="session", autouse=True)
def server() -> None:
    """The one server that worker processes are forked from, with what the command line has it load.

    Whichever test came first would else choose. Each worker imports the main module of its parent, which is pytest's here.
    """
    Crew(preload=("pytest", *PRELOAD))


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of the demonstration crawl."""
    folder = tmp_path_factory.mktemp("demo") / "report"
    write_report([DEMO], folder)
    return folder


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of the hostile crawl."""
    place = tmp_path_factory.mktemp("hostile")
    write_report([write_hostile(place / "crawl", huge=2500)], place / "report")
    return place / "report"
