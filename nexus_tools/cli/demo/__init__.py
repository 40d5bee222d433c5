"""The command `nexus-tools demo`, which shows the main features on a temporary network.

`story` has the commands, in order. `terminal` shows and runs them in a temporary folder.
"""

from importlib import import_module
from time import perf_counter

import click

from nexus_tools.cli.framework import MODULES, Session, offline_command


@click.command()
@click.option("--quick", is_flag=True, help="Skip the workflow.")
@offline_command
async def command(session: Session, *, quick: bool) -> None:
    """Show the life of a tool, then a workflow, on a temporary network.

    The demo starts a localnet, serves and registers a tool, runs a Leader, invokes the tool, and
    claims the collateral of the tool. Then it publishes and runs a workflow of three tools. It
    prints each command before it runs it, so that you can run the same commands yourself.

    Everything is in a temporary folder and on free ports of this machine. The demo does not use
    your keys and settings, and removes everything when it ends.
    """
    from nexus_tools.cli.demo.story import show_tool, show_workflow
    from nexus_tools.cli.demo.terminal import open_terminal

    for module in MODULES["localnet"]:  # a missing extra is an error before anything starts
        import_module(module)
    started = perf_counter()
    async with open_terminal(session.output) as terminal:
        await show_tool(terminal)
        if not quick:
            await show_workflow(terminal)
    seconds = perf_counter() - started
    if session.output.as_json:
        session.output.document({"steps": terminal.steps, "seconds": round(seconds, 1)})
    session.output.done(f"the demo ran in {seconds:.0f} s and removed its files")
