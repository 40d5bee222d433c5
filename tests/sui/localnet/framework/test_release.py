"""Other frameworks: read from a folder, identified by their digests, used by a network."""

import pytest

from nexus_tools.errors import ValidationError, WrongStateError
from nexus_tools.sui.bytecode import deserialize, relocate_module
from nexus_tools.sui.localnet import Origin, ThreadedLocalnet
from nexus_tools.sui.localnet.compiler import MoveBuilder
from nexus_tools.sui.localnet.framework import (
    FrameworkPackage,
    Release,
    embedded_release,
    read_release,
    write_release,
)
from nexus_tools.sui.localnet.genesis import framework_packages
from nexus_tools.sui.localnet.move_test import MoveTestRunner, Verdict, build_tests
from nexus_tools.sui.types.address import MOVE_STDLIB, Address

MANIFEST = '[package]\nname = "{0}"\nedition = "2024"\n\n[addresses]\n{0} = "0x0"\n'
NEWER = """module newer::thing;
public fun forty_two(): u64 { 42 }
public native fun unheard_of(): u64;
"""
APP = """module app::main;
public fun answer(): u64 { std::thing::forty_two() }
public fun ask(): u64 { std::thing::unheard_of() }
#[test] fun answers() { assert!(answer() == 42) }
#[test] fun asks() { ask(); }
"""
# Digests of mainnet-v1.62.1, from Sui's manifest of framework snapshots.
DIGESTS = {
    "0x1": "987480925b0bfa70cbd975b5b37ca43b61dd1d8767b0c06dfeb7219cdb04c824",
    "0x2": "3d78a6a827a0882985e39438dc0d6f42431e3a117d685901d758c01ab3cefc1c",
    "0x3": "a31dbb16ba67d5e2279cd95bc99f349a1ec49ae15bdf30f459a82664123b24df",
}


def sources(name, text):
    return {"Move.toml": MANIFEST.format(name), "sources/main.move": text}


@pytest.fixture(scope="module")
def newer(move_builder):
    """Return a framework whose standard library has one more module, with an unknown native."""
    (data,) = move_builder.build(sources("newer", NEWER)).modules
    moved, _ = relocate_module(data, deserialize(data), MOVE_STDLIB)
    packages = dict(embedded_release().packages)
    library = packages[MOVE_STDLIB]
    packages[MOVE_STDLIB] = FrameworkPackage(MOVE_STDLIB, (*library.modules, moved), ())
    return Release("newer", packages)


@pytest.fixture(scope="module")
def newer_builder(newer, compiler_cache):
    dist = compiler_cache / "sui-move-builder" / "dist"
    return MoveBuilder(dist, compiler_cache / "wasmtime", release=newer)


def test_written_framework_can_be_read_again(tmp_path):
    write_release(embedded_release(), tmp_path)
    assert (tmp_path / "0x1" / "vector.mv").is_file()
    assert read_release(tmp_path).digests == DIGESTS


def test_folder_with_missing_package_is_rejected(tmp_path):
    write_release(embedded_release(), tmp_path)
    for path in (tmp_path / "0x3").iterdir():
        path.unlink()
    with pytest.raises(ValidationError, match="no modules of 0x3") as caught:
        read_release(tmp_path)
    assert caught.value.code == "framework_incomplete"


def test_invalid_module_file_is_named(tmp_path):
    write_release(embedded_release(), tmp_path)
    (tmp_path / "0x2" / "coin.mv").write_bytes(b"no module")
    with pytest.raises(ValidationError, match=r"coin\.mv is not a Move module"):
        read_release(tmp_path)


def test_packages_are_compiled_for_framework_of_their_network(move_builder, newer_builder):
    app = sources("app", APP)
    assert len(newer_builder.build(app).modules) == 1
    with pytest.raises(ValidationError, match="std::thing"):
        move_builder.build(app)


def test_tests_run_with_framework_and_report_missing_native(newer_builder):
    build = build_tests(newer_builder, sources("app", APP))
    results = {
        result.test.name: result for result in MoveTestRunner(build, seed=1).run(build.tests)
    }
    assert results["answers"].verdict is Verdict.PASS
    assert results["asks"].verdict is Verdict.ERROR
    missing = "native function 0x1::thing::unheard_of does not exist"
    assert missing in results["asks"].explanation.summary
    assert "framework 1.62.1" in results["asks"].explanation.summary


def test_new_network_uses_the_given_framework(newer):
    with ThreadedLocalnet(origin=Origin(newer)) as net:
        digests = net.call(lambda localnet: localnet.framework)
        (library, *_) = framework_packages(newer)
        found = net.call(lambda localnet: localnet.node.ledger.get(Address(MOVE_STDLIB)))
    assert digests == newer.digests
    assert digests["0x2"] == DIGESTS["0x2"]
    assert found.data == library


def test_restarted_network_keeps_framework_and_version(newer, tmp_path):
    with ThreadedLocalnet(state=tmp_path, origin=Origin(newer, 139)):
        pass
    with ThreadedLocalnet(state=tmp_path) as net:
        assert net.call(lambda localnet: localnet.protocol_version) == 139
        assert net.call(lambda localnet: localnet.framework) == newer.digests
    for other in (Origin(embedded_release()), Origin(protocol_version=105)):
        with (
            pytest.raises(WrongStateError, match="existing network") as caught,
            ThreadedLocalnet(state=tmp_path, origin=other),
        ):
            pass
        assert caught.value.code == "genesis_config_differs"
