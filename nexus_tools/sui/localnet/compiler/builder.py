"""Building and testing Move packages with the genuine compiler."""

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
from nexus_tools.sui.localnet.compiler.missing_names import hint_at_missing_names
from nexus_tools.sui.localnet.compiler.sources import published_sources, read_sources
from nexus_tools.sui.localnet.compiler.stubs import stubs_of
from nexus_tools.sui.localnet.compiler.wasm import (
    WasmFailed,
    WasmInstance,
    WasmModule,
    WasmTimedOut,
)
from nexus_tools.sui.localnet.framework import Release, embedded_release

BUILD_TIMEOUT_S = 60.0
"""How long one package may take to compile, unless a builder is told otherwise."""
TEST_TIMEOUT_S = 300.0

# Which network's addresses a manifest's dependencies would have: ours has none.
_ENVIRONMENT = "testnet"
# All dependencies on the framework are given one revision, so that they are one package.
_FRAMEWORK_REVISION = "0" * 40
_ROUNDS_MAX = 64


class BuiltPackage(Struct, frozen=True):
    """A compiled package: module files in the compiler's order, with the self address 0x0.

    `dependencies` are package ids of 32 bytes, in the compiler's order; `digest` is the package
    digest (32 bytes); `warnings` is the compiler's text, or empty.
    """

    modules: tuple[bytes, ...]
    dependencies: tuple[bytes, ...]
    digest: bytes
    warnings: str


class MoveTestReport(Struct, frozen=True):
    """What the unit-test runner says: whether every test passed, and its text."""

    passed: bool
    output: str


# A folder with the framework's sources, or its packages as path -> text, by address.
Framework = Path | Mapping[bytes, Mapping[str, str]]

# Other packages as path -> text, by the `local` folder of the manifests that name them.
Dependencies = Mapping[str, Mapping[str, str]]
NO_DEPENDENCIES: Dependencies = MappingProxyType({})


class _ResolvedPackage(Struct, frozen=True):
    """The files of a package and of what it depends on, as the compiler wants them."""

    files: str
    dependencies: str


class MoveBuilder:
    """The compiler, ready to be used: `dist` is what `install_builder` returned.

    Packages are compiled for the framework `release`, each in `timeout_s` at most. The first one
    with a new `cache` folder takes some 10 s, because the compiler itself is compiled to native
    code. Raises `NotFoundError` or `ValidationError` if the compiler is not there or is another
    one.
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
        """The compiler in a folder for what can be fetched again: the first time it is fetched.

        Raises as `install_builder`.
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
        """Compile a package: path -> text, with `Move.toml` and `sources/`.

        `framework` is a folder with the framework's sources, `move-stdlib` and `sui-framework`;
        without it the package is compiled against stubs of the release's bytecode, whose macros
        have words of our own: they do the same, and expand to other bytes.

        Code with the attribute `mode` of one of `modes` is compiled too; modules then have a magic
        by which no network takes them. `dependencies` are the packages that the compiler may ask
        for besides the framework. Raises `ValidationError` with the compiler's words, and a hint if
        they miss something in the framework.
        """
        options = {
            "compileIntent": "dump",
            "modes": list(modes),
            "ansiColor": False,
            # Nothing calls tests, which is no reason to warn.
            "silenceWarnings": bool(modes),
        }
        given = partial(
            _dependency, framework=framework or stubs_of(self.release), others=dependencies
        )
        try:
            with self._wasm.instance(self._timeout_s) as compiler:
                package = _resolve(compiler, published_sources(sources), given, modes=list(modes))
                succeeded, output = compiler.verdict(
                    "compile",
                    "wasmcompileresult",
                    "success",
                    package.files,
                    package.dependencies,
                    json.dumps(options),
                )
        except WasmFailed as error:
            more = (
                "--build-timeout SECONDS gives it more" if isinstance(error, WasmTimedOut) else ""
            )
            raise _build_failed(f"the compiler failed: {error}", more) from error
        if not succeeded:
            own = not isinstance(framework, Path)
            hint = hint_at_missing_names(output, self.release, for_tests=bool(modes)) if own else ""
            raise _build_failed(output.strip(), hint)
        return _parse_output(output)

    def test(
        self, sources: Mapping[str, str], framework: Path, timeout_s: float = TEST_TIMEOUT_S
    ) -> MoveTestReport:
        """Run the unit tests of a package, in `sources/` and `tests/`, in the genuine VM.

        Tests need the framework's own sources. Raises `ValidationError` if the tests do not end
        within `timeout_s`; what does not compile is in the report.
        """
        try:
            with self._wasm.instance(timeout_s) as compiler:
                package = _resolve(
                    compiler, sources, partial(_dependency, framework=framework), modes=["test"]
                )
                passed, output = compiler.verdict(
                    "test_with_options",
                    "wasmtestresult",
                    "passed",
                    package.files,
                    package.dependencies,
                    json.dumps({"ansiColor": False, "modes": []}),
                )
        except WasmFailed as error:
            raise ValidationError("move_test_failed", f"the test runner failed: {error}") from error
        return MoveTestReport(passed, output.strip())


