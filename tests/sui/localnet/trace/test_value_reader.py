import pytest

from nexus_tools.sui.localnet.execution import machine_for
from nexus_tools.sui.localnet.trace import as_text
from nexus_tools.sui.localnet.trace.value_reader import MAX_NODES, ValueReader
from nexus_tools.sui.localnet.vm import LinkError, ReferenceType, borrow
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.type_tag import Primitive, VectorTag, parse_type_tag

U64 = Primitive.U64
ID = bytes(31) + b"\7"


@pytest.fixture
def reader(shared_world):
    return ValueReader(machine_for(shared_world.node.ledger))


# Values of the VM: a struct is a list of its fields, a vector of bytes a bytearray.
@pytest.mark.parametrize(
    ("type_", "value", "text"),
    [
        ("address", ID, "0x7"),
        ("vector<u8>", bytearray(b"ab"), 'b"ab"'),
        ("vector<vector<u64>>", [[1], []], "[[1], []]"),
        ("0x1::string::String", [bytearray(b"ab")], '"ab"'),
        ("0x1::ascii::String", [bytearray(b"ab")], '"ab"'),
        ("0x1::type_name::TypeName", [[bytearray(b"u64")]], '"u64"'),
        ("0x2::url::Url", [[bytearray(b"http://x")]], '"http://x"'),
        ("0x1::option::Option<u8>", [bytearray()], "none"),
        ("0x1::option::Option<u8>", [bytearray(b"\5")], "some(5)"),
        ("0x1::option::Option<u64>", [[5]], "some(5)"),
        ("0x2::object::ID", [ID], "0x7"),
        ("0x2::object::UID", [[ID]], "0x7"),
        ("0x2::coin::Coin<0x2::sui::SUI>", [[[ID]], [9]], "Coin<SUI> {id: 0x7, balance: 9}"),
        ("0x2::vec_map::Entry<u8, bool>", [1, True], "Entry<u8, bool> {key: 1, value: true}"),
    ],
)
def test_values_are_read_by_type(reader, type_, value, text):
    assert as_text(reader.read(parse_type_tag(type_), value)) == text


def test_enum_has_the_name_of_its_variant(world, reader):
    executed = world.run("start", world.counter, Address.of(6))
    counter = next(value for value in executed.output_objects if value.type == world.tag("Counter"))
    read = reader.decode(counter.type, counter.data.contents)
    assert as_text(read["status"]) == f"Status::Active {{since: {world.START_MS}}}"


def test_read_value_does_not_change_later(reader):
    values = [1, 2]
    read = reader.read(ReferenceType(VectorTag(U64), mutable=True), borrow(values))
    values.append(3)
    assert as_text(read) == "[1, 2]"


def test_large_vector_is_truncated(reader):
    read = reader.read(VectorTag(U64), list(range(MAX_NODES + 1)))
    assert len(read.content) + read.omitted == MAX_NODES + 1
    assert len(read.content) < MAX_NODES
    read = reader.read(VectorTag(Primitive.U8), bytearray(200_000))
    assert (len(read.content), read.omitted) == (32 * MAX_NODES, 200_000 - 32 * MAX_NODES)


def test_nested_vectors_of_a_large_vector_are_truncated(reader):
    value = [[0] * 1_000 for _ in range(100)]
    read = reader.read(VectorTag(VectorTag(U64)), value)
    assert sum(len(element.content) for element in read.content) <= MAX_NODES
    assert len(read.content) + read.omitted == 100


def test_all_values_together_stay_below_the_limit(shared_world, monkeypatch):
    monkeypatch.setattr("nexus_tools.sui.localnet.trace.value_reader.MAX_NODES_TOTAL", 10)
    reader = ValueReader(machine_for(shared_world.node.ledger))
    kept = [len(reader.read(VectorTag(U64), [0] * 6).content) for _ in range(3)]
    assert kept == [6, 2, 0]


def test_unknown_type_is_refused(reader):
    with pytest.raises(LinkError):
        reader.read(parse_type_tag("0x2::coin::Nothing"), [])
