"""The words of texts and queries. All engines index and search the words of this module.

Text is untrusted, so this module bounds its length. A word consists of letters and digits only, so
no word can be query syntax of an engine.
"""

import re
import unicodedata
from collections.abc import Sequence

from nexus_tools.index.tool_text import ToolText

MAX_CHARACTERS = 10_000
MAX_QUERY_WORDS = 32
_MAX_SPLIT = 1_000
_MAX_WORD_LENGTH = 64
_MAX_KEY = 200  # the maximum length of an FQN

_WORD = re.compile(r"[^\W_]+")
# A word ends at a change of case: `readFile`, `HTTPServer`.
_ASCII_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]*[a-z0-9]+|[A-Z]+")
_CAMEL_CASE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
# Chinese and Japanese put no spaces between words, so each character is a word.
_IDEOGRAPH = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")

_STOP_WORDS = frozenset(
    """
    a about all also am an and any are as at be been but by can could did do does for from get give
    had has have he her him his how i if in into is it its just let like make me my need no not of
    on one or our out please she should so some than that the their them then there these they this
    to up us want was we were what when where which while who why will with would you your
    """.split()  # noqa: SIM905 - readable
)


def split_words(text: str) -> list[str]:
    """Return the words of a text in lower case, without accents, in order.

    Words end at spaces, punctuation, `_` and changes of case such as in `readFile`. The function
    reads at most `MAX_CHARACTERS` characters, and truncates words to 64 characters.
    """
    text = text[:MAX_CHARACTERS]
    if text.isascii():
        return [word[:_MAX_WORD_LENGTH].lower() for word in _ASCII_WORD.findall(text)]
    spaced = _CAMEL_CASE.sub(" ", text)
    spaced = _IDEOGRAPH.sub(r" \g<0> ", _without_accents(spaced))
    return [word[:_MAX_WORD_LENGTH] for word in _WORD.findall(spaced.lower())]


def query_words(query: str) -> list[str]:
    """Return the distinct words to search for: at most `MAX_QUERY_WORDS`, without stop words.

    If a query has only stop words, the result contains these.
    """
    words = list(dict.fromkeys(split_words(query)[:_MAX_SPLIT]))
    significant = [word for word in words if word not in _STOP_WORDS]
    return (significant or words)[:MAX_QUERY_WORDS]


def text_columns(text: ToolText) -> Sequence[str]:
    """Return the words of the name, the domain, the description and the ports of a tool.

    The first label of the domain, such as `com`, occurs in too many names to be a word. Each word
    occurs once, so that repeated words do not improve the rank of a tool.
    """
    domain, _, name = split_fqn(text.fqn)[1].partition(".")[2].rpartition(".")
    parts = (name, domain, text.description, text.words)
    return [" ".join(dict.fromkeys(split_words(part))) for part in parts]


def split_fqn(fqn: str) -> tuple[str, str, str]:
    """Return an FQN, the FQN without its version, and the name of the tool.

    These are the keys by which an exact query finds the tool.
    """
    unversioned = fqn.partition("@")[0]
    return fqn, unversioned, unversioned.rpartition(".")[2]


def exact_key(query: str) -> str:
    """Return the only name or FQN that can equal a query, or an empty string."""
    key = query[:MAX_CHARACTERS].strip().lower()
    return key if key.isascii() and len(key) <= _MAX_KEY else ""


def _without_accents(text: str) -> str:
    letters = unicodedata.normalize("NFKD", text[:MAX_CHARACTERS])[:MAX_CHARACTERS]
    bare = "".join(letter for letter in letters if not unicodedata.category(letter).startswith("M"))
    return unicodedata.normalize("NFC", bare)
