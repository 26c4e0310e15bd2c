"""Archives made by hand, right and wrong ones, for the tests of reading."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

import zstandard

DATE = "2024-05-01T10:00:00Z"


def put(file: Path, data: bytes) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    return file


def zip_of(members: Iterable[tuple[str, bytes]], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in members:
            archive.writestr(zipfile.ZipInfo(name), data, method)
    return out.getvalue()


def tar_of(members: Iterable[tuple[str, bytes] | tarfile.TarInfo], mode: str = "w") -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode, format=tarfile.GNU_FORMAT) as archive:  # type: ignore[call-overload]
        for member in members:
            if isinstance(member, tarfile.TarInfo):
                archive.addfile(member)
            else:
                info = tarfile.TarInfo(member[0])
                info.size = len(member[1])
                archive.addfile(info, io.BytesIO(member[1]))
    return out.getvalue()


def record(
    kind: str, block: bytes, url: str | None = None, *, length: int | None = None, date: str = DATE, **more: str
) -> bytes:
    """One WARC record; `length` is what it says its block has, the truth by default."""
    head = {"WARC-Type": kind, "WARC-Date": date, **({"WARC-Target-URI": url} if url else {}), **more}
    lines = "".join(f"{name}: {value}\r\n" for name, value in head.items())
    size = len(block) if length is None else length
    return f"WARC/1.0\r\n{lines}Content-Length: {size}\r\n\r\n".encode() + block + b"\r\n\r\n"


def response(
    body: bytes, content_type: str | None = "text/html; charset=utf-8", status: str = "200 OK", **headers: str
) -> bytes:
    """An HTTP response; `_` in names of headers stands for `-`."""
    named = {"Content-Type": content_type, **{name.replace("_", "-"): value for name, value in headers.items()}}
    lines = "".join(f"{name}: {value}\r\n" for name, value in named.items() if value is not None)
    return f"HTTP/1.1 {status}\r\n{lines}\r\n".encode() + body


def warc_gz(records: Iterable[bytes]) -> bytes:
    """Each record packed by itself, as the standard has it."""
    return b"".join(gzip.compress(one, mtime=0) for one in records)


def lines_of(records: Iterable[Mapping[str, object]]) -> bytes:
    return b"".join(json.dumps(one).encode() + b"\n" for one in records)


def zst(data: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(data)
