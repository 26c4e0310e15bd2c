"""The command line: one file a verb. Records go to stdout; progress, failures and totals go to stderr."""

from __future__ import annotations

import sys
from typing import NoReturn

INTERRUPTED = 130  # exit status, by the habit of shells: 128 and the number of the signal


def main() -> NoReturn:
    """The script `templatediff`."""
    try:
        # Here, so that Ctrl-C while Python is still loading is no traceback either.
        from templatediff.cli.program import program

        program.main()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
