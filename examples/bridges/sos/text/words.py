"""Tools of the namespace `text`, for SOS-Toolkit and other programs with its protocol."""

from typing import Annotated, Any

from pydantic import Field
from sos_toolkit.meta import ResultObject, SOSContext, sos_tool


@sos_tool
def count_words(
    text: Annotated[str, Field(description="The text whose words are counted")],
    ignore_case: Annotated[bool, Field(description="Whether A and a are the same word")] = True,
) -> dict[str, Any]:
    """Count how often each word occurs in a text."""
    words = (text.lower() if ignore_case else text).split()
    return {"counts": {word: words.count(word) for word in words}, "total": len(words)}


@sos_tool
def most_frequent(
    __RESULT__: Annotated[ResultObject, Field(description="From count_words")],  # noqa: N803
) -> dict[str, Any]:
    """Return the most frequent word of a text whose words have been counted."""
    counts = __RESULT__.data["counts"]
    return {"word": max(counts, key=counts.get)}


@sos_tool
def remember(
    __CTX__: Annotated[SOSContext, Field(description="The context of the word")],  # noqa: N803
    word: Annotated[str, Field(description="The word to remember")],
) -> dict[str, Any]:
    """Add a word to `namespace.words` of the context."""
    words = [*__CTX__.get("namespace.words", []), word]
    __CTX__.set("namespace.words", words, overwrite=True)
    return {"words": words}
