"""The base class of all registry services. The class reads objects and sends transactions."""

from collections.abc import Callable, Sequence
from typing import ClassVar, Self, TypeVar, TypeVarTuple

from nexus_tools.contracts.aborts import explain_abort
from nexus_tools.contracts.deployment import Deployment
from nexus_tools.errors import NotFoundError, RefusedOnChainError
from nexus_tools.sui.bindings.runtime import MoveStruct, Package
from nexus_tools.sui.client import Executed, SimulatedTransaction, SuiClient, explain_refusals
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.object import Object
from nexus_tools.sui.types.transaction import Argument

T = TypeVar("T")
Ts = TypeVarTuple("Ts")
Kind = TypeVar("Kind", bound=MoveStruct)

Sent = Executed | SimulatedTransaction
"""The result of a transaction, or of its simulation in a dry run. Both types have `effects`,
`events` and `cost`."""


async def execute_or_simulate(
    client: SuiClient, builder: TransactionBuilder, *, dry_run: bool, budget: int | None = None
) -> Sent:
    """Execute a transaction or, in a dry run, simulate it. Raises an error on failure."""
    if not dry_run:
        return await client.execute(builder, budget=budget)
    simulated = await client.simulate(builder)
    async with explain_refusals(client.connection, builder.commands):
        simulated.raise_for_status()
    return simulated


class PackageClient:
    """A client with a deployment. With `dry_run`, transactions are simulated and never signed."""

    subject: ClassVar[str] = ""
    """The noun for the object in abort messages that tools and leaders share."""

    def __init__(self, client: SuiClient, deployment: Deployment, *, dry_run: bool = False) -> None:
        self.client = client
        self.deployment = deployment
        self.dry_run = dry_run

    def dry_run_client(self) -> Self:
        """Return a client with the same deployment that only simulates transactions."""
        return type(self)(self.client, self.deployment, dry_run=True)

    async def send(
        self,
        builder: TransactionBuilder,
        *,
        possible_at_ms: int | None = None,
        budget: int | None = None,
    ) -> Sent:
        """Execute a transaction or, in a dry run, simulate it.

        Raises the error of `explain_abort` if one of the packages aborts, or the errors of
        `SuiClient.execute`.
        """
        try:
            return await execute_or_simulate(
                self.client, builder, dry_run=self.dry_run, budget=budget
            )
        except RefusedOnChainError as error:
            now_ms = None if possible_at_ms is None else await self.client.now_ms()
            raise explain_abort(
                error,
                self.deployment,
                possible_at_ms=possible_at_ms,
                now_ms=now_ms,
                subject=self.subject,
            ) from error

    async def call(
        self,
        function: Callable[[TransactionBuilder, Package, *Ts], object],
        *arguments: *Ts,
        possible_at_ms: int | None = None,
    ) -> Sent:
        """Send a transaction that calls one function of the packages."""
        builder = TransactionBuilder()
        function(builder, self.deployment.package_of(function), *arguments)
        return await self.send(builder, possible_at_ms=possible_at_ms)

    async def pay(
        self,
        function: Callable[[TransactionBuilder, Package, *Ts, Argument], object],
        *arguments: *Ts,
        amount_mist: int,
    ) -> Sent:
        """Send a transaction that calls one function with a coin as the last argument.

        The coin has the value `amount_mist`.
        """
        builder = TransactionBuilder()
        coin = builder.split_coins(builder.gas, [amount_mist])[0]
        function(builder, self.deployment.package_of(function), *arguments, coin)
        return await self.send(builder)

    async def read(self, object_id: Address, kind: type[Kind]) -> Kind:
        """Return an object of the packages that must exist. Raises `object_unknown`."""
        return self.decode_existing(await self.client.object(object_id), object_id, kind)

    def decode_existing(self, value: Object | None, object_id: Address, kind: type[Kind]) -> Kind:
        """Decode an object that must exist. Raises `object_unknown`."""
        if value is None:
            raise NotFoundError(
                "object_unknown",
                f"the {kind.move_name} {object_id} does not exist on {self.client.network.name}",
                hint="Check the deployment. It may belong to another network, or the network was"
                " reset.",
            )
        return self.deployment.decode(value, kind)

    def decode(self, value: Object | None, kind: type[Kind]) -> Kind | None:
        """Decode an object of the packages, or return None if it does not exist."""
        return None if value is None else self.deployment.decode(value, kind)

    async def find_all(self, ids: Sequence[Address], kind: type[Kind]) -> list[Kind | None]:
        """Return objects of the packages in the order of `ids`, with None for missing objects."""
        return [self.decode(value, kind) for value in await self.client.objects(ids)]

    def emitted(self, sent: Sent, kind: type[T]) -> T:
        """Return the first event of a kind that a transaction emitted. Raises `event_missing`."""
        from nexus_tools.contracts.events import parse_event  # noqa: PLC0415 - imports all bindings

        for event in sent.events:
            parsed = parse_event(self.deployment, event)
            if isinstance(parsed, kind):
                return parsed
        raise NotFoundError(
            "event_missing",
            f"the transaction did not emit the event {kind.__name__}",
            details={"digest": str(sent.effects.transaction_digest)},
        )

    def has_emitted(self, sent: Sent, kind: type[MoveStruct]) -> bool:
        """Return whether a transaction emitted an event of a kind."""
        from nexus_tools.contracts.events import parse_event  # noqa: PLC0415 - imports all bindings

        return any(isinstance(parse_event(self.deployment, event), kind) for event in sent.events)
