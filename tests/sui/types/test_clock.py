from nexus_tools.sui.types.address import CLOCK
from nexus_tools.sui.types.clock import CLOCK_TYPE, clock_contents, clock_input, clock_ms
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.object import MoveObject, Object, Shared
from nexus_tools.sui.types.transaction import SharedObject

# 0x18bcfe56800 ms is 2023-11-14 22:13:20 UTC.
AT = 1_700_000_000_000
CONTENTS = bytes.fromhex(f"{6:064x}" + "0068e5cf8b010000")


def test_clock_is_its_id_and_the_time():
    assert clock_contents(AT) == CONTENTS
    data = MoveObject(CLOCK_TYPE, has_public_transfer=False, version=7, contents=CONTENTS)
    clock = Object(data, Shared(1), Digest(bytes(32)), 0)
    assert (clock.id, clock_ms(clock)) == (CLOCK, AT)


def test_clock_input_has_the_version_of_every_genesis():
    assert clock_input(mutable=False) == SharedObject(CLOCK, 1, mutable=False)
