"""What the readings of a crawl share, and what a run counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from templatediff.crawl import USUAL, Fields
from templatediff.drift import SiteFit
from templatediff.errors import UsageError
from templatediff.limits import DEFAULT, Limits
from templatediff.options import Options
from templatediff.pipeline import Template
from templatediff.rules import Rule
from templatediff.selection import Selection
from templatediff.spool import Spool

SITE_FROM = ("auto", "folder", "domain")


@dataclass(slots=True)
class Totals:
    """What a run counted. `failures` are (path, kind, message); `warnings` are said once each; `fits` tells for each
    site whose stored template was applied how well that fits the pages.
    """

    pages: int = 0
    failed: int = 0
    sites: int = 0
    layouts: int = 0
    static: int = 0
    dynamic: int = 0
    content: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[str, str, str]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    fits: dict[str, SiteFit] = field(default_factory=dict)


Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Given:
    """What a crawl's readings share; sent to every worker. Raises UsageError for an unknown `site_from`."""

    options: Options | None = None
    site: str | None = None
    site_from: str = "auto"
    selection: Selection = field(default_factory=Selection)
    templates: str | None = None  # folder of stored templates or spooled profiles
    named: Mapping[str, Template] | None = None  # templates handed in by the caller
    spool: Spool | None = None  # keeps the folder while the value lives
    fit: bool = False  # whether to measure how well stored templates fit
    since: str = ""  # pages fetched before this time, and undated ones, teach nothing
    teaches: bool = True  # whether templates are learnt from what is read
    again: bool = False  # whether all pages are read again, and what fails is told then
    cuts: str | None = None  # folder in which the first reading keeps what it cuts for the second
    fields: Fields = USUAL  # of JSON lines and sidecars
    rules: Mapping[str, tuple[Rule, ...]] = field(default_factory=dict)  # of each site, from the folder of templates
    limits: Limits = DEFAULT

    def __post_init__(self) -> None:
        if self.site_from not in SITE_FROM:
            raise UsageError(f"site_from is {self.site_from!r}: choose {', '.join(SITE_FROM)}")
