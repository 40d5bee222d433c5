"""Builds, checks and tests the Move package `move/nexus_tools`, and writes its bindings."""

import argparse
import json
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path

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
PACKAGE = ROOT / "move" / "nexus_tools"
BYTECODE = ROOT / "nexus_tools" / "package" / "bytecode"
BINDINGS = ROOT / "nexus_tools" / "package" / "move"
BUILDER = ROOT / ".cache" / "sui-move-builder"
NATIVE_CODE = ROOT / ".cache" / "wasmtime"

# The package has no random tests; if it gets some, they are to be the same in each run.
_SEED = 0


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
    arguments = vars(parser.parse_args())
    arguments.pop("command")
    run = arguments.pop("run")
    try:
        return int(run(**arguments))
    except NexusError as error:
        print(f"{error.code}: {error}", file=sys.stderr)
        return error.exit_code


def build() -> int:
    """Compile the package and write its bytecode and its bindings."""
    package = _compile()
    files = _bytecode_files(package)
    BYTECODE.mkdir(parents=True, exist_ok=True)
    for path in BYTECODE.glob("*.mv"):
        path.unlink()
    for name, content in files.items():
        (BYTECODE / name).write_bytes(content)
    print(f"{len(files) - 1} modules written to {BYTECODE.relative_to(ROOT)}")
    write_bindings(BINDINGS, _bindings(package))
    print(f"and their bindings to {BINDINGS.relative_to(ROOT)}")
    return 0


def check() -> int:
    """Compile the package and compare the result with what is in the repository."""
    package = _compile()
    expected = _bytecode_files(package)
    present = {path.name: path.read_bytes() for path in (*BYTECODE.glob("*.mv"), _manifest())}
    expected |= {name: text.encode() for name, text in _bindings(package).items()}
    present |= {path.name: path.read_bytes() for path in BINDINGS.glob("*.py")}
    different = sorted(
        name for name in expected | present if expected.get(name) != present.get(name)
    )
    if different:
        print(f"{', '.join(different)}: not what the sources compile to. Run scripts/move build.")
        return 1
    print("The bytecode and the bindings are what the sources compile to.")
    return 0


def test(*, coverage: bool, coverage_report: Path | None) -> int:
    """Run the unit tests in the localnet's VM."""
    builder, package = _builder(), read_package(PACKAGE, for_tests=True)
    dependencies = build_dependencies(builder, package.dependencies)
    build = build_tests(builder, package.sources, dependencies)
    covers = coverage or coverage_report is not None
    marked = partial(build_marked, builder, package.sources, dependencies)
    runner = MoveTestRunner(build, seed=_SEED, marked=marked, covers=covers)
    results = list(runner.run(build.tests))
    failed = [result for result in results if result.verdict is not Verdict.PASS]
    for result in failed:
        print("\n".join(failure_lines(result)), end="\n\n")
    if covers:
        print("\n".join(coverage_in_words(runner.coverage())), end="\n\n")
    if coverage_report is not None:
        folder = PACKAGE.relative_to(ROOT)
        coverage_report.write_text(coverage_lcov(runner.coverage(), folder), "utf-8")
    print(summary_line(results))
    return 1 if failed or not results else 0


def _builder() -> MoveBuilder:
    return MoveBuilder(install_builder(BUILDER), NATIVE_CODE)


def _manifest() -> Path:
    return BYTECODE / "package.json"


def _compile() -> BuiltPackage:
    package = build_to_publish(_builder(), PACKAGE)
    if package.warnings:
        print(package.warnings, file=sys.stderr)
    return package


def _bindings(package: BuiltPackage) -> Mapping[str, str]:
    """The files of the bindings; the folder has nothing else."""
    origin = "the Move package `nexus_tools`"
    source = PackageSource(origin, package.modules, published_sources(read_sources(PACKAGE)))
    framework = load_framework()
    return generate(source, lambda address: framework[address].modules, bases=BASES).files


def _bytecode_files(package: BuiltPackage) -> dict[str, bytes]:
    """The files of the bytecode folder: a `.mv` for each module, and `package.json`."""
    modules = {deserialize(module).name: module for module in package.modules}
    manifest = {
        "modules": list(modules),
        "dependencies": [f"0x{dependency.hex()}" for dependency in package.dependencies],
        "digest": package.digest.hex(),
        "sources_digest": sources_digest(PACKAGE),
        "compiler": COMPILER_VERSION,
    }
    files = {f"{name}.mv": module for name, module in modules.items()}
    return files | {_manifest().name: (json.dumps(manifest, indent=2) + "\n").encode()}


if __name__ == "__main__":
    sys.exit(main())
