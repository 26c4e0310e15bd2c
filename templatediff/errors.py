"""The exceptions of templatediff. Everything it raises on purpose descends from TemplateDiffError.

A page that cannot be read is not an error of the run: it becomes a record with a `Failure`
(see `templatediff.page`). What is raised here ends the call.
"""

from __future__ import annotations


class TemplateDiffError(Exception):
    """Base of all errors raised on purpose; its text is one line for a person."""


class UsageError(TemplateDiffError, ValueError):
    """An argument or option has a value it cannot have; the text says what is allowed."""


class InputError(TemplateDiffError):
    """Nothing could be read: no such input, or no page in it."""


class OutputError(TemplateDiffError):
    """The output cannot be written where it was asked for."""


class TemplateError(TemplateDiffError):
    """A stored template or profile is damaged, newer than this release, or not ours."""


class MismatchError(TemplateError):
    """Two profiles were made with different options; `differing` names them."""

    def __init__(self, message: str, differing: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.differing = differing


class PageError(TemplateDiffError):
    """One page cannot be used; `kind` is a short word for counting, the text says why."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message

    def __reduce__(self) -> tuple[type[PageError], tuple[str, str]]:
        return PageError, (self.kind, self.message)
