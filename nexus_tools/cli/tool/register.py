"""The command `nexus-tools tool register`, which registers tools."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework import (
    CA_FILE,
    Output,
    Session,
    complete_files,
    confirm_and_execute,
    plain,
    report,
    transaction_command,
)
from nexus_tools.cli.tool.proof import should_check_domains
from nexus_tools.cli.tool.roster import warn_of_unsigned_leaders
from nexus_tools.cli.tool.terms import (
    RegistrationTerms,
    Terms,
    prompt_for_missing_terms,
    registration_options,
    resolve_terms,
)
from nexus_tools.cli.tool.validate import CHECK_OPTION, require_conforming
from nexus_tools.errors import UsageError, ValidationError
from nexus_tools.sui.support import units

if TYPE_CHECKING:
    from nexus_tools.contracts import Sent
    from nexus_tools.nexus import Nexus
    from nexus_tools.registry import RegisteredTool, RegisterResult, Registration, ToolRegistry
    from nexus_tools.tool import ToolDefinition, ToolFqn


@click.command()
@click.option("--url", help="URL of a running tool. The command reads its definition from there.")
@click.option("--all", "all_tools", is_flag=True, help="Register all tools of the server at --url.")
@click.option(
    "--from-meta",
    metavar="FILE|-",
    shell_complete=complete_files,
    help="Read a definition, or an array of definitions, from a file or stdin.",
)
@click.option(
    "--builtin",
    is_flag=True,
    help="Register the tools `ask` and `wait` of the package."
    " Requires the key that published the package.",
)
@click.option(
    "--package",
    metavar="ID",
    help="ID of the package with the modules of on-chain tools. Requires --from-meta.",
)
@registration_options
@CHECK_OPTION
@click.option(
    "--skip-validation", is_flag=True, help="Do not check the running tool before registering it."
)
@CA_FILE
@transaction_command
async def command(
    session: Session,
    *,
    url: str | None,
    from_meta: str | None,
    builtin: bool,
    package: str | None,
    terms: Terms,
    ca_file: Path | None,
    all_tools: bool,
    check: bool,
    skip_validation: bool,
) -> None:
    """Register tools, and lock collateral for each tool.

    With --url, the command checks the health and the definition of each tool. --check also invokes
    the tool, except with --dry-run. `nexus-tools tool validate` runs all checks.

    A leader receives the answer before it pays, so a priced tool must list the leaders that you
    trust. `nexus-tools leader list` shows the track record of each leader.

    Registering many tools takes several transactions. Tools that are already registered with the
    same definition stay unchanged, including the price. After an interruption, run the same command
    again to register the rest.

    Register an on-chain tool with the wallet that owns the Publisher of its module. An on-chain
    tool with a price may accept all leaders, because one transaction contains the answer and the
    payment.
    """
    if (url is not None) + (from_meta is not None) + builtin != 1:
        sources = "--url URL, --from-meta FILE or --builtin"
        raise UsageError("source_missing", f"expected exactly one of {sources}")
    if builtin:
        definitions = await _own(session)
    elif url is None:
        definitions = await read_definitions(session, str(from_meta), package)
    else:
        checks = None if skip_validation else check
        definitions = await _from_server(
            session, url, ca_file, all_tools=all_tools, invoke=checks, is_priced=bool(terms.price)
        )
    if not builtin:
        _note_ports_without_text(session.output, definitions)
    await register(session, definitions, terms)


async def _own(session: Session) -> "tuple[ToolDefinition, ...]":
    """Return the definitions of the package's own tools."""
    from nexus_tools.tool import ask_definition, wait_definition

    async with session.nexus(signing=False) as nexus:
        package = str(nexus.deployment.original_id)
    return ask_definition(package), wait_definition(package)


@dataclass(frozen=True, slots=True)
class _Registered:
    """The results of the registration for all tools, and its transactions."""

    tools: "tuple[RegisteredTool, ...]"
    sent: "tuple[Sent, ...]"

    @property
    def new(self) -> "list[RegisteredTool]":
        """The tools that were not registered before."""
        return [tool for tool in self.tools if tool.is_new]

    @property
    def cost_mist(self) -> int:
        """The cost of the transactions, excluding collateral."""
        return sum(sent.cost.net for sent in self.sent)

    def and_then(self, result: "RegisterResult") -> "_Registered":
        """Return these results and the results of the next transaction."""
        sent = self.sent if result.sent is None else (*self.sent, result.sent)
        return _Registered(self.tools + result.tools, sent)


