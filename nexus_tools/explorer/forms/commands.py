"""Commands and programs that call a tool with the inputs of a form. The page holds no keys."""

import json
import shlex
from pprint import pformat
from typing import Any

from msgspec import Struct

from nexus_tools.export import mcp_name
from nexus_tools.sui.support.untrusted_text import escaped_json
from nexus_tools.tool import ToolFqn, http_url_problem, protocol

_WIDTH = 88


class CallText(Struct, frozen=True):
    """A text to copy that calls a tool, with the name of its language and a note about its use."""

    name: str
    text: str
    note: str


def call_texts(
    fqn: ToolFqn, inputs: dict[str, Any], *, url: str, network: str, is_offchain: bool
) -> list[CallText]:
    """Return the texts that call a tool: for the CLI, Python, MCP and curl.

    `url` is the tool's untrusted URL. Without a valid URL of a server, curl is omitted.
    """
    document = escaped_json(json.dumps(inputs, ensure_ascii=False))
    texts = [
        CallText(
            "Command line",
            _lines(
                f"nexus-tools tool invoke {fqn}",
                f"--network {shlex.quote(network)}",
                f"--input {shlex.quote(document)}",
            ),
            "The command shows the cost and asks before it pays.",
        ),
        CallText(
            "Python",
            _program(fqn, inputs, network),
            "Replace my-key with the alias of your key.",
        ),
        CallText(
            "MCP",
            _mcp_call(fqn, inputs),
            f"A request to `nexus-tools mcp serve --domain {fqn.domain} --on-chain --budget 1`.",
        ),
    ]
    if is_offchain and not http_url_problem(url):
        texts.append(
            CallText(
                "curl",
                _lines(
                    f"curl {shlex.quote(url + protocol.INVOKE)}",
                    f"--json {shlex.quote(document)}",
                ),
                "A direct call of the tool's server: free and without a record on chain. The server"
                " may require signed requests, and it sees your address.",
            )
        )
    return texts


def _lines(*parts: str) -> str:
    """Return a shell command with one option in each line."""
    return " \\\n  ".join(parts)


def _program(fqn: ToolFqn, inputs: dict[str, Any], network: str) -> str:
    literal = pformat(inputs, width=_WIDTH, sort_dicts=False).replace("\n", "\n        ")
    return "\n".join(
        (
            "import asyncio",
            "",
            "from nexus_tools import Nexus",
            "",
            "",
            "async def main() -> None:",
            f'    async with Nexus.connect({network!r}, "my-key") as nexus:',
            f"        inputs = {literal}",
            f'        answer = await nexus.invoke("{fqn}", inputs)',
            "        print(answer.variant, answer.ports)",
            "",
            "",
            "asyncio.run(main())",
        )
    )


def _mcp_call(fqn: ToolFqn, inputs: dict[str, Any]) -> str:
    call = {
        "method": "tools/call",
        "params": {"name": mcp_name(fqn, fqn.domain), "arguments": inputs},
    }
    return escaped_json(json.dumps(call, indent=2, ensure_ascii=False))
