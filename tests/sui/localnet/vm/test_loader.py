"""Upgraded packages: the called versions, and the ids of types."""

import pytest
from msgspec.structs import replace

from nexus_tools.sui.localnet.vm import Context, LinkError, Machine, Meter
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.type_tag import StructTag

FIRST, SECOND, USER = Address.of(0xA), Address.of(0xA2), Address.of(0xB)


def library(new_assembler, answer, datatypes):
    """Return a version of the package `a`, in which `answer()` returns a number."""
    assembler = new_assembler("a", FIRST)
    for name in datatypes:
        assembler.struct(name, ["u64"])
    assembler.function("answer", (), ("u64",), [("LD_U64", answer), "RET"])
    return assembler


@pytest.fixture
def versions(new_assembler):
    first = library(new_assembler, 1, ["Old"]).package(FIRST)
    second = library(new_assembler, 2, ["Old", "New"])
    return first, second.package(SECOND, 2, origins={"Old": FIRST})


def user(new_assembler, upgraded, address=USER):
    """Return a package that calls `a::answer` and is linked to a version of `a`."""
    assembler = new_assembler("user", address)
    module = assembler.module(FIRST, "a")
    answer = assembler.handle("answer", (), ("u64",), module=module)
    assembler.function("ask", (), ("u64",), [("CALL", answer), "RET"])
    new = assembler.datatype("New", 7, (), module=module)
    assembler.struct("Holder", [("data", new)])
    return assembler.package(linkage=[(FIRST, upgraded)])


def ask(machine, package):
    function = machine.types.function(package, "user", "ask")
    return machine.call(function, (), [], Context(machine.types, Meter(1000)))


def test_linkage_of_called_package_selects_callee_version(new_assembler, machine_of, versions):
    other = Address.of(0xC)
    packages = [user(new_assembler, FIRST), user(new_assembler, SECOND, other)]
    machine = machine_of(*versions, *packages)
    assert ask(machine, USER) == [1]
    assert ask(machine, other) == [2]


def test_linkage_of_called_package_applies_to_its_dependencies(new_assembler, machine_of, versions):
    """`top` calls `user`, which was published with the first version of `a`."""
    top = new_assembler("user", Address.of(0xD))
    ask_handle = top.handle("ask", (), ("u64",), module=top.module(USER, "user"))
    top.function("ask", (), ("u64",), [("CALL", ask_handle), "RET"])
    linked = top.package(linkage=[(USER, USER), (FIRST, SECOND)])
    machine = machine_of(*versions, user(new_assembler, FIRST), linked)
    assert ask(machine, Address.of(0xD)) == [2]


def test_type_has_id_of_first_defining_version(machine_of, versions):
    machine = machine_of(*versions)
    tags = {datatype.tag for datatype in machine.types.datatypes(SECOND)}
    assert tags == {StructTag(FIRST, "a", "Old"), StructTag(SECOND, "a", "New")}


def test_dependency_type_has_id_of_first_defining_version(new_assembler, machine_of, versions):
    machine = machine_of(*versions, user(new_assembler, SECOND))
    holder = machine.types.datatype(StructTag(USER, "user", "Holder"))
    assert holder.fields == (("f0", StructTag(SECOND, "a", "New")),)


def test_type_missing_in_linked_version_raises_link_error(new_assembler, machine_of, versions):
    machine = machine_of(*versions, user(new_assembler, FIRST))
    with pytest.raises(LinkError, match="0xa has no type a::New"):
        machine.types.datatype(StructTag(USER, "user", "Holder"))


def test_call_of_unlinked_package_raises_link_error(new_assembler, machine_of):
    assembler = new_assembler("user", USER)
    answer = assembler.handle("answer", (), (), module=assembler.module(FIRST, "a"))
    assembler.function("ask", (), (), [("CALL", answer), "RET"])
    machine = machine_of(assembler.package())
    with pytest.raises(LinkError, match="not linked to 0xa"):
        ask(machine, USER)


def test_function_lookup_uses_storage_id(machine_of, versions):
    machine = machine_of(*versions)
    function = machine.types.function(SECOND, "a", "answer")
    assert (function.package, function.module) == (SECOND, (FIRST, "a"))
    assert machine.types.function(SECOND, "a", "nothing") is None
    assert machine.types.function(SECOND, "b", "answer") is None
    assert machine.types.function(Address.of(0xE), "a", "answer") is None


def test_package_is_fetched_once(versions):
    asked = []
    machine = Machine({}, lambda package: asked.append(package) or versions[0])
    for _ in range(3):
        machine.types.function(FIRST, "a", "answer")
    assert asked == [FIRST]


def test_invalid_module_bytes_raise_link_error(machine_of, versions):
    broken = replace(versions[0], modules=(("a", b"\xa1\x1c\xeb\x0b"),))
    with pytest.raises(LinkError, match="0xa::a is malformed"):
        machine_of(broken).types.function(FIRST, "a", "answer")


def test_malformed_function_code_raises_link_error(new_assembler, machine_of):
    assembler = new_assembler("user", USER)
    assembler.function("ask", (), (), ["RET"])
    assembler.function("fail", (), (), [("MOVE_LOC", 7), "RET"])  # the function has no locals
    machine = machine_of(assembler.package())
    assert ask(machine, USER) == []
    fail = machine.types.function(USER, "user", "fail")
    with pytest.raises(LinkError, match="user::fail is malformed"):
        machine.call(fail, (), [], Context(machine.types, Meter(1000)))


def test_call_with_wrong_signature_is_rejected(new_assembler, machine_of, versions):
    assembler = new_assembler("user", USER)
    answer = assembler.handle("answer", (), ("u8",), module=assembler.module(FIRST, "a"))
    assembler.function("ask", (), ("u8",), [("CALL", answer), "RET"])
    machine = machine_of(versions[0], assembler.package(linkage=[(FIRST, FIRST)]))
    with pytest.raises(LinkError, match="a different signature"):
        ask(machine, USER)


def test_private_function_of_other_module_is_not_callable(new_assembler, machine_of):
    library = new_assembler("a", FIRST)
    library.define(library.handle("answer"), ["RET"], visibility=0)
    assembler = new_assembler("user", USER)
    answer = assembler.handle("answer", module=assembler.module(FIRST, "a"))
    assembler.function("ask", (), (), [("CALL", answer), "RET"])
    machine = machine_of(library.package(), assembler.package(linkage=[(FIRST, FIRST)]))
    with pytest.raises(LinkError, match="private"):
        ask(machine, USER)
