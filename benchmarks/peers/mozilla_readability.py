"""@mozilla/readability on jsdom, its article turned into text. Headlines are no part of the article.

The gold of the set `readability` is its own output, reviewed, so its figures there do not count. It needs node and what
npm installs into the user's cache folder: `python -m benchmarks.peers._node`.
"""

from __future__ import annotations

import json
import subprocess
import threading
from functools import cache

from benchmarks.peers import _node
from benchmarks.peers._text import html_to_text

NAME = "@mozilla/readability"
SETTINGS = "new Readability(document).parse().content on jsdom"

TRAINED_ON = ("readability",)
PATIENCE = 60  # seconds a page

_node.check()


def version() -> str:
    return _node.version("@mozilla/readability")


def extract(html: bytes, url: str | None, lang: str | None) -> str:
    from templatediff.decode import decode

    process = _process()
    assert process.stdin is not None and process.stdout is not None
    timer = threading.Timer(PATIENCE, process.kill)
    timer.start()
    try:
        process.stdin.write(json.dumps(decode(html).text) + "\n")
        process.stdin.flush()
        line = process.stdout.readline()
    except BrokenPipeError:
        line = ""
    finally:
        timer.cancel()
    if not line:
        _process.cache_clear()  # the next page gets another
        raise ValueError(f"node ended, or was ended after {PATIENCE} seconds")
    answer = json.loads(line)
    if answer["error"]:
        raise ValueError(answer["error"])
    return html_to_text(answer["content"])


@cache
def _process() -> subprocess.Popen[str]:
    """One node process for all pages; it ends with ours, when its input is closed."""
    return subprocess.Popen(
        [_node.program("node"), "readability.mjs"],
        cwd=_node.folder(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
