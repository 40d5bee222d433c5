"""The examples of the documentation."""

from pathlib import Path

import pytest

from nexus_tools.bridges.credentials import Credential, CredentialKey, CredentialKind

EXAMPLES = Path(__file__).parents[3] / "examples" / "bridges" / "hyperpocket"


@pytest.mark.long
async def test_packaged_example_counts_words(call_tool):
    output = await call_tool(EXAMPLES / "word-count", {"text": "one two  three"})
    assert output == {"ok": {"result": {"words": 3}}}


async def test_python_example_has_a_function_and_a_class(discover_tools, store):
    store.put(CredentialKey("github"), Credential(CredentialKind.TOKEN, "ghp-0123456789"))
    discovery = await discover_tools(EXAMPLES / "phrases" / "phrases.py", credentials=store)
    repeat, sign = discovery.tools
    async with discovery.running():
        repeated = await repeat.invoke({"phrase": "ho", "times": 3})
        signed = await sign.invoke({"phrase": "ho"})
    assert repeated.as_json() == {"ok": {"result": "ho ho ho"}}
    assert signed.as_json() == {"ok": {"result": {"phrase": "ho", "token_length": 14}}}
