import pytest

from nexus_tools.sui.bcs import BcsError
from nexus_tools.sui.localnet.vm import ErrorKind, InvalidCode, LinkError, PrimitiveError, Variant
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.type_tag import Primitive, StructTag, VectorTag, parse_type_tag

PACKAGE = Address.of(0xABC)


@pytest.fixture
def machine(assembler, machine_of):
    """Return a machine with `m::Point { u8, u64 }`, `m::Box<T> { vector<T> }`, `m::Shape`."""
    assembler.struct("Point", ["u8", "u64"])
    assembler.struct("Box", [("vector", ("T", 0))], phantoms=(0,))
    assembler.enum("Shape", [[], ["u16", ("vector", "u8")]])
    return machine_of(assembler.package())


@pytest.mark.parametrize(
    ("type_", "value", "data"),
    [
        ("bool", True, "01"),
        ("u8", 255, "ff"),
        ("u16", 258, "0201"),
        ("u32", 1, "01000000"),
        ("u64", 2**64 - 1, "ff" * 8),
        ("u128", 1, "01" + "00" * 15),
        ("u256", 2**255, "00" * 31 + "80"),
        ("address", bytes(range(32)), bytes(range(32)).hex()),
        ("vector<u8>", bytearray(b"abc"), "03616263"),
        ("vector<u16>", [1, 2], "0201000200"),
        ("vector<vector<u8>>", [bytearray(b"a"), bytearray()], "02016100"),
        ("0xabc::m::Point", [7, 1], "070100000000000000"),
        ("0xabc::m::Box<u8>", [bytearray(b"ab")], "026162"),
        ("0xabc::m::Box<0xabc::m::Point>", [[[7, 1]]], "01070100000000000000"),
        ("0xabc::m::Shape", Variant(0, []), "00"),
        ("0xabc::m::Shape", Variant(1, [258, bytearray(b"x")]), "0102010178"),
    ],
)
def test_encoding_matches_bcs(machine, type_, value, data):
    tag = parse_type_tag(type_)
    assert machine.types.encode(tag, value).hex() == data
    assert machine.types.decode(tag, bytes.fromhex(data)) == value


def test_decoded_bytearray_is_not_shared(machine):
    tag, data = VectorTag(Primitive.U8), b"\x01a"
    one, other = machine.types.decode(tag, data), machine.types.decode(tag, data)
    assert type(one) is bytearray
    assert one is not other


@pytest.mark.parametrize(
    ("type_", "data"),
    [
        ("bool", "02"),
        ("u64", "00" * 7),
        ("u64", "00" * 9),
        ("vector<u8>", "0261"),
        ("vector<u64>", "ffffffff0f"),
        ("vector<u8>", "8000"),
        ("0xabc::m::Shape", "02"),
        ("0xabc::m::Point", "07"),
        ("address", "00" * 31),
    ],
)
def test_decode_rejects_invalid_bytes(machine, type_, data):
    with pytest.raises(BcsError):
        machine.types.decode(parse_type_tag(type_), bytes.fromhex(data))


@pytest.mark.parametrize(
    "type_", ["0xabc::m::Nothing", "0xabc::n::Point", "0xdef::m::Point", "0xabc::m::Box"]
)
def test_unknown_type_raises_link_error(machine, type_):
    with pytest.raises(LinkError):
        machine.types.decode(parse_type_tag(type_), b"")


def nested(levels):
    tag = Primitive.U64
    for _ in range(levels):
        tag = VectorTag(tag)
    return tag


def test_values_may_be_nested_128_deep(machine):
    assert machine.types.decode(nested(127), b"\x00") == []


def test_deeper_values_are_rejected(machine):
    with pytest.raises(PrimitiveError) as caught:
        machine.types.decode(nested(128), b"\x00")
    assert caught.value.kind == ErrorKind.VM_MAX_VALUE_DEPTH_REACHED


def test_recursive_struct_is_rejected(new_assembler, machine_of):
    assembler = new_assembler()
    assembler.struct("Loop", [("vector", ("data", 0))])
    machine = machine_of(assembler.package())
    with pytest.raises(InvalidCode, match="contains itself"):
        machine.types.decode(StructTag(PACKAGE, "m", "Loop"), b"\x00")


def test_packing_too_deep_value_fails(new_assembler, call):
    """Box<Box<...>> with 70 boxes is 140 deep, because each box contains a vector."""
    assembler = new_assembler()
    box = assembler.struct("Box", [("vector", ("T", 0))], phantoms=(0,))

    def boxed(levels):
        type_ = "u8"
        for _ in range(levels):
            type_ = ("data", box.handle, type_)
        return type_

    for levels in (60, 70):
        instance = assembler.instance(11, box.definition, boxed(levels - 1))
        code = [("VEC_PACK", boxed(levels - 1), 0), ("PACK_GENERIC", instance), "POP", "RET"]
        assembler.function(f"pack{levels}", (), (), code)
    call(assembler, "pack60")
    with pytest.raises(PrimitiveError, match="VM_MAX_VALUE_DEPTH_REACHED"):
        call(assembler, "pack70")


def test_struct_without_fields_is_rejected(new_assembler, machine_of):
    """Its values would have no bytes, so a vector of them could have any length."""
    assembler = new_assembler()
    assembler.struct("Nothing", [])
    machine = machine_of(assembler.package())
    with pytest.raises(InvalidCode, match="has no field"):
        machine.types.decode(VectorTag(StructTag(PACKAGE, "m", "Nothing")), b"\xff\xff\xff\xff\x0f")
