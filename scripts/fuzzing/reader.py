"""The reader of module files: bytes end as a module or as `MalformedModule`."""

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
    """Genuine modules with changes, and now and then bytes that only begin like one."""
    users = [file for package in user_packages() for file in package.values()]
    front = st.sampled_from([b"\6\0\0\0", b"\7\0\0\5"])
    noise = st.builds(lambda version, rest: _MAGIC + version + rest, front, st.binary(max_size=200))
    return weighted((9, mutated([*framework_files(), *users])), (1, noise))


def check(data: bytes) -> str:
    """What is read is what was written, and has a place in a package or not."""
    try:
        module = deserialize(data)
    except MalformedModule:
        return "malformed"
    if deserialize(serialize(module)) != module:
        raise Broken("a module is written otherwise than it was read")
    try:
        check_publishable(module)
        relocate_module(data, module, Address.of(7))
    except UnpublishableModule:
        return "unpublishable"
    except AlreadyPublished:
        return "published"
    return "module"
