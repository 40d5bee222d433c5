"""`sui::group_ops` through `sui::bls12381`: elements of the framework's own tests.

Source of the points that are not in their groups: the tests of Ethereum's consensus
(bls12-381-tests). Prices: `Mainnet_version_105.snap` of `sui-protocol-config`.
"""

import pytest

from nexus_tools.sui.localnet.vm import Reference

SCALAR, G1, G2, GT, UNCOMPRESSED_G1 = range(5)
NAMES = {"g1": G1, "g2": G2, "gt": GT}
ORDER = 0x73EDA753299D7D483339D80809A1D80553BDA402FFFE5BFEFFFFFFFF00000001
PRIME = (
    "1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf"
    "6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab"
)
OUTSIDE_G1 = "8" + "123456789abcdef0" * 5 + "123456789abcdef"
OUTSIDE_G2 = OUTSIDE_G1 + "0123456789abcdef" * 6


def reference(value):
    return Reference([value], 0)


def scalar(number):
    return number.to_bytes(32, "big")


@pytest.fixture
def group(call, ref):
    """Return group(function, number, bytes…), which calls a native with bytes by reference."""

    def group(function, *arguments):
        arguments_by_reference = [
            ref(argument) if isinstance(argument, bytes) else argument for argument in arguments
        ]
        result = call("group_ops", f"internal_{function}", *arguments_by_reference)
        return bytes(result) if isinstance(result, bytearray) else result

    return group


@pytest.fixture
def refused(call, ref):
    """Return the abort code of such a call."""

    def refused(function, *arguments):
        arguments_by_reference = [
            ref(argument) if isinstance(argument, bytes) else argument for argument in arguments
        ]
        return call.aborts("group_ops", f"internal_{function}", *arguments_by_reference)

    return refused


@pytest.fixture
def elements(bls12381):
    """Return elements(name): a group's identity, its generator, and 54321 times the generator."""

    def elements(name):
        return [bytes.fromhex(encoded) for encoded in bls12381["groups"][name].values()]

    return elements


# --- Arithmetic


@pytest.mark.parametrize("name", NAMES)
def test_generator_multiples_match_framework_tests(group, elements, name):
    identity, generator, multiplied = elements(name)
    number = NAMES[name]
    assert group("mul", number, scalar(54321), generator) == multiplied
    assert group("div", number, scalar(54321), multiplied) == generator
    assert group("mul", number, scalar(ORDER - 54321), generator) == group(
        "sub", number, identity, multiplied
    )
    assert group("mul", number, scalar(0), generator) == identity


@pytest.mark.parametrize("name", NAMES)
def test_elements_are_added_and_subtracted(group, elements, name):
    identity, generator, multiplied = elements(name)
    number = NAMES[name]
    less = group("sub", number, multiplied, generator)
    assert less == group("mul", number, scalar(54320), generator)
    assert group("add", number, less, generator) == multiplied
    assert group("add", number, identity, generator) == generator
    assert group("sub", number, generator, generator) == identity
    assert group("add", number, generator, generator) == group("mul", number, scalar(2), generator)


def test_scalars_are_integers_modulo_the_order(group):
    eight, three = scalar(8), scalar(3)
    assert group("add", SCALAR, eight, scalar(ORDER - 3)) == scalar(5)
    assert group("sub", SCALAR, three, eight) == scalar(ORDER - 5)
    assert group("mul", SCALAR, eight, three) == scalar(24)
    assert group("div", SCALAR, eight, scalar(24)) == three  # the second by the first


def test_too_large_trusted_scalars_are_reduced(group):
    assert group("add", SCALAR, b"\xff" * 32, scalar(1)) == scalar(2**256 % ORDER)


@pytest.mark.parametrize("number", [SCALAR, *NAMES.values()])
def test_division_by_zero_aborts(refused, elements, number):
    name = {one: name for name, one in NAMES.items()}.get(number)
    dividend = elements(name)[1] if name else scalar(1)
    assert refused("div", number, scalar(0), dividend) == 1


@pytest.mark.parametrize("function", ["add", "sub", "mul", "div"])
def test_bytes_of_other_group_are_rejected(refused, elements, function):
    _, g1, _ = elements("g1")
    _, g2, _ = elements("g2")
    first = scalar(2) if function in {"mul", "div"} else g1
    assert refused(function, G1, first, g2) == 1
    assert refused(function, UNCOMPRESSED_G1, first, g1) == 1
    assert refused(function, GT, first, b"\xff" * 576) == 1


