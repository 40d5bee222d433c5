"""The terms of a registration: price, collateral, leaders, keys and answers."""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework import AMOUNT, Session, find_leaders, leaders_option
from nexus_tools.cli.shared.signing_key import make_key, read_public_key

if TYPE_CHECKING:
    from nexus_tools.nexus import Nexus
    from nexus_tools.registry import Registration
    from nexus_tools.sui.types.address import Address
    from nexus_tools.tool import ToolDefinition, ToolFqn

_OPTIONS = (
    click.option("--price", type=AMOUNT, help="Price of an invocation, in SUI. Default: 0."),
    click.option(
        "--collateral",
        type=AMOUNT,
        help="Collateral of each tool, in SUI. Must be at least twice the price. Default: the"
        " registry's minimum.",
    ),
    leaders_option("Leader that the tool accepts"),
    click.option(
        "--key",
        "keys",
        multiple=True,
        metavar="FILE|KEY",
        help="Key that signs responses: a key file, or a public key. May be repeated.",
    ),
    click.option(
        "--require-signed-outcome",
        "requires_signed_outcome",
        is_flag=True,
        help="Require the tool's signature of the answer to settle an invocation.",
    ),
    click.option(
        "--min-outcome-bytes",
        type=click.IntRange(min=0),
        default=0,
        show_default=True,
        help="Minimum size of the outcome that an invocation pays for, in bytes.",
    ),
)


@dataclass(frozen=True, slots=True)
class Terms:
    """The values of the registration options. Leaders and keys are not resolved yet."""

    price: int | None
    collateral: int | None
    leader_names: tuple[str, ...]
    keys: tuple[str, ...]
    requires_signed_outcome: bool
    min_outcome_bytes: int


def registration_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a command that registers tools to receive `Terms` as `terms`."""

    @functools.wraps(command)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        mine = {name: kwargs.pop(name) for name in Terms.__dataclass_fields__}
        return command(*args, terms=Terms(**mine), **kwargs)

    for option in reversed(_OPTIONS):
        wrapped = option(wrapped)
    return wrapped


@dataclass(frozen=True, slots=True)
class RegistrationTerms:
    """The resolved terms of a registration, which apply to all its tools.

    The prompt shows exactly what the transaction contains, so the transaction fails if the admin
    raises the collateral or the delay in the meantime.
    """

    price_mist: int
    collateral_mist: int
    delay_ms: int
    leaders: "tuple[Address, ...]"
    keys: tuple[bytes, ...]
    requires_signed_outcome: bool
    min_outcome_bytes: int
    rooms: "Mapping[ToolFqn, int]" = field(default_factory=dict)
    """The minimum outcome sizes that tools declare, unless `min_outcome_bytes` is set."""

    def of(self, definition: Any) -> "Registration":
        """Return the registration of a tool with this definition."""
        from nexus_tools.registry import Registration

        return Registration(
            definition,
            self.price_mist,
            self.collateral_mist,
            self.delay_ms,
            self.leaders,
            self.keys,
            self.min_outcome_bytes or self.rooms.get(definition.fqn, 0),
            self.requires_signed_outcome,
        )


async def resolve_terms(nexus: "Nexus", terms: Terms) -> RegistrationTerms:
    """Resolve the terms with the current settings. Raises `leader_unknown`, or errors of keys."""
    settings = await nexus.tools.settings()
    least_mist = settings.collateral_mist
    return RegistrationTerms(
        terms.price or 0,
        least_mist if terms.collateral is None else terms.collateral,
        settings.unregister_delay_ms,
        await find_leaders(nexus.leaders, terms.leader_names),
        tuple(map(read_public_key, terms.keys)),
        terms.requires_signed_outcome,
        terms.min_outcome_bytes,
    )


# --- Missing terms


async def prompt_for_missing_terms(
    session: Session,
    nexus: "Nexus",
    accepted: RegistrationTerms,
    definitions: "Sequence[ToolDefinition]",
) -> RegistrationTerms:
    """Prompt for the terms that new tools lack: leaders for a price, and a key for signed answers.

    Raises `accepts_any_leader` or `signing_key_missing` without a terminal.
    """
    if accepted.price_mist and not accepted.leaders:
        off_chain = [definition for definition in definitions if definition.function is None]
        fqn = await _first_new(nexus, off_chain)
        if fqn is not None:
            accepted = replace(accepted, leaders=await _ask_leaders(session, nexus, fqn))
    if accepted.requires_signed_outcome and not accepted.keys and not session.dry_run:
        fqn = await _first_new(nexus, definitions)
        if fqn is not None:
            accepted = replace(accepted, keys=(_offer_key(session, fqn),))
    return accepted


async def _first_new(nexus: "Nexus", definitions: "Sequence[ToolDefinition]") -> str | None:
    """Return the FQN of the first tool that is not registered, or None."""
    for definition in definitions:
        if await nexus.tools.find(definition.fqn) is None:
            return str(definition.fqn)
    return None


async def _ask_leaders(session: Session, nexus: "Nexus", fqn: str) -> "tuple[Address, ...]":
    from nexus_tools.cli.leader.record import COLUMNS, leader_for_people, leaders_with_records
    from nexus_tools.registry import accepts_any_leader_error

    output, error = session.output, accepts_any_leader_error(fqn)
    if session.yes or not output.can_ask:
        error.hint = (
            "Pass the leaders that you trust with --leader. Run"
            " `nexus-tools leader list --active` to see their track records."
        )
        raise error
    with output.progress("reading the registry and its events"):
        active = (await nexus.leaders.list(active=True)).items
        documents = await leaders_with_records(session, nexus.leaders, active)
        rows = [leader_for_people(document) for document in documents]
    if not rows:
        error.hint = "No leader is active yet. Run `nexus-tools leader register` to register one."
        raise error
    output.note(f"{error.message}. The newest active leaders:")
    output.table(rows, COLUMNS, empty="", aside=True)
    leaders = output.ask("Leaders to accept (IDs or names, separated by commas)")
    return await find_leaders(nexus.leaders, [text.strip() for text in leaders.split(",")])


def _offer_key(session: Session, fqn: str) -> bytes:
    """Return the public key of this tool's signing key, and create the key if necessary."""
    from nexus_tools.registry import signing_key_missing_error

    file = session.settings.data_directory / "signing_keys" / f"{fqn}.pem"
    hint = "Run `nexus-tools tool key new FILE` to create a key, and pass it with --key FILE."
    error = signing_key_missing_error(fqn, hint)
    if session.yes or not session.output.can_ask:
        raise error
    if not file.exists():
        session.output.confirm(f"{error.message}. Create a key in {file}?", yes=False)
        make_key(file)
    session.output.note(f"pass the key to `nexus-tools tool serve` with --signing-key {file}")
    return read_public_key(str(file))
