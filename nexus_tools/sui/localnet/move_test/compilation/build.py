"""Compiling a package with its tests, and the framework with what it has for tests."""

from collections.abc import Mapping

from msgspec import Struct

from nexus_tools.sui.bytecode import CompiledModule, deserialize
from nexus_tools.sui.localnet.compiler import MoveBuilder, stubs_of
from nexus_tools.sui.localnet.framework import Release
from nexus_tools.sui.localnet.move_test.compilation.annotated_sources import (
    MoveTest,
    MoveTestSource,
    read_test_source,
)
from nexus_tools.sui.localnet.move_test.compilation.compilation import (
    ADDRESSES,
    NONE,
    BuiltDependencies,
    compile_for_tests,
    read_test_sources,
)
from nexus_tools.sui.localnet.move_test.compilation.declarations import DECLARATIONS
from nexus_tools.sui.localnet.move_test.compilation.source_names import Names, framework_constants

EXTENSION = "_for_tests"
"""Ends the names of modules with functions that a framework module has in tests alone."""

_MANIFEST = """[package]
name = "framework_tests"
edition = "2024"

[dependencies]
sui_system = { system = "sui_system" }
"""


class MoveTestBuild(Struct, frozen=True):
    """A package as it is tested: its modules with the address 0x0, its files, and its tests.

    `modules` are those of the packages that it depends on, too; `dependencies` are their files.
    `framework` are the modules of tests by the address of their framework package, with the
    address 0x0 too; `names` are those of all packages, `release` is the framework itself.
    """

    modules: tuple[bytes, ...]
    framework: Mapping[bytes, tuple[bytes, ...]]
    sources: Mapping[str, MoveTestSource]
    dependencies: Mapping[str, MoveTestSource]
    names: Names
    release: Release

    @property
    def tests(self) -> list[MoveTest]:
        """All tests, by module and then by place."""
        found = [test for source in self.sources.values() for test in source.tests]
        return sorted(found, key=lambda test: (test.module, test.line))


def build_tests(
    builder: MoveBuilder, sources: Mapping[str, str], dependencies: BuiltDependencies = NONE
) -> MoveTestBuild:
    """Compile a package with its tests. Raises `ValidationError` with the compiler's words."""
    read, manifest = read_test_sources(sources), sources["Move.toml"]
    modules = compile_for_tests(builder, manifest, read, dependencies.packages)
    modules += dependencies.modules
    declared = [
        read_test_source("", f"module {module};\n{members}")
        for module, members in DECLARATIONS.items()
    ]
    compiled = [deserialize(module) for module in modules]
    names = Names(
        [*dependencies.manifests, manifest],
        [
            framework_constants(builder.release),
            *declared,
            *dependencies.sources.values(),
            *read.values(),
        ],
        [(module.address, module.name) for module in compiled],
    )
    framework = _framework_modules(builder)
    return MoveTestBuild(modules, framework, read, dependencies.sources, names, builder.release)


def _framework_modules(builder: MoveBuilder) -> Mapping[bytes, tuple[bytes, ...]]:
    sources, stubs = {}, stubs_of(builder.release)
    for module, members in DECLARATIONS.items():
        package, name = module.split("::")
        kept = EXTENSION if f"sources/{name}.move" in stubs[ADDRESSES[package]] else ""
        text = f"#[test_only]\nmodule framework_tests::{name}{kept};\n{members}"
        sources[f"sources/{module.replace('::', '_')}.move"] = read_test_source("", text)
    by_address: dict[bytes, list[bytes]] = {address: [] for address in ADDRESSES.values()}
    for data in compile_for_tests(builder, _MANIFEST, sources):
        by_address[_address_of(deserialize(data))].append(data)
    return {address: tuple(modules) for address, modules in by_address.items()}


def _address_of(module: CompiledModule) -> bytes:
    """The framework package that a module for tests belongs to."""
    name = module.name.removesuffix(EXTENSION)
    package = next(path.split("::")[0] for path in DECLARATIONS if path.endswith(f"::{name}"))
    return ADDRESSES[package]