# --- Bytes


@pytest.mark.parametrize("name", ["g1", "g2"])
def test_group_elements_are_valid(group, elements, name):
    assert all(group("validate", NAMES[name], element) for element in elements(name))


@pytest.mark.parametrize(
    ("number", "data"),
    [
        (SCALAR, ""),
        (SCALAR, "00" * 31),
        (SCALAR, "00" * 33),
        (SCALAR, scalar(ORDER).hex()),
        (G1, ""),
        (G1, OUTSIDE_G1),
        (G1, OUTSIDE_G1[:-1] + "0"),  # not a point of the curve
        (G1, "c0" + "00" * 46 + "01"),
        (G1, "e0" + "00" * 47),
        (G1, "40" + "00" * 47),
        (G1, "80" + "00" * 47),  # (0, 2)
        (G1, "9" + PRIME[1:]),  # zero, not reduced
        (G2, OUTSIDE_G2),
        (G2, OUTSIDE_G1),
        (G2, "c0" + "00" * 94 + "01"),
        (UNCOMPRESSED_G1, "40" + "00" * 95),
        (9, ""),
    ],
)
def test_other_bytes_are_not_valid_elements(group, number, data):
    assert group("validate", number, bytes.fromhex(data)) is False


def test_largest_scalar_is_valid(group):
    assert group("validate", SCALAR, scalar(ORDER - 1)) is True


@pytest.mark.parametrize("place", [0, 1])
def test_points_are_converted_and_back(group, elements, place):
    compressed, uncompressed = elements("g1")[place], elements("uncompressed_g1")[place]
    assert group("convert", G1, UNCOMPRESSED_G1, compressed) == uncompressed
    assert group("convert", UNCOMPRESSED_G1, G1, uncompressed) == compressed


def test_only_g1_points_are_converted(refused, elements):
    _, uncompressed = elements("uncompressed_g1")
    for flag in (0x20, 0x40, 0x80):
        wrong = bytes([uncompressed[0] | flag]) + uncompressed[1:]
        assert refused("convert", UNCOMPRESSED_G1, G1, wrong) == 1
    assert refused("convert", UNCOMPRESSED_G1, G1, bytes(96)) == 1
    assert refused("convert", G1, G1, elements("g1")[1]) == 1
    assert refused("convert", G2, UNCOMPRESSED_G1, elements("g2")[1]) == 1


# --- Sums


def test_uncompressed_points_are_summed(group, elements):
    identity, generator = elements("uncompressed_g1")
    doubled = group("mul", G1, scalar(2), elements("g1")[1])
    terms = [bytearray(generator), bytearray(identity), bytearray(generator)]
    summed = group("sum", UNCOMPRESSED_G1, reference(terms))
    assert summed == group("convert", G1, UNCOMPRESSED_G1, doubled)
    assert group("sum", UNCOMPRESSED_G1, reference([])) == identity


def test_sum_has_at_most_1200_terms(group, refused, elements):
    identity, _ = elements("uncompressed_g1")
    assert group("sum", UNCOMPRESSED_G1, reference([identity] * 1_200)) == identity
    assert refused("sum", UNCOMPRESSED_G1, reference([identity] * 1_201)) == 2
    assert refused("sum", G1, reference([identity])) == 1


@pytest.mark.parametrize("name", ["g1", "g2"])
def test_multiples_of_points_are_summed(group, elements, name):
    identity, generator, multiplied = elements(name)
    scalars = [2, 0, 7, ORDER - 1, 54321]
    points = [generator, multiplied, identity, multiplied, generator]
    summed = group(
        "multi_scalar_mul", NAMES[name], b"".join(map(scalar, scalars)), b"".join(points)
    )
    assert summed == group("mul", NAMES[name], scalar(2), generator)


@pytest.mark.parametrize(
    ("number", "scalars", "points", "code"),
    [
        (G1, 0, 0, 1),
        (G1, 2, 1, 1),
        (G1, 1, 2, 1),
        (G1, 33, 33, 2),
        (GT, 1, 1, 1),
        (G2, 2, 1, 1),
    ],
)
def test_scalar_and_point_counts_must_match_up_to_32(
    refused, elements, number, scalars, points, code
):
    _, generator, _ = elements("g1")
    data = scalar(1) * scalars, generator * points
    assert refused("multi_scalar_mul", number, *data) == code


# --- Pairing and hashing


