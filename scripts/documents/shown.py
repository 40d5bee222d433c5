"""Comparison of a program's output with the output that a page shows.

`…` stands for omitted text. Within a line it matches any text, and on a separate line it matches
any lines. The following values vary from run to run, so a page shows sample values:

    ids and digests       0x7e5a083c6691…, 3u3LDFKBNyBgxussDu3eQtmb4XK8…
    times                 2026-11-29 19:57 UTC
    elapsed times         43 ms, 0.61s
    remaining times       (in 6 d 23 h)
    gas                   0.0173476 SUI: amounts that a page shows with five decimals or more

Prices, fees and amounts of the user have fewer decimals, so these amounts must be equal.
"""

import re

VARYING = (
    (re.compile(r"0x[0-9a-f]{64}|\b[1-9A-HJ-NP-Za-km-z]{43,44}\b"), "<id>"),
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC"), "<time>"),
    (re.compile(r"\b\d+ ms\b|\b\d+\.\d\d s\b|\b\d+\.\d\ds\b"), "<took>"),
    (re.compile(r"\(in \d+ \w+(?: \d+ \w+)?\)"), "(in <time>)"),
)
GAS = re.compile(r"\b\d[\d ]*\.\d{5,} SUI")
AMOUNT = r"\d[\d ]*(?:\.\d+)? SUI"


def _constant(text: str) -> str:
    for varying, name in VARYING:
        text = varying.sub(name, text)
    return "".join(f"{line.rstrip()}\n" for line in text.strip("\n").splitlines())


def _pattern(shown: str) -> str:
    lines = [
        r"(?:.*\n)*" if line == "…" else ".*".join(map(re.escape, line.split("…"))) + r"\n"
        for line in _constant(GAS.sub("<gas>", shown)).splitlines()
    ]
    return "".join(lines).replace("<gas>", AMOUNT)


def is_shown(output: str, shown: str) -> bool:
    """Return whether the page shows the whole output."""
    return re.fullmatch(_pattern(shown), _constant(output)) is not None


def begins_as_shown(output: str, shown: str) -> bool:
    """Return whether the output so far contains everything that the page shows."""
    complete = output[: output.rfind("\n") + 1]
    return re.match(_pattern(shown), _constant(complete)) is not None
