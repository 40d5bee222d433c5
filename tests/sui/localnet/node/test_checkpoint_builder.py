from types import SimpleNamespace

from nexus_tools.sui.localnet.node.checkpoint_builder import PendingObjects
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.object import AddressOwner, MoveObject, Object
from nexus_tools.sui.types.type_tag import SUI

OWNER = AddressOwner(Address.of(0xA))


def value(number, version):
    data = MoveObject(SUI, False, version, bytes(Address.of(number)))
    return Object(data, OWNER, Digest(bytes(32)), 0)


class Store:
    """Objects 1 and 2, each in version 1."""

    def __init__(self):
        self.objects = {Address.of(number): value(number, 1) for number in (1, 2)}

    def get(self, object_id):
        return self.objects.get(object_id)

    def get_version(self, object_id, version):
        found = self.objects.get(object_id)
        return found if found and found.version == version else None


def pending(written=(), removed=()):
    objects = PendingObjects(Store())
    objects.take_in(
        SimpleNamespace(
            written={entry.id: entry for entry in written},
            removed={Address.of(number): value(number, 1) for number in removed},
        )
    )
    return objects


def test_pending_objects_return_the_new_version():
    objects = pending(written=[value(1, 2), value(3, 2)])
    assert objects.get(Address.of(1)).version == 2
    assert objects.get(Address.of(2)).version == 1
    assert objects.get(Address.of(3)).version == 2


def test_pending_objects_return_earlier_versions():
    objects = pending(written=[value(1, 2)])
    assert objects.get_version(Address.of(1), 1).version == 1
    assert objects.get_version(Address.of(1), 2).version == 2
    assert objects.get_version(Address.of(1), 3) is None


def test_pending_objects_hide_removed_objects():
    objects = pending(removed=[1])
    assert objects.get(Address.of(1)) is None
    assert objects.get_version(Address.of(1), 1).version == 1


def test_pending_objects_return_the_latest_change():
    objects = pending(removed=[1])
    objects.take_in(SimpleNamespace(written={Address.of(1): value(1, 3)}, removed={}))
    assert objects.get(Address.of(1)).version == 3
