from itertools import pairwise

import pytest

from nexus_tools.sui.localnet.vm import (
    Context,
    Meter,
    MoveAbort,
    NativeAbort,
    ObservedMachine,
    Reference,
    borrow,
)
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.type_tag import Primitive

PACKAGE = Address.of(0xABC)
U8, U64 = Primitive.U8, Primitive.U64
REFERENCE = ("&", "u64")


class Observer:
    """An observer that records its calls."""

    def __init__(self):
        self.heard = []

    def enter(self, callee, _context, arguments):
        self.heard.append(("enter", callee.function.name, list(map(self.read, arguments))))

    def leave(self, _context, results):
        self.heard.append(("leave", list(map(self.read, results))))

    def fail(self, _context, failure):
        self.heard.append(("fail", type(failure)))

    @staticmethod
    def read(value):
        return value.read() if isinstance(value, Reference) else value


@pytest.fixture
def observer():
    return Observer()


@pytest.fixture
def observed(assembler, observer):
    """Return observed(function, *arguments), which returns the observer's records of a call."""

    def run(name, *arguments, types=(), natives=None):
        package = assembler.package()
        machine = ObservedMachine(natives or {}, {package.id: package}.get)
        machine.observer = observer
        function = machine.types.function(PACKAGE, "m", name)
        context = Context(machine.types, Meter(1_000_000))
        run.results = machine.call(function, types, list(arguments), context)
        return observer.heard

    return run


def test_observer_receives_arguments_and_results(assembler, observed):
    double = assembler.function(
        "double", ("u64",), ("u64",), [("COPY_LOC", 0), ("MOVE_LOC", 0), "ADD", "RET"]
    )
    code = [("MOVE_LOC", 0), ("CALL", double), ("CALL", double), "RET"]
    assembler.function("twice", ("u64",), ("u64",), code)
    assert observed("twice", 3) == [
        ("enter", "twice", [3]),
        ("enter", "double", [3]),
        ("leave", [6]),
        ("enter", "double", [6]),
        ("leave", [12]),
        ("leave", [12]),
    ]
    assert observed.results == [12]


def test_observer_receives_each_recursive_call(assembler, observed):
    handle = assembler.handle("descend", ("u64",))
    code = [("COPY_LOC", 0), ("LD_U64", 0), "EQ", ("BR_TRUE", 8)]
    code += [("MOVE_LOC", 0), ("LD_U64", 1), "SUB", ("CALL", handle), "RET"]
    assembler.define(handle, code)
    heard = observed("descend", 1024)
    assert [record[2] for record in heard[:1025]] == [[number] for number in range(1024, -1, -1)]
    assert heard[1025:] == [("leave", [])] * 1025


def test_thousand_functions_call_each_other(assembler, observed):
    handles = [assembler.handle(f"f{number}") for number in range(1025)]
    for handle, following in pairwise(handles):
        assembler.define(handle, [("CALL", following), "RET"])
    assembler.define(handles[-1], ["RET"])
    assert len(observed("f0")) == 2 * 1025


def test_observer_receives_references_and_several_results(assembler, observed):
    swap = assembler.function(
        "swap", (REFERENCE, "u8"), ("u8", REFERENCE), [("MOVE_LOC", 1), ("MOVE_LOC", 0), "RET"]
    )
    code = [("MOVE_LOC", 0), ("LD_U8", 9), ("CALL", swap), "READ_REF", "RET"]
    assembler.function("outer", (REFERENCE,), ("u8", "u64"), code)
    assert observed("outer", borrow(5)) == [
        ("enter", "outer", [5]),
        ("enter", "swap", [5, 9]),
        ("leave", [9, 5]),
        ("leave", [9, 5]),
    ]
    assert observed.results == [9, 5]


def test_observer_receives_single_reference_result(assembler, observed):
    assembler.function("same", (REFERENCE,), (REFERENCE,), [("MOVE_LOC", 0), "RET"])
    assert observed("same", borrow(5)) == [("enter", "same", [5]), ("leave", [5])]


def test_observed_types_have_type_arguments_applied(assembler, observed, observer):
    assembler.function(
        "same", (("T", 0),), (("T", 0),), [("MOVE_LOC", 0), "RET"], type_parameters=(3,)
    )
    callees = []
    observer.enter = lambda callee, _context, _arguments: callees.append(callee)
    observed("same", 5, types=(U8,))
    (callee,) = callees
    assert (callee.type_arguments, callee.parameters, callee.returns) == ((U8,), (U8,), (U8,))


def test_observer_receives_native_calls(assembler, observed):
    native = assembler.function("native", ("u64",), ("u64",), None)
    assembler.function("outer", (), ("u64",), [("LD_U64", 4), ("CALL", native), "RET"])
    natives = {(PACKAGE, "m", "native"): lambda _context, _types, value: value + 1}
    assert observed("outer", natives=natives)[1:3] == [("enter", "native", [4]), ("leave", [5])]


def test_observer_receives_failure_from_inside_out(assembler, observed, observer):
    native = assembler.function("native", (), (), None)
    assembler.function("outer", (), (), [("CALL", native), "RET"])

    def abort(_context, _types):
        raise NativeAbort(7)

    with pytest.raises(MoveAbort):
        observed("outer", natives={(PACKAGE, "m", "native"): abort})
    assert observer.heard == [
        ("enter", "outer", []),
        ("enter", "native", []),
        ("fail", MoveAbort),
        ("fail", MoveAbort),
    ]


def test_machine_without_observer_runs_normally(assembler):
    assembler.function("one", (), ("u64",), [("LD_U64", 1), "RET"])
    package = assembler.package()
    machine = ObservedMachine({}, {package.id: package}.get)
    function = machine.types.function(PACKAGE, "m", "one")
    assert machine.call(function, (), [], Context(machine.types, Meter(100))) == [1]
