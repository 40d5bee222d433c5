"""The terms under which tools are registered: price, collateral, leaders, keys, answers."""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework import AMOUNT, NAMED, Session, find_leaders
from nexus_tools.cli.shared.signing_key import make_key, read_public_key
from nexus_tools.errors import ValidationError

if TYPE_CHECKING:
    from nexus_tools.nexus import Nexus
    from nexus_tools.registry import Registration
    from nexus_tools.sui.types.address import Address
    from nexus_tools.tool import ToolFqn

_OPTIONS = (
    click.option("--price", type=AMOUNT, help="What an invocation costs, in SUI; 0 by default."),
    click.option(
        "--collateral",
        type=AMOUNT,
        help="What each locks, in SUI; by default the least that the registry takes. The price is"
        " at most half of it.",
    ),
    NAMED,
    click.option(
        "--key",
        "keys",
        multiple=True,
        metavar="FILE|KEY",
        help="What signs their responses: the file of a key, or its public half; may be repeated.",
    ),
    click.option(
        "--require-signed-outcome",
        "requires_signed_outcome",
        is_flag=True,
        help="Let invocations be settled only with the tool's signature of the answer.",
    ),
    click.option(
        "--min-outcome-bytes",
        type=click.IntRange(min=0),
        default=0,
        help="The least room for an outcome that an invocation has to pay for.",
    ),
)


@dataclass(frozen=True, slots=True)
class Terms:
    """What the options say; leaders are named by id or name, keys by file or public half."""

    price: int | None
    collateral: int | None
    named: tuple[str, ...]
    keys: tuple[str, ...]
    requires_signed_outcome: bool
    min_outcome_bytes: int


def agrees(command: Callable[..., Any]) -> Callable[..., Any]:
    """A command that registers tools: gets `Terms` as `terms`."""

    @functools.wraps(command)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        mine = {name: kwargs.pop(name) for name in Terms.__dataclass_fields__}
        return command(*args, terms=Terms(**mine), **kwargs)

    for option in reversed(_OPTIONS):
        wrapped = option(wrapped)
    return wrapped


@dataclass(frozen=True, slots=True)
class Agreement:
    """To what an owner consents who registers tools, all of them alike.

    What is shown is what goes into the transaction: whoever raises collateral or delay meanwhile
    has it refused.
    """

    price_mist: int
    collateral_mist: int
    delay_ms: int
    leaders: "tuple[Address, ...]"
    keys: tuple[bytes, ...]
    requires_signed_outcome: bool
    min_outcome_bytes: int
    rooms: "Mapping[ToolFqn, int]" = field(default_factory=dict)
    """The least room for an outcome that a tool declares, where nothing else is agreed."""

    def of(self, definition: Any) -> "Registration":
        """The registration of a tool with this definition."""
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


async def agreement(nexus: "Nexus", terms: Terms) -> Agreement:
    """The terms under the settings of now. Raises `unknown_leader`, or as what reads keys."""
    settings = await nexus.tools.settings()
    least_mist = settings.collateral_mist
    return Agreement(
        terms.price or 0,
        least_mist if terms.collateral is None else terms.collateral,
        settings.unregister_delay_ms,
        await find_leaders(nexus.leaders, terms.named),
        tuple(map(read_public_key, terms.keys)),
        terms.requires_signed_outcome,
        terms.min_outcome_bytes,
    )


# --- What is missing


async def complete(
    session: Session,
    nexus: "Nexus",
    agreed: Agreement,
    error: ValidationError,
    fqns: "Sequence[object]",
) -> Agreement:
    """The agreement with what it lacks, if somebody can be asked for that; else raises the error.

    It lacks leaders (`open_to_all`) or a key (`key_needed`).
    """
    if error.code == "open_to_all":
        return replace(agreed, leaders=await _ask_leaders(session, nexus, error))
    if error.code == "key_needed" and not session.dry_run:
        return replace(agreed, keys=(_offer_key(session, error, str(fqns[0])),))
    raise error


async def _ask_leaders(
    session: Session, nexus: "Nexus", error: ValidationError
) -> "tuple[Address, ...]":
    from nexus_tools.cli.leader.record import COLUMNS, leader_for_people, leaders_by_record

    output = session.output
    if session.yes or not output.can_ask:
        error.hint = (
            "name those that you trust with --leader:"
            " `nexus-tools leader list --active` shows the record of each"
        )
        raise error
    with output.progress("reading the registry and its events"):
        active = [each for each in await nexus.leaders.list() if each.is_active]
        rows = [leader_for_people(row) for row in await leaders_by_record(nexus.leaders, active)]
    if not rows:
        error.hint = "there is no active leader yet: `nexus-tools leader register` makes yours"
        raise error
    output.note(f"{error.message}. These leaders are there:")
    output.table(rows, COLUMNS, empty="", aside=True)
    named = output.ask("Which do you accept? Ids or names, with commas between")
    return await find_leaders(nexus.leaders, [each.strip() for each in named.split(",")])


def _offer_key(session: Session, error: ValidationError, fqn: str) -> bytes:
    """The public half of a key that is made, or was made for this tool before."""
    file = session.settings.data_directory / "signing_keys" / f"{fqn}.pem"
    if session.yes or not session.output.can_ask:
        error.hint = (
            "`nexus-tools tool key new FILE` makes one, --key FILE adds it in the same transaction"
        )
        raise error
    if not file.exists():
        session.output.confirm(f"{error.message}. Make one in {file}?", yes=False)
        make_key(file)
    session.output.note(f"`nexus-tools tool serve` needs it: --signing-key {file}")
    return read_public_key(str(file))
