"""What listing hands to reading: one candidate each, small enough to keep for every page of a crawl."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from templatediff.errors import UsageError
from templatediff.page import Failure
from templatediff.spool import Spool

#: Fields of a JSON line in which HTML is looked for: the first that holds markup has it.
HTML_FIELDS = ("html", "body", "raw_html", "content")
FIELDS = ("html", "url", "fetched")
#: A page's sidecar has its name with this after it.
SIDECAR = ".meta.json"


@dataclass(frozen=True, slots=True)
class Fields:
    """Names of the fields of a JSON line (`html` None: the first of HTML_FIELDS that holds markup), and `carry`: fields of
    the line, or of a page's sidecar, that go with the page into `source` of its record.

    >>> Fields.of({"html": "raw"}, ["id"])
    Fields(html='raw', url='url', fetched='fetched', carry=('id',))
    """

    html: str | None = None
    url: str = "url"
    fetched: str = "fetched"
    carry: tuple[str, ...] = ()

    @classmethod
    def of(cls, names: Mapping[str, str] | None, carry: Iterable[str] = ()) -> Fields:
        """Raises UsageError for what is none of FIELDS, and for empty names."""
        names = dict(names or {})
        unknown = sorted(set(names) - set(FIELDS))
        if unknown:
            raise UsageError(f"fields names {', '.join(unknown)}: choose {', '.join(FIELDS)}")
        carried = (carry,) if isinstance(carry, str) else tuple(dict.fromkeys(carry))
        if not all(isinstance(name, str) and name for name in (*names.values(), *carried)):
            raise UsageError("the name of a field is empty")
        return cls(**names, carry=carried)


#: The fields where the user names none.
USUAL = Fields()


@dataclass(frozen=True, slots=True)
class Member:
    """Where the bytes of a page in an archive are.

    form     "stored" (bytes as they are), "zip-stored" or "zip-deflated" (a zip's own header, then the bytes), "record"
             (WARC) or "line" (JSON)
    place    the file to open: the archive, or its unpacked form
    name     the member's name in the archive
    offset   where it begins in `place`, bytes
    size     how long it is there, bytes, without a header; 0 for a record, which says it itself
    crc      CRC-32 of its contents, or None
    sidecar  the member that tells of it, or None
    """

    form: str
    place: str
    name: str
    offset: int
    size: int
    crc: int | None = None
    sidecar: Member | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """One candidate: a file, or a member of an archive.

    path         the record's name: posix, relative as DESIGN says ("Order and names")
    file         the file, or the archive that holds it
    folder       the folder that holds it, relative like `path`, "" at the top
    folder_site  its folder relative to its own INPUT; if it lies directly there, that INPUT's name (for a
                 file named as INPUT, the name of its folder)
    url          from a mirror's path or an archive's record, or None
    fetched      given for the whole crawl, or None
    member       where it is in an archive; None: it is the file itself
    archive      "zip", "tar", "warc" or "jsonl": the file is to be replaced by its members; only while it is listed
    other        what it is known to be without a look inside, and no page ("link", "hts-cache", ...)
    failure      why it cannot be read, known when it was listed (the lost part of an archive)
    fields       which fields of a JSON line or sidecar are read
    spool        keeps the unpacked form of an archive
    """

    path: str
    file: str
    folder: str
    folder_site: str
    url: str | None = None
    fetched: str | None = None
    member: Member | None = None
    archive: str | None = None
    other: str | None = None
    failure: Failure | None = None
    fields: Fields = USUAL
    spool: Spool | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Entry:
    """What an archive's index says of one thing in it: a `member`, a thing of an `other` kind, or a `failure`."""

    name: str
    member: Member | None = None
    url: str | None = None
    other: str | None = None
    failure: Failure | None = None

    def below(self, name: str) -> Entry:
        """The same in an archive that is itself a member, of this name."""
        return replace(self, name=f"{name}!{self.name}" if self.name else name)


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that is no page; `kind` is what it seems to be ("image", "css", "json", "text", ...)."""

    path: str
    kind: str
