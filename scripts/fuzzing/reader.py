"""The parser of module files: for any bytes, it returns a module or raises `MalformedModule`."""

from hypothesis import strategies as st

from fuzzing.corpus import framework_files, user_packages
from fuzzing.finding import Broken
from fuzzing.mutation import mutated, weighted
from nexus_tools.sui.bytecode import (
    AlreadyPublished,
    MalformedModule,
    UnpublishableModule,
    check_publishable,
    deserialize,
    relocate_module,
    serialize,
)
from nexus_tools.sui.types.address import Address

_MAGIC = bytes.fromhex("a11ceb0b")


def inputs() -> st.SearchStrategy[bytes]:
    """Return mutated genuine modules, and sometimes bytes that only start like a module."""
    users = [file for package in user_packages() for file in package.values()]
    front = st.sampled_from([b"\6\0\0\0", b"\7\0\0\5"])
    noise = st.builds(lambda version, rest: _MAGIC + version + rest, front, st.binary(max_size=200))
    return weighted((9, mutated([*framework_files(), *users])), (1, noise))


def check(data: bytes) -> str:
    """Check that a parsed module serializes to the same bytes, and that it can be verified."""
    try:
        module = deserialize(data)
    except MalformedModule:
        return "malformed"
    if deserialize(serialize(module)) != module:
        raise Broken("a module does not round-trip")
    try:
        check_publishable(module)
        relocate_module(data, module, Address.of(7))
    except UnpublishableModule:
        return "unpublishable"
    except AlreadyPublished:
        return "published"
    return "module"
