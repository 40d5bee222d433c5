"""Compiling sources with what they have for tests, against the framework with what it has."""

from collections.abc import Mapping
from functools import cache

from nexus_tools.localnet.compiler.builder import NO_DEPENDENCIES, Dependencies, MoveBuilder
from nexus_tools.localnet.compiler.stubs import framework_stubs
from nexus_tools.localnet.move_test.attributes import MODE, MoveTestSource, read_test_source
from nexus_tools.localnet.move_test.declarations import DECLARATIONS, MACROS
from nexus_tools.localnet.move_test.framework_names import FRAMEWORK_ADDRESSES

ADDRESSES = {name: address for address, name in FRAMEWORK_ADDRESSES.items()}
"""The packages of the framework: 0x1, 0x2 and 0x3 by name."""

# The compiler gives what was built in a mode another magic, so that nobody publishes it.
_UNPUBLISHABLE_MAGIC, _MAGIC = bytes.fromhex("deadc0de"), bytes.fromhex("a11ceb0b")


def read_test_sources(sources: Mapping[str, str]) -> dict[str, MoveTestSource]:
    """The Move files of a package as ordinary code, by path."""
    return {
        path: read_test_source(path, text)
        for path, text in sources.items()
        if path.endswith(".move")
    }


def compile_for_tests(
    builder: MoveBuilder,
    manifest: str,
    read: Mapping[str, MoveTestSource],
    dependencies: Dependencies = NO_DEPENDENCIES,
) -> tuple[bytes, ...]:
    """The modules of a package. Raises `ValidationError` with the compiler's words."""
    ordinary = {_compiled_path(path): source.text for path, source in read.items()}
    sources = {"Move.toml": manifest, **ordinary}
    built = builder.build(sources, _framework_with_tests(), [MODE], dependencies)
    return tuple(_publishable(module) for module in built.modules)


def _compiled_path(path: str) -> str:
    """Only in its test mode does the compiler look into `tests/`."""
    return f"sources/{path}" if path.startswith("tests/") else path


def _publishable(module: bytes) -> bytes:
    if module.startswith(_UNPUBLISHABLE_MAGIC):
        return _MAGIC + module[len(_MAGIC) :]
    return module


@cache
def _framework_with_tests() -> Mapping[bytes, Mapping[str, str]]:
    """The stubs of the framework, with the declarations for tests."""
    packages = {address: dict(framework_stubs(address)) for address in ADDRESSES.values()}
    for module, members in DECLARATIONS.items():
        package, name = module.split("::")
        files, path = packages[ADDRESSES[package]], f"sources/{name}.move"
        files[path] = files.get(path, f"#[test_only]\nmodule {module};\n") + _marked(members)
    for module, macros in MACROS.items():
        package, name = module.split("::")
        packages[ADDRESSES[package]][f"sources/{name}.move"] += macros
    return {
        address: files | {path: source.text for path, source in read_test_sources(files).items()}
        for address, files in packages.items()
    }


def _marked(members: str) -> str:
    """Each public function for tests alone."""
    return f"\n{members}".replace("\npublic native fun", "\n#[test_only]\npublic native fun")
