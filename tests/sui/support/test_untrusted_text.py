"""Untrusted text, as terminals, documents and models receive it."""

import json
from html import unescape

import pytest
from markdown import markdown

from nexus_tools.sui.support.untrusted_text import (
    escaped_json,
    is_displayable,
    many_lines,
    markdown_text,
    one_line,
)

ATTACKS = {
    "colour": ("\x1b[31mred", "�[31mred"),
    "eight-bit escape": ("\x9b31mred", "�31mred"),
    "title": ("\x1b]0;title\x07", "�]0;title�"),
    "forged line": ("ok\r\nerror: forged", "ok  error: forged"),
    "unicode line ends": ("a\u2028b\u2029c\x85d", "a b c d"),
    "bidi override": ("abc\u202efed", "abc�fed"),
    "bidi isolates": ("\u2066a\u2069", "�a�"),
    "zero width": ("pay\u200bpal\ufeff", "pay�pal�"),
    "tag characters": ("hi\U000e0049\U000e0047\U000e004e", "hi�"),
    "variation selectors": ("hi\U000e0100\U000e0101\ufe01", "hi�"),
    "fillers": ("a\u3164\u115fb", "a�b"),
    "private use": ("a\ue000b", "a�b"),
    "surrogate": ("a\ud800b", "a�b"),
    "joiners": ("👩\u200d👧 ❤\ufe0f", "👩👧 ❤"),
}


@pytest.mark.parametrize(("text", "shown"), ATTACKS.values(), ids=ATTACKS)
def test_one_line_replaces_control_characters(text, shown):
    assert one_line(text) == shown
    assert is_displayable(one_line(text))
    assert one_line(one_line(text)) == one_line(text)


@pytest.mark.parametrize("text", ["", "Grüße, 世界, naïve… 🎉", "שלום", "हिन्दी", "a\\n<b>`$(x)`"])
def test_one_line_keeps_readable_text(text):
    assert one_line(text) == text == many_lines(text)


def test_one_line_limits_the_length():
    assert one_line("abcdef", 6) == "abcdef"
    assert one_line("abcdefg", 6) == "abcde…"
    assert one_line("\x1b\x1b" * 1_000_000, 6) == "�"


def test_many_lines_keeps_only_line_ends():
    assert many_lines("a\r\nb\rc\u2028d\n\x1be\tf") == "a\nb\nc\nd\n�e f"
    assert many_lines("a\nb\nc", 4) == "a\nb…"


@pytest.mark.parametrize(("text", "_"), ATTACKS.values(), ids=ATTACKS)
def test_escaped_json_keeps_value_and_is_displayable(text, _):
    written = escaped_json(json.dumps({"a": text}, ensure_ascii=False, indent=2))
    assert json.loads(written) == {"a": text}
    assert all(map(is_displayable, written.split("\n")))


@pytest.mark.parametrize(
    "text",
    [
        "[x](javascript:alert) ![](https://evil.example/x.png) [x]: https://evil.example",
        "<img src=x onerror=alert(1)> <!-- hidden --> &lt;b&gt;",
        "`code` **bold** _emphasis_ ~~struck~~ $x$ a | b",
        "# heading",
        "- item",
        "1. item",
        "12) item",
        "https://evil.example www.evil.example a@evil.example <https://evil.example>",
        "    code\n\n# heading",
    ],
)
def test_markdown_text_is_displayed_literally(text):
    rendered = markdown(markdown_text(text), extensions=["extra"])
    assert rendered.startswith("<p>")
    assert rendered.endswith("</p>")
    assert "<" not in rendered[3:-4]
    assert unescape(rendered[3:-4]) == one_line(text).strip()


def test_markdown_text_has_no_bare_links():
    for text in ("https://evil.example", "WWW.evil.example", "a@evil.example"):
        assert text not in markdown_text(text)
