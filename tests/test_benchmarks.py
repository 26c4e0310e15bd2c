"""The measuring tools: what they say must be trusted before any figure is."""

from __future__ import annotations

import importlib.util
import itertools
import json
import pkgutil
import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from benchmarks import (
    ablation,
    baseline,
    data,
    encodings,
    errors,
    growth,
    hot,
    labels,
    peers,
    processes,
    quality,
    speed,
    tables,
    train,
)
from benchmarks.align import align, place_of
from benchmarks.measure import ALL, Row, label, without_headline
from benchmarks.scoring import Gold, mean_by_site, score, word_f1

PAIRS = [
    ("", ""),
    ("one", ""),
    ("", "one"),
    ("one two", "one two"),
    ("one two", "one three"),
    ("one two three", "one two three four"),
    ("one two three four", "ONE two, three -- four"),
    ("a b c d a b c d", "a b c d"),
    ("a b c d", "a b c d a b c d"),
    ("the cat sat on the mat", "on the mat the cat sat on the mat"),
    ("東京都は雨です。明日は晴れ", "東京都は雨です"),
    ("Straße und Maß im Dorf", "strasse und mass im dorf"),
    ("שלום עולם טוב מאוד היום", "שלום עולם טוב מאוד"),
    ("7 8 9 10 11", "7 8 9 10 12"),
]


