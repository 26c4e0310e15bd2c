from __future__ import annotations

import pytest

from templatediff.values import lexemes, trimmed, value_type


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["2024-05-01", "1.6.2024"], "date"),
        (["3 May 2024", "12. Juni 2023", "June 4, 2025", "2024年5月1日"], "date"),
        (["3 เมษายน 2024", "19 במאי 2024", "3 مايو 2024", "12 de mayo de 2024", "2024. május 3."], "date"),
        (["10:30", "23:59:01"], "time"),
        (["5 May 2024 10:30", "May 4th, 2024 at 9:05 PM"], "date"),
        (["$ 5", "12,00 €", "1 200 zł", "¥12.30", "417.55 درهم", "1,204円"], "price"),
        (["1,204", "33", "12 %".replace(" ", ""), "12 kg", "3 × 4 × 5 cm"], "number"),
        (["3 comments", "no. 5"], "count"),
        (["MS-0031", "AB12/7"], "identifier"),
        (["Ann Lee", "Jo van Dyk", "Иван Петров"], "person"),
        (["News", "Sport", "News", "News", "Sport", "News"], "options"),
        (["A sentence.", "Another one."], "text"),
        (["5 boats 1204 cars"], "text"),
        ([], "text"),
    ],
)
def test_value_types(values: list[str], expected: str) -> None:
    assert value_type(values) == expected


def test_what_stands_around_values_tells_their_type() -> None:
    assert value_type(["12", "7"]) == "number" and value_type(["12", "7"], constant=True) == "count"
    assert value_type(["王小明", "李华"]) == "text" and value_type(["王小明", "李华"], beside_date=True) == "person"
    titles = ["The boat", "A light", "On time"]
    assert value_type(titles, link_share=1.0) == "links"
    assert value_type(titles * 3, link_share=1.0) == "options" and value_type(titles * 3, 1.0, per_page=4.0) == "links"


def test_typed_values_are_one_lexeme_each() -> None:
    text = "作者：王小明 发表于2024年5月3日"
    assert [text[one.start : one.end] for one in lexemes(text)][-2:] == ["于", "2024年5月3日"]
    assert [one.form for one in lexemes("Page 6 of 12")] == ["page", "<number>", "of", "<number>"]


def test_a_long_text_of_digits_is_read_in_a_moment() -> None:
    assert lexemes("1" * 5000 + " " + "12.34." * 1000 + "a1-" * 2000)


def test_trimmed_leaves_what_is_a_value() -> None:
    assert trimmed(" , ", 0, 3) == (3, 3) or trimmed(" , ", 0, 3)[0] == trimmed(" , ", 0, 3)[1]
    assert trimmed("a (b), c", 0, 6) == (0, 5)
