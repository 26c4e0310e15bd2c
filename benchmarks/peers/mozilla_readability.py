"""@mozilla/readability on jsdom, its article turned into text. Headlines are no part of the article.

It needs node and what npm installs into the user's cache folder: `python -m benchmarks.peers._node`.
"""

from __future__ import annotations

import json
import subprocess
from functools import cache
from typing import IO

from benchmarks.peers import _node
from benchmarks.peers._text import html_to_text

NAME = "@mozilla/readability"
SETTINGS = "new Readability(document).parse().content on jsdom"

_node.check()


def version() -> str:
    return _node.version("@mozilla/readability")


def extract(html: bytes, url: str | None, lang: str | None) -> str:
    from templatediff.decode import decode

    send, receive = _pipes()
    send.write(json.dumps(decode(html).text) + "\n")
    send.flush()
    line = receive.readline()
    if not line:
        raise ValueError("node ended")
    answer = json.loads(line)
    if answer["error"]:
        raise ValueError(answer["error"])
    return html_to_text(answer["content"])


@cache
def _pipes() -> tuple[IO[str], IO[str]]:
    """One node process for all pages; it ends with ours, when its input is closed."""
    process = subprocess.Popen(
        [_node.program("node"), "readability.mjs"],
        cwd=_node.folder(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    assert process.stdin is not None and process.stdout is not None
    return process.stdin, process.stdout
