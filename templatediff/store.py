"""The template folder: DIR/<site>/template.json and profile.zst, written whole or not at all, read with distrust.

Whoever writes a site's folder holds its lock. Both files are written beside those that are there and brought to the disk,
then put in place by one rename each, the profile first. That rename is what counts: whoever finds a profile derives
everything from it, so before it a reader gets the old state and after it the new one, in full. template.json names the
profile that it is of, so that one left behind by a run that was killed between the renames is known.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import tempfile
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from templatediff.errors import InputError, OutputError, TemplateError
from templatediff.lock import locked
from templatediff.names import escaped, safe_component
from templatediff.profile import SiteProfile
from templatediff.rules import RULES_FILE
from templatediff.score import Weights
from templatediff.template import SiteTemplate, of_document
from templatediff.upgrade import upgraded

TEMPLATE_FILE = "template.json"
PROFILE_FILE = "profile.zst"
_MAX_JSON = 256 * 1024 * 1024
_LONGEST_NUMBER = 25  # characters; none of ours has more
_LONGEST_WORDS = 200  # characters of a file's content that an error repeats
_PART = ".part"


def site_folder(site: str) -> str:
    """A folder name for a site: one component, safe on any file system, no two sites alike.

    Characters that some file systems take for others (capitals, other Unicode forms) are escaped like unsafe ones.

    >>> site_folder("example.org"), site_folder("news/a"), site_folder("News/a"), site_folder("..")
    ('example.org', 'news%2Fa', '%4Eews%2Fa', '%2E%2E')
    >>> site_folder("caf\u00e9"), site_folder("cafe\u0301"), site_folder("\u00c9t\u00e9")
    ('caf\xe9', 'cafe%CC%81', '%C3%89t\xe9')
    >>> site_folder("\u0939\u093f\u0928\u094d\u0926\u0940")
    '\u0939\u093f\u0928\u094d\u0926\u0940'
    """
    composed = unicodedata.is_normalized("NFC", site)
    if site == RULES_FILE:
        return escaped(site[0]) + site[1:]  # a file of this name may lie beside the folders
    name = safe_component("".join(escaped(one) if one in "%/" or _confused(one, composed) else one for one in site))
    if len(name.encode("utf-8", "surrogateescape")) <= 150:
        return name
    return name.encode()[:120].decode(errors="ignore") + "~" + hashlib.sha256(site.encode()).hexdigest()[:16]


def _confused(character: str, composed: bool) -> bool:
    """Whether a file system that ignores case or Unicode form takes the character for another, or joins it to one.

    `composed`: the whole name is in the form NFC, in which no mark that stands apart has a letter to join.
    """
    if character.isascii():
        return character.isupper()
    mark = unicodedata.category(character).startswith("M")
    return (
        (mark and not composed) or character.casefold() != character or not unicodedata.is_normalized("NFC", character)
    )


def site_folders(folder: Path) -> list[Path]:
    """The folders of a template folder that hold a site. Raises InputError where there is no such folder or no site."""
    if not folder.is_dir():
        raise InputError(f"no template folder {folder}: make one with templatediff learn -o {folder}")
    found = sorted(
        (place for place in folder.iterdir() if holds_site(place)),
        key=lambda place: os.fsencode(place.name),
    )
    if not found and holds_site(folder):
        raise InputError(f"{folder} is the folder of one site: give the folder that it lies in")
    if not found:
        raise InputError(f"no template in {folder}: make one with templatediff learn -o {folder}")
    return found


def holds_site(place: Path) -> bool:
    """Whether a site has been learnt into its folder; rules, or a run that was killed, may have made no more than that."""
    return (place / TEMPLATE_FILE).is_file() or (place / PROFILE_FILE).is_file()


@contextmanager
def writing(folder: Path, site: str) -> Iterator[Path]:
    """The folder of a site, made if need be and locked for the block. Raises OutputError, also for what the block meets."""
    place = folder / site_folder(site)
    try:
        place.mkdir(parents=True, exist_ok=True)
        with locked(place):
            yield place
    except OSError as error:
        where = error.filename2 or error.filename or place
        raise OutputError(f"cannot write the template into {where}: {error.strerror or error}") from error


def save_all(templates: Mapping[str, SiteTemplate], folder: Path) -> None:
    """Write each site's folder under `folder`, every file whole or not at all. Raises OutputError."""
    for site in sorted(templates):
        with writing(folder, site) as place:
            save_site(templates[site], place)


