"""Compiling a package and those that it depends on with what they have for tests."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

from msgspec import Struct

from nexus_tools.sui.errors import ValidationError
from nexus_tools.sui.localnet.compiler import (
    NO_DEPENDENCIES,
    Dependencies,
    DependencySources,
    MoveBuilder,
    stubs_of,
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
"""The packages of the framework: 0x1, 0x2 and 0x3 by name."""

# The compiler gives what was built in a mode another magic, so that nobody publishes it.
_UNPUBLISHABLE_MAGIC, _MAGIC = bytes.fromhex("deadc0de"), bytes.fromhex("a11ceb0b")


def read_test_sources(
    sources: Mapping[str, str], *, with_tests: bool = True
) -> dict[str, MoveTestSource]:
    """The Move files of a package as ordinary code, by path; of others without their tests."""
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
    """The modules of a package. Raises `ValidationError` with the compiler's words."""
    ordinary = {_compiled_path(path): source.text for path, source in read.items()}
    sources = {"Move.toml": manifest, **ordinary}
    built = builder.build(sources, _framework_with_tests(builder.release), [MODE], dependencies)
    return tuple(_publishable(module) for module in built.modules)


def _compiled_path(path: str) -> str:
    """Only in its test mode does the compiler look into `tests/`."""
    return f"sources/{path}" if path.startswith("tests/") else path


def _publishable(module: bytes) -> bytes:
    if module.startswith(_UNPUBLISHABLE_MAGIC):
        return _MAGIC + module[len(_MAGIC) :]
    return module


@lru_cache(maxsize=4)
def _framework_with_tests(release: Release) -> Mapping[bytes, Mapping[str, str]]:
    """The stubs of the framework, with the declarations for tests and the names of errors."""
    stubs = stubs_of(release, with_entries=True)
    packages = {address: dict(files) for address, files in stubs.items()}
    for module, name in framework_constants(release).constants:
        package, own = module.split("::")
        files, path = packages[ADDRESSES[package]], f"sources/{own}.move"
        if path in files:  # its number does not matter: `Names` knows what it is
            files[path] += f"const {name}: u64 = 0;\n"
    for module, members in DECLARATIONS.items():
        package, name = module.split("::")
        files, path = packages[ADDRESSES[package]], f"sources/{name}.move"
        files[path] = files.get(path, f"#[test_only]\nmodule {module};\n") + _marked(members)
    for module, macros in TEST_MACROS.items():
        package, name = module.split("::")
        packages[ADDRESSES[package]][f"sources/{name}.move"] += macros
    return {
        address: files | {path: source.text for path, source in read_test_sources(files).items()}
        for address, files in packages.items()
    }


def _marked(members: str) -> str:
    """Each public function for tests alone."""
    return f"\n{members}".replace("\npublic native fun", "\n#[test_only]\npublic native fun")


class BuiltDependencies(Struct, frozen=True):
    """Packages with addresses of their own.

    `packages` are their files for the compiler; `sources` are by path as seen from the folder of
    the tested package.
    """

    packages: Dependencies
    manifests: tuple[str, ...]
    modules: tuple[bytes, ...]
    sources: Mapping[str, MoveTestSource]


NONE = BuiltDependencies(NO_DEPENDENCIES, (), (), {})


def build_dependencies(
    builder: MoveBuilder, packages: Sequence[DependencySources]
) -> BuiltDependencies:
    """Compile packages, each of which comes after those that it depends on itself.

    What they have for tests is compiled, too, and their tests where other code calls them. Raises
    `ValidationError` with the compiler's words.
    """
    given: dict[str, Mapping[str, str]] = {}
    modules: list[bytes] = []
    sources: dict[str, MoveTestSource] = {}
    for package in packages:
        read, compiled = _compile_dependency(builder, package, given)
        modules += compiled
        texts = {_compiled_path(path): source.text for path, source in read.items()}
        given[package.location] = {"Move.toml": package.manifest_text, **texts}
        sources |= {f"{package.path}/{path}": source for path, source in read.items()}
    manifests = tuple(package.manifest_text for package in packages)
    return BuiltDependencies(given, manifests, tuple(modules), sources)


def _compile_dependency(
    builder: MoveBuilder, package: DependencySources, given: Dependencies
) -> tuple[dict[str, MoveTestSource], tuple[bytes, ...]]:
    """The files and the modules of a package; mostly nobody misses its tests, which take long."""
    for with_tests in (False, True):
        read = read_test_sources(package.sources, with_tests=with_tests)
        try:
            return read, compile_for_tests(builder, package.manifest_as_root, read, given)
        except ValidationError as error:
            refusal = error
    message = f"{package.path}: {refusal.message}"
    raise ValidationError(refusal.code, message, hint=refusal.hint)
