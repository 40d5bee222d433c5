from nexus_tools.sui.localnet.framework import load_framework
from nexus_tools.sui.localnet.framework.search import find_packages
from nexus_tools.sui.types.address import MOVE_STDLIB

MAGIC = bytes.fromhex("a11ceb0b")


def package(modules):
    """Return BCS of `vector<vector<u8>>`, for fewer than 128 modules of fewer than 128 bytes."""
    return bytes([len(modules)]) + b"".join(bytes([len(m)]) + m for m in modules)


def short_modules():
    modules = load_framework()[MOVE_STDLIB].modules
    return tuple(sorted(modules, key=len)[:4])


def test_packages_are_found_among_other_bytes():
    first, second = short_modules()[:2], short_modules()[2:]
    data = b"noise" + package(first) + b"noise" + MAGIC + b"\x07noise" + package(second) + b"noise"
    assert list(find_packages(data)) == [first, second]


def test_adjacent_packages_are_separate():
    first, second = short_modules()[:2], short_modules()[2:]
    assert list(find_packages(package(first) + package(second))) == [first, second]


def test_package_with_wrong_module_count_is_ignored():
    data = bytearray(b"noise" + package(short_modules()))
    data[5] = 5
    assert list(find_packages(bytes(data))) == []


def test_module_with_wrong_length_is_ignored():
    modules = short_modules()
    assert list(find_packages(bytes([1, len(modules[0]) + 1]) + modules[0] + b"\x00")) == []


def test_data_after_requested_package_are_not_read():
    class Watched(bytes):
        def find(self, wanted, start=0, end=None):
            looked_at.append(len(self) if end is None else end)
            found = super().find(wanted, start, end)
            looked_at[-1] = found if found >= 0 else looked_at[-1]
            return found

        def __getitem__(self, key):
            return bytes(super().__getitem__(key))

    looked_at = []
    wanted = package(short_modules())
    data = Watched(wanted + b"noise" * 100 + package(short_modules()[:1]))
    assert next(find_packages(data)) == short_modules()
    assert max(looked_at) < len(wanted) + 10


def test_empty_data_have_no_packages():
    assert list(find_packages(b"")) == []
    assert list(find_packages(MAGIC)) == []
