"""templatediff: several pages of a site -> its template, and what each page says.

>>> import templatediff as td
>>> print(td.extract("<nav><a href=/>Home</a></nav><p>The tide turned at noon, and the boats went out again.</p>"))
The tide turned at noon, and the boats went out again.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from templatediff._version import __version__
    from templatediff.crawl import read_crawl
    from templatediff.errors import TemplateDiffError
    from templatediff.extraction import Extraction
    from templatediff.limits import Limits
    from templatediff.options import Options
    from templatediff.page import Page
    from templatediff.pipeline import Template, extract, learn, load
    from templatediff.precheck import is_probably_content
    from templatediff.run import Totals, extract_crawl, learn_crawl
    from templatediff.upkeep import merge

__all__ = [
    "Extraction",
    "Limits",
    "Options",
    "Page",
    "Template",
    "TemplateDiffError",
    "Totals",
    "__version__",
    "extract",
    "extract_crawl",
    "is_probably_content",
    "learn",
    "learn_crawl",
    "load",
    "merge",
    "read_crawl",
]

_HOMES = {
    "Extraction": "extraction",
    "Limits": "limits",
    "Options": "options",
    "Page": "page",
    "TemplateDiffError": "errors",
    "Totals": "run",
    "__version__": "_version",
    "extract_crawl": "run",
    "learn_crawl": "run",
    "is_probably_content": "precheck",
    "merge": "upkeep",
    "read_crawl": "crawl",
}


def __getattr__(name: str) -> Any:
    """Public names load when first used, so that `templatediff --help` need not wait for numpy."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES.get(name, 'pipeline')}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
