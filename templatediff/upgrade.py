"""template.json of older formats, made into the format of this release, step by step.

Format 1 is the first, so there is no step yet. A release that changes the format adds the step from the one before:
a function from document to document that does not change its argument.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from templatediff.errors import TemplateError
from templatediff.template import FORMAT

Document = dict[str, Any]

#: format -> what makes a document of that format one of the next
STEPS: Mapping[int, Callable[[Document], Document]] = {}


def upgraded(document: Document, name: str) -> Document:
    """The document in this release's format. Raises TemplateError, with `name` in it, where that cannot be."""
    number = document.get("format")
    if isinstance(number, bool) or not isinstance(number, int):
        raise TemplateError(f"{name} is damaged (it does not say which format it is): learn again")
    if number > FORMAT:
        raise TemplateError(
            f"{name} is format {number}, this release reads {FORMAT}: upgrade, or run templatediff learn again"
        )
    while number < FORMAT:
        step = STEPS.get(number)
        if step is None:
            raise TemplateError(f"{name} is format {number}, which no release has written: learn again")
        try:
            document = {**step(document), "format": number + 1}
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise TemplateError(f"{name} is damaged ({type(error).__name__}: {error}): learn again") from None
        number += 1
    return document
