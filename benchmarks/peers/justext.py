"""jusText with the stop list of the page's language as the data set states it.

It has no lists for Chinese, Japanese, Thai and some others; such pages get the English list, its default,
and come out nearly empty.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import version as _installed

import justext

NAME = "jusText"
SETTINGS = "stop list of the manifest's language, English where there is none"

# fmt: off
_LISTS = {
    "af": "Afrikaans", "ar": "Arabic", "az": "Azerbaijani", "be": "Belarusian", "bg": "Bulgarian",
    "bn": "Bengali", "ca": "Catalan", "cs": "Czech", "cy": "Welsh", "da": "Danish", "de": "German",
    "el": "Greek", "en": "English", "eo": "Esperanto", "es": "Spanish", "et": "Estonian", "eu": "Basque",
    "fa": "Persian", "fi": "Finnish", "fr": "French", "ga": "Irish", "gl": "Galician", "gu": "Gujarati",
    "he": "Hebrew", "hi": "Hindi", "hr": "Croatian", "hu": "Hungarian", "hy": "Armenian",
    "id": "Indonesian", "is": "Icelandic", "it": "Italian", "ka": "Georgian", "kk": "Kazakh",
    "kn": "Kannada", "ko": "Korean", "ku": "Kurdish", "la": "Latin", "lt": "Lithuanian", "lv": "Latvian",
    "mk": "Macedonian", "ml": "Malayalam", "mr": "Marathi", "ms": "Malay", "nb": "Norwegian_Bokmal",
    "nl": "Dutch", "nn": "Norwegian_Nynorsk", "no": "Norwegian_Bokmal", "pl": "Polish", "pt": "Portuguese",
    "ro": "Romanian", "ru": "Russian", "sk": "Slovak", "sl": "Slovenian", "sq": "Albanian", "sr": "Serbian",
    "sv": "Swedish", "sw": "Swahili", "ta": "Tamil", "te": "Telugu", "tl": "Tagalog", "tr": "Turkish",
    "uk": "Ukrainian", "ur": "Urdu", "vi": "Vietnamese",
}
# fmt: on


def version() -> str:
    return _installed("justext")


def extract(html: bytes, url: str | None, lang: str | None) -> str:
    paragraphs = justext.justext(html, _stop_list(_LISTS.get(lang or "", "English")))
    return "\n\n".join(paragraph.text for paragraph in paragraphs if not paragraph.is_boilerplate)


@cache
def _stop_list(language: str) -> frozenset[str]:
    known = justext.get_stoplists()
    return frozenset(justext.get_stoplist(language if language in known else "English"))