async def register(
    session: Session,
    definitions: "Sequence[ToolDefinition]",
    terms: Terms,
    rooms: "Mapping[ToolFqn, int] | None" = None,
) -> None:
    """Confirm and register definitions under `terms`, and prompt for missing terms.

    `rooms` maps tools to their minimum outcome sizes in bytes. A size in `terms` overrides `rooms`.
    """
    _warn_of_domains(session.output, definitions)
    async with session.nexus() as nexus:
        accepted_terms = await resolve_terms(nexus, terms)
        if rooms:
            most = (await nexus.leaders.settings()).max_ports_bytes
            accepted_terms = replace(
                accepted_terms, rooms={fqn: min(room, most) for fqn, room in rooms.items()}
            )
        accepted_terms = await prompt_for_missing_terms(session, nexus, accepted_terms, definitions)
        done = await _carry_out(session, nexus, definitions, accepted_terms)
    _report(session.output, done, accepted_terms)
    _warn_of_prices(session.output, done, terms.price)
    if should_check_domains(session):
        _tell_of_proof(session.output, done)


async def _carry_out(
    session: Session,
    nexus: "Nexus",
    definitions: "Sequence[ToolDefinition]",
    accepted_terms: RegistrationTerms,
) -> _Registered:
    from nexus_tools.contracts.move_bindings.leader import Leader

    registrations = [accepted_terms.of(definition) for definition in definitions]
    accepted = await nexus.leaders.find_all(accepted_terms.leaders, Leader)
    if accepted_terms.keys:
        fqns = ", ".join(str(definition.fqn) for definition in definitions[:_NAMED])
        warn_of_unsigned_leaders(session.output, fqns, accepted)
    leaders = [f"{plain(leader.name)} ({leader.id})" for leader in accepted if leader]
    return await confirm_and_execute(
        session,
        nexus.tools,
        lambda service: _in_steps(session.output, service, registrations),
        question=lambda simulated: _question(simulated, accepted_terms, leaders),
    )


async def _in_steps(
    output: Output, service: "ToolRegistry", registrations: "Sequence[Registration]"
) -> _Registered:
    """Register in as many transactions as needed, and report progress after each transaction."""
    done = _Registered((), ())
    try:
        async for result in service.register_all(*registrations):
            done = done.and_then(result)
            if result.sent is not None and not service.dry_run:
                _tell_progress(output, len(done.tools), len(registrations))
    except BaseException:
        if done.sent and not service.dry_run:
            output.note(
                f"{len(done.tools)} of {len(registrations)} tools are registered. Run the same"
                " command again to register the rest"
            )
        raise
    return done


def _tell_progress(output: Output, done: int, total: int) -> None:
    if done < total:
        output.note(f"registered {done} of {total}")


def _warn_of_prices(output: Output, done: _Registered, price: int | None) -> None:
    """Warn about unexpected prices: unchanged prices, and prices of new versions."""
    for tool in done.tools:
        change = f"Run `nexus-tools tool update {tool.fqn} --price SUI` to change it"
        cost = units.sui(tool.price_mist)
        if not tool.is_new and price not in (None, tool.price_mist):
            output.warn(f"the price of {tool.fqn} stays {cost}. {change}")
        elif tool.is_new and price is None and tool.fqn.version > 1:
            output.warn(f"{tool.fqn} costs {cost}, independent of earlier versions. {change}")


def _warn_of_domains(output: Output, definitions: "Sequence[ToolDefinition]") -> None:
    """Warn about names in domains whose ownership cannot be proved."""
    from nexus_tools.tool import ASK, WAIT, proof_hosts

    fqns = [definition.fqn for definition in definitions if str(definition.fqn) not in (ASK, WAIT)]
    for domain in dict.fromkeys(fqn.domain for fqn in fqns):
        try:
            proof_hosts(domain)
        except ValidationError as error:
            output.warn(f"{error.message}. You cannot prove the ownership of names in this domain")


def _note_ports_without_text(output: Output, definitions: "Sequence[ToolDefinition]") -> None:
    from nexus_tools.tool_server import hint_for_ports

    for definition in definitions[:_NAMED]:
        hint = hint_for_ports(definition.input_schema, definition.output_schema)
        if hint:
            output.note(f"{definition.fqn}: {hint.rstrip('.')}")


def _tell_of_proof(output: Output, done: _Registered) -> None:
    """Print for each provable domain which document to publish, and its URL."""
    from nexus_tools.tool import PROOF_PATH, proof_hosts

    for domain in dict.fromkeys(tool.fqn.domain for tool in done.new):
        with suppress(ValidationError):
            output.note(
                f"to prove that you own {domain}, publish the output of"
                f" `nexus-tools tool proof {domain}` at"
                f" https://{proof_hosts(domain)[0]}{PROOF_PATH}"
            )