def save_site(template: SiteTemplate, place: Path) -> None:
    """Write the files of a site into its folder, which the caller has locked."""
    for left in place.glob(f"*{_PART}"):  # by a run that was killed: nobody else writes here now
        with suppress(OSError):
            left.unlink()
    if template.profile is None and (place / PROFILE_FILE).exists():
        raise OutputError(
            f"{place} has a {PROFILE_FILE}, which the template of {template.site} lacks: choose another folder"
        )
    text = json.dumps(template.to_json(), indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    with _replaced(place / TEMPLATE_FILE) as document:
        document.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
        _to_disk(document)
        if template.profile is not None:
            with _replaced(place / PROFILE_FILE) as part:
                template.profile.save(part)
                _to_disk(part)
    _to_disk(place)


@contextmanager
def _replaced(file: Path) -> Iterator[Path]:
    """A new file beside `file` that takes its place when the block ends well."""
    handle, name = tempfile.mkstemp(prefix=file.name + ".", suffix=_PART, dir=file.parent)
    os.close(handle)
    part = Path(name)
    try:
        part.chmod(0o666 & ~_umask())
        yield part
        os.replace(part, file)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _to_disk(path: Path) -> None:
    """What was written to a file, or the names in a folder, outlast a power cut from here on."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EBADF):  # file systems without it, mostly for folders
            raise
    finally:
        os.close(handle)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def read_profile(place: Path) -> SiteProfile | None:
    """The profile in a site's folder, None where there is none. Raises TemplateError."""
    file = place / PROFILE_FILE
    if not file.is_file():
        return None
    try:
        profile = SiteProfile.load(file)
    except OSError as error:
        raise TemplateError(f"cannot read {file}: {error.strerror}") from error
    _check_site(profile.site, place, file)
    return profile


def out_of_step(template: SiteTemplate, place: Path) -> bool:
    """Whether template.json is of another profile than the one beside it, which `template` was derived from.

    So where a run was killed between the two, or one of them was copied alone; False where nothing tells.
    """
    file = place / TEMPLATE_FILE
    if template.profile is None or not file.is_file():
        return False
    named = read_document(file).get("profile")
    return named is not None and named != template.profile.digest()


def read_json(place: Path, weights: Weights) -> SiteTemplate:
    """A template from template.json alone: static leaves without leave-one-out. Raises TemplateError."""
    file = place / TEMPLATE_FILE
    document = upgraded(read_document(file), str(file))
    try:
        template = of_document(document, weights)
        _check_site(template.site, place, file)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        raise _damaged(file, f"{type(error).__name__}: {error}") from None
    return template


def read_document(file: Path) -> dict[str, Any]:
    """The content of a template.json, of whatever format. Raises TemplateError for what cannot be one."""
    try:
        size = file.stat().st_size
        if size > _MAX_JSON:
            raise TemplateError(f"{file} is {size:,} bytes: more than a template can have")
        document = json.loads(file.read_bytes(), parse_int=_integer, parse_float=_number, parse_constant=_no_number)
    except OSError as error:
        raise TemplateError(f"cannot read {file}: {error.strerror}") from error
    except RecursionError:
        raise _damaged(file, "nested too deep") from None
    except ValueError as error:
        raise _damaged(file, str(error)) from None
    if not isinstance(document, dict):
        raise _damaged(file, "it is no JSON object")
    return document


def _integer(text: str) -> int:
    return int(_short(text))


def _number(text: str) -> float:
    value = float(_short(text))
    if value in (float("inf"), float("-inf")):
        return _no_number(text)
    return value


def _short(text: str) -> str:
    if len(text) > _LONGEST_NUMBER:
        raise ValueError(f"a number of {len(text):,} characters")
    return text


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is no number that a template has")


def _check_site(site: str, place: Path, file: Path) -> None:
    """A site's files lie in the folder that the site's name gives: elsewhere they would pass for another site's."""
    try:
        wanted = site_folder(site)
    except ValueError:
        raise _damaged(file, "its site has a name that is no text") from None
    # The name in the template folder counts, also of a link to a folder elsewhere.
    found = os.path.basename(os.path.abspath(place))
    if unicodedata.normalize("NFC", wanted) != unicodedata.normalize("NFC", found):
        raise TemplateError(
            f"{file} is of the site {_cut(repr(site))}, which belongs into a folder {wanted}: name the folder so"
        )


def _damaged(file: Path, what: str) -> TemplateError:
    return TemplateError(f"{file} is damaged ({_cut(what)}): learn again")


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_WORDS else text[:_LONGEST_WORDS] + "\u2026"
