"""Build, check and test the Move packages of this project, and generate their bindings."""

import argparse
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path

from move_mutants import SURVIVORS_MAX, Fate, MutantExaminer, chosen, in_words, survival
from nexus_tools.contracts.views import BASES
from nexus_tools.errors import NexusError
from nexus_tools.sui.bindings.generator import PackageSource, generate, write_bindings
from nexus_tools.sui.bytecode import deserialize
from nexus_tools.sui.localnet.compiler import (
    COMPILER_VERSION,
    CompiledPackage,
    MoveBuilder,
    build_package,
    install_builder,
    published_sources,
    read_package,
    sources_digest,
)
from nexus_tools.sui.localnet.framework import load_framework
from nexus_tools.sui.localnet.move_test import (
    MoveTestRunner,
    Verdict,
    build_dependencies,
    build_marked,
    build_tests,
    coverage_lcov,
    coverage_text_lines,
    failure_lines,
    summary_line,
)

ROOT = Path(__file__).resolve().parent.parent
OURS = ROOT / "nexus_tools" / "contracts"
BUILDER = ROOT / ".cache" / "sui-move-builder"
NATIVE_CODE = ROOT / ".cache" / "wasmtime"

# Random tests use the same seed in each run.
_SEED = 0
_MANIFEST = "package.json"


@dataclass(frozen=True, eq=False)
class OurPackage:
    """A folder in `move`, and the folder in `nexus_tools` with its bytecode and bindings.

    If a package is `within` another package, it uses the types of that package, and its bindings
    are inside the bindings of that package.
    """

    name: str
    home: Path
    bases: Mapping[str, str] = field(default_factory=dict)
    within: "OurPackage | None" = None

    @property
    def sources(self) -> Path:
        """The folder of the package's sources."""
        return ROOT / "move" / self.name

    @property
    def bytecode(self) -> Path:
        """The folder of the package's bytecode."""
        return self.home / "bytecode"

    @property
    def bindings(self) -> Path:
        """The folder of the package's Python bindings."""
        return self.home / "move_bindings"


_TOOLS = OurPackage("nexus_tools", OURS, BASES)
_WORKFLOWS = OurPackage("nexus_workflows", OURS / "workflows", within=_TOOLS)
PACKAGES = (_TOOLS, _WORKFLOWS, OurPackage("upgrade_lock", OURS / "upgrade_lock"))


