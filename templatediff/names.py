"""Names of output: while it is not done, and those of pages, each its own, on any file system, never outside the folder."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from pathlib import Path

MAX_COMPONENT = 200  # bytes of UTF-8; file systems allow 255, some encrypting ones 143 to 255
MAX_NAME = 900  # bytes of UTF-8 of a whole name, so that the folder's own path fits before it
TAG = 12  # hexadecimal digits that tell apart what would have the same name

# What Windows forbids in a file name, control characters, and undecodable bytes (PEP 383).
_UNSAFE = re.compile(r'[\x00-\x1f\x7f-\x9f"*:<>?\\|\u2028-\u202e\u2066-\u2069\ud800-\udfff]')
# Names that are devices on Windows, whatever follows the first dot.
_DEVICE = re.compile(r"(?i)(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?=\.|$)")


class FileNames:
    """Hands out one name a page; the same paths in the same order get the same names.

    A name that an earlier page has (also one that differs only in case or in Unicode form, or that
    is a folder of another page) is marked with a hash of the path.
    """

    def __init__(self, reserved: tuple[str, ...] = ()) -> None:
        self._files = {_key(name) for name in reserved}
        self._folders: set[str] = set()

    def name(self, path: str, ending: str) -> str:
        """The name for `path`, with `/` between folders and `ending` (such as ".md") appended.

        >>> names = FileNames()
        >>> names.name("news/a.html", ".md"), names.name("page?id=1", ".md"), names.name("../../etc", ".md")
        ('news/a.html.md', 'page%3Fid=1.md', '%2E%2E/%2E%2E/etc.md')
        >>> names.name("NEWS/A.html", ".md")
        'NEWS/A.html~1a09ff8228eb.md'
        """
        components = [safe_component(component) for component in path.split("/")]
        folders = [_shortened(component, MAX_COMPONENT) for component in components[:-1]]
        stem = _shortened(components[-1], MAX_COMPONENT - len(ending.encode()))
        if len("/".join((*folders, stem)).encode()) > MAX_NAME:
            folders, stem = folders[:1], _tag(path)
        for depth in range(len(folders)):
            if _key("/".join(folders[: depth + 1])) in self._files:
                folders[depth] += "~" + _tag("/".join(components[: depth + 1]))
        name = "/".join((*folders, stem)) + ending
        attempt = 0
        while _key(name) in self._files or _key(name) in self._folders:
            marked = _cut(stem, MAX_COMPONENT - len(ending) - TAG - 1) + "~" + _tag(path + "\0" * attempt)
            name = "/".join((*folders, marked)) + ending
            attempt += 1
        self._files.add(_key(name))
        self._folders.update(_key("/".join(folders[: depth + 1])) for depth in range(len(folders)))
        return name


def part_name(target: Path) -> Path:
    """What an output is called until it is done.

    >>> part_name(Path("a/x.jsonl")).name
    'x.jsonl.part'
    """
    return target.with_name(target.name + ".part") if target.name else target


def safe_component(name: str) -> str:
    """One folder or file name with what is unsafe as %XX (its UTF-8 bytes), empty and dot names included.

    >>> [safe_component(name) for name in ("a:b", "..", "", "aux.html", "end. ", "100%.html", "日本.html")]
    ['a%3Ab', '%2E%2E', '%', '%61ux.html', 'end.%20', '100%.html', '日本.html']
    """
    if name in ("", ".", ".."):
        return "%2E" * len(name) or "%"
    if _DEVICE.match(name):
        name = escaped(name[0]) + name[1:]
    if name[-1] in ". ":
        name = name[:-1] + escaped(name[-1])
    return _UNSAFE.sub(lambda found: escaped(found[0]), name)


def escaped(character: str) -> str:
    """The bytes of a character in UTF-8, each as %XX; an undecodable byte of a file name is that byte."""
    return "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "surrogateescape"))


def _shortened(name: str, most: int) -> str:
    """The name, or its beginning and a hash of it where it takes more than `most` bytes."""
    if len(name.encode()) <= most:
        return name
    return f"{_cut(name, most - TAG - 1)}~{_tag(name)}"


def _cut(name: str, most: int) -> str:
    """The longest beginning of `name` that takes at most `most` bytes."""
    return name.encode()[:most].decode(errors="ignore")


def _tag(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:TAG]


def _key(name: str) -> str:
    """What file systems that ignore case or Unicode form take for the same name has the same key."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
