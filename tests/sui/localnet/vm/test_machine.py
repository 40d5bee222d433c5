import pytest

from nexus_tools.sui.bytecode import Ability
from nexus_tools.sui.localnet.vm import Context, LinkError, Machine, Meter
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.type_tag import Primitive, StructTag, VectorTag, parse_type_tag

PACKAGE = Address.of(0xABC)
COPY, DROP, STORE, KEY = Ability.COPY, Ability.DROP, Ability.STORE, Ability.KEY
VALUE = COPY | DROP | STORE


@pytest.fixture
def machine(assembler, machine_of):
    assembler.struct("Coin", ["u64"], KEY | STORE)
    assembler.struct("Potato", ["u64"], 0)
    assembler.struct("Box", [("T", 0)], VALUE | KEY, phantoms=(0,))
    assembler.struct("Marked", ["u64"], VALUE, phantoms=(1,))
    return machine_of(assembler.package())


@pytest.mark.parametrize(
    ("type_", "abilities"),
    [
        ("u64", VALUE),
        ("address", VALUE),
        ("signer", DROP),
        ("vector<u8>", VALUE),
        ("vector<signer>", DROP),
        ("0xabc::m::Coin", KEY | STORE),
        ("vector<0xabc::m::Coin>", STORE),
        ("0xabc::m::Potato", Ability.NONE),
        ("0xabc::m::Box<u8>", VALUE | KEY),
        ("0xabc::m::Box<0xabc::m::Coin>", KEY | STORE),
        ("0xabc::m::Box<0xabc::m::Potato>", Ability.NONE),
        ("0xabc::m::Marked<0xabc::m::Potato>", VALUE),
    ],
)
def test_type_abilities_depend_on_type_arguments(machine, type_, abilities):
    assert machine.types.abilities(parse_type_tag(type_)) == abilities


def test_abilities_of_unknown_type_raise_link_error(machine):
    with pytest.raises(LinkError, match="does not exist"):
        machine.types.abilities(StructTag(PACKAGE, "m", "Nothing"))


def test_functions_and_datatypes_keep_definition_order(assembler, machine_of):
    struct = assembler.struct("S", ["u8", ("vector", ("T", 0))], phantoms=(0,))
    assembler.enum("E", [["u8"], []])
    boxed = ("data", struct.handle, ("T", 0))
    assembler.function("one", (("&mut", boxed),), ("u8",), [("LD_U8", 1), "RET"], (COPY,))
    assembler.function("two", (), (), None)
    machine = machine_of(assembler.package())
    one, two = machine.types.functions(PACKAGE)
    assert (one.name, one.index, one.is_native, one.type_parameters) == ("one", 0, False, (COPY,))
    assert str(one.parameters[0]) == f"&mut {PACKAGE}::m::S<T0>"
    assert (two.name, two.is_native) == ("two", True)
    assert [datatype.tag.name for datatype in machine.types.datatypes(PACKAGE)] == ["S", "E"]
    enum = machine.types.datatype(StructTag(PACKAGE, "m", "E"))
    assert enum.variants == (("V0", (("f0", Primitive.U8),)), ("V1", ()))


def answer(machine):
    function = machine.types.function(PACKAGE, "m", "answer")
    return machine.call(function, (), [], Context(machine.types, Meter(100)))


def version(new_assembler, number, field):
    assembler = new_assembler()
    assembler.struct("S", [field])
    assembler.function("answer", (), ("u64",), [("LD_U64", number), "RET"])
    return assembler.package()


def test_unpublished_package_can_be_called_and_removed(new_assembler):
    machine = Machine({}, lambda _: None)
    machine.types.publish(version(new_assembler, 1, "u8"))
    assert answer(machine) == [1]
    machine.types.forget(PACKAGE)
    assert machine.types.function(PACKAGE, "m", "answer") is None


def test_removed_package_is_not_used_again(new_assembler):
    machine = Machine({}, lambda _: None)
    tag = VectorTag(StructTag(PACKAGE, "m", "S"))
    machine.types.publish(version(new_assembler, 1, "u8"))
    assert (answer(machine), machine.types.decode(tag, b"\1\7")) == ([1], [[7]])
    machine.types.forget(PACKAGE)
    machine.types.publish(version(new_assembler, 2, "u16"))
    assert (answer(machine), machine.types.decode(tag, b"\1\7\0")) == ([2], [[7]])


def test_call_requires_all_arguments_and_type_arguments(assembler, machine_of):
    assembler.function("f", ("u8",), (), ["RET"], (0,))
    machine = machine_of(assembler.package())
    function = machine.types.function(PACKAGE, "m", "f")
    context = Context(machine.types, Meter(100))
    assert machine.call(function, (Primitive.U8,), [1], context) == []
    with pytest.raises(LinkError, match="1 arguments"):
        machine.call(function, (Primitive.U8,), [], context)
    with pytest.raises(LinkError, match="1 type arguments"):
        machine.call(function, (), [1], context)


def test_function_source_is_readable(assembler, machine_of):
    assembler.function("f", ("u64",), ("u64",), [("COPY_LOC", 0), ("LD_U64", 2), "MUL", "RET"])
    machine = machine_of(assembler.package())
    source = machine.source(machine.types.function(PACKAGE, "m", "f"))
    assert "v0 * 2" in source
    compile(source, "source", "exec")


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ([("COPY_LOC", 0), ("LD_U8", 9), "SHL", "RET"], "# 2 SHL: the bits of a u64"),
        ([("COPY_LOC", 0), ("COPY_LOC", 0), "ADD", "RET"], "# not a u64"),
        ([("COPY_LOC", 0), "CAST_U8", "CAST_U64", "RET"], "# 1 CAST_U8: not a u8"),
    ],
)
def test_function_source_explains_its_numbers(assembler, machine_of, code, says):
    assembler.function("f", ("u64",), ("u64",), code)
    machine = machine_of(assembler.package())
    assert says in machine.source(machine.types.function(PACKAGE, "m", "f"))
