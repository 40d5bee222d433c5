"""Frameworks from a folder, or from a node that is queried once."""

import asyncio

import pytest

from nexus_tools.errors import UnreachableError, UsageError
from nexus_tools.sui.framework_source import find_release
from nexus_tools.sui.localnet import ThreadedLocalnet
from nexus_tools.sui.localnet.framework import embedded_release, write_release


def find(source, cache):
    return asyncio.run(find_release(str(source), cache))


def test_framework_is_read_from_folder(tmp_path):
    write_release(embedded_release(), tmp_path / "modules")
    release = find(tmp_path / "modules", tmp_path / "cache")
    assert release.digests == embedded_release().digests
    assert not (tmp_path / "cache").exists()


def test_framework_of_node_is_read_once(tmp_path):
    with ThreadedLocalnet() as net:
        first = find(net.url, tmp_path)
        url = net.url
    again = find(f"{url}/", tmp_path)  # no server listens there now
    assert first.name == again.name == url
    assert first.digests == again.digests == embedded_release().digests
    assert (tmp_path / "frameworks" / first.digest / "0x2" / "coin.mv").is_file()


def test_changed_cache_entry_is_read_again(tmp_path):
    with ThreadedLocalnet() as net:
        release = find(net.url, tmp_path)
        file = tmp_path / "frameworks" / release.digest / "0x1" / "vector.mv"
        original = file.read_bytes()
        file.unlink()
        assert find(net.url, tmp_path).digest == release.digest
        assert file.read_bytes() == original


def test_unreachable_node_raises(tmp_path):
    with ThreadedLocalnet() as net:
        url = net.url
    with pytest.raises(UnreachableError):
        find(url, tmp_path)


def test_find_release_rejects_other_sources(tmp_path):
    with pytest.raises(UsageError, match="neither a folder nor the URL") as caught:
        find("mainnet", tmp_path)
    assert caught.value.code == "framework_source_invalid"
