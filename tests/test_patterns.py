from __future__ import annotations

from templatediff.patterns import Pattern, find_patterns

NAMES = ["Ann Lee", "Bo Dyk", "Cy O'Hara", "Di Berg", "Ed Stone", "Flo Hill"]


def found(texts: list[str]) -> list[tuple[str, ...]]:
    return [pattern.forms for pattern in find_patterns(list(enumerate(texts)))]


def values(text: str, *forms: str) -> list[str] | None:
    spans = Pattern(forms).spans(text)
    return None if spans is None else [text[start:end] for start, end in spans]


def test_constant_words_around_changing_parts_are_a_pattern() -> None:
    texts = [f"Posted by {name} on {day} May 2024" for day, name in enumerate(NAMES, start=1)]
    assert found(texts) == [("posted", "by", "*", "on", "<date>")]
    assert values(texts[2], *found(texts)[0]) == ["Cy O'Hara", "3 May 2024"]


def test_a_pattern_without_a_typed_value_is_that_of_nearly_all_texts() -> None:
    assert found([f"By {name}" for name in NAMES]) == [("by", "*")]
    assert found([f"By {name}" for name in NAMES[:3]] + ["A light", "The sea", "Old boats"]) == []


def test_words_that_are_merely_frequent_do_not_split_a_gap() -> None:
    titles = ["The boat of the year", "The sea", "A light at the pier", "Old men and the sea", "The end", "By the sea"]
    assert found([f"Home › {title}" for title in titles]) == [("home", "›", "*")]


def test_other_texts_of_the_place_do_not_hide_a_typed_pattern() -> None:
    texts = [
        (page, f"Some long sentence about {name} and the sea.") for page, name in enumerate(NAMES) for _ in range(3)
    ]
    texts += [(page, f"{views} views") for page, views in enumerate([12, 7, 3042, 88, 19, 5])]
    assert ("<number>", "views") in [pattern.forms for pattern in find_patterns(texts)]


def test_gaps_are_filled_from_the_left_and_hold_a_lexeme_each() -> None:
    assert values("by Ann by Bo", "by", "*", "by", "*") == ["Ann", "Bo"]
    assert values("by by Bo", "by", "*", "by", "*") is None
    assert values("Bo", "*") == ["Bo"]
    assert values("on 3 May 2024 by X", "on", "<date>", "by", "*") == ["3 May 2024", "X"]
    assert values("a c c a b", "a", "*", "a", "b") == ["c c"]


def test_the_last_gap_of_a_long_text_reaches_to_its_end() -> None:
    text = "Summary: " + "word " * 200 + "end"
    filled = values(text, "summary", ":", "*")
    assert filled is None or filled == [text[9:]]
