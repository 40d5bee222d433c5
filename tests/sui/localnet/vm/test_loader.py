"""Upgraded packages: which version is called, and which ids types have."""

import pytest
from msgspec.structs import replace

from nexus_tools.sui.localnet.vm import Context, LinkError, Machine, Meter
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.type_tag import StructTag

FIRST, SECOND, USER = Address.of(0xA), Address.of(0xA2), Address.of(0xB)


def library(new_assembler, answer, datatypes):
    """A version of the package `a`: `answer()` gives a number."""
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
    """A package that calls `a::answer` and is linked to a version of `a`."""
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


def test_the_linkage_of_the_called_package_decides_what_it_calls(
    new_assembler, machine_of, versions
):
    other = Address.of(0xC)
    packages = [user(new_assembler, FIRST), user(new_assembler, SECOND, other)]
    machine = machine_of(*versions, *packages)
    assert ask(machine, USER) == [1]
    assert ask(machine, other) == [2]


def test_the_linkage_of_the_called_package_decides_for_its_dependencies_too(
    new_assembler, machine_of, versions
):
    """`top` calls `user`, which was published with the first version of `a`."""
    top = new_assembler("user", Address.of(0xD))
    ask_handle = top.handle("ask", (), ("u64",), module=top.module(USER, "user"))
    top.function("ask", (), ("u64",), [("CALL", ask_handle), "RET"])
    linked = top.package(linkage=[(USER, USER), (FIRST, SECOND)])
    machine = machine_of(*versions, user(new_assembler, FIRST), linked)
    assert ask(machine, Address.of(0xD)) == [2]


def test_a_type_has_the_id_of_the_version_that_first_defined_it(machine_of, versions):
    machine = machine_of(*versions)
    tags = {datatype.tag for datatype in machine.types.datatypes(SECOND)}
    assert tags == {StructTag(FIRST, "a", "Old"), StructTag(SECOND, "a", "New")}


def test_a_type_of_a_dependency_has_the_id_of_the_version_that_first_defined_it(
    new_assembler, machine_of, versions
):
    machine = machine_of(*versions, user(new_assembler, SECOND))
    holder = machine.types.datatype(StructTag(USER, "user", "Holder"))
    assert holder.fields == (("f0", StructTag(SECOND, "a", "New")),)


def test_a_type_that_the_linked_version_does_not_have_is_a_link_error(
    new_assembler, machine_of, versions
):
    machine = machine_of(*versions, user(new_assembler, FIRST))
    with pytest.raises(LinkError, match="0xa has no type a::New"):
        machine.types.datatype(StructTag(USER, "user", "Holder"))


def test_code_that_is_not_linked_to_what_it_calls_is_a_link_error(new_assembler, machine_of):
    assembler = new_assembler("user", USER)
    answer = assembler.handle("answer", (), (), module=assembler.module(FIRST, "a"))
    assembler.function("ask", (), (), [("CALL", answer), "RET"])
    machine = machine_of(assembler.package())
    with pytest.raises(LinkError, match="not linked to 0xa"):
        ask(machine, USER)


def test_a_function_is_asked_for_by_the_storage_id_of_its_package(machine_of, versions):
    machine = machine_of(*versions)
    function = machine.types.function(SECOND, "a", "answer")
    assert (function.package, function.module) == (SECOND, (FIRST, "a"))
    assert machine.types.function(SECOND, "a", "nothing") is None
    assert machine.types.function(SECOND, "b", "answer") is None
    assert machine.types.function(Address.of(0xE), "a", "answer") is None


def test_a_package_is_asked_for_once(versions):
    asked = []
    machine = Machine({}, lambda package: asked.append(package) or versions[0])
    for _ in range(3):
        machine.types.function(FIRST, "a", "answer")
    assert asked == [FIRST]


def test_a_package_that_is_no_module_is_a_link_error(machine_of, versions):
    broken = replace(versions[0], modules=(("a", b"\xa1\x1c\xeb\x0b"),))
    with pytest.raises(LinkError, match="0xa::a is malformed"):
        machine_of(broken).types.function(FIRST, "a", "answer")


def test_a_function_whose_code_is_malformed_is_a_link_error(new_assembler, machine_of):
    assembler = new_assembler("user", USER)
    assembler.function("ask", (), (), ["RET"])
    assembler.function("fail", (), (), [("MOVE_LOC", 7), "RET"])  # it has no locals
    machine = machine_of(assembler.package())
    assert ask(machine, USER) == []
    fail = machine.types.function(USER, "user", "fail")
    with pytest.raises(LinkError, match="user::fail is malformed"):
        machine.call(fail, (), [], Context(machine.types, Meter(1000)))


def test_a_caller_that_takes_a_function_for_another_one_is_refused(
    new_assembler, machine_of, versions
):
    assembler = new_assembler("user", USER)
    answer = assembler.handle("answer", (), ("u8",), module=assembler.module(FIRST, "a"))
    assembler.function("ask", (), ("u8",), [("CALL", answer), "RET"])
    machine = machine_of(versions[0], assembler.package(linkage=[(FIRST, FIRST)]))
    with pytest.raises(LinkError, match="another signature"):
        ask(machine, USER)


def test_a_private_function_of_another_module_is_not_called(new_assembler, machine_of):
    library = new_assembler("a", FIRST)
    library.define(library.handle("answer"), ["RET"], visibility=0)
    assembler = new_assembler("user", USER)
    answer = assembler.handle("answer", module=assembler.module(FIRST, "a"))
    assembler.function("ask", (), (), [("CALL", answer), "RET"])
    machine = machine_of(library.package(), assembler.package(linkage=[(FIRST, FIRST)]))
    with pytest.raises(LinkError, match="private"):
        ask(machine, USER)
