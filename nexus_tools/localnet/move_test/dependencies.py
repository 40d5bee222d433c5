"""The packages that a tested one depends on, compiled for its tests."""

from collections.abc import Mapping, Sequence

from nexus_tools.dataclass import dataclass
from nexus_tools.errors import ValidationError
from nexus_tools.localnet.compiler.builder import NO_DEPENDENCIES, Dependencies, MoveBuilder
from nexus_tools.localnet.compiler.package_sources import DependencySources
from nexus_tools.localnet.move_test.attributes import MoveTestSource
from nexus_tools.localnet.move_test.compilation import compile_for_tests, read_test_sources


@dataclass(frozen=True, slots=True)
class BuiltDependencies:
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

    What they have for tests is compiled, too. Raises `ValidationError` with the compiler's words.
    """
    given: dict[str, Mapping[str, str]] = {}
    modules: list[bytes] = []
    sources: dict[str, MoveTestSource] = {}
    for package in packages:
        read = read_test_sources(package.sources)
        try:
            modules += compile_for_tests(builder, package.manifest_as_root, read, given)
        except ValidationError as error:
            raise ValidationError(error.code, f"{package.path}: {error.message}") from None
        texts = {path: source.text for path, source in read.items()}
        given[package.location] = {"Move.toml": package.manifest_text, **texts}
        sources |= {f"{package.path}/{path}": source for path, source in read.items()}
    manifests = tuple(package.manifest_text for package in packages)
    return BuiltDependencies(given, manifests, tuple(modules), sources)
