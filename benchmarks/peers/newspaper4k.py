"""newspaper4k: the article's text; nothing is downloaded."""

from __future__ import annotations

from importlib.metadata import version as _installed

from newspaper import Article
from newspaper.languages import valid_languages

NAME = "newspaper4k"
SETTINGS = "Article.text, language of the manifest where it knows it"

_LANGUAGES = frozenset(code for code, _ in valid_languages())


def version() -> str:
    return _installed("newspaper4k")


def extract(html: bytes, url: str | None, lang: str | None) -> str:
    article = Article(
        url or "https://site.invalid/page",
        language=lang if lang in _LANGUAGES else None,
        fetch_images=False,
    )
    article.download(input_html=html)
    article.parse()
    return str(article.text)