def _reference() -> ModuleType:
    path = data.SHARED / "score.py"
    if not path.is_file():
        pytest.skip(f"{path.parent.name}/{path.name} is not beside the repository")
    spec = importlib.util.spec_from_file_location("reference_score", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _dev() -> None:
    try:
        data.dev_folder()
    except data.DataMissing as problem:
        pytest.skip(f"no real pages: {problem}")


# --- scoring -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("gold", "text"), PAIRS)
def test_shingle_score_equals_the_reference(gold: str, text: str) -> None:
    found = score(gold, text)
    assert (found.precision, found.recall, found.f1) == _reference().prf(gold, text)


def test_shingle_score_equals_the_reference_on_random_texts() -> None:
    reference = _reference()
    choose = random.Random(7)
    vocabulary = [*"abcdefg", "東京", "ไทย", "naïve", "x1"]
    for _ in range(300):
        gold = " ".join(choose.choices(vocabulary, k=choose.randrange(40)))
        text = " ".join(choose.choices(vocabulary, k=choose.randrange(40)))
        found = score(gold, text)
        assert (found.precision, found.recall, found.f1) == reference.prf(gold, text)


def test_a_vocabulary_too_large_for_packed_keys_is_scored_all_the_same() -> None:
    words = [f"w{number}" for number in range(56_000)]
    assert Gold(" ".join(words)).score(" ".join(words[:28_000])).recall == pytest.approx(27_997 / 55_997)


def test_word_score_ignores_order_but_counts_repeats() -> None:
    assert word_f1("a b b", "b a b") == 1.0
    assert word_f1("a b b", "a b") == pytest.approx(0.8)
    assert word_f1("a", "") == 0.0


def test_intervals_draw_sites_and_are_reproducible() -> None:
    values = [0.9] * 10 + [0.5] * 10
    by_page = mean_by_site(values, range(20))
    by_site = mean_by_site(values, ["one"] * 10 + ["two"] * 10)
    assert by_site == mean_by_site(values, ["one"] * 10 + ["two"] * 10)
    assert (by_site.low, by_site.high) == pytest.approx((0.5, 0.9))
    assert by_page.low > by_site.low and by_page.high < by_site.high


# --- alignment ---------------------------------------------------------------------------------------------

BODY = "The ferry leaves the harbour at six and comes back before dark."
MORE = "In winter there is one crossing a day, at noon, weather permitting."
ALIGNMENTS = {
    "content between chrome": (
        ["Home", "Contact us today", BODY, MORE, "All rights reserved"],
        [2, 3],
        [2, 3],
    ),
    "headline that the gold skips stays out": (["A Day Out", BODY, MORE], [1, 2], [1, 2]),
    "byline and caption that the gold skips stay out": (
        [BODY, "By Ann Example", "The harbour in June", MORE],
        [0, 3],
        [0, 3],
    ),
    "short leaf inside the gold": (["Menu", BODY, "Winter", MORE], [1, 2, 3], [1, 2, 3]),
    "values without their labels": (
        ["Name", "Ann Example", "Born", "1962", "Team", "North End", "Goals", "41"],
        [1, 3, 5, 7],
        [1, 3, 5, 7],
    ),
    "headline repeated in a list of links": (
        ["Ferry times for the winter", "Read more", BODY, MORE, "Popular now", "Ferry times for the winter"],
        [0, 2, 3],
        [0, 2, 3],
    ),
    "copy far from the content": (
        [
            BODY,
            "one two three four five",
            "six seven eight nine",
            "ten eleven twelve more",
            "Subscribe",
            BODY,
            MORE,
        ],
        [5, 6],
        [5, 6],
    ),
    "bullets between kept leaves": ([BODY, "•", MORE, "•", "Imprint"], [0, 1, 2], [0, 2]),
    "nothing of it": (["Home", "Contact us today"], [], [1000]),
}


@pytest.mark.parametrize("case", ALIGNMENTS)
def test_alignment_finds_the_leaves_of_the_gold(case: str) -> None:
    leaves, wanted, gold = ALIGNMENTS[case]
    text = "\n\n".join(leaves[place] for place in gold) if gold != [1000] else "quite another text than this"
    found = align(leaves, text)
    assert [place for place, keep in enumerate(found.oracle) if keep] == wanted
    assert [place for place, share in enumerate(found.share) if share > 0.5] == wanted


def test_alignment_of_a_gold_text_shorter_than_a_shingle() -> None:
    assert align(["Home", "Sold", "out", "Imprint"], "Sold out.").oracle == [False, True, True, False]
    assert align(["Sold", "Price", "out"], "Sold out.").oracle == [True, False, True]
    assert align(["Home", "Imprint"], "Sold out.").f1 == 0.0
    assert align(["Home", "Imprint"], "").f1 == 1.0
    assert align([], "one two three four five").f1 == 0.0


def test_share_is_the_part_of_a_leaf_that_the_gold_has() -> None:
    found = align([f"{BODY} Read on in our printed edition, out on every Friday."], BODY)
    assert found.oracle == [True]
    assert found.share[0] == pytest.approx(12 / 22)


def test_oracle_score_is_the_score_of_the_chosen_text_and_near_the_best() -> None:
    choose = random.Random(3)
    lost = 0.0
    for _ in range(60):
        words = [f"w{number}" for number in range(30)]
        leaves = [" ".join(choose.choices(words, k=choose.choice([1, 2, 3, 6, 9]))) for _ in range(8)]
        text = "\n".join(leaf for leaf in leaves if choose.random() < 0.5)
        gold = Gold(text)
        found = align(leaves, text)
        picked = "\n\n".join(leaf for leaf, keep in zip(leaves, found.oracle, strict=True) if keep)
        assert found.f1 == pytest.approx(gold.score(picked).f1)
        best = max(
            gold.score("\n\n".join(itertools.compress(leaves, choice))).f1
            for choice in itertools.product([False, True], repeat=len(leaves))
        )
        lost += best - found.f1
    assert lost / 60 < 0.01


def test_headline_is_found_among_the_leaves() -> None:
    assert place_of(["Home", "A  Day Out!"], "a day out") == 1
    assert place_of(["Home"], "a day out") == -1


def test_without_headline_takes_one_line_near_the_top() -> None:
    assert without_headline("A day out\nIt rained.\nA day out", "A Day Out") == "It rained.\nA day out"
    assert without_headline("It rained.", None) == "It rained."


# --- pages and folds ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "domain"),
    [
        ("www.bbc.co.uk_news", "bbc.co.uk"),
        ("tv.msnbc.com_news", "msnbc.com"),
        ("one.blogspot.com", "one.blogspot.com"),
        ("de.WAZ", None),
        ("handbook-ja", None),
        ("216.31.193.173", None),
    ],
)
def test_registrable_domain_of_a_site_folder(name: str, domain: str | None) -> None:
    assert data.registrable(name) == domain


def test_folds_never_split_a_domain() -> None:
    _dev()
    folds: dict[str, set[int]] = {}
    for site in data.sites():
        domain = data.registrable(site[1])
        if domain:
            folds.setdefault(domain, set()).add(data.fold_of(site))
    assert max(map(len, folds.values())) == 1
    assert set().union(*folds.values()) == set(range(5))


def test_every_page_has_its_files_and_a_key_of_its_own() -> None:
    _dev()
    pages = data.pages()
    assert len({page.key for page in pages}) == len(pages)
    assert all(page.gold_path is None or page.gold_path.is_file() for page in pages)


