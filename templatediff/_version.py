"""The version, in one place: the package, the templates it writes and the build read it here."""

from __future__ import annotations

__version__ = "0.1.0"
