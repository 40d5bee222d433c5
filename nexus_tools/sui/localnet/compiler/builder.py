"""The build and test of Move packages with Sui's compiler."""

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

from msgspec import Struct

from nexus_tools.sui.bytecode import package_digest
from nexus_tools.sui.errors import NotFoundError, UsageError, ValidationError
from nexus_tools.sui.localnet.compiler.install import install_builder, verified_wasm
from nexus_tools.sui.localnet.compiler.manifest import FRAMEWORK_FOLDERS, framework_folder
from nexus_tools.sui.localnet.compiler.missing_names import missing_names_hint
from nexus_tools.sui.localnet.compiler.sources import published_sources, read_sources
from nexus_tools.sui.localnet.compiler.stubs import stub_packages
from nexus_tools.sui.localnet.compiler.wasm import (
    WasmError,
    WasmInstance,
    WasmModule,
    WasmTimeoutError,
)
from nexus_tools.sui.localnet.framework import Release, embedded_release

BUILD_TIMEOUT_S = 60.0
"""The default time limit for the compilation of one package, in seconds."""
TEST_TIMEOUT_S = 300.0

# The network whose dependency addresses the compiler uses. The generated manifests have no
# addresses per network.
_ENVIRONMENT = "testnet"
# All framework dependencies have the same revision, so the compiler treats them as one package.
_FRAMEWORK_REVISION = "0" * 40
_ROUNDS_MAX = 64


class BuiltPackage(Struct, frozen=True):
    """A compiled package, with the module files in the compiler's order and the self address 0x0.

    `dependencies` are package ids of 32 bytes in the compiler's order. `digest` is the package
    digest of 32 bytes. `warnings` is the text of the compiler's warnings, or an empty string.
    """

    modules: tuple[bytes, ...]
    dependencies: tuple[bytes, ...]
    digest: bytes
    warnings: str


class MoveTestReport(Struct, frozen=True):
    """The output of the unit-test runner, and whether all tests passed."""

    passed: bool
    output: str


# A folder with the framework's sources, or a map of package addresses to files. The files of a
# package are a map of paths to texts.
Framework = Path | Mapping[bytes, Mapping[str, str]]

# The files of other packages. The key is the `local` folder with which manifests refer to a
# package.
Dependencies = Mapping[str, Mapping[str, str]]
NO_DEPENDENCIES: Dependencies = MappingProxyType({})


class _ResolvedPackage(Struct, frozen=True):
    """The files of a package and its dependencies, as JSON that the compiler accepts."""

    files: str
    dependencies: str


class MoveBuilder:
    """A compiler of packages for the framework `release`.

    `dist` is the result of `install_builder`.

    The compilation of a package may take at most `timeout_s` seconds. The first build with a new
    `cache` folder takes about 10 s, because wasmtime first compiles the compiler to native code.
    Raises `NotFoundError` if the compiler does not exist, and `ValidationError` if it has a
    different version.
    """

    def __init__(
        self,
        dist: Path,
        cache: Path,
        *,
        release: Release | None = None,
        timeout_s: float = BUILD_TIMEOUT_S,
    ) -> None:
        self._wasm = WasmModule(verified_wasm(dist), cache)
        self.release = release or embedded_release()
        self._timeout_s = timeout_s

    @classmethod
    def installed(
        cls, cache: Path, *, release: Release | None = None, timeout_s: float = BUILD_TIMEOUT_S
    ) -> Self:
        """Return the compiler from a cache folder, and download the compiler if it is missing.

        Raises the same errors as `install_builder`.
        """
        dist = install_builder(cache / "sui-move-builder")
        return cls(dist, cache / "wasmtime", release=release, timeout_s=timeout_s)

    def build(
        self,
        sources: Mapping[str, str],
        framework: Framework | None = None,
        modes: Sequence[str] = (),
        dependencies: Dependencies = NO_DEPENDENCIES,
    ) -> BuiltPackage:
        """Compile a package. `sources` maps paths (`Move.toml` and files in `sources/`) to texts.

        `framework` is a folder with the framework's sources, `move-stdlib` and `sui-framework`.
        Without the folder, the package is compiled against stubs of the release's bytecode. The
        stubs have their own macros, which behave like the framework's macros but compile to
        different bytes.

        If `modes` are given, the result includes code that has the attribute `mode` with one of
        these modes. Modules built with a mode have a magic number that every network rejects.
        `dependencies` are the packages that the compiler may request in addition to the framework.

        Raises:
            ValidationError: The compiler reports an error. The message contains its output, and the
                hint names items that the framework lacks.
        """
        options = {
            "compileIntent": "dump",
            "modes": list(modes),
            "ansiColor": False,
            # No code calls test functions, so the compiler would warn about unused functions.
            "silenceWarnings": bool(modes),
        }
        provide_dependency = partial(
            _dependency, framework=framework or stub_packages(self.release), others=dependencies
        )
        try:
            with self._wasm.instance(self._timeout_s) as compiler:
                package = _resolve(
                    compiler, published_sources(sources), provide_dependency, modes=list(modes)
                )
                succeeded, output = compiler.verdict(
                    "compile",
                    "wasmcompileresult",
                    "success",
                    package.files,
                    package.dependencies,
                    json.dumps(options),
                )
        except WasmError as error:
            is_timeout = isinstance(error, WasmTimeoutError)
            hint = "Increase the limit with `--build-timeout SECONDS`." if is_timeout else ""
            raise _build_failed(f"the compiler failed: {error}", hint) from error
        if not succeeded:
            has_stubs = not isinstance(framework, Path)
            hint = (
                missing_names_hint(output, self.release, for_tests=bool(modes)) if has_stubs else ""
            )
            raise _build_failed(output.strip(), hint)
        return _parse_output(output)

    def test(
        self, sources: Mapping[str, str], framework: Path, timeout_s: float = TEST_TIMEOUT_S
    ) -> MoveTestReport:
        """Run the unit tests in `sources/` and `tests/` of a package in Sui's VM.

        The tests require the framework's original sources. If the package does not compile, the
        report contains the compiler's errors.

        Raises:
            ValidationError: The tests do not end within `timeout_s` seconds.
        """
        try:
            with self._wasm.instance(timeout_s) as compiler:
                package = _resolve(
                    compiler, sources, partial(_dependency, framework=framework), modes=["test"]
                )
                all_passed, output = compiler.verdict(
                    "test_with_options",
                    "wasmtestresult",
                    "passed",
                    package.files,
                    package.dependencies,
                    json.dumps({"ansiColor": False, "modes": []}),
                )
        except WasmError as error:
            raise ValidationError("move_test_failed", f"the test runner failed: {error}") from error
        return MoveTestReport(all_passed, output.strip())


