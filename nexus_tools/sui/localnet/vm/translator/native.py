"""The Python functions that translated code uses to call native functions.

These Python functions charge for the call and for its results, and convert exceptions of native
functions to errors of the VM.
"""

from collections.abc import Callable
from functools import lru_cache
from itertools import takewhile

from nexus_tools.sui.localnet.vm.definitions import Function, ReferenceType, Type
from nexus_tools.sui.localnet.vm.metering import LARGE, Work
from nexus_tools.sui.localnet.vm.native import AnyNative, HashNative, PricedNative, TypedNative
from nexus_tools.sui.localnet.vm.translator.frame import (
    Constant,
    LazySymbol,
    SizeOf,
    Symbol,
    packed_size,
)
from nexus_tools.sui.localnet.vm.translator.statement import INDENT, SourceLine
from nexus_tools.sui.localnet.vm.translator.translation import Translation, compiled, header
from nexus_tools.sui.localnet.vm.values.size import CONTAINER_BYTES, REFERENCE_BYTES, scalar_bytes
from nexus_tools.sui.types.type_tag import Primitive


def translate_native(function: Function, native: AnyNative) -> Translation:
    """Return a translation that calls a native function."""
    lines, symbols = _body(function, native)
    body = [f"{INDENT}{line}" for line in ["meter = context.meter", *lines]]
    source = [SourceLine(line) for line in [header(function), *body]]
    return Translation(source, compiled(function, source), symbols)


_Body = tuple[list[str], dict[str, Symbol]]
"""Lines of Python code, and the symbols of the global names in them."""


def _body(function: Function, native: AnyNative) -> _Body:
    if isinstance(native, PricedNative):
        return _priced(function, native)
    if isinstance(native, HashNative):
        return _hash(function, native)
    if isinstance(native, TypedNative):
        return _typed(function, native)
    return _plain(function, native)


def _plain(function: Function, native: Callable[..., object]) -> _Body:
    arguments = [
        f"Reference(c{index}, k{index})" if isinstance(type_, ReferenceType) else f"v{index}"
        for index, type_ in enumerate(function.parameters)
    ]
    calling, sizes = _calling(function, ["context", "type_arguments", *arguments], objects=True)
    lines = [*_counting(_work(function)), *calling]
    return lines, {"implementation": Constant(native), **sizes}


def _typed(function: Function, native: TypedNative) -> _Body:
    calling, sizes = _calling(function, ["context", *_targets(function)], objects=False)
    return [*_counting(_work(function)), *calling], {
        "implementation": LazySymbol(native.make),
        **sizes,
    }


def _priced(function: Function, native: PricedNative) -> _Body:
    calling, sizes = _calling(function, _targets(function), objects=False)
    charging, constants = _charging(function, native, _work(function))
    symbols = {"implementation": Constant(native.implementation), **constants, **sizes}
    return [*charging, *calling], symbols


def _hash(function: Function, native: HashNative) -> _Body:
    digest = Work(size=CONTAINER_BYTES + native.initial.digest_size)
    charging, constants = _charging(function, native, _work(function) + digest)
    # Adding bytes to an empty bytearray is faster than calling `bytearray`.
    symbols = {"initial": native.initial.copy, "empty": bytearray()}
    [message] = _targets(function)
    hashing = ["state = initial()", f"state.update({message})", "return empty + state.digest()"]
    constants |= {name: Constant(value) for name, value in symbols.items()}
    return [*charging, *hashing], constants


# Charges before the call of the native function


def _work(function: Function) -> Work:
    """Return the work of a native call: one instruction, and the pushes of its results."""
    size = 0
    for type_ in function.returns:
        if isinstance(type_, Primitive):
            size += scalar_bytes(type_)
        elif isinstance(type_, ReferenceType):
            size += REFERENCE_BYTES
    return Work(1, len(function.returns), size)


def _counting(work: Work) -> list[str]:
    return [f"meter.left -= {work.left!r}  # {work}", "meter.native_calls += 1"]


def _charging(function: Function, native: PricedNative | HashNative, work: Work) -> _Body:
    """Return the lines that charge for a native call.

    If the cost counts as instructions, a single statement charges the cost.
    """
    constants: dict[str, Symbol] = {"charge": Constant(native.charge)}
    if isinstance(native.cost, int):
        prologue, condition, total_work = [], "meter.takes_natives", work + Work(native.cost)
        amount, cost = f"{total_work.left!r}  # {total_work}", str(native.cost)
    else:
        prices = _prices(native.cost, work)
        constants |= {"cost": Constant(native.cost), "prices": Constant(prices)}
        prologue = [f"size = len({_targets(function)[0]})"]
        condition = f"size < {len(prices)} and meter.takes_natives"
        amount, cost = f"prices[size]  # cost(size) as instructions, and {work}", "cost(size)"
    return [
        *prologue,
        f"if {condition}:",
        f"{INDENT}meter.left = left = meter.left - {amount}",
        f"{INDENT}if left < 0.0: meter.settle()",
        "else:",
        *[f"{INDENT}{line}" for line in _counting(work)],
        f"{INDENT}charge(context, {cost})",
    ], constants


@lru_cache
def _prices(cost: Callable[[int], int], work: Work) -> list[float]:
    """Return the small amounts to subtract from the meter, by the length of the argument."""
    base, unit = work.left, Work(1).left
    # The cost never decreases with the length of the argument, so the list ends before the first
    # large cost. Large costs are charged by a call of `charge`.
    costs = takewhile(lambda units: units < LARGE, map(cost, range(LARGE)))
    return [base + unit * units for units in costs]


# The call


def _targets(function: Function) -> list[str]:
    """Return expressions for the arguments. A reference is replaced by its target."""
    return [
        f"c{index}[k{index}]" if isinstance(type_, ReferenceType) else f"v{index}"
        for index, type_ in enumerate(function.parameters)
    ]


def _calling(function: Function, arguments: list[str], *, objects: bool) -> _Body:
    """Return the lines that call the implementation, and charge for and return its results.

    If `objects` is set, the implementation returns a reference as a `Reference`. If `objects` is
    not set, the implementation returns a container and a key.
    """
    names, parts, charges = [], [], []
    sizes: dict[str, Symbol] = {}
    for index, type_ in enumerate(function.returns):
        name = f"r{index}"
        pair = [f"{name}.container", f"{name}.key"] if objects else [name, f"{name}_key"]
        results = pair if isinstance(type_, ReferenceType) else [name]
        names += [name] if objects else results
        parts += results
        if not isinstance(type_, Primitive | ReferenceType):
            charges += _charge_result(name, type_)
            sizes[f"size_{name}"] = SizeOf(type_)
    assign = f"{', '.join(names)} = " if names else ""
    return [
        "try:",
        f"{INDENT}{assign}implementation({', '.join(arguments)})",
        "except NativeAbort as error:",
        f"{INDENT}raise abort(error.code, function, 0) from None",
        "except NativeLimit as error:",
        f"{INDENT}raise memory_limit_exceeded(function) from error",
        *charges,
        f"return {', '.join(parts)}",
    ], sizes


def _charge_result(name: str, type_: Type) -> list[str]:
    """Return the lines that charge for a result's bytes, without a check of the meter."""
    return [
        f"size = {packed_size(name, type_) or f'size_{name}({name})'}",
        f"if size < {LARGE}: meter.left -= byte_prices[size]",
        "else: meter.charge_bytes(size)",
    ]
