"""The commands `tool key` and `leader key`, for keys that sign tool calls and responses."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework import FILE, Session, offline_command

if TYPE_CHECKING:
    from nexus_tools.tool import SigningKey

_NEW = click.Path(dir_okay=False, path_type=Path)
KEY = click.argument("key", metavar="FILE|KEY")
"""A key, specified by the file that contains it, or by its public key."""


def read_public_key(text: str) -> bytes:
    """Return the public key in a key file, or from its text `ed25519:…`.

    Raises `public_key_invalid`, or the errors of `SigningKey.load`.
    """
    from nexus_tools.tool import SigningKey, parse_public_key

    if text.startswith("ed25519:"):
        return parse_public_key(text)
    return SigningKey.load(Path(text).expanduser()).public_key


def make_key(file: Path) -> "SigningKey":
    """Create a key in a file that only its owner can read. Raises `signing_key_exists`."""
    from nexus_tools.tool import SigningKey

    key = SigningKey.new()
    key.save(file)
    return key


def signing_key_group(
    summary: str,
    signer: str,
    parse: Callable[[str], str],
    add: str,
    *,
    first: str = "",
) -> click.Group:
    """Return the commands for key files of tools, or of leaders.

    `signer` is the metavar of the key's owner, and `parse` returns the owner's full name. `add` is
    the command that publishes the key, and `first` is the step before it.
    """
    next_step = f"{first}`{add}` publishes the public key on chain"
    created = f"Create a signing key in FILE, and print its public key.\n\nNext, {next_step}."

    @click.group(help=summary)
    def group() -> None:
        pass

    @group.command("new", help=created)
    @click.argument("file", type=_NEW)
    @offline_command
    def new(session: Session, file: Path) -> None:
        key = make_key(file)
        session.output.done(f"created a key in {file}")
        record = _record(key, file)
        session.output.created(record, record["public_key"])
        session.output.note(f"next: {next_step}")

    @group.command("show", help="Show the public key of the key in FILE.")
    @click.argument("file", type=FILE)
    @click.option(
        "--signer",
        "owner",
        metavar=signer,
        help="Also print the line that a file of accepted keys needs for this signer.",
    )
    @offline_command
    def show(session: Session, file: Path, owner: str | None) -> None:
        from nexus_tools.tool import SigningKey

        record = _record(SigningKey.load(file), file)
        if owner is not None:
            record["line"] = f"{parse(owner)} {record['public_key']}"
        session.output.record(record)

    return group


def print_keys(session: Session, keys: Sequence[bytes], subject: str) -> None:
    """Print the keys that are listed on chain."""
    from nexus_tools.tool import format_public_key

    rows = [{"public_key": format_public_key(key)} for key in keys]
    session.output.table(rows, {"public_key": "Key"}, empty=f"{subject} has no keys")


def _record(key: "SigningKey", file: Path) -> dict[str, Any]:
    from nexus_tools.tool import format_public_key

    return {"file": str(file), "public_key": format_public_key(key.public_key)}
