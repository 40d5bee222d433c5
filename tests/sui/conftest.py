"""Strategies for the values of the Sui types."""

import pytest
from hypothesis import strategies as st

from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.object import (
    AddressOwner,
    ConsensusAddressOwner,
    Immutable,
    ObjectOwner,
    ObjectReference,
    Shared,
)
from nexus_tools.sui.types.type_tag import Primitive, StructTag, VectorTag


class Strategies:
    """One strategy for each kind of value."""

    u16 = st.integers(0, 2**16 - 1)
    u64 = st.integers(0, 2**64 - 1)
    raw = st.binary(max_size=40)
    addresses = st.binary(min_size=32, max_size=32).map(Address)
    digests = st.binary(min_size=32, max_size=32).map(Digest)
    names = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
    references = st.builds(ObjectReference, addresses, u64, digests)
    owners = st.one_of(
        st.builds(AddressOwner, addresses),
        st.builds(ObjectOwner, addresses),
        st.builds(Shared, u64),
        st.just(Immutable()),
        st.builds(ConsensusAddressOwner, u64, addresses),
    )
    type_tags = st.recursive(
        st.sampled_from(Primitive),
        lambda inner: (
            st.builds(VectorTag, inner)
            | st.builds(
                StructTag,
                st.binary(min_size=32, max_size=32).map(Address),
                st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True),
                st.from_regex(r"[A-Z][A-Za-z0-9]{0,8}", fullmatch=True),
                st.lists(inner, max_size=3).map(tuple),
            )
        ),
        max_leaves=6,
    )
    struct_tags = st.builds(
        StructTag, addresses, names, names, st.lists(type_tags, max_size=2).map(tuple)
    )

    @staticmethod
    def tuples(strategy, max_size=3):
        return st.lists(strategy, max_size=max_size).map(tuple)


@pytest.fixture(scope="session")
def strategies():
    return Strategies
