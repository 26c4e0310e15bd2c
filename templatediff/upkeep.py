"""Template folders over the years: adding to them, merging them, bringing them up to date.

Whatever is read to be written back is read under the lock of the site's folder, so that of two runs that update the same
site at the same time neither loses what the other has learnt.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import overload

from templatediff.errors import MismatchError, TemplateError, UsageError
from templatediff.pipeline import Template, derive
from templatediff.profile import SiteProfile
from templatediff.profile import merge as merge_profiles
from templatediff.score import shipped
from templatediff.store import (
    PROFILE_FILE,
    TEMPLATE_FILE,
    holds_site,
    read_document,
    read_json,
    read_profile,
    save_site,
    site_folders,
    writing,
)
from templatediff.upgrade import upgraded

log = logging.getLogger("templatediff")


def put(profile: SiteProfile, folder: Path, *, update: bool = False, since: str | None = None) -> Template | None:
    """Derive the template of a profile and write both into a template folder; None where nothing is left to write.

    With `update` what the folder knows of the site is kept and added to, else it is replaced. `since` leaves out pages
    fetched before that time, and undated ones. Raises OutputError, TemplateError, MismatchError.
    """
    with writing(folder, profile.site) as place:
        known = read_profile(place) if update else None
        if update and known is None and holds_site(place):
            log.warning("%s has no %s to add to: its template is learnt anew from these pages", place, PROFILE_FILE)
        if since is not None:  # before they meet, so that old pages take no place from new ones of their month
            known = known.since(since) if known is not None else None
            profile = profile.since(since)
        if known is not None:
            known.absorb(profile)
            profile = known
        if since is not None and not len(profile):
            return None
        template = derive(profile)
        save_site(template, place)
    return template


@overload
def merge(one: Template, other: Template) -> Template: ...
@overload
def merge(one: Mapping[str, Template], other: Mapping[str, Template]) -> dict[str, Template]: ...


def merge(
    one: Template | Mapping[str, Template], other: Template | Mapping[str, Template]
) -> Template | dict[str, Template]:
    """What was learnt of a site on two machines as one template: as if all pages had been learnt at once.

    Takes two templates of one site, or two mappings of templates by site (as `load` gives), whose sites then stand side by
    side. Neither argument is changed. Raises MismatchError where the options differ, UsageError for two sites, and for a
    template without a profile.
    """
    if isinstance(one, Template) and isinstance(other, Template):
        return _merged(one, other)
    if isinstance(one, Template) or isinstance(other, Template):
        raise UsageError("merge takes two templates, or two mappings of templates by site: not one of each")
    return {
        name: _merged(one[name], other[name]) if name in one and name in other else one.get(name) or other[name]
        for name in sorted({*one, *other})
    }


def _merged(one: Template, other: Template) -> Template:
    if one.site != other.site:
        raise UsageError(
            f"the templates are of two sites, {one.site} and {other.site}: merge mappings of templates to have both"
        )
    if one.profile is None or other.profile is None:
        raise UsageError(f"a template of {one.site} has no profile: only what was learnt with one can be merged")
    made = derive(merge_profiles(one.profile, other.profile))
    return replace(made, rules=tuple(dict.fromkeys((*one.rules, *other.rules))))


def merge_folders(folders: Iterable[Path], target: Path) -> list[str]:
    """Merge template folders into `target`, which may be one of them; names of the sites written, in order.

    Sites that only one folder has stand side by side; sites of `target` that no folder has stay. Nothing is written if
    anything cannot be merged. Raises InputError, OutputError, TemplateError, MismatchError.
    """
    places: dict[str, dict[Path, Path]] = {}  # by site: where it really lies -> where it was found
    for folder in folders:
        for place in site_folders(folder):
            places.setdefault(place.name, {}).setdefault(place.resolve(), place)
    sites = {name: _checked(list(found.values())) for name, found in places.items()}
    for name in sorted(places):
        with writing(
            target, sites[name]
        ) as place:  # `target` may be one of the folders: read while nobody else writes it
            save_site(_of_places(list(places[name].values())), place)
    return [sites[name] for name in sorted(places)]


def _checked(places: list[Path]) -> str:
    """The site that the folders are of. Raises TemplateError, MismatchError where they cannot be merged."""
    first: SiteProfile | None = None
    for place in places:
        profile = read_profile(place)
        if profile is None and len(places) > 1:
            raise TemplateError(f"{place} has no {PROFILE_FILE}: without it there is nothing to merge")
        if first is not None and profile is not None:
            differing = first.options.differing(profile.options)
            if differing:
                raise MismatchError(
                    f"{places[0]} and {place} were made with different {', '.join(differing)}: "
                    "learn again with the same options",
                    differing,
                )
        first = first or profile
    return first.site if first is not None else read_json(places[0], shipped()).site


def _of_places(places: list[Path]) -> Template:
    whole: SiteProfile | None = None
    for place in places:
        profile = read_profile(place)
        if profile is None:
            return Template(**read_json(place, shipped()).__dict__)
        whole = profile if whole is None else merge_profiles(whole, profile)
    assert whole is not None
    return derive(whole)


@dataclass(frozen=True, slots=True)
class Upgraded:
    """What became of a site's files: the format found (None: no readable template.json), whether they changed."""

    site: str
    found: int | None
    changed: bool


def upgrade_folder(folder: Path) -> list[Upgraded]:
    """Write every site of a template folder as this release writes it: format, weights and all that is derived.

    Where there is a profile, all is derived from it anew. Raises InputError, OutputError, TemplateError; a newer file is
    refused, and the sites before it are done.
    """
    done = []
    for place in site_folders(folder):
        profile = read_profile(place)
        document = None
        with suppress(TemplateError):
            document = read_document(place / TEMPLATE_FILE)
        if document is not None:
            upgraded(document, str(place / TEMPLATE_FILE))  # refuses a newer one
        site = profile.site if profile is not None else read_json(place, shipped()).site
        with writing(folder, site) as locked:
            before = _bytes(locked)
            profile = read_profile(locked)
            template = derive(profile) if profile is not None else read_json(locked, shipped())
            save_site(template, locked)
            done.append(Upgraded(site, document["format"] if document is not None else None, _bytes(locked) != before))
    return done


def _bytes(place: Path) -> list[bytes | None]:
    return [file.read_bytes() if (file := place / name).is_file() else None for name in (TEMPLATE_FILE, PROFILE_FILE)]
