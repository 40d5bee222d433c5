"""Compiling a package with its tests, and the framework with what it has for tests."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

from nexus_tools.localnet.bytecode import deserialize
from nexus_tools.localnet.bytecode.module import CompiledModule
from nexus_tools.localnet.compiler.builder import MoveBuilder
from nexus_tools.localnet.compiler.stubs import framework_stubs
from nexus_tools.localnet.move_test.attributes import (
    MODE,
    MoveTest,
    MoveTestSource,
    read_test_source,
)
from nexus_tools.localnet.move_test.declarations import DECLARATIONS, MACROS
from nexus_tools.localnet.move_test.framework_names import FRAMEWORK_ADDRESSES, framework_constants
from nexus_tools.localnet.move_test.names import Names

EXTENSION = "_for_tests"
"""Ends the names of modules with functions that a framework module has in tests alone."""

# The compiler gives what was built in a mode another magic, so that nobody publishes it.
_UNPUBLISHABLE_MAGIC, _MAGIC = bytes.fromhex("deadc0de"), bytes.fromhex("a11ceb0b")
_ADDRESSES = {name: address for address, name in FRAMEWORK_ADDRESSES.items()}
_MANIFEST = """[package]
name = "framework_tests"
edition = "2024"

[addresses]
framework_tests = "0x0"
"""
_MODULES_OF_THE_RELEASE = {
    f"{name}::{path.removeprefix('sources/').removesuffix('.move')}"
    for name, address in _ADDRESSES.items()
    for path in framework_stubs(address)
}

Compile = Callable[[Mapping[str, str]], tuple[bytes, ...]]


@dataclass(frozen=True, slots=True)
class MoveTestBuild:
    """A package as it is tested: its modules with the address 0x0, its files, and its tests.

    `framework` are the modules of tests by the address of their framework package, with the
    address 0x0 too; `names` are those of the package and of these modules.
    """

    modules: tuple[bytes, ...]
    framework: Mapping[bytes, tuple[bytes, ...]]
    sources: Mapping[str, MoveTestSource]
    names: Names

    @property
    def tests(self) -> list[MoveTest]:
        """All tests, by module and then by place."""
        found = [test for source in self.sources.values() for test in source.tests]
        return sorted(found, key=lambda test: (test.module, test.line))


def build_tests(builder: MoveBuilder, sources: Mapping[str, str]) -> MoveTestBuild:
    """Compile a package with its tests. Raises `ValidationError` with the compiler's words."""
    read = {
        path: read_test_source(path, text)
        for path, text in sources.items()
        if path.endswith(".move")
    }
    ordinary = {_compiled_path(path): source.text for path, source in read.items()}
    modules = _compile(builder, {"Move.toml": sources["Move.toml"], **ordinary})
    declared = [
        read_test_source("", f"module {module};\n{members}")
        for module, members in DECLARATIONS.items()
    ]
    compiled = [deserialize(module) for module in modules]
    names = Names(
        sources["Move.toml"],
        [framework_constants(), *declared, *read.values()],
        [(module.address, module.name) for module in compiled],
    )
    return MoveTestBuild(modules, _framework_modules(builder), read, names)


def _compiled_path(path: str) -> str:
    """Only in its test mode does the compiler look into `tests/`."""
    return f"sources/{path}" if path.startswith("tests/") else path


def _compile(builder: MoveBuilder, sources: Mapping[str, str]) -> tuple[bytes, ...]:
    built = builder.build(sources, _framework_with_tests(), modes=[MODE])
    return tuple(_publishable(module) for module in built.modules)


def _publishable(module: bytes) -> bytes:
    if module.startswith(_UNPUBLISHABLE_MAGIC):
        return _MAGIC + module[len(_MAGIC) :]
    return module


@cache
def _framework_with_tests() -> Mapping[bytes, Mapping[str, str]]:
    """The stubs of the framework, with the declarations for tests."""
    packages = {address: dict(framework_stubs(address)) for address in _ADDRESSES.values()}
    for module, members in DECLARATIONS.items():
        package, name = module.split("::")
        files, path = packages[_ADDRESSES[package]], f"sources/{name}.move"
        files[path] = files.get(path, f"#[test_only]\nmodule {module};\n") + _marked(members)
    for module, macros in MACROS.items():
        package, name = module.split("::")
        packages[_ADDRESSES[package]][f"sources/{name}.move"] += macros
    return {
        address: {
            path: read_test_source(path, text).text if path.endswith(".move") else text
            for path, text in files.items()
        }
        for address, files in packages.items()
    }


def _marked(members: str) -> str:
    """Each public function for tests alone."""
    return f"\n{members}".replace("\npublic native fun", "\n#[test_only]\npublic native fun")


def _framework_modules(builder: MoveBuilder) -> Mapping[bytes, tuple[bytes, ...]]:
    sources = {"Move.toml": _MANIFEST}
    for module, members in DECLARATIONS.items():
        name = module.split("::")[1]
        kept = EXTENSION if module in _MODULES_OF_THE_RELEASE else ""
        text = f"#[test_only]\nmodule framework_tests::{name}{kept};\n{members}"
        sources[f"sources/{module.replace('::', '_')}.move"] = read_test_source("", text).text
    by_address: dict[bytes, list[bytes]] = {address: [] for address in _ADDRESSES.values()}
    for data in _compile(builder, sources):
        by_address[_address_of(deserialize(data))].append(data)
    return {address: tuple(modules) for address, modules in by_address.items()}


def _address_of(module: CompiledModule) -> bytes:
    """The framework package that a module for tests belongs to."""
    name = module.name.removesuffix(EXTENSION)
    package = next(path.split("::")[0] for path in DECLARATIONS if path.endswith(f"::{name}"))
    return _ADDRESSES[package]