def main() -> int:
    """Run the command that the arguments name, and return the exit code."""
    parser = argparse.ArgumentParser(prog="scripts/move", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("build").set_defaults(run=build)
    commands.add_parser("check").set_defaults(run=check)
    tests = commands.add_parser("test")
    tests.add_argument("--coverage", action="store_true", help="show the covered lines")
    tests.add_argument(
        "--coverage-report", type=Path, help="write the coverage to this file, as LCOV"
    )
    tests.set_defaults(run=test)
    mutation = commands.add_parser("mutants")
    mutation.add_argument("--count", type=int, default=200, help="number of mutants; 0 for all")
    mutation.add_argument("--seed", type=int, default=_SEED, help="choose others")
    names = [ours.name for ours in PACKAGES]
    mutation.add_argument("--package", choices=names, default=names[0], help="package to mutate")
    mutation.add_argument("--module", action="append", help="mutate only this module; repeatable")
    mutation.set_defaults(run=mutants)
    arguments = vars(parser.parse_args())
    arguments.pop("command")
    run = arguments.pop("run")
    try:
        return int(run(**arguments))
    except NexusError as error:
        print(f"{error.code}: {error}", file=sys.stderr)
        return error.exit_code


def build() -> int:
    """Compile the packages and write their bytecode and their bindings."""
    for ours in PACKAGES:
        files = _bytecode_files(ours)
        ours.bytecode.mkdir(parents=True, exist_ok=True)
        for path in ours.bytecode.glob("*.mv"):
            path.unlink()
        for name, content in files.items():
            (ours.bytecode / name).write_bytes(content)
        print(f"{len(files) - 1} modules written to {ours.bytecode.relative_to(ROOT)}")
        if ours.within is None:
            write_bindings(ours.bindings, _bindings(ours))
            print(f"bindings written to {ours.bindings.relative_to(ROOT)}")
    return 0


def check() -> int:
    """Compile the packages and compare the results with the files in the repository."""
    different = [name for ours in PACKAGES for name in _different(ours)]
    if different:
        print(f"{', '.join(different)}: out of date. Run scripts/move build.")
        return 1
    print("The bytecode and the bindings are up to date.")
    return 0


def test(*, coverage: bool, coverage_report: Path | None) -> int:
    """Run the unit tests of all packages in the localnet's VM."""
    covers = coverage or coverage_report is not None
    runs = [_test(ours, covers=covers) for ours in PACKAGES]
    if coverage_report is not None:
        texts = [
            coverage_lcov(runner.coverage(), ours.sources.relative_to(ROOT))
            for ours, (_, runner) in zip(PACKAGES, runs, strict=True)
        ]
        coverage_report.write_text("".join(texts), "utf-8")
    return 0 if all(passed for passed, _ in runs) else 1


def mutants(*, count: int, seed: int, package: str, module: list[str] | None) -> int:
    """Run the unit tests of a package on its mutants. Fail if too many mutants survive."""
    ours = next(candidate for candidate in PACKAGES if candidate.name == package)
    examiner = MutantExaminer(_builder(), read_package(ours.sources, for_tests=True), seed=_SEED)
    among = [mutant for mutant in examiner.mutants if module is None or mutant.module in module]
    examined = []
    for result in examiner.examine(chosen(among, count or None, seed)):
        examined.append(result)
        if result.fate is Fate.SURVIVED:
            print(f"survived: {result.mutant}", flush=True)
    print("\n".join(in_words(examined)))
    return 0 if survival(examined) <= SURVIVORS_MAX else 1


def _test(ours: OurPackage, *, covers: bool) -> tuple[bool, MoveTestRunner]:
    builder, package = _builder(), read_package(ours.sources, for_tests=True)
    dependencies = build_dependencies(builder, package.dependencies)
    build = build_tests(builder, package.sources, dependencies)
    marked = partial(build_marked, builder, package.sources, dependencies)
    runner = MoveTestRunner(build, seed=_SEED, marked=marked, covers=covers)
    results = list(runner.run(build.tests))
    failed = [result for result in results if result.verdict is not Verdict.PASS]
    for result in failed:
        print("\n".join(failure_lines(result)), end="\n\n")
    if covers:
        print("\n".join(coverage_text_lines(runner.coverage())), end="\n\n")
    print(f"{ours.name}: {summary_line(results)}")
    return bool(results) and not failed, runner


def _builder() -> MoveBuilder:
    return MoveBuilder(install_builder(BUILDER), NATIVE_CODE)


@cache
def _compile(ours: OurPackage) -> CompiledPackage:
    package = build_package(_builder(), ours.sources)
    if package.built.warnings:
        print(package.built.warnings, file=sys.stderr)
    return package


def _different(ours: OurPackage) -> list[str]:
    """Return the files that differ from the compiled sources."""
    code, bindings = _bytecode_files(ours), _bindings(ours) if ours.within is None else {}
    expected = {ours.bytecode / name: content for name, content in code.items()}
    expected |= {ours.bindings / name: text.encode() for name, text in bindings.items()}
    paths = (
        *ours.bytecode.glob("*.mv"),
        *ours.bytecode.glob(_MANIFEST),
        *ours.bindings.rglob("*.py"),
    )
    present = {path: path.read_bytes() for path in paths}
    return sorted(
        str(path.relative_to(ROOT))
        for path in expected | present
        if expected.get(path) != present.get(path)
    )


def _bindings(ours: OurPackage) -> Mapping[str, str]:
    """Return the files of the bindings. The folder contains nothing else."""
    inside = [package for package in PACKAGES if package.within is ours]
    package = _compile(inside[0]).dependencies[ours.name] if inside else _compile(ours)
    along = {
        dependency.home.name: _source(dependency.name, _compile(dependency))
        for dependency in inside
    }
    bases = ours.bases
    framework = load_framework()
    return generate(
        _source(ours.name, package), lambda address: framework[address].modules, along, bases
    ).files


def _source(name: str, package: CompiledPackage) -> PackageSource:
    return PackageSource(
        f"the Move package `{name}`", package.built.modules, published_sources(package.sources)
    )


def _bytecode_files(ours: OurPackage) -> dict[str, bytes]:
    """Return the files of the bytecode folder: a `.mv` for each module, and `package.json`.

    In these files, dependencies have the placeholder addresses of the compilation. The field
    `needs` of `package.json` maps their names to the placeholders.
    """
    package = _compile(ours)
    modules = {deserialize(module).name: module for module in package.built.modules}
    needs = {name: _address(dependency) for name, dependency in package.dependencies.items()}
    manifest = {
        "modules": list(modules),
        "dependencies": [f"0x{dependency.hex()}" for dependency in package.built.dependencies],
        "digest": package.built.digest.hex(),
        "needs": needs,
        "sources_digest": sources_digest(ours.sources),
        "compiler": COMPILER_VERSION,
    }
    files = {f"{name}.mv": module for name, module in modules.items()}
    return files | {_MANIFEST: (json.dumps(manifest, indent=2) + "\n").encode()}


def _address(package: CompiledPackage) -> str:
    return f"0x{deserialize(package.built.modules[0]).address.hex()}"


if __name__ == "__main__":
    sys.exit(main())
