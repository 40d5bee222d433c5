"""The compilation of a package with its tests, and of the framework's test-only functions."""

from collections.abc import Mapping

from msgspec import Struct

from nexus_tools.sui.bytecode import CompiledModule, deserialize
from nexus_tools.sui.localnet.compiler import MoveBuilder, stub_packages
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
"""The suffix of extension modules, which contain the test-only functions of framework modules."""

_MANIFEST = """[package]
name = "framework_tests"
edition = "2024"

[dependencies]
sui_system = { system = "sui_system" }
"""


class MoveTestBuild(Struct, frozen=True):
    """A compiled package under test: its modules with address 0x0, its files, and its tests.

    `modules` includes the modules of dependencies, and `dependencies` has the files of
    dependencies. `framework` maps the address of a framework package to its test-only modules,
    which also have address 0x0. `names` has the names in all packages. `release` is the framework
    release.
    """

    modules: tuple[bytes, ...]
    framework: Mapping[bytes, tuple[bytes, ...]]
    sources: Mapping[str, MoveTestSource]
    dependencies: Mapping[str, MoveTestSource]
    names: Names
    release: Release

    @property
    def tests(self) -> list[MoveTest]:
        """All tests, sorted by module and line."""
        tests = [test for source in self.sources.values() for test in source.tests]
        return sorted(tests, key=lambda test: (test.module, test.line))


def build_tests(
    builder: MoveBuilder, sources: Mapping[str, str], dependencies: BuiltDependencies = NONE
) -> MoveTestBuild:
    """Compile a package with its tests.

    Raises:
        ValidationError: The compiler reports an error. The message has its output.
    """
    test_sources, manifest = read_test_sources(sources), sources["Move.toml"]
    modules = compile_for_tests(builder, manifest, test_sources, dependencies.packages)
    modules += dependencies.modules
    declared_sources = [
        read_test_source("", f"module {module};\n{members}")
        for module, members in DECLARATIONS.items()
    ]
    compiled_modules = [deserialize(module) for module in modules]
    names = Names(
        [*dependencies.manifests, manifest],
        [
            framework_constants(builder.release),
            *declared_sources,
            *dependencies.sources.values(),
            *test_sources.values(),
        ],
        [(module.address, module.name) for module in compiled_modules],
    )
    framework = _framework_modules(builder)
    return MoveTestBuild(
        modules, framework, test_sources, dependencies.sources, names, builder.release
    )


def _framework_modules(builder: MoveBuilder) -> Mapping[bytes, tuple[bytes, ...]]:
    sources, stubs = {}, stub_packages(builder.release)
    for module, members in DECLARATIONS.items():
        package, name = module.split("::")
        suffix = EXTENSION if f"sources/{name}.move" in stubs[ADDRESSES[package]] else ""
        text = f"#[test_only]\nmodule framework_tests::{name}{suffix};\n{members}"
        sources[f"sources/{module.replace('::', '_')}.move"] = read_test_source("", text)
    by_address: dict[bytes, list[bytes]] = {address: [] for address in ADDRESSES.values()}
    for data in compile_for_tests(builder, _MANIFEST, sources):
        by_address[_address_of(deserialize(data))].append(data)
    return {address: tuple(modules) for address, modules in by_address.items()}


def _address_of(module: CompiledModule) -> bytes:
    """Return the address of the framework package to which a test-only module belongs."""
    name = module.name.removesuffix(EXTENSION)
    package = next(path.split("::")[0] for path in DECLARATIONS if path.endswith(f"::{name}"))
    return ADDRESSES[package]