def test_fewer_siblings_are_a_part_of_more() -> None:
    _dev()
    group = max(data.sites(10).values(), key=len)
    chosen = [set(data.choose_siblings(group[0], group, count)) for count in (0, 1, 2, 4, 8)]
    assert [len(siblings) for siblings in chosen] == [0, 1, 2, 4, 8]
    assert all(few < many for few, many in itertools.pairwise(chosen))
    assert group[0] not in chosen[-1]


# --- tables and floors -------------------------------------------------------------------------------------


def _row(extractor: str, f1: float, page: int = 0, group: str = "news") -> Row:
    return Row(f"{group}/s{page}/p", group, f"s{page}", None, extractor, f1, f1, f1, f1, f1, 0, None)


def test_a_peer_trained_on_a_set_is_shown_but_not_counted() -> None:
    rows = [_row(label(ALL), 0.9), _row("fitted", 1.0), _row("honest", 0.8)]
    lines = tables.table(rows, "set", [label(ALL), "fitted", "honest"], {"fitted": frozenset(["news"])}).split("\n")
    assert lines[2].endswith("| .900 (.900-.900) | [1.000] | .800 |")
    assert lines[3] == "| mean of sets | | | **.900** |  | **.800** |"


def test_comparison_is_made_page_by_page_with_the_best_peer() -> None:
    rows = [_row(label(ALL), 0.9, page) for page in range(3)]
    rows += [_row("good", 0.8, page) for page in range(3)] + [_row("bad", 0.1, page) for page in range(3)]
    assert "| news | good | .800 | .900 | +0.100 (+0.100 to +0.100) |" in tables.comparison(
        rows, "set", label(ALL), ["good", "bad"]
    )
    by_words = [replace(row, words=0.5 if row.extractor == "good" else 0.7) for row in rows]
    assert "| news | bad | .700 | .700 | +0.000 (+0.000 to +0.000) |" in tables.comparison(
        by_words, "set", label(ALL), ["good", "bad"], "words"
    )


def test_floors_hold_fail_and_need_a_reason_to_fall() -> None:
    first = baseline.update(None, "c1", {"x": {"news": 0.9}}, None)
    assert first.floors == {"x": {"news": 0.898}}
    assert baseline.check(first, "c1", {"x": {"news": 0.8985}}) == []
    assert baseline.check(first, "c1", {"x": {"news": 0.89}}) == ["x, news: F1 0.8900 is below its floor 0.898"]
    assert "not measured" in baseline.check(first, "c1", {})[0]
    assert "another corpus" in baseline.check(first, "c2", {"x": {"news": 0.9}})[0]
    assert baseline.update(first, "c1", {"x": {"news": 0.95}}, None).floors == {"x": {"news": 0.948}}
    with pytest.raises(baseline.BaselineError, match="--reason"):
        baseline.update(first, "c1", {"x": {"news": 0.8}}, None)
    lowered = baseline.update(first, "c1", {"x": {"news": 0.8}}, "shorter captions")
    assert lowered.floors == {"x": {"news": 0.798}}
    assert lowered.lowered == ({"reason": "shorter captions", "floors": {"x, news": [0.898, 0.798]}},)


def test_peers_are_listed_and_unknown_ones_refused() -> None:
    assert "trafilatura_default" in peers.names()
    with pytest.raises(peers.PeerMissing, match="no peer 'nobody'"):
        peers.load("nobody")


def test_a_set_that_does_not_exist_ends_with_the_sets_that_do(capsys: pytest.CaptureFixture[str]) -> None:
    _dev()
    assert quality.main(["--sets", "nosuch"]) == 2
    assert "there are" in capsys.readouterr().err


