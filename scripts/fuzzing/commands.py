"""Random programmable transactions, whose commands may have any arguments."""

from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import strategies as st

from fuzzing.mutation import one_of, weighted
from fuzzing.network import NOTHING, SUI, Network, argument
from nexus_tools.sui.bytecode import Visibility
from nexus_tools.sui.localnet.vm import Function, ReferenceType, substitute
from nexus_tools.sui.types import transaction as tx
from nexus_tools.sui.types.address import CLOCK, Address
from nexus_tools.sui.types.address_balance import FundsWithdrawal
from nexus_tools.sui.types.object import MovePackage, Object
from nexus_tools.sui.types.type_tag import GAS_COIN, STRING, Primitive, StructTag, VectorTag
from nexus_tools.sui.types.type_tag import SUI as SUI_TAG

_PLACES = st.integers(0, 6)
_ARGUMENTS = st.one_of(
    st.just(tx.GasCoin()),
    _PLACES.map(tx.InputArgument),
    _PLACES.map(tx.InputArgument),
    _PLACES.map(tx.Result),
    st.builds(tx.NestedResult, _PLACES, _PLACES),
    st.just(tx.InputArgument(2**16 - 1)),
)
_MANY = st.lists(_ARGUMENTS, max_size=3).map(tuple)
_NUMBERS = st.one_of(st.integers(0, 10), st.sampled_from([SUI, 2**63, 2**64 - 1]))


def _unsigned(size: int) -> st.SearchStrategy[bytes]:
    likely = _NUMBERS.map(lambda number: number.to_bytes(32, "little")[:size])
    return likely | st.binary(min_size=size, max_size=size)


_ADDRESSES = st.one_of(st.integers(0, 9).map(Address.of), st.binary(min_size=32, max_size=32))
_PURES: dict[str, st.SearchStrategy[bytes]] = {
    **{f"u{bits}": _unsigned(bits // 8) for bits in (8, 16, 32, 64, 128, 256)},
    "bool": st.sampled_from([b"\0", b"\1", b"\2"]),
    "address": _ADDRESSES.map(bytes),
    "vector<u8>": st.binary(max_size=60).map(lambda data: bytes([len(data)]) + data),
    str(STRING): st.text(max_size=15).map(lambda text: bytes([len(text.encode())]) + text.encode()),
}
_TYPE_ARGUMENTS = st.sampled_from(
    [Primitive.U64, SUI_TAG, GAS_COIN, STRING, VectorTag(Primitive.U8), Primitive.ADDRESS]
)
_FRAMEWORK = ("coin", "balance", "transfer", "vec_map", "table", "bag", "clock", "object", "pay")


def programmable(net: Network) -> st.SearchStrategy[tx.ProgrammableTransaction]:
    """Return transactions. Most contain well-typed calls, and others contain any commands."""
    anything = st.builds(
        tx.ProgrammableTransaction,
        st.lists(_inputs(net), max_size=5).map(tuple),
        st.lists(_commands(net), max_size=4).map(tuple),
    )
    fitting = _programs(net.objects(), one_of(_names(net)), _commands(net))
    return weighted((1, anything), (3, fitting))


def _inputs(net: Network) -> st.SearchStrategy[tx.Input]:
    objects = net.objects()
    references = st.sampled_from([*[value.reference() for value in objects], NOTHING])
    pure = st.one_of(
        st.binary(max_size=40),
        _NUMBERS.map(lambda number: number.to_bytes(8, "little")),
        st.sampled_from([bytes(account.address) for account in net.accounts]),
        st.sampled_from([b"\xff\xff\xff\xff\x0f", b"\x00", b"\x01\x00", bytes(16_385)]),
    ).map(tx.Pure)
    shared = st.builds(
        tx.SharedObject,
        st.sampled_from([CLOCK, *map(Address.of, (5, 7, 8, 0x403, 0xAC)), Address.of(0xDEAD)]),
        st.integers(0, 2),
        st.booleans(),
    )
    own = one_of(list(map(argument, objects)))
    funds = st.builds(FundsWithdrawal, _NUMBERS, st.just(SUI_TAG), st.integers(0, 1))
    receiving = references.map(tx.ReceivingObject)
    return weighted((3, pure), (6, own), (1, shared), (1, receiving), (1, funds))


def _types(net: Network) -> st.SearchStrategy[object]:
    own = [
        StructTag(net.probe, "probe", name) for name in ("Thing", "Box", "Potato", "Pair", "Nope")
    ]
    leaves = st.sampled_from([*Primitive, SUI_TAG, GAS_COIN, *own])
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            inner.map(VectorTag),
            inner.map(lambda tag: StructTag(net.probe, "probe", "Pair", (tag,))),
        ),
        max_leaves=3,
    )


