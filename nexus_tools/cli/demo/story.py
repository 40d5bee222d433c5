"""The steps of the demo: the life of one tool, and a workflow."""

import json

from nexus_tools.cli.demo.terminal import Terminal
from nexus_tools.errors import NexusError

_TOOL = "xyz.example.greeter@1"
_WORKFLOW = "xyz.example.shout@1"
_TERMS = ("--price", "0.001", "--leader", "demo", "--yes")
_WRONG_STATE = 4


async def show_tool(terminal: Terminal) -> None:
    """Show a tool from its registration to the claim of its collateral."""
    terminal.title("Create a tool, which is a Python function with types, and serve it")
    await terminal.run("tool", "new", "greeter")
    url = await _serve(terminal, "greeter/tools.py")

    terminal.title("Start a Sui network in one process, and publish the Move packages")
    await terminal.start("localnet", "start", "--port", "0", until="listens at")
    await terminal.run("wallet", "new", "author")
    await terminal.run("localnet", "faucet")
    await terminal.run("package", "publish", "--yes")

    terminal.title("Register a leader, which locks collateral, and run its daemon")
    await terminal.run("wallet", "new", "operator")
    await terminal.run("localnet", "faucet", "--wallet", "operator")
    await terminal.run("leader", "register", "--name", "demo", "--wallet", "operator", "--yes")
    run = ("leader", "run", "--wallet", "operator", "--allow-loopback", "--log-format", "text")
    await terminal.start(*run, until="is running")

    terminal.title("Check the tool as leaders will see it, and register it with collateral")
    await terminal.run("tool", "validate", url)
    await terminal.run("tool", "register", "--url", url, *_TERMS)
    await terminal.run("tool", "list")

    terminal.title("Invoke the tool: the Leader calls it, and the chain pays for the answer")
    await terminal.run("tool", "invoke", _TOOL, "--input", "text=Ada", "--yes")
    await terminal.run("tool", "invoke", _TOOL, "--input", "text= ", "--yes")

    terminal.title("Unregister the tool: the chain refuses to return the collateral for 7 days")
    await terminal.run("tool", "unregister", _TOOL, "--yes")
    await terminal.run("tool", "claim", _TOOL, "--yes", exit_code=_WRONG_STATE)

    terminal.title("Advance the clock of the localnet, and claim the collateral")
    await terminal.run("localnet", "advance-clock", "7d")
    before = await _balance(terminal)
    await terminal.run("tool", "claim", _TOOL, "--yes")
    after = await _balance(terminal)
    terminal.note(f"balance before {before} MIST, balance after {after} MIST")
    if after <= before:
        raise NexusError("demo_failed", "the claim did not increase the balance")


async def show_workflow(terminal: Terminal) -> None:
    """Show a workflow that runs one tool for each part of a text, in parallel."""
    terminal.title("Create a workflow of three tools, and draw it")
    await terminal.run("workflow", "new", "shout")
    await terminal.run("workflow", "draw", "shout/workflow.json")

    terminal.title("Register its tools, and publish the workflow")
    url = await _serve(terminal, "shout/tools.py")
    await terminal.run("tool", "register", "--url", url, "--all", *_TERMS)
    await terminal.run(
        *("workflow", "publish", "shout/workflow.json", "--name", _WORKFLOW, "--yes")
    )

    terminal.title("Run the workflow: the Leader executes one step after the other")
    text = "text=one, two, three"
    await terminal.run("workflow", "run", _WORKFLOW, "--input", text, "--wait", "--yes")


async def _serve(terminal: Terminal, file: str) -> str:
    """Serve the tools of a file at a free port, and return the URL of the server."""
    line = await terminal.start("tool", "serve", file, "--bind", "127.0.0.1:0", until=" at http")
    return line.rpartition(" at ")[2].rpartition("/")[0]


async def _balance(terminal: Terminal) -> int:
    """Return the balance of the author, in MIST."""
    shown = await terminal.run("wallet", "show", "--json")
    return int(json.loads(shown)["balance_mist"])