def test_pairing_is_bilinear(group, elements):
    (zero1, one1, many1), (zero2, one2, many2) = elements("g1"), elements("g2")
    identity, generator, multiplied = elements("gt")
    assert group("pairing", G1, one1, one2) == generator
    assert group("pairing", G1, many1, one2) == multiplied
    assert group("pairing", G1, one1, many2) == multiplied
    for pair in ((zero1, zero2), (one1, zero2), (zero1, one2)):
        assert group("pairing", G1, *pair) == identity


def test_pairing_is_called_with_its_first_group(refused, elements):
    assert refused("pairing", G2, elements("g1")[1], elements("g2")[1]) == 1


def test_messages_hash_to_the_points_of_signatures(group, bls12381, elements):
    parts = {name: bytes.fromhex(each) for name, each in bls12381["min_sig"].items()}
    hashed = group("hash_to", G1, parts["message"])
    assert group("pairing", G1, hashed, parts["public_key"]) == group(
        "pairing", G1, parts["signature"], elements("g2")[1]
    )


def test_hash_of_empty_message_or_to_other_group_aborts(refused):
    assert [refused("hash_to", G1, b""), refused("hash_to", G2, b"")] == [1, 1]
    assert [refused("hash_to", number, b"abc") for number in (SCALAR, GT, 9)] == [1, 1, 1]


# --- Prices


@pytest.mark.parametrize(
    ("function", "name", "cost"),
    [
        ("add", "g1", 1_556),
        ("add", "g2", 3_048),
        ("add", "gt", 188),
        ("sub", "g1", 1_550),
        ("sub", "g2", 3_019),
        ("sub", "gt", 497),
        ("mul", "g1", 4_842),
        ("mul", "g2", 9_108),
        ("mul", "gt", 27_490),
        ("div", "g1", 5_091),
        ("div", "g2", 9_206),
        ("div", "gt", 27_804),
    ],
)
def test_operation_costs_match_the_protocol(call, group, elements, function, name, cost):
    _, generator, _ = elements(name)
    first = scalar(5) if function in {"mul", "div"} else generator
    group(function, NAMES[name], first, generator)
    assert call.runtime.gas.used == cost


@pytest.mark.parametrize(
    ("arguments", "cost"),
    [
        (("validate", SCALAR, b""), 7),
        (("validate", G1, b""), 2_848),
        (("validate", G2, b""), 3_770),
        (("validate", GT, b""), 0),
        (("add", SCALAR, bytes(32), bytes(32)), 10),
        (("sub", SCALAR, bytes(32), bytes(32)), 10),
        (("mul", SCALAR, bytes(32), bytes(32)), 11),
        (("div", SCALAR, scalar(1), bytes(32)), 91),
        (("hash_to", G1, b"abc"), 2_962 + 2 * 3),
        (("hash_to", G2, b"abc"), 8_688 + 2 * 3),
    ],
)
def test_validation_scalar_and_hash_costs_match_the_protocol(call, group, arguments, cost):
    group(*arguments)
    assert call.runtime.gas.used == cost


def test_pairing_and_conversion_costs_match_the_protocol(call, group, elements):
    _, generator, _ = elements("g1")
    _, uncompressed = elements("uncompressed_g1")
    spent = []
    for arguments in (
        ("pairing", G1, generator, elements("g2")[1]),
        ("convert", G1, UNCOMPRESSED_G1, generator),
        ("convert", UNCOMPRESSED_G1, G1, uncompressed),
        ("sum", UNCOMPRESSED_G1, reference([uncompressed] * 3)),
    ):
        before = call.runtime.gas.used
        group(*arguments)
        spent.append(call.runtime.gas.used - before)
    assert spent == [26_897, 2_099, 677, 77 + 3 * 26]


# The numbers of additions are those of `test_msm_factor` in `group_ops.rs`.
@pytest.mark.parametrize(
    ("count", "additions"), [(1, 1_020), (2, 896), (3, 1_024), (4, 1_152), (32, 3_485)]
)
@pytest.mark.parametrize(
    ("name", "point", "base", "addition"),
    [("g1", 2_848, 62_648, 1_333), ("g2", 3_770, 131_192, 3_216)],
)
def test_multi_scalar_cost_depends_on_additions(
    call, group, elements, name, point, base, addition, count, additions
):
    _, generator, _ = elements(name)
    group("multi_scalar_mul", NAMES[name], scalar(3) * count, generator * count)
    assert call.runtime.gas.used == (7 + point) * count + base + addition * additions