def test_missing_pages_end_with_status_two(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TEMPLATEDIFF_DATA", str(tmp_path))
    for found in (data.dev_folder, data.pages):
        found.cache_clear()
    try:
        assert quality.main([]) == 2
    finally:
        for found in (data.dev_folder, data.pages):
            found.cache_clear()
    assert "holds no manifest.tsv" in capsys.readouterr().err


@pytest.mark.parametrize("counts", ["x", "-3", "", "1,,2"])
def test_numbers_of_siblings_that_make_no_sense_are_refused(counts: str) -> None:
    with pytest.raises(SystemExit) as stopped:
        quality.main(["--siblings", counts])
    assert stopped.value.code == 2


def test_the_quick_subset_takes_a_few_sites_of_every_set() -> None:
    sites = [("a", f"s{number}") for number in range(9)] + [("b", "s")]
    chosen = quality.quick_subset(sites, 0)
    assert [site[0] for site in chosen] == ["a"] * quality.QUICK_SITES + ["b"]
    assert chosen == quality.quick_subset(list(reversed(sites[:9])) + sites[9:], 0)


# --- labels ------------------------------------------------------------------------------------------------


def test_bins_have_equal_mass_and_their_error_is_the_mean_gap() -> None:
    p, weight = np.array([0.9, 0.1, 0.5, 0.1]), np.array([2.0, 1.0, 2.0, 1.0])
    rows = labels.bins(p, weight, np.array([1.0, 0.0, 0.5, 1.0]), 3)
    assert [tuple(round(part, 3) for part in row) for row in rows] == [
        (0.1, 0.5, 0.333),
        (0.5, 0.5, 0.333),
        (0.9, 1.0, 0.333),
    ]
    assert labels.calibration_error(rows) == pytest.approx((0.4 + 0.0 + 0.1) / 3)


def test_every_step_after_the_score_exists_and_can_be_left_out() -> None:
    for function, instead in labels.STEPS.values():
        step = pkgutil.resolve_name(f"templatediff.{function}")
        assert callable(step) and instead is not step


def test_each_guard_is_left_out_by_itself() -> None:
    page = SimpleNamespace(fresh=np.array([20, 60, 60]), link_share=np.zeros(3), tokens=np.array([20, 60, 60]))
    page.site = SimpleNamespace(n=2)
    never = labels.STEPS["guard: never empty"][1]
    quarter = labels.STEPS["guard: less than a quarter of what is new"][1]
    for p, guards in (([0.6, 0.2, 0.1], [2, 1]), ([0.3, 0.2, 0.1], [0, 1])):
        of_p = np.array(p)
        found = [int(without(page, of_p, of_p >= 0.5)[0].sum()) for without in (never, quarter)]
        assert found == guards


# --- training ----------------------------------------------------------------------------------------------


def test_generated_sites_that_are_fitted_on_have_seeds_of_their_own() -> None:
    names = [name for (_, name), _, _ in train.generated_sites()]
    assert len(set(names)) == len(names) == len({name.split()[3] for name in names})
    assert {(kind, style) for kind, style, *_ in (name.split() for name in names)} >= {
        ("forum", "flat"), ("docs", "divs"), ("listing", "tables"),
    }  # fmt: skip


def test_every_group_of_evidence_that_is_left_out_has_columns_and_leaves_some() -> None:
    from templatediff import evidence

    sizes = {group: len(evidence.NAMES) - len(ablation.without(group)) for group in ablation.GROUPS}
    assert sizes.pop("all") == 0
    assert all(0 < size < len(evidence.NAMES) for size in sizes.values()), sizes


@pytest.mark.parametrize(
    ("html", "gold", "judged"),
    [
        ("<meta charset=latin1><p>港口博物馆位于旧码头旁边".encode("gbk"), "港口博物馆", ("gb18030", [True, False])),
        ("<meta charset=koi8-r><p>Портовый музей".encode("koi8-r"), "Портовый музей", ("koi8-r", [True, True])),
        ("<p>Портовый".encode(), "Портовый", None),
        ("<p>caf&eacute; \xa9".encode("latin-1"), "café", (encodings.SILENT, [])),
        ("<p>caf\xe9".encode("latin-1"), "caf\ufffd", (encodings.SILENT, [])),
    ],
    ids=["gbk", "koi8-r", "utf-8", "entity", "damaged-gold"],
)
def test_the_gold_tells_the_encoding(tmp_path: Path, html: bytes, gold: str, judged: object) -> None:
    (tmp_path / "page.html").write_bytes(html)
    (tmp_path / "page.gold.txt").write_text(gold, encoding="utf-8")
    page = data.DevPage("set", "site", "page", tmp_path / "page.html", tmp_path / "page.gold.txt", "", None)
    found = encodings.judge(page)
    told = found and (found[0], [found[1][reader] for reader in ("templatediff", "declared") if found[1]])
    assert told == judged


# --- speed -------------------------------------------------------------------------------------------------


def _corpus() -> speed.Corpus:
    site = speed.generate_site(speed.SiteSpec(kinds=("news",), pages=4, seed=2))
    return speed.Corpus("made", [[page.html for page in site.pages]])


def test_every_operation_is_told_as_a_ratio_to_the_parse_of_its_round() -> None:
    rows = {name: ratio for name, _, ratio in speed.measure(_corpus(), 1, ["no_such_peer"])}
    assert set(speed.GOALS) < set(rows) and rows["parse"] == 1.0
    assert min(rows.values()) >= 1.0, "nothing that parses costs less than the parse"


def test_the_cost_model_has_every_stage() -> None:
    told = [name for name, _, _ in speed.stages(_corpus(), 1)]
    assert told == [
        "read", "decode", "parse", "segment", "fingerprint", "keep for the second reading", "read what was kept",
        "derive the sites' templates", "find what the sites' pages teach", "label", "label, one page alone", "render as text",
    ]  # fmt: skip


def test_shapes_that_invite_the_square_are_pages(capsys: pytest.CaptureFixture[str]) -> None:
    rows = list(growth.of_shapes(0.002))
    assert len(rows) == 1 + len(growth.SHAPES) and "nan" not in "".join(rows)


def test_growth_runs_learn_and_extract_in_processes_of_their_own(tmp_path: Path) -> None:
    rows = "\n".join(growth.of_pages(tmp_path, [3]))
    assert [line.split(" | ")[1] for line in rows.splitlines()[2:]] == ["learn", "apply", "extract"]
    assert all(float(line.split(" | ")[4].strip(" |")) > 10 for line in rows.splitlines()[2:]), "MB"


@pytest.mark.skipif(
    not Path("/proc/self/smaps_rollup").exists(), reason="memory of processes is read from /proc, as Linux has it"
)
def test_the_memory_of_workers_is_seen_though_a_server_forks_them() -> None:
    code = "import time; from templatediff.parallel import Crew\nwith Crew(1, guarded=True) as crew: crew.call(time.sleep, 1.5)"
    with subprocess.Popen([sys.executable, "-c", code], cwd=Path(__file__).parent.parent, text=True) as run:
        peaks = processes.watched(run)
    assert run.returncode == 0
    assert peaks.most(processes.COMMAND) > 10 < peaks.most(processes.WORKER)
    assert 0 < peaks.pss <= peaks.rss


def test_errors_are_told_by_kind(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def row(page: str, precision: float, recall: float) -> dict[str, object]:
        f1 = 2 * precision * recall / ((precision + recall) or 1)
        return {
            "set": "one",
            "site": page,
            "page": page,
            "extractor": "x",
            "precision": precision,
            "recall": recall,
            "f1": f1,
        }

    file = tmp_path / "scores.json"
    file.write_text(
        json.dumps({"rows": [row("a", 1.0, 0.6), row("b", 0.0, 0.0), row("c", 1.0, 1.0)]}), encoding="utf-8"
    )
    assert errors.main([str(file), "--extractor", "x"]) == 0
    told = capsys.readouterr().out
    assert "| one | 3 | 0.583 | 80% (33%) | 20% (33%) | 0% (0%) | 0% (0%) | 0% (33%) |" in told
    assert "- **lost**, 1 sites: `a` (0.75)" in told
    assert errors.main([str(file), "--extractor", "y"]) == 2
    assert "there are x" in capsys.readouterr().err


def test_hot_functions_are_measured_in_their_situations() -> None:
    found = dict(hot.measure(1, "o"))
    assert {"parse: the measure", "forest: the leaves of one page", "evidence: among siblings"} <= set(found)
    assert all(value > 0 for value in found.values())
    assert list(dict(hot.measure(1, "forest:"))) == [
        "parse: the measure", "forest: the leaves of one page", "forest: one row, as of a verdict",
    ]  # fmt: skip
    at = hot.Situation()
    assert all(at.looks.of(page) is not None for page in at.seen), "the benchmark is of looks that are found"


def test_columns_of_one_value_are_left_out_of_a_fitting() -> None:
    matrix = np.array([[1.0, np.nan, 3.0, np.nan], [2.0, np.nan, 3.0, 4.0], [1.0, np.nan, 3.0, 5.0]], np.float32)
    rows, names = train._that_differ(matrix, ("a", "b", "c", "d"))
    assert names == ("a", "d") and np.array_equal(rows, matrix[:, [0, 3]], equal_nan=True)
    whole, same = train._that_differ(rows, names)
    assert whole is rows and same == names
