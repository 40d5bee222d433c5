"""The checks of this machine."""

import shlex
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from nexus_tools import __version__
from nexus_tools.cli.completion.install import installation_for, login_shell
from nexus_tools.cli.doctor.finding import Finding, ok, problem, warning
from nexus_tools.cli.framework import MODULES, Session
from nexus_tools.errors import NexusError
from nexus_tools.settings.running_localnet import running_localnets, start_command
from nexus_tools.sui.support import units


def check_machine(session: Session) -> Iterator[Finding]:
    """Check the version, the extras, the localnet, private files and shell completion."""
    version = ".".join(map(str, sys.version_info[:3]))
    yield ok("version", f"nexus-tools {__version__} on Python {version}")
    yield from _extras()
    yield from _localnet(session)
    yield from _files(session)
    yield from _completion()


def _extras() -> Iterator[Finding]:
    for extra, modules in MODULES.items():
        missing = [module for module in modules if not _is_installed(module)]
        if missing:
            are = "is" if len(missing) == 1 else "are"
            message = f"{extra} is not installed: {' and '.join(missing)} {are} missing"
            yield warning("extra", message, f"pip install 'nexus-tools[{extra}]'")
        else:
            yield ok("extra", f"{extra} is installed")


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ValueError:  # the module is in sys.modules and has no spec
        return False


def _localnet(session: Session) -> Iterator[Finding]:
    running = list(running_localnets())
    for localnet in running:
        yield ok("localnet", f"{localnet.name} is running at {localnet.url}, pid {localnet.pid}")
    wanted = session.network_name or session.settings.network
    if session.settings.lacks_localnet(wanted):
        start = start_command(session.settings.find_network(wanted).endpoint().port)
        yield problem(
            "localnet", f"the selected network {wanted} is a localnet that is not running", start
        )
    elif not running:
        yield ok("localnet", "the localnet is not running, and is not needed")


def _files(session: Session) -> Iterator[Finding]:
    """Check whether other users of this machine can read keys or journals."""
    from nexus_tools.sui.support.private_file import is_exposed

    settings = session.settings
    keystore = settings.keystore
    try:
        count = len(settings.open_wallet().accounts())
    except NexusError as error:
        yield problem("keystore", error.message, error.hint)
        return
    if not count:
        yield problem("keystore", f"{keystore} does not contain any keys", "nexus-tools wallet new")
    elif is_exposed(keystore):
        message = f"other users of this machine can read the keys in {keystore}"
        yield problem("keystore", message, _chmod(keystore))
    else:
        yield ok("keystore", f"{units.count(count, 'key')} in {keystore}, readable only by you")
    for journal in sorted((settings.data_directory / "leaders").glob("*.sqlite")):
        if is_exposed(journal):
            message = f"other users of this machine can read the journal {journal}"
            yield warning("journal", message, _chmod(journal))


def _chmod(path: Path) -> str:
    return f"chmod 600 {shlex.quote(str(path))}"


def _completion() -> Iterator[Finding]:
    shell = login_shell()
    if shell is None:
        return
    if installation_for(shell).is_installed():
        yield ok("completion", f"shell completion is installed for {shell}")
    else:
        message = f"shell completion is not installed for {shell}"
        yield warning("completion", message, "nexus-tools completion install")