def _build_failed(message: str, hint: str = "") -> ValidationError:
    return ValidationError("move_build_failed", message, hint=hint)


def _resolve(
    compiler: WasmInstance,
    sources: Mapping[str, str],
    dependency: Callable[[Mapping[str, str]], dict[str, Any]],
    modes: list[str],
) -> _ResolvedPackage:
    """Provide each package that the compiler requests until all dependencies are resolved."""
    packages: list[dict[str, Any]] = []
    for _ in range(_ROUNDS_MAX):
        request_document = {
            "environment": _ENVIRONMENT,
            "frameworkRev": _FRAMEWORK_REVISION,
            "root": {"source": {"type": "root"}, "files": dict(sources)},
            "packages": packages,
            "modes": modes,
        }
        response = json.loads(
            compiler.text("manifest_graph_resolve_package_groups", json.dumps(request_document))
        )
        if response["status"] == "ok":
            files, dependencies = response["rootFiles"], response["dependencies"]
            return _ResolvedPackage(json.dumps(files), json.dumps(dependencies))
        if response["status"] == "error":
            raise _build_failed(str(response.get("error", response)))
        packages += [dependency(request["source"]) for request in response["requests"]]
    raise _build_failed(f"the dependencies are not resolved after {_ROUNDS_MAX} requests")


def _dependency(
    requested: Mapping[str, str],
    *,
    framework: Framework,
    others: Dependencies = NO_DEPENDENCIES,
) -> dict[str, Any]:
    """Return the package that the compiler requests, from `framework` or from `others`."""
    other_files = others.get(requested.get("local", ""))
    if other_files is not None:
        return {
            "source": dict(requested),
            "requestedSource": dict(requested),
            "files": dict(other_files),
        }
    folder = framework_folder(requested)
    if folder is None:
        raise ValidationError(
            "move_dependency_unsupported",
            f"unsupported dependency: {json.dumps(dict(requested))}",
            hint="Use only the Sui framework, which needs no entry in Move.toml.",
        )
    source = dict(requested)
    if source["type"] == "git":
        source["rev"] = _FRAMEWORK_REVISION
    if isinstance(framework, Path):
        files = _framework_sources(framework / folder)
    else:
        files = framework[FRAMEWORK_FOLDERS[folder]]
    return {"source": source, "requestedSource": dict(requested), "files": dict(files)}


def _framework_sources(folder: Path) -> Mapping[str, str]:
    try:
        return published_sources(read_sources(folder))
    except NotFoundError as error:
        raise UsageError(
            "framework_sources_not_found",
            f"{folder} is not a package of the Sui framework",
            hint="Specify a folder that contains move-stdlib and sui-framework.",
        ) from error


def _parse_output(output: str) -> BuiltPackage:
    """Parse the compiler's output and check its package digest."""
    fields = json.loads(output)
    modules = tuple(base64.b64decode(module) for module in fields["modules"])
    dependencies = tuple(_package_id(text) for text in fields["dependencies"])
    digest = package_digest(modules, dependencies)
    digest_field = fields["digest"]
    if digest != (
        bytes.fromhex(digest_field) if isinstance(digest_field, str) else bytes(digest_field)
    ):
        raise _build_failed("the compiler's package digest does not match its output")
    return BuiltPackage(modules, dependencies, digest, fields.get("warnings") or "")


def _package_id(text: str) -> bytes:
    return bytes.fromhex(text.removeprefix("0x").rjust(64, "0"))
