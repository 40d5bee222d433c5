"""`nexus-tools tool key` and `leader key`: the keys that sign tool calls and their responses."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework import FILE, Session, local

if TYPE_CHECKING:
    from nexus_tools.tool import SigningKey

_NEW = click.Path(dir_okay=False, path_type=Path)
KEY = click.argument("key", metavar="FILE|KEY")
"""A key: the file that has it, or its public half."""


def read_public_key(text: str) -> bytes:
    """The public half of a key that is named by its file, or written as `ed25519:…`.

    Raises as `SigningKey.load` does, or `public_key_invalid`.
    """
    from nexus_tools.tool import SigningKey, parse_public_key

    if text.startswith("ed25519:"):
        return parse_public_key(text)
    return SigningKey.load(Path(text).expanduser()).public_key


def make_key(file: Path) -> "SigningKey":
    """A new key in a file that only its owner reads. Raises `signing_key_exists`."""
    from nexus_tools.tool import SigningKey

    key = SigningKey.new()
    key.save(file)
    return key


def key_group(
    summary: str, known_to: str, signer: str, parse: Callable[[str], str], add: str
) -> click.Group:
    """The commands on keys in files: of tools, or of leaders.

    `known_to` says who has to know the public half, `signer` how they name the key's owner, whose
    name `parse` gives in full; `add` is the command that tells them.
    """

    @click.group(help=summary)
    def group() -> None:
        pass

    @group.command("new", help=f"Make a key in FILE, for you alone to read, and tell {known_to}.")
    @click.argument("file", type=_NEW)
    @local
    def new(session: Session, file: Path) -> None:
        key = make_key(file)
        session.output.done(f"made a key in {file}")
        session.output.record(_record(key, file))
        session.output.note(f"`{add}` writes its public half on chain")

    @group.command("show", help="Show the public half of the key in FILE.")
    @click.argument("file", type=FILE)
    @click.option("--of", "owner", metavar=signer, help="Print the line that names it, too.")
    @local
    def show(session: Session, file: Path, owner: str | None) -> None:
        from nexus_tools.tool import SigningKey

        record = _record(SigningKey.load(file), file)
        if owner is not None:
            record["line"] = f"{parse(owner)} {record['public_key']}"
        session.output.record(record)

    return group


def print_keys(session: Session, keys: Sequence[bytes], whose: str) -> None:
    """Print the keys that the chain lists."""
    from nexus_tools.tool import public_key_text

    rows = [{"public_key": public_key_text(key)} for key in keys]
    session.output.table(rows, {"public_key": "Key"}, empty=f"{whose} has no key")


def _record(key: "SigningKey", file: Path) -> dict[str, Any]:
    from nexus_tools.tool import public_key_text

    return {"file": str(file), "public_key": public_key_text(key.public_key)}
