"""A spec becomes a site; a site becomes files."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

from corpora.generator import chrome
from corpora.generator.page import Page
from corpora.generator.plan import Pool, make_plans, make_theme
from corpora.generator.spec import SiteSpec
from corpora.generator.truth import GeneratedPage, GeneratedSite
from corpora.generator.words import Voice, language, slug


def generate_site(spec: SiteSpec) -> GeneratedSite:
    """The site that the spec describes: the same bytes for the same spec, wherever and whenever."""
    name, host, _ = names(spec)
    return GeneratedSite(name, host, tuple(generate_pages(spec)), language(spec.script).lang, spec.script)


def generate_pages(spec: SiteSpec) -> Iterator[GeneratedPage]:
    """The pages of the site one at a time, for sites that are too large to hold."""
    lang = language(spec.script)
    name, host, sections = names(spec)
    designs = [1, 2] if spec.redesign else [1]
    themes = {design: make_theme(spec, lang, name, host, sections, design) for design in designs}
    plans, ghosts = make_plans(spec, lang, sections)
    pool = Pool.of(plans, ghosts)
    for plan in plans:
        page = Page(spec, lang, themes[plan.design], plan, pool)
        html = chrome.write(page)
        yield GeneratedPage(
            path=f"{spec.prefix}{plan.href[1:]}.html",
            url=f"https://{host}{plan.href}" if spec.urls else None,
            fetched=plan.fetched.isoformat() + "Z",
            html=html,
            blocks=tuple(page.blocks),
            title=plan.title,
            kind=plan.kind,
            layout=plan.layout,
            original=f"{spec.prefix}{plan.original.href[1:]}.html" if plan.original else None,
        )


def names(spec: SiteSpec) -> tuple[str, str, tuple[str, ...]]:
    """The site's name, host and sections."""
    lang = language(spec.script)
    rng = random.Random(f"{spec.seed}/{spec.script}/site")
    voice = Voice(lang, rng)
    name = voice.made_up() + lang.joiner + voice.menu_label()
    host = spec.host or f"www.{slug(rng, 2)}.example"
    return name, host, tuple(dict.fromkeys(voice.menu_label() for _ in range(rng.randint(5, 7))))


def write_site(site: GeneratedSite, folder: Path, gold: Path | None = None, *, sidecars: bool = False) -> None:
    """Write `folder/<path>.html`; with `gold`, `gold/<path>.gold.txt` (score.py's name) and `.truth.json`.

    `sidecars` puts `<path>.html.meta.json` beside each page, with its URL and fetch time.
    """
    for page in site.pages:
        target = folder / page.path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(page.html, encoding="utf-8", newline="\n")
        if sidecars:
            meta = json.dumps({"url": page.url, "fetched": page.fetched}, indent=1)
            target.with_name(target.name + ".meta.json").write_text(meta + "\n", encoding="utf-8", newline="\n")
        if gold is not None:
            stem = gold / page.path.removesuffix(".html")
            stem.parent.mkdir(parents=True, exist_ok=True)
            Path(f"{stem}.gold.txt").write_text(page.gold + "\n", encoding="utf-8", newline="\n")
            truth = {
                "kind": page.kind,
                "layout": page.layout,
                "original": page.original,
                "blocks": [
                    {
                        "text": block.text,
                        "kind": block.kind,
                        "role": block.role,
                        "static": block.static,
                        "slots": [[slot.name, slot.type, slot.value] for slot in block.slots],
                    }
                    for block in page.blocks
                ],
            }
            text = json.dumps(truth, ensure_ascii=False, indent=1)
            Path(f"{stem}.truth.json").write_text(text + "\n", encoding="utf-8", newline="\n")
