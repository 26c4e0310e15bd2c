"""Synthetic sites with exact truth per block and slot, made from a seed, and the count of what was kept.

Nothing here imports the extractor: truth and scoring are separate programs.
"""

from corpora.generator.blocks import score_blocks
from corpora.generator.shells import EMPTY_SHELLS, SHELLS, generate_shells
from corpora.generator.site import generate_pages, generate_site, write_site
from corpora.generator.spec import DYNAMIC, KINDS, SCRIPTS, STATIC_CONTENT, STYLES, SiteSpec
from corpora.generator.truth import Block, GeneratedPage, GeneratedSite, SlotTruth, gold_text

__all__ = [
    "DYNAMIC",
    "EMPTY_SHELLS",
    "KINDS",
    "SCRIPTS",
    "SHELLS",
    "STATIC_CONTENT",
    "STYLES",
    "Block",
    "GeneratedPage",
    "GeneratedSite",
    "SiteSpec",
    "SlotTruth",
    "generate_pages",
    "generate_shells",
    "generate_site",
    "gold_text",
    "score_blocks",
    "write_site",
]
