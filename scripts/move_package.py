"""Builds, checks and tests the Move packages that come with us, and writes their bindings."""

import argparse
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from move_mutants import SURVIVORS_MAX, Fate, MutantExaminer, chosen, in_words, survival
from nexus_tools.bindings.generator import PackageSource, generate, write_bindings
from nexus_tools.bytecode import deserialize
from nexus_tools.errors import NexusError
from nexus_tools.localnet.compiler import (
    COMPILER_VERSION,
    BuiltPackage,
    MoveBuilder,
    build_to_publish,
    install_builder,
    published_sources,
    read_package,
    read_sources,
    sources_digest,
)
from nexus_tools.localnet.framework import load_framework
from nexus_tools.localnet.move_test import (
    MoveTestRunner,
    Verdict,
    build_dependencies,
    build_marked,
    build_tests,
    coverage_in_words,
    coverage_lcov,
    failure_lines,
    summary_line,
)
from nexus_tools.package.views import BASES

ROOT = Path(__file__).resolve().parent.parent
OURS = ROOT / "nexus_tools" / "package"
BUILDER = ROOT / ".cache" / "sui-move-builder"
NATIVE_CODE = ROOT / ".cache" / "wasmtime"

# Random tests are the same in each run.
_SEED = 0
_MANIFEST = "package.json"


@dataclass(frozen=True)
class OurPackage:
    """A folder in `move`, and the one in `nexus_tools` where bytecode and bindings of it are."""

    name: str
    home: Path
    bases: Mapping[str, str] = field(default_factory=dict)

    @property
    def sources(self) -> Path:
        """Where it is written."""
        return ROOT / "move" / self.name

    @property
    def bytecode(self) -> Path:
        """Where it is compiled."""
        return self.home / "bytecode"

    @property
    def bindings(self) -> Path:
        """Where Python's view of it is."""
        return self.home / "move"


PACKAGES = (
    OurPackage("nexus_tools", OURS, BASES),
    OurPackage("upgrade_lock", OURS / "upgrade_lock"),
)


def main() -> int:
    """Run the command that the arguments name, and return the exit code."""
    parser = argparse.ArgumentParser(prog="scripts/move", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("build").set_defaults(run=build)
    commands.add_parser("check").set_defaults(run=check)
    tests = commands.add_parser("test")
    tests.add_argument("--coverage", action="store_true", help="show which lines are covered")
    tests.add_argument("--coverage-report", type=Path, help="write the coverage here, as LCOV")
    tests.set_defaults(run=test)
    mutation = commands.add_parser("mutants")
    mutation.add_argument("--count", type=int, default=200, help="examine so many; 0 for all")
    mutation.add_argument("--seed", type=int, default=_SEED, help="choose others")
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
        package = _compile(ours)
        files = _bytecode_files(ours, package)
        ours.bytecode.mkdir(parents=True, exist_ok=True)
        for path in ours.bytecode.glob("*.mv"):
            path.unlink()
        for name, content in files.items():
            (ours.bytecode / name).write_bytes(content)
        print(f"{len(files) - 1} modules written to {ours.bytecode.relative_to(ROOT)}")
        write_bindings(ours.bindings, _bindings(ours, package))
        print(f"and their bindings to {ours.bindings.relative_to(ROOT)}")
    return 0


def check() -> int:
    """Compile the packages and compare the results with what is in the repository."""
    different = [name for ours in PACKAGES for name in _different(ours)]
    if different:
        print(f"{', '.join(different)}: not what the sources compile to. Run scripts/move build.")
        return 1
    print("The bytecode and the bindings are what the sources compile to.")
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


def mutants(*, count: int, seed: int) -> int:
    """Run the unit tests of nexus_tools on mutants of it, and fail if too many survive."""
    ours = PACKAGES[0]
    examiner = MutantExaminer(_builder(), read_package(ours.sources, for_tests=True), seed=_SEED)
    examined = []
    for each in examiner.examine(chosen(examiner.mutants, count or None, seed)):
        examined.append(each)
        if each.fate is Fate.SURVIVED:
            print(f"survived: {each.mutant}", flush=True)
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
        print("\n".join(coverage_in_words(runner.coverage())), end="\n\n")
    print(f"{ours.name}: {summary_line(results)}")
    return bool(results) and not failed, runner


def _builder() -> MoveBuilder:
    return MoveBuilder(install_builder(BUILDER), NATIVE_CODE)


def _compile(ours: OurPackage) -> BuiltPackage:
    package = build_to_publish(_builder(), ours.sources)
    if package.warnings:
        print(package.warnings, file=sys.stderr)
    return package


def _different(ours: OurPackage) -> list[str]:
    """The files that are not what the sources compile to."""
    package = _compile(ours)
    code, bindings = _bytecode_files(ours, package), _bindings(ours, package)
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


def _bindings(ours: OurPackage, package: BuiltPackage) -> Mapping[str, str]:
    """The files of the bindings; the folder has nothing else."""
    origin = f"the Move package `{ours.name}`"
    source = PackageSource(origin, package.modules, published_sources(read_sources(ours.sources)))
    framework = load_framework()
    return generate(source, lambda address: framework[address].modules, bases=ours.bases).files


def _bytecode_files(ours: OurPackage, package: BuiltPackage) -> dict[str, bytes]:
    """The files of the bytecode folder: a `.mv` for each module, and `package.json`."""
    modules = {deserialize(module).name: module for module in package.modules}
    manifest = {
        "modules": list(modules),
        "dependencies": [f"0x{dependency.hex()}" for dependency in package.dependencies],
        "digest": package.digest.hex(),
        "sources_digest": sources_digest(ours.sources),
        "compiler": COMPILER_VERSION,
    }
    files = {f"{name}.mv": module for name, module in modules.items()}
    return files | {_MANIFEST: (json.dumps(manifest, indent=2) + "\n").encode()}


if __name__ == "__main__":
    sys.exit(main())