def _build_failed(message: str, hint: str = "") -> ValidationError:
    return ValidationError("move_build_failed", message, hint=hint)


def _resolve(
    compiler: WasmInstance,
    sources: Mapping[str, str],
    dependency: Callable[[Mapping[str, str]], dict[str, Any]],
    modes: list[str],
) -> _ResolvedPackage:
    """Give the compiler the packages that it asks for until it has all of them."""
    packages: list[dict[str, Any]] = []
    for _ in range(_ROUNDS_MAX):
        question = {
            "environment": _ENVIRONMENT,
            "frameworkRev": _FRAMEWORK_REVISION,
            "root": {"source": {"type": "root"}, "files": dict(sources)},
            "packages": packages,
            "modes": modes,
        }
        answer = json.loads(
            compiler.text("manifest_graph_resolve_package_groups", json.dumps(question))
        )
        if answer["status"] == "ok":
            files, dependencies = answer["rootFiles"], answer["dependencies"]
            return _ResolvedPackage(json.dumps(files), json.dumps(dependencies))
        if answer["status"] == "error":
            raise _build_failed(str(answer.get("error", answer)))
        packages += [dependency(request["source"]) for request in answer["requests"]]
    raise _build_failed("the dependencies of the package have no end")


def _dependency(
    requested: Mapping[str, str],
    *,
    framework: Framework,
    others: Dependencies = NO_DEPENDENCIES,
) -> dict[str, Any]:
    """The package that the compiler asks for: one of the framework's, or one of the others."""
    other = others.get(requested.get("local", ""))
    if other is not None:
        return {"source": dict(requested), "requestedSource": dict(requested), "files": dict(other)}
    folder = framework_folder(requested)
    if folder is None:
        raise ValidationError(
            "move_dependency_unsupported",
            f"the package depends on {json.dumps(dict(requested))}",
            hint="only the Sui framework can be used, and it needs no entry in Move.toml",
        )
    source = dict(requested)
    if source["type"] == "git":
        source["rev"] = _FRAMEWORK_REVISION
    if isinstance(framework, Path):
        files = _genuine(framework / folder)
    else:
        files = framework[FRAMEWORK_FOLDERS[folder]]
    return {"source": source, "requestedSource": dict(requested), "files": dict(files)}


def _genuine(folder: Path) -> Mapping[str, str]:
    try:
        return published_sources(read_sources(folder))
    except NotFoundError as error:
        raise UsageError(
            "framework_sources_not_found",
            f"{folder} is no package of the Sui framework",
            hint="name a folder that contains move-stdlib and sui-framework",
        ) from error


def _parse_output(output: str) -> BuiltPackage:
    """Read the compiler's answer and check the digest that it gives."""
    fields = json.loads(output)
    modules = tuple(base64.b64decode(module) for module in fields["modules"])
    dependencies = tuple(_package_id(text) for text in fields["dependencies"])
    digest = package_digest(modules, dependencies)
    given = fields["digest"]
    if digest != (bytes.fromhex(given) if isinstance(given, str) else bytes(given)):
        raise _build_failed("the compiler gives another package digest than its output has")
    return BuiltPackage(modules, dependencies, digest, fields.get("warnings") or "")


def _package_id(text: str) -> bytes:
    return bytes.fromhex(text.removeprefix("0x").rjust(64, "0"))
