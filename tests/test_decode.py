"""Bytes to text: declared rightly, wrongly and not at all."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from webencodings.labels import LABELS  # type: ignore[import-untyped]

from templatediff.charsets import label
from templatediff.decode import Decoded, decode, guess_utf16

CHINESE = (
    "港口博物馆位于旧码头旁边,每天上午九点开放。馆内收藏了渔民使用过的渔网、灯塔的透镜和几百张老照片。"
    "管理员说,今年夏天来参观的人比去年多了一倍,所以周末需要提前预约,学生可以免费入场。"
)
TAIWANESE = (
    "港口博物館位於舊碼頭旁邊,每天上午九點開放。館內收藏了漁民使用過的漁網、燈塔的透鏡和幾百張老照片。"
    "管理員說,今年夏天來參觀的人比去年多了一倍,所以週末需要提前預約,學生可以免費入場。"
)
JAPANESE = (
    "港の博物館は古い桟橋のそばにあり、毎朝九時に開きます。漁師たちが使った網や灯台のレンズ、数百枚の"
    "古い写真を見ることができます。この夏は去年の二倍の人が訪れたので、週末は予約が必要です。"
)
KOREAN = (
    "항구 박물관은 오래된 부두 옆에 있으며 매일 아침 아홉 시에 문을 엽니다. 어부들이 쓰던 그물과 "
    "등대의 렌즈, 수백 장의 옛 사진을 볼 수 있습니다. 올해 여름에는 작년보다 두 배 많은 사람이 "
    "찾아와서 주말에는 예약이 필요합니다."
)
RUSSIAN = (
    "Портовый музей стоит возле старой пристани и открывается каждое утро в девять часов. Здесь "
    "хранятся сети рыбаков, линза маяка и несколько сотен фотографий. Этим летом посетителей было "
    "вдвое больше, чем в прошлом году."
)
FRENCH = (
    "Le musée du port se trouve près de l’ancien quai et ouvre à neuf heures. On y voit des filets "
    "de pêche, la lentille du phare et quelques centaines de photographies. Cet été, deux fois plus "
    "de visiteurs sont arrivés qu’il y a un an ; il est préférable de réserver – même en semaine."
)
POLISH = (
    "Muzeum portowe leży obok starej przystani i jest otwarte od dziewiątej. Można tu zobaczyć sieci "
    "rybaków, soczewkę latarni morskiej oraz kilkaset zdjęć. Tego lata przyszło dwa razy więcej "
    "gości niż rok wcześniej, więc na weekend należy się zapisać."
)
GREEK = (
    "Το μουσείο του λιμανιού βρίσκεται δίπλα στην παλιά αποβάθρα και ανοίγει κάθε πρωί στις εννέα. "
    "Εδώ φυλάσσονται τα δίχτυα των ψαράδων, ο φακός του φάρου και εκατοντάδες παλιές φωτογραφίες."
)
TURKISH = (
    "Liman müzesi eski iskelenin yanındadır ve her sabah dokuzda açılır. Balıkçıların ağları, deniz "
    "fenerinin merceği ve yüzlerce eski fotoğraf burada saklanıyor. Bu yaz geçen yıla göre iki kat "
    "daha çok ziyaretçi geldi, bu yüzden hafta sonu için önceden yer ayırtmanız gerekiyor; "
    "öğrenciler ücretsiz girebilir, çocuklar da öyle."
)

#: (encoding by the standard's name, Python's codec, text in it)
LEGACY = [
    ("gb18030", "gbk", CHINESE),
    ("big5", "big5", TAIWANESE),
    ("shift_jis", "cp932", JAPANESE),
    ("euc-jp", "euc_jp", JAPANESE),
    ("euc-kr", "cp949", KOREAN),
    ("windows-1251", "cp1251", RUSSIAN),
    ("koi8-r", "koi8-r", RUSSIAN),
    ("windows-1252", "cp1252", FRENCH),
    ("windows-1250", "cp1250", POLISH),
    ("windows-1253", "cp1253", GREEK),
    ("windows-1254", "cp1254", TURKISH),
]
LEGACY_IDS = [row[0] for row in LEGACY]
WRONG_LABELS = [
    "utf-8",
    "iso-8859-1",
    "windows-1251",
    "koi8-r",
    "gb2312",
    "big5",
    "shift_jis",
    "euc-jp",
    "euc-kr",
    "utf-16",
]


def page(text: str, declared: str | None = None) -> str:
    meta = f'<meta charset="{declared}">' if declared else ""
    head = f"<head>{meta}<title>{text[:12]}</title></head>"
    return f"<!DOCTYPE html><html>{head}<body><p>{text}</p></body></html>"


@pytest.mark.parametrize(("encoding", "codec", "text"), LEGACY, ids=LEGACY_IDS)
def test_undeclared_encoding_is_detected(encoding: str, codec: str, text: str) -> None:
    assert decode(page(text).encode(codec)).text == page(text)


@pytest.mark.parametrize(("encoding", "codec", "text"), LEGACY, ids=LEGACY_IDS)
def test_right_declaration_is_followed(encoding: str, codec: str, text: str) -> None:
    html = page(text, encoding)
    assert decode(html.encode(codec)) == Decoded(html, encoding)
    assert decode(page(text).encode(codec), encoding).text == page(text)


@pytest.mark.parametrize("wrong", WRONG_LABELS)
@pytest.mark.parametrize(("encoding", "codec", "text"), LEGACY, ids=LEGACY_IDS)
def test_wrong_declaration_is_survived(encoding: str, codec: str, text: str, wrong: str) -> None:
    html = page(text, wrong)
    assert decode(html.encode(codec)).text == html
    assert decode(page(text).encode(codec), wrong).text == page(text)


@pytest.mark.parametrize(("codec", "wrong"), [("koi8-r", "windows-1251"), ("cp1251", "koi8-r")])
@pytest.mark.parametrize("text", [RUSSIAN.lower() + " Вход свободный.", RUSSIAN.upper() + " Вход свободный.", RUSSIAN])
def test_russian_with_capitals_for_small_letters_is_seen(codec: str, wrong: str, text: str) -> None:
    html = page(text, wrong)
    assert decode(html.encode(codec)).text == html
    right = page(text, codec)
    assert decode(right.encode(codec)).text == right


@pytest.mark.parametrize(
    "header", ["text/html; Charset=ISO-8859-1", "text/html;charset='utf-8'", 'charset="Windows-1251"']
)
@pytest.mark.parametrize(("encoding", "codec", "text"), LEGACY, ids=LEGACY_IDS)
def test_of_header_and_meta_the_one_that_is_right_counts(encoding: str, codec: str, text: str, header: str) -> None:
    html = page(text, encoding)
    assert decode(html.encode(codec), header).text == html
    wrong = page(text, "iso-8859-1")
    assert decode(wrong.encode(codec), f'Text/HTML; CHARSET = "{encoding.upper()}"').text == wrong


@pytest.mark.parametrize(("encoding", "codec", "text"), LEGACY, ids=LEGACY_IDS)
def test_text_after_20_kb_of_ascii_is_detected(encoding: str, codec: str, text: str) -> None:
    html = f"<html><head><style>{'.a { margin: 0 }' * 1300}</style></head><body><p>{text}</p></body></html>"
    assert html.index("<p>") > 20_000
    assert decode(html.encode(codec)).text == html


@pytest.mark.parametrize(("encoding", "codec", "text"), LEGACY[:5], ids=LEGACY_IDS[:5])
def test_one_character_cut_in_half_does_not_hide_the_encoding(encoding: str, codec: str, text: str) -> None:
    head, tail = page(text * 3).encode(codec), f"<p>{text}</p>".encode(codec)
    cut = head + b"<p>" + text.encode(codec)[:11].rstrip(b"\xef") + b"</p>" + tail
    found = decode(cut).text
    assert found.startswith(page(text * 3))
    assert found.endswith(f"</p><p>{text}</p>")


@pytest.mark.parametrize(("encoding", "codec", "text"), LEGACY, ids=LEGACY_IDS)
@pytest.mark.parametrize("wrong", [None, "iso-8859-1", "gb2312", "shift_jis", "windows-1251"])
def test_valid_utf8_wins_over_others(encoding: str, codec: str, text: str, wrong: str | None) -> None:
    html = page(text, wrong)
    assert decode(html.encode()) == Decoded(html, "utf-8")
    assert decode(html.encode(), wrong).text == html


@pytest.mark.parametrize("text", [CHINESE, FRENCH, RUSSIAN], ids=["chinese", "french", "russian"])
@pytest.mark.parametrize("declared", [None, "utf-8", "iso-8859-1"])
def test_one_stray_byte_in_utf8_becomes_its_windows_character(text: str, declared: str | None) -> None:
    data = page(text, declared).encode().replace(b"</body>", b"<p>don\x92t</p></body>")
    assert decode(data).text == page(text, declared).replace("</body>", "<p>don’t</p></body>")


def test_a_character_cut_in_half_in_utf8_becomes_one_replacement_character() -> None:
    data = page(CHINESE).encode() + "<p>港口".encode()[:-1] + b"...</p>"
    assert decode(data).text == page(CHINESE) + "<p>港\ufffd...</p>"


def test_one_stray_byte_in_ascii_declared_utf8() -> None:
    assert decode(b"<meta charset=utf-8><p>we don\x92t</p>").text.endswith("don’t</p>")


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("text", [CHINESE, KOREAN, FRENCH], ids=["chinese", "korean", "french"])
@pytest.mark.parametrize("charset", [None, "utf-16", "utf-8", "iso-8859-1"])
def test_utf16_with_and_without_mark(codec: str, text: str, charset: str | None) -> None:
    html = page(text, charset)
    assert decode(html.encode(codec), charset) == Decoded(html, codec.replace("16-", "16"))
    assert decode(("\ufeff" + html).encode(codec), charset).text == html


def test_utf16_declared_by_ascii_bytes_is_utf8() -> None:
    assert decode(page("é", "utf-16").encode()).encoding == "utf-8"


@pytest.mark.parametrize(
    "meta",
    [
        "<meta charset=euc-kr>",
        "<META CHARSET='EUC-KR'>",
        '<meta charset = " euc-kr ">',
        '<meta http-equiv="Content-Type" content="text/html; charset=euc-kr">',
        "<meta content='text/html;Charset = \"EUC-KR\"' http-equiv=content-type/>",
        "<meta http-equiv=Content-Type content=text/html;charset=ks_c_5601-1987>",
        '<?xml version="1.0" encoding="euc-kr"?>',
        "<!-- <meta charset=shift_jis> --><meta charset=euc-kr>",
        "<script>var a = '<meta charset=big5>'</script><meta charset=euc-kr>",
        '<meta name=a content="charset=big5"><meta charset=euc-kr>',
        "<meta charset=no-such-thing><meta charset=euc-kr>",
        f"<!--{'x' * 5000}--><meta charset=euc-kr>",
    ],
)
def test_declarations_in_any_case_and_quoting(meta: str) -> None:
    # Too short for detection to find it.
    assert decode(meta.encode() + "<p>한국".encode("euc-kr")).text == meta + "<p>한국"


def test_header_counts_before_meta() -> None:
    data = b"<meta charset=iso-8859-7><p>\xe1\xe2"
    assert decode(data).text.endswith("αβ")
    assert decode(data, "text/html; charset=windows-1251").text.endswith("бв")


def test_mark_counts_before_header_and_is_dropped() -> None:
    assert decode(b"\xef\xbb\xbf<p>\xc3\xa9", "windows-1252") == Decoded("<p>é", "utf-8")


def test_a_utf8_mark_before_other_text_is_dropped() -> None:
    html = page(CHINESE, "gbk")
    assert decode(b"\xef\xbb\xbf" + html.encode("gbk")).text == html


@pytest.mark.parametrize("text", ["price £5 or £10", "© 2004 Harbour Museum", "Ace® rope", "a café", "Niño"])
@pytest.mark.parametrize("declared", [None, "iso-8859-1"])
def test_few_western_characters_are_read_as_windows_1252(text: str, declared: str | None) -> None:
    html = page(text, declared)
    assert decode(html.encode("cp1252")) == Decoded(html, "windows-1252")


@pytest.mark.parametrize(
    ("name", "encoding"),
    [
        ("ISO-8859-1", "windows-1252"),
        ("latin1", "windows-1252"),
        ("us-ascii", "windows-1252"),
        ("GB2312", "gbk"),
        ("x-gbk", "gbk"),
        ("x-sjis", "shift_jis"),
        ("text/html;charset='UTF8'", "utf-8"),
        ("iso-2022-kr", None),
        ("utf-7", None),
        ("rot13", None),
        ("", None),
        ("\ud800", None),
    ],
)
def test_labels_are_those_of_the_standard(name: str, encoding: str | None) -> None:
    assert label(name) == encoding


@pytest.mark.parametrize(
    ("data", "charset", "text"),
    [
        (b"<p>\x81\x90", "windows-1252", "<p>\x81\x90"),
        (b"<p>\x80 5", "gbk", "<p>€ 5"),
        (b"<p>\xad\xa1\xad\xea" + JAPANESE.encode("euc-jp"), "euc-jp", "<p>①㈱" + JAPANESE),
        (b"<p>\x87\x40\xfa\xb1\x82\xa0", "shift_jis", "<p>①﨑あ"),
        (("<p>" + TAIWANESE).encode("big5") + b"\xfe", "big5", "<p>" + TAIWANESE + "\ufffd"),
        (b"<p>\x1b$B4A;z\x1b(B", None, "<p>漢字"),
        ("<p>똠방각하".encode("cp949"), "euc-kr", "<p>똠방각하"),
    ],
    ids=["c1", "gbk-euro", "nec-in-euc-jp", "ibm-in-shift-jis", "cut-big5", "iso-2022-jp", "uhc"],
)
def test_what_the_standard_defines_and_codecs_do_not(data: bytes, charset: str | None, text: str) -> None:
    assert decode(data, charset).text == text


def test_a_broken_character_does_not_swallow_a_tag() -> None:
    data = f"<p>{JAPANESE}".encode("euc-jp") + b"\xa4</p>\xa4\xa4"
    assert decode(data, "euc-jp").text == f"<p>{JAPANESE}\ufffd</p>い"


def test_nul_is_dropped() -> None:
    assert decode(b"<p>a\0b</p> and more text").text == "<p>ab</p> and more text"


def test_utf16_needs_nuls_in_one_half() -> None:
    assert guess_utf16(bytes(4096)) is None
    assert guess_utf16(b"plain text with one \0 in it") is None


CHARSETS = st.sampled_from([None, "rot13", "\ud800", *sorted(LABELS)])
HEADS = st.sampled_from([b"", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"<meta charset=gbk>", b"<\0p\0"])
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\x1b\ufeff"), max_size=200)


@given(HEADS, st.binary(max_size=300), CHARSETS)
@example(b"", b"\x81\x30\x81\x30\x84\x31\xa4\x37", "gb18030")
@example(b"\xff\xfe", b"\x00\xd8a", None)
@example(b"", b"\xdb\xe0" * 3, "windows-874")
def test_nothing_raises_and_no_surrogate_comes_out(head: bytes, data: bytes, charset: str | None) -> None:
    found = decode(head + data, charset)
    found.text.encode("utf-8")
    assert "\0" not in found.text
    assert label(found.encoding) == found.encoding


@given(TEXTS, st.text(max_size=20))
def test_utf8_comes_back_whatever_it_is_declared_to_be(text: str, charset: str) -> None:
    assert decode(text.encode(), charset).text == text