def _question(simulated: _Registered, accepted_terms: RegistrationTerms, leaders: list[str]) -> str:
    """Return the confirmation prompt, or an empty string if there is nothing to do."""
    if not simulated.sent:
        return ""
    locked = units.sui(len(simulated.new) * accepted_terms.collateral_mist)
    delay = units.duration(accepted_terms.delay_ms)
    count = len(simulated.sent)
    how_often = "" if count == 1 else f" in {count} transactions"
    return (
        f"Register {_named(simulated)}{_carried(accepted_terms, leaders)}, lock {locked},"
        f" claimable {delay} after unregistering, and pay"
        f" {units.sui(simulated.cost_mist)} for gas and storage{how_often}?"
    )


def _carried(accepted_terms: RegistrationTerms, leaders: list[str]) -> str:
    """Describe the accepted leaders, unless all leaders are accepted."""
    signed = ", with signed answers" if accepted_terms.requires_signed_outcome else ""
    noun = "leader" if len(leaders) == 1 else "leaders"
    return (f", for the {noun} {', '.join(leaders)}" if leaders else "") + signed


_NAMED = 10


def _named(done: _Registered) -> str:
    """Describe the new tools and their common price."""
    names = [str(tool.fqn) for tool in done.new]
    more = len(names) - _NAMED
    listed = ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")
    return f"{listed}, at {units.sui(done.new[0].price_mist)} per invocation"


def _report(output: Output, done: _Registered, accepted_terms: RegistrationTerms) -> None:
    from nexus_tools.tool import format_public_key

    locked_mist = len(done.new) * accepted_terms.collateral_mist
    rows: list[dict[str, Any]] = [
        {
            "fqn": str(tool.fqn),
            "tool": str(tool.tool),
            "registered": tool.is_new,
            "price_mist": tool.price_mist,
        }
        for tool in done.tools
    ]
    for row in rows:
        if not row["registered"]:
            output.done(f"{row['fqn']} is already registered with the same definition")
    record: dict[str, Any] = {"tools": rows, "collateral_mist": locked_mist}
    ids = "\n".join(str(tool.tool) for tool in done.tools)
    if not done.sent:
        if output.as_json:
            output.document(record | {"dry_run": False, "digest": None, "cost_mist": 0})
        elif output.quiet:
            output.result(ids)
        return
    record["leaders"] = list(map(str, accepted_terms.leaders))
    record["keys"] = list(map(format_public_key, accepted_terms.keys))
    what = f"registered {_named(done)}: {units.sui(locked_mist)} locked"
    if not output.as_json:
        record = {str(tool.fqn): str(tool.tool) for tool in done.new}
    report(output, done.sent, what, record, result=ids)


async def read_definitions(
    session: Session, name: str, package: str | None
) -> "tuple[ToolDefinition, ...]":
    """Read definitions from a file or stdin, and complete on-chain definitions for `package`.

    Raises `definitions_missing`, and the errors of `ToolDefinition.parse` and `place_function`.
    """
    from nexus_tools.cli.framework import read_json
    from nexus_tools.registry import place_function
    from nexus_tools.sui.types.address import Address
    from nexus_tools.tool import ToolDefinition

    document = read_json(name)
    documents = document if isinstance(document, list) else [document]
    if not documents:
        raise UsageError("definitions_missing", f"{name} does not contain a definition")
    if package is not None:
        place = Address.parse_whole(package)
        async with session.client() as client:
            documents = [
                await place_function(client, place, item) if isinstance(item, dict) else item
                for item in documents
            ]
    return tuple(ToolDefinition.parse(item) for item in documents)


async def _from_server(
    session: Session,
    url: str,
    ca_file: Path | None,
    *,
    all_tools: bool,
    invoke: bool | None,
    is_priced: bool,
) -> "tuple[ToolDefinition, ...]":
    """Read definitions from a running server, and check its tools unless `invoke` is None.

    Warn about tools with a price that also accept calls that no one pays for.
    """
    from nexus_tools.cli.tool.served_definitions import (
        accepts_unsigned_calls,
        check_tool_url,
        open_http,
        served_definitions,
    )

    check_tool_url(session, url)
    async with open_http(ca_file) as http:
        with session.output.progress(f"reading definitions from {url}"):
            definitions = await served_definitions(http, url, all_tools=all_tools)
        if invoke is not None:
            for place in definitions:
                await require_conforming(session, place, http, invoke=invoke)
        unsigned = [
            place
            for place in definitions
            if is_priced and await accepts_unsigned_calls(http, place)
        ]
    if unsigned:
        session.output.warn(
            f"anyone can call {plain(unsigned[0])} without a payment, because its server accepts"
            " unsigned calls. Serve a tool that has a price with `nexus-tools tool serve FILE"
            " --network NETWORK`"
        )
    return tuple(definitions.values())
