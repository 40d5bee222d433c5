"""A NORA tool: its manifest is `tool.json`, and NORA calls `run`."""

import re


def run(params: dict) -> str:
    """Count words, ignoring case."""
    words = re.findall(r"\w+", params["text"].lower())
    word = params.get("word")
    return str(len(words) if word is None else words.count(word.lower()))
