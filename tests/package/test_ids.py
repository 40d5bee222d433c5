from hashlib import blake2b

from hypothesis import given
from hypothesis import strategies as st

from nexus_tools.package import responsible, tool_id
from nexus_tools.sui.address import Address
from nexus_tools.tool import ToolFqn

# Ids of tools on Talus' test network, under a derived-object key of the type `0x1::ascii::String`.
REGISTRY = Address.parse("0x940f0dd81d4e4ae2cd476ff61ca5699e0d9356e1874d6c4ba3a5bdf28e67b9e9")
ADD = "0x63152163bf12d54f38742656cba5d37a05e89d3ef5df7e9d22062e7bff0aed35"
MUL = "0xc841b225a7e79c76942f3df05f1fcf17c2b259626ed51cb84e562cb3403604da"

LEADERS = tuple(Address.of(number) for number in range(1, 6))


def test_the_id_of_a_tool_is_that_of_the_real_chain():
    assert str(tool_id(REGISTRY, ToolFqn.parse("xyz.taluslabs.math.i64.add@1"))) == ADD
    assert str(tool_id(REGISTRY, ToolFqn.parse("xyz.taluslabs.math.i64.mul@1"))) == MUL


def test_without_leaders_nobody_is_responsible():
    assert responsible(b"key", ()) == ()


def test_a_single_leader_is_responsible_alone():
    assert responsible(b"key", LEADERS[:1]) == LEADERS[:1]


def test_the_digest_of_the_key_chooses_both_leaders():
    # RFC 7693 has no vector of 32 bytes: the digest is taken from the standard library.
    digest = blake2b(b"key", digest_size=32).digest()
    numbers = [sum(byte << 8 * i for i, byte in enumerate(digest[at : at + 8])) for at in (0, 8)]
    first = numbers[0] % 5
    second = [(first + 1 + step) % 5 for step in range(4)][numbers[1] % 4]
    assert responsible(b"key", LEADERS) == (LEADERS[first], LEADERS[second])


@given(st.binary(max_size=64), st.integers(2, 5))
def test_primary_and_secondary_are_two_leaders(key, count):
    primary, secondary = responsible(key, LEADERS[:count])
    assert primary != secondary
    assert {primary, secondary} <= set(LEADERS[:count])
