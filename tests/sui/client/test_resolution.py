from nexus_tools.sui.client.transactions.resolution import ObjectCache
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.object import AddressOwner, ObjectReference

ID = Address.of(7)
OWNER = AddressOwner(Address.of(1))


def reference(version):
    return ObjectReference(ID, version, Digest(bytes([version] * 32)))


def test_newer_version_replaces_an_older_one_only():
    known = ObjectCache()
    known.add(OWNER, reference(5))
    known.add(OWNER, reference(4))
    assert known[ID] == (OWNER, reference(5))
    known.add(OWNER, reference(6))
    assert known[ID] == (OWNER, reference(6))


def test_forgotten_object_is_unknown():
    known = ObjectCache()
    known.add(OWNER, reference(5))
    known.forget([ID, Address.of(8)])
    assert ID not in known


def test_cache_is_bounded_and_evicts_the_oldest(monkeypatch):
    monkeypatch.setattr("nexus_tools.sui.client.transactions.resolution.MAX_CACHED_OBJECTS", 2)
    known = ObjectCache()
    for number in (1, 2, 3):
        known.add(OWNER, ObjectReference(Address.of(number), 1, Digest(bytes(32))))
    assert [Address.of(number) in known for number in (1, 2, 3)] == [False, True, True]
