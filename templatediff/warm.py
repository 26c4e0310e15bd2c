"""What reading pages needs, loaded when this is imported: by the server that worker processes are forked from, once for all.

Nothing here changes a result: each value is a constant that would else be worked out at its first use, in every process.
"""

from __future__ import annotations

from templatediff import applying, survey
from templatediff.page import mirror_host
from templatediff.score import shipped
from templatediff.text import stopwords

shipped()
stopwords(None, ["the"])
mirror_host("example.org")

__all__ = ["applying", "survey"]
