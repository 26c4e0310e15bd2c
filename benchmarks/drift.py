"""How often `template check` raises the alarm: on real redesigns, and on sites that stay as they are.

    python benchmarks/drift.py

fundus has news pages years apart: every page from the third on is checked against the template of the pages before it.
Whether the design changed is told by something that the measure does not use: the names of classes and ids in the markup
(digits folded), of which less than half agree with every earlier page (Jaccard). daniel and dragnet were fetched within
weeks: half of each site's pages, drawn with a fixed seed, teach, the others are checked.
"""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import templatediff as td
from benchmarks.data import DevPage, sites
from templatediff.drift import SiteFit, page_fit
from templatediff.options import Options
from templatediff.prepare import prepare
from templatediff.profile import SiteProfile
from templatediff.sample import take

QUIET = ("daniel", "dragnet")
SAME_DESIGN = 0.5
_NAMES = re.compile(rb"""\b(?:class|id)\s*=\s*["']([^"']+)""")


def names(page: DevPage) -> set[bytes]:
    """Class names and ids of a page, digits folded."""
    return {re.sub(rb"\d+", b"0", name) for found in _NAMES.findall(page.html()) for name in found.split()}


def likeness(one: set[bytes], other: set[bytes]) -> float:
    return len(one & other) / max(len(one | other), 1)


def fit(taught: Sequence[DevPage], checked: Sequence[DevPage]) -> SiteFit:
    """The pages as `template check` sees them (which labels them as well, to no use here)."""
    profile = SiteProfile("site", Options())
    for page in taught:
        profile.add(prepare(td.Page(page.html(), url=f"https://site.example/{page.page}"), Options())[1])
    sample = take(profile)
    found = SiteFit()
    for page in checked:
        made = prepare(td.Page(page.html(), url=f"https://site.example/{page.page}"), Options())[1]
        found.add(page_fit(sample.as_seen(made), sample, sample.layout_for(made)))
    return found


def redesigns() -> tuple[int, int, int, int]:
    """(redesigned pages, alarms on them, other pages, alarms on them)."""
    changed = alarmed = same = false = 0
    for (_, site), dated in sites(3, ["fundus"]).items():
        seen = [names(page) for page in dated]
        for number in range(2, len(dated)):
            closest = max(likeness(seen[number], earlier) for earlier in seen[:number])
            found = fit(dated[:number], dated[number : number + 1])
            alarm = found.drifted
            if closest < SAME_DESIGN:
                changed, alarmed = changed + 1, alarmed + alarm
            else:
                same, false = same + 1, false + alarm
            if alarm or closest < SAME_DESIGN:
                share = found.whole.found_share
                print(
                    f"  {site} {dated[number].page}: names {closest:.2f}, found {share}, "
                    f"unexplained {found.whole.unexplained_share}, {'alarm' if alarm else 'quiet'}"
                )
    return changed, alarmed, same, false


def main() -> int:
    changed, alarmed, same, false = redesigns()
    print(f"fundus: alarm on {alarmed} of {changed} redesigned pages, on {false} of {same} others")
    for name in QUIET:
        alarms, checked, seen, drifted = [], 0, 0, 0
        for (_, site), found in sites(4, [name]).items():
            drawn = random.Random(site).sample(found, len(found))
            half = len(drawn) // 2
            judged = fit(drawn[:half], drawn[half:])
            checked, seen, drifted = checked + 1, seen + judged.whole.pages, drifted + judged.whole.drifted
            alarms += [site] if judged.drifted else []
        print(f"{name}: alarm on {len(alarms)} of {checked} sites {alarms or ''}; {drifted} of {seen} pages drifted")
    return 0


if __name__ == "__main__":
    sys.exit(main())
