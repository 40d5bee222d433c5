from msgspec.structs import replace

from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.address_balance import (
    CoinReservation,
    is_coin_reservation,
    reserved_amount,
)
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.object import ObjectReference
from nexus_tools.sui.types.type_tag import SUI

CHAIN = Digest(bytes(range(32)))
ALICE = Address.of(0xA11CE)
# `createCoinReservationRef(500_000_001n, "0x…a11ce", chain, "7")` of @mysten/sui 2.33.1.
REFERENCE = ObjectReference(
    Address.parse("0xc506489fae594edd6c4a004162b2fa57a1ca2b1ab45e9d13f4397ad2544446ec"),
    0,
    Digest.parse("6TSbFZSx4UdydsovEoUqJhqfckGZJtPUyxyXvv7FykX"),
)


def test_reservation_is_encoded_as_a_reference():
    reservation = CoinReservation.of(ALICE, SUI, 500_000_001, epoch=7)
    assert reservation.reference(CHAIN) == REFERENCE
    assert CoinReservation.parse(REFERENCE, CHAIN) == reservation
    assert reserved_amount(REFERENCE) == 500_000_001


def test_reservation_names_no_balance_on_another_chain():
    assert CoinReservation.parse(REFERENCE, Digest(bytes(32))).accumulator != (
        CoinReservation.parse(REFERENCE, CHAIN).accumulator
    )


def test_reservation_is_recognized_by_the_end_of_its_digest():
    assert is_coin_reservation(REFERENCE)
    changed = bytes(REFERENCE.digest)[:12] + b"\xad" + bytes(REFERENCE.digest)[13:]
    assert not is_coin_reservation(replace(REFERENCE, digest=Digest(changed)))