def _names(net: Network) -> list[Function]:
    """Return the functions for generated calls. A few of these functions cannot be called."""
    return [
        function
        for package in (net.probe, net.registry, Address.of(2))
        for function in net.node.machine.types.functions(package)
        if package != Address.of(2) or function.module.name in _FRAMEWORK
        if function.visibility is Visibility.PUBLIC or function.is_entry or package == net.probe
    ]


def _calls(net: Network) -> st.SearchStrategy[tx.Command]:
    """Return calls with any arguments."""
    return st.builds(
        lambda function, types, arguments: tx.MoveCall(
            function.package, function.module.name, function.name, types, arguments
        ),
        one_of(_names(net)),
        st.lists(_types(net), max_size=2).map(tuple),
        _MANY,
    )


class _Program:
    """A transaction in which most arguments have the types of the functions' parameters."""

    def __init__(self, draw: Callable[[Any], Any], objects: Sequence[Object]) -> None:
        self._draw = draw
        self._objects = objects
        self._inputs: list[tx.Input] = []
        self._commands: list[tx.Command] = []
        self._results: list[tuple[tx.Argument, Any]] = []

    def call(self, function: Function) -> None:
        """Add a call."""
        types = tuple(self._draw(_TYPE_ARGUMENTS) for _ in function.type_parameters)
        parameters = [substitute(parameter, types) for parameter in function.parameters]
        wanted = [parameter for parameter in parameters if "TxContext" not in str(parameter)]
        arguments = tuple(self._argument(kind) for kind in wanted)
        name = function.module.name
        self._commands.append(tx.MoveCall(function.package, name, function.name, types, arguments))
        for place, type_ in enumerate(function.returns):
            argument = tx.NestedResult(len(self._commands) - 1, place)
            self._results.append((argument, substitute(type_, types)))

    def _argument(self, type_: Any) -> tx.Argument:
        target = type_.target if isinstance(type_, ReferenceType) else type_
        fitting = [argument for argument, known in self._results if known == target]
        objects = [value for value in self._objects if value.type == target]
        if self._draw(st.integers(0, 15)) == 15:
            return self._draw(_ARGUMENTS)  # type: ignore[no-any-return]
        if fitting:
            return self._draw(st.sampled_from(fitting))  # type: ignore[no-any-return]
        if objects:
            return self._input(argument(self._draw(st.sampled_from(objects))))
        return self._input(tx.Pure(self._draw(_PURES.get(str(target), st.binary(max_size=20)))))

    def _input(self, value: tx.Input) -> tx.InputArgument:
        if value not in self._inputs:
            self._inputs.append(value)
        return tx.InputArgument(self._inputs.index(value))

    def finish(self, last: Sequence[tx.Command]) -> tx.ProgrammableTransaction:
        """Return the transaction. Results that cannot be dropped are transferred."""
        mine = [argument for argument, type_ in self._results if isinstance(type_, StructTag)]
        recipient = self._input(tx.Pure(self._draw(_PURES["address"])))
        if mine:
            self._commands.append(tx.TransferObjects(tuple(mine), recipient))
        return tx.ProgrammableTransaction(tuple(self._inputs), (*self._commands, *last))


@st.composite
def _programs(
    draw: st.DrawFn,
    objects: Sequence[Object],
    functions: st.SearchStrategy[Function],
    commands: st.SearchStrategy[tx.Command],
) -> tx.ProgrammableTransaction:
    program = _Program(draw, objects)
    for function in draw(st.lists(functions, min_size=1, max_size=4)):
        program.call(function)
    return program.finish(draw(st.lists(commands, max_size=1)))


def _commands(net: Network) -> st.SearchStrategy[tx.Command]:
    packages = [value for package in (net.probe, net.registry) for value in _files(net, package)]
    modules = st.lists(one_of(packages) | st.binary(max_size=20), max_size=2).map(tuple)
    known = st.sampled_from(
        [(), (Address.of(1), Address.of(2)), (net.probe,), (Address.of(0xDEAD),)]
    )
    return st.one_of(
        _calls(net),
        st.builds(tx.TransferObjects, _MANY, _ARGUMENTS),
        st.builds(tx.SplitCoins, _ARGUMENTS, _MANY),
        st.builds(tx.MergeCoins, _ARGUMENTS, _MANY),
        st.builds(tx.MakeMoveVec, st.none() | _types(net), _MANY),
        st.builds(tx.Publish, modules, known),
        st.builds(tx.Upgrade, modules, known, st.just(net.probe), _ARGUMENTS),
    )


def _files(net: Network, package: Address) -> list[bytes]:
    value: Object | None = net.node.ledger.get(package)
    assert value is not None
    assert isinstance(value.data, MovePackage)
    return [data for _, data in value.data.modules]
