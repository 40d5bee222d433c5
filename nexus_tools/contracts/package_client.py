"""What the three services have in common: reading the package's objects, sending its commands."""

from collections.abc import Callable, Sequence
from typing import ClassVar, Self, TypeVar, TypeVarTuple

from nexus_tools.contracts.aborts import explain_abort
from nexus_tools.contracts.deployment import Deployment
from nexus_tools.contracts.events import parse_event
from nexus_tools.errors import NotFoundError, RefusedOnChainError
from nexus_tools.sui.bindings.runtime import MoveStruct, Package
from nexus_tools.sui.client import Executed, Simulated, SuiClient, explains_refusal
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.object import Object
from nexus_tools.sui.types.transaction import Argument

T = TypeVar("T")
Ts = TypeVarTuple("Ts")
Kind = TypeVar("Kind", bound=MoveStruct)

Sent = Executed | Simulated
"""What a verb gives: both have `effects`, `events` and `cost`; simulated is a dry run's."""


async def execute_or_simulate(
    client: SuiClient, builder: TransactionBuilder, *, dry_run: bool, budget: int | None = None
) -> Sent:
    """Execute or, in a dry run, simulate a transaction; raises what it fails with."""
    if not dry_run:
        return await client.execute(builder, budget=budget)
    simulated = await client.simulate(builder)
    async with explains_refusal(client.connection, builder.commands):
        simulated.raise_for_status()
    return simulated


class PackageClient:
    """A client and a deployment. With `dry_run`, verbs are simulated and nothing is signed."""

    subject: ClassVar[str] = ""
    """What an abort calls the object of a verb, where the package has a word for several kinds."""

    def __init__(self, client: SuiClient, deployment: Deployment, *, dry_run: bool = False) -> None:
        self.client = client
        self.deployment = deployment
        self.dry_run = dry_run

    def rehearsal(self) -> Self:
        """The same, simulated."""
        return type(self)(self.client, self.deployment, dry_run=True)

    async def send(
        self,
        builder: TransactionBuilder,
        *,
        possible_at_ms: int | None = None,
        budget: int | None = None,
    ) -> Sent:
        """Execute or, in a dry run, simulate a transaction.

        An abort of the package is raised in words; other errors as by `SuiClient.execute`.
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
        """Send a transaction with one function of the package."""
        builder = TransactionBuilder()
        function(builder, self.deployment.package_of(function), *arguments)
        return await self.send(builder, possible_at_ms=possible_at_ms)

    async def pay(
        self,
        function: Callable[[TransactionBuilder, Package, *Ts, Argument], object],
        *arguments: *Ts,
        amount_mist: int,
    ) -> Sent:
        """Send a transaction with one function, whose last argument is a coin of that amount."""
        builder = TransactionBuilder()
        coin = builder.split_coins(builder.gas, [amount_mist])[0]
        function(builder, self.deployment.package_of(function), *arguments, coin)
        return await self.send(builder)

    async def read(self, object_id: Address, kind: type[Kind]) -> Kind:
        """An object of the package that has to exist. Raises `object_unknown`."""
        return self.existing(await self.client.object(object_id), object_id, kind)

    def existing(self, value: Object | None, object_id: Address, kind: type[Kind]) -> Kind:
        """What was read as an object that has to exist. Raises `object_unknown`."""
        if value is None:
            raise NotFoundError(
                "object_unknown",
                f"there is no {kind.move_name} {object_id} on {self.client.network.name}",
                hint="check the deployment: it may be one of another network, or of a reset one",
            )
        return self.deployment.decode(value, kind)

    def decoded(self, value: Object | None, kind: type[Kind]) -> Kind | None:
        """What was read as an object of the package; None if it does not exist."""
        return None if value is None else self.deployment.decode(value, kind)

    async def find_all(self, ids: Sequence[Address], kind: type[Kind]) -> list[Kind | None]:
        """Objects of the package, in the order of their ids; None for those that do not exist."""
        return [self.decoded(value, kind) for value in await self.client.objects(ids)]

    def emitted(self, sent: Sent, kind: type[T]) -> T:
        """The first event of a kind that a transaction emitted. Raises `event_missing`."""
        for event in sent.events:
            parsed = parse_event(self.deployment, event)
            if isinstance(parsed, kind):
                return parsed
        raise NotFoundError(
            "event_missing",
            f"the transaction emitted no {kind.__name__}",
            details={"digest": str(sent.effects.transaction_digest)},
        )

    def has_emitted(self, sent: Sent, kind: type[MoveStruct]) -> bool:
        """Whether a transaction emitted an event of a kind."""
        return any(isinstance(parse_event(self.deployment, each), kind) for each in sent.events)
