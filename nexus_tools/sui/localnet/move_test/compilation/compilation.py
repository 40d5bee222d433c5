"""The compilation of a package and its dependencies with their test-only code."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

from msgspec import Struct

from nexus_tools.sui.errors import ValidationError
from nexus_tools.sui.localnet.compiler import (
    NO_DEPENDENCIES,
    Dependencies,
    DependencySources,
    MoveBuilder,
    stub_packages,
)
from nexus_tools.sui.localnet.framework import FRAMEWORK_NAMES, Release
from nexus_tools.sui.localnet.move_test.compilation.annotated_sources import (
    MODE,
    MoveTestSource,
    read_test_source,
)
from nexus_tools.sui.localnet.move_test.compilation.declarations import DECLARATIONS, TEST_MACROS
from nexus_tools.sui.localnet.move_test.compilation.source_names import framework_constants

ADDRESSES = {name: address for address, name in FRAMEWORK_NAMES.items()}
"""The addresses of the framework packages 0x1, 0x2 and 0x3 by name."""

# The compiler writes a special magic number into modules built in a mode, to prevent publication.
_UNPUBLISHABLE_MAGIC, _MAGIC = bytes.fromhex("deadc0de"), bytes.fromhex("a11ceb0b")


def read_test_sources(
    sources: Mapping[str, str], *, with_tests: bool = True
) -> dict[str, MoveTestSource]:
    """Convert a package's Move files to ordinary code, by path. `with_tests` includes the tests."""
    return {
        path: read_test_source(path, text, with_tests=with_tests)
        for path, text in sources.items()
        if path.endswith(".move")
    }


def compile_for_tests(
    builder: MoveBuilder,
    manifest: str,
    read: Mapping[str, MoveTestSource],
    dependencies: Dependencies = NO_DEPENDENCIES,
) -> tuple[bytes, ...]:
    """Compile a package and return its modules.

    Raises:
        ValidationError: The compiler reports an error. The message has its output.
    """
    texts = {_compiled_path(path): source.text for path, source in read.items()}
    sources = {"Move.toml": manifest, **texts}
    build = builder.build(sources, _framework_with_tests(builder.release), [MODE], dependencies)
    return tuple(_publishable(module) for module in build.modules)


def _compiled_path(path: str) -> str:
    """Return a path below `sources/`, because the compiler reads `tests/` only in test mode."""
    return f"sources/{path}" if path.startswith("tests/") else path


def _publishable(module: bytes) -> bytes:
    if module.startswith(_UNPUBLISHABLE_MAGIC):
        return _MAGIC + module[len(_MAGIC) :]
    return module


@lru_cache(maxsize=4)
def _framework_with_tests(release: Release) -> Mapping[bytes, Mapping[str, str]]:
    """Return the framework's stubs with test-only declarations and error constants added."""
    stubs = stub_packages(release, with_entries=True)
    packages = {address: dict(files) for address, files in stubs.items()}
    for module, name in framework_constants(release).constants:
        package, module_name = module.split("::")
        files, path = packages[ADDRESSES[package]], f"sources/{module_name}.move"
        if path in files:  # `Names` has the real value, so any value is correct here
            files[path] += f"const {name}: u64 = 0;\n"
    for module, members in DECLARATIONS.items():
        package, name = module.split("::")
        files, path = packages[ADDRESSES[package]], f"sources/{name}.move"
        files[path] = files.get(path, f"#[test_only]\nmodule {module};\n") + _mark_test_only(
            members
        )
    for module, macros in TEST_MACROS.items():
        package, name = module.split("::")
        packages[ADDRESSES[package]][f"sources/{name}.move"] += macros
    return {
        address: files | {path: source.text for path, source in read_test_sources(files).items()}
        for address, files in packages.items()
    }


def _mark_test_only(members: str) -> str:
    """Mark each public function as test-only."""
    return f"\n{members}".replace("\npublic native fun", "\n#[test_only]\npublic native fun")


class BuiltDependencies(Struct, frozen=True):
    """The compiled dependencies that have addresses of their own.

    `packages` has the files of dependencies for the compiler. `sources` has the sources by path,
    relative to the folder of the tested package.
    """

    packages: Dependencies
    manifests: tuple[str, ...]
    modules: tuple[bytes, ...]
    sources: Mapping[str, MoveTestSource]


NONE = BuiltDependencies(NO_DEPENDENCIES, (), (), {})


def build_dependencies(
    builder: MoveBuilder, packages: Sequence[DependencySources]
) -> BuiltDependencies:
    """Compile dependencies. Each package must come after its own dependencies.

    The result includes the test-only code of each package. The tests of a package are included only
    if other code calls them.

    Raises:
        ValidationError: The compiler reports an error. The message has its output.
    """
    files_by_location: dict[str, Mapping[str, str]] = {}
    modules: list[bytes] = []
    sources: dict[str, MoveTestSource] = {}
    for package in packages:
        test_sources, package_modules = _compile_dependency(builder, package, files_by_location)
        modules += package_modules
        texts = {_compiled_path(path): source.text for path, source in test_sources.items()}
        files_by_location[package.location] = {"Move.toml": package.manifest_text, **texts}
        sources |= {f"{package.path}/{path}": source for path, source in test_sources.items()}
    manifests = tuple(package.manifest_text for package in packages)
    return BuiltDependencies(files_by_location, manifests, tuple(modules), sources)


def _compile_dependency(
    builder: MoveBuilder, package: DependencySources, files_by_location: Dependencies
) -> tuple[dict[str, MoveTestSource], tuple[bytes, ...]]:
    """Return the files and modules of a package, without its tests if it compiles without them.

    Compiling the tests of dependencies takes long, and other code seldom calls these tests.
    """
    for with_tests in (False, True):
        test_sources = read_test_sources(package.sources, with_tests=with_tests)
        try:
            return test_sources, compile_for_tests(
                builder, package.manifest_as_root, test_sources, files_by_location
            )
        except ValidationError as error:
            compile_error = error
    message = f"{package.path}: {compile_error.message}"
    raise ValidationError(compile_error.code, message, hint=compile_error.hint)
