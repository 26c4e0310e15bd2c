"""What does each kind of evidence bring? The first forest fitted again without it.

    python benchmarks/ablation.py [--folds 2] [--jobs 2] [--trees 40]

Smaller forests than those that ship (--trees, at a higher rate) are fitted without the sites of a fold and judge these,
once on all evidence and once without each group of GROUPS. The table has the mean F1 over the fold's sites with three
pages or more, by set, with all pages of the site as siblings, and on single pages; leaves are kept from P .45 on, without
the decoding and guards of `templatediff.label`. What one group knows another may say as well: a small figure means that
the group can be done without beside the others, not that it says nothing.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import defaultdict
from collections.abc import Sequence
from multiprocessing import get_context
from pathlib import Path
from unittest.mock import patch

import numpy as np

if __package__ in (None, ""):  # run as a script: the repository's root stands in for this folder
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from benchmarks import data, train
from templatediff import evidence
from templatediff.score import forest, probability

#: Group -> which columns of the evidence it is. "all" leaves nothing out.
GROUPS = {
    "all": r"$.",
    "where new text lies, on this page": r"(under_fresh|under_prose|fresh_density|fresh_within|in_majority|majority|single_\d)",
    "where new text lies, on the siblings": r"(site_region|site_tag_region|layout_region|in_site_majority)",
    "k of n": r"(site|layout)_(text|text_any|pair|ngrams|ngrams_low|known)$|known_|site_targets|layout_targets",
    "k of n with values folded": r"(site|layout)_folded",
    "slots": r"(site|layout)_slot_",
    "all of the siblings": r"(site|layout)_|known_|in_site_|is_other_|links_to_titles",
    "titles, headings and links of other pages": r"is_other_|links_to_titles",
    "records": r"record_|repeats_|single_|page_single|same_",
    "gist and title": r"gist|title_share|is_title",
    "links": r"link|_links",
    "stopwords": r"stop_share|same_stop_share",
    "names of containers": r"name_",
    "tags and marks": r"tag$|heading(_[+-]1)?$|in_(?!majority|site)[a-z]+$|grouped|breaks",
    "neighbours": r".*_[+-]\d$|.*_within_\d+$|prose_before|prose_after",
    "place in the page": r"position|start|to_end|depth|place$|after_heading|heading_steps",
}
RATE_TIMES_TREES = 10.0  #: so much learning in all, however few the trees

Scores = dict[tuple[str, str], list[float]]


def without(group: str) -> list[int]:
    """Places of the columns that stay."""
    pattern = re.compile(GROUPS[group])
    return [place for place, name in enumerate(evidence.NAMES) if not pattern.match(name)]


def measure(job: tuple[str, int, int]) -> tuple[str, Scores]:
    """(group, scores by (set, mode) of a fold's pages) of a forest fitted without the fold and without the group."""
    group, fold, trees = job
    stay = without(group)
    settings = {**train.SETTINGS, "max_iter": trees, "learning_rate": RATE_TIMES_TREES / trees}
    others = [site for site in train._sites if site.fold != fold]
    train._name_looks(train._sites, train.name_table(others))
    columns = train._columns
    names = tuple(evidence.NAMES[place] for place in stay)
    with (
        patch.object(train, "SETTINGS", settings),
        patch.object(train, "_columns", lambda look, second: columns(look, second)[:, stay]),
        patch.object(evidence, "NAMES", names),
    ):
        judge = forest(train.fit(others, False, f"without {group}, without fold {fold}"))
        scores: Scores = defaultdict(list)
        for site in train._sites:
            if site.fold != fold or site.name[0] == train.GENERATED:
                continue
            for look in site.looks:
                every = look.size == len(site.prints) and look.size >= 3
                if look.page not in site.truth or not (every or look.size == 1):
                    continue
                kept = probability(judge.raw(train._columns(look, False))) >= 0.45
                f1 = train._f1(site.gold[look.page], site.prints[look.page], kept)
                scores[site.name[0], "all" if every else "none"].append(f1)
    return group, dict(scores)


def report(found: dict[str, Scores], least: int) -> str:
    """The table: mean over the sets with `least` pages or more, and the change without each group."""
    lines = ["| without | all siblings | change | single pages | change |", "|---|---:|---:|---:|---:|"]
    means = {
        group: [
            float(np.mean([np.mean(values) for (_, mode), values in sorted(scores.items())
                           if mode == wanted and len(values) >= least]))
            for wanted in ("all", "none")
        ]
        for group, scores in found.items()
    }  # fmt: skip
    whole = means["all"]
    for group, pair in means.items():
        cells = [f"{value:.4f} | {value - base:+.4f}" for value, base in zip(pair, whole, strict=True)]
        lines.append(f"| {'(nothing)' if group == 'all' else group} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folds", type=int, default=2, help=f"folds that are judged, of {train.FOLDS} (default: 2)")
    parser.add_argument("--trees", type=int, default=40)
    parser.add_argument("--least", type=int, default=20, help="pages of a set that counts (default: 20)")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args(arguments)
    try:
        train.gather_all(options.jobs)
    except data.DataMissing as problem:
        print(f"ablation: {problem}", file=sys.stderr)
        return 2
    jobs = [(group, fold, options.trees) for group in GROUPS for fold in range(options.folds)]
    found: dict[str, Scores] = {group: defaultdict(list) for group in GROUPS}
    with get_context("fork").Pool(options.jobs) as pool:
        for group, scores in pool.imap(measure, jobs):
            for place, values in scores.items():
                found[group][place] += values
    print(report(found, options.least))
    return 0


if __name__ == "__main__":
    sys.exit(main())
