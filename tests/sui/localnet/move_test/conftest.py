"""The sample package and its tests, compiled once."""

from pathlib import Path

import pytest

from nexus_tools.sui.localnet.compiler import read_sources

SAMPLE = Path(__file__).parent / "sample"
GAS_LIMIT = 1_000_000


@pytest.fixture(scope="session")
def builder(move_builder):
    return move_builder


@pytest.fixture(scope="session")
def sample(builder):
    from nexus_tools.sui.localnet.move_test import build_tests

    return build_tests(builder, read_sources(SAMPLE))


@pytest.fixture(scope="session")
def results(sample):
    """Return the result of each test of the sample by `module::name`."""
    from nexus_tools.sui.localnet.move_test import MoveTestRunner

    runner = MoveTestRunner(sample, seed=1, gas_limit=GAS_LIMIT)
    return {
        result.test.title.removeprefix("sample::"): result for result in runner.run(sample.tests)
    }


@pytest.fixture
def run(builder):
    """Run the tests of a package with one module `sample::main` from the module's body."""
    from nexus_tools.sui.localnet.move_test import MoveTestRunner, build_tests

    def run_tests(body, **options):
        sources = {
            "Move.toml": (SAMPLE / "Move.toml").read_text(),
            "sources/main.move": f"module sample::main;\n{body}\n",
        }
        build = build_tests(builder, sources)
        runner = MoveTestRunner(build, **({"seed": 1, "gas_limit": GAS_LIMIT} | options))
        return {result.test.name: result for result in runner.run(build.tests)}

    return run_tests


@pytest.fixture
def world(tmp_path):
    """Return a function that writes packages: folders with the manifest and the module `main`."""

    def write(**packages):
        for folder, (text, source) in packages.items():
            place = tmp_path / folder.replace("__", "/")
            (place / "sources").mkdir(parents=True)
            (place / "Move.toml").write_text(text)
            (place / "sources" / "main.move").write_text(source)
        return tmp_path

    return write


@pytest.fixture
def run_package(builder):
    """Run the tests of the package in a folder and return their results by name."""

    from nexus_tools.sui.localnet.compiler import read_package
    from nexus_tools.sui.localnet.move_test import (
        MoveTestRunner,
        build_dependencies,
        build_marked,
        build_tests,
    )

    def run_tests(folder):
        package = read_package(folder, for_tests=True)
        dependencies = build_dependencies(builder, package.dependencies)
        build = build_tests(builder, package.sources, dependencies)

        def marked():
            return build_marked(builder, package.sources, dependencies)

        runner = MoveTestRunner(build, seed=1, marked=marked)
        return {result.test.name: result for result in runner.run(build.tests)}

    return run_tests
