"""The group of verbs, and what an error looks like."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from templatediff._version import __version__
from templatediff.cli import INTERRUPTED
from templatediff.cli.eval import eval_
from templatediff.cli.explain import explain
from templatediff.cli.extract import extract
from templatediff.cli.learn import learn
from templatediff.cli.page import page
from templatediff.cli.report import report
from templatediff.cli.sink import ReaderGone
from templatediff.cli.speech import NAME, say
from templatediff.cli.template import template
from templatediff.errors import TemplateDiffError

WRONG = 2  # exit status; a verb gives 0 or 1 itself


class Program(click.Group):
    """The group of verbs. An error is one line on stderr and an exit status, never a traceback."""

    def main(
        self, args: Sequence[str] | None = None, prog_name: str | None = None, *rest: Any, **extra: Any
    ) -> NoReturn:
        extra["standalone_mode"] = False  # click's own handling has other exit statuses
        try:
            status = super().main(args, NAME, *rest, **extra)
        except ReaderGone:
            _silence_stdout()
            status = 0
        except click.exceptions.NoArgsIsHelpError as error:
            error.show()
            status = WRONG
        except click.Abort:
            say("interrupted")
            status = INTERRUPTED
        except click.ClickException as error:
            status = _fail(_usage_error(error))
        except TemplateDiffError as error:
            status = _fail(str(error))
        except Exception as error:
            logging.getLogger(NAME).debug("where it happened:", exc_info=True)
            status = _fail(f"unexpected {type(error).__name__}: {error} (a fault of {NAME}; -vv shows where)")
        sys.exit(status)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except OSError as error:
            # Before click sees it, which takes any broken pipe for a reader that has gone.
            where = f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, str | bytes) else ""
            raise TemplateDiffError(f"{where}{error.strerror or error}") from error


def _fail(message: str) -> int:
    _silence_stdout()
    say(f"error: {' '.join(message.split())}")
    return WRONG


def _usage_error(error: click.ClickException) -> str:
    message = error.format_message()
    context = error.ctx if isinstance(error, click.UsageError) else None
    return f"{message} ({context.command_path} --help shows the usage)" if context is not None else message


def _silence_stdout() -> None:
    """What stdout still holds cannot be written, and Python would complain about it on exit."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stdout.flush()
        return
    with contextlib.suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


@click.group(cls=Program, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name=NAME)
def program() -> None:
    """Tell the template of a web site from the content of its pages, and say why."""


for verb in (extract, page, explain, learn, report, template, eval_):
    program.add_command(verb)
