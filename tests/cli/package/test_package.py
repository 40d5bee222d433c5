import shutil
from pathlib import Path

import pytest

from nexus_tools.sui.localnet.compiler import BUILD_TIMEOUT_S
from nexus_tools.sui.localnet.framework import embedded_release, write_release
from nexus_tools.sui.localnet.move_test import GAS_LIMIT
from nexus_tools.sui.types.address import Address

ROOT = Path(__file__).parents[3]


def test_show_prints_package_with_registry_settings(author):
    document = author.json("package", "show")
    assert document["version"] == 1
    assert document["collateral_mist"] == 1_000_000_000
    assert document["unregister_delay_ms"] == 7 * 86_400_000
    assert document["leader_collateral_mist"] == 10_000_000_000
    words = author.run("package", "show").stdout
    assert "1 SUI" in words
    assert "7 d" in words


def test_publish_rejects_published_package(author):
    assert author.fails("package", "publish", "--yes") == (4, "package_published")


@pytest.mark.long
def test_republished_package_has_its_own_registries(author):
    first = author.json("package", "show")
    second = author.json("package", "publish", "--republish", "--yes")
    assert second["tool_registry"] != first["tool_registry"]
    assert author.json("package", "show")["package_id"] == second["package_id"]


def test_dry_run_publishes_nothing(author):
    settings, balance = author.settings, author.json("wallet", "show")
    document = author.json("package", "publish", "--republish", "--dry-run")
    assert (document["dry_run"], document["digest"]) == (True, None)
    assert document["cost_mist"] > 0
    assert author.settings == settings
    assert author.json("wallet", "show") == balance


def test_use_finds_published_package_by_id(author, publisher):
    known = author.json("package", "show")["package_id"]
    author.configure(network="test", networks=author.settings["networks"])
    assert author.fails("package", "show") == (3, "package_not_published")
    author.json("package", "use", known)
    assert author.settings["deployments"] == publisher.settings["deployments"]


def test_use_rejects_invalid_package(author):
    assert author.fails("package", "use", f"0x{0x1234:064x}") == (3, "package_unknown")
    assert author.fails("package", "use", f"0x{6:064x}")[0] in (3, 7)


def test_commands_hint_at_publish_when_the_package_is_unknown(author):
    author.configure(network="test", networks=author.settings["networks"])
    result = author.run("tool", "list", "--json")
    assert (result.code, result.error["code"]) == (3, "package_not_published")
    assert "package publish" in result.error["hint"]


@pytest.mark.usefixtures("compiler")
def test_compiled_sources_match_the_shipped_bytecode(home, tmp_path):
    built = home.json("package", "build", "--output", tmp_path / "out")
    shipped = ROOT / "nexus_tools" / "contracts" / "bytecode"
    for name in built["modules"]:
        written = (tmp_path / "out" / f"{name}.mv").read_bytes()
        assert written == (shipped / f"{name}.mv").read_bytes()


@pytest.mark.usefixtures("compiler")
def test_build_prints_compiler_error(home, tmp_path):
    package = tmp_path / "broken"
    shutil.copytree(ROOT / "move" / "nexus_tools", package, ignore=shutil.ignore_patterns("tests"))
    source = package / "sources" / "fqn.move"
    source.write_text(source.read_text().replace("u64", "u63"))
    result = home.run("package", "build", package, "--json")
    assert (result.code, result.error["code"]) == (7, "move_build_failed")
    assert "u63" in result.error["message"]


@pytest.fixture
def tested_package(tmp_path):
    """A package with a test that passes, one that does not, and a random one."""
    folder = tmp_path / "tested"
    (folder / "sources").mkdir(parents=True)
    (folder / "Move.toml").write_text(
        '[package]\nname = "tested"\nedition = "2024"\n\n[addresses]\ntested = "0x0"\n'
    )
    (folder / "sources" / "main.move").write_text(
        "module tested::main;\nconst EWrong: u64 = 4;\n#[test] fun holds() {}\n"
        "#[test] fun breaks() {\n    abort EWrong\n}\n#[random_test] fun any(_: u8) {}\n"
    )
    return folder


@pytest.fixture
def covered_package(tmp_path):
    """A package of which a test passes one line of two."""
    folder = tmp_path / "covered"
    (folder / "sources").mkdir(parents=True)
    (folder / "Move.toml").write_text(
        '[package]\nname = "covered"\nedition = "2024"\n\n[addresses]\ncovered = "0x0"\n'
    )
    (folder / "sources" / "main.move").write_text(
        "module covered::main;\n\nfun one(): u64 { 1 }\nfun two(): u64 { 2 }\n"
        "#[test] fun ones() { assert!(one() == 1); }\n"
    )
    return folder


@pytest.mark.usefixtures("compiler")
def test_tests_are_selected_and_their_results_are_json(home, tested_package):
    report = home.json("package", "test", tested_package, "--filter", "holds")
    assert [(test["test"], test["verdict"]) for test in report["tests"]] == [
        ("tested::main::holds", "pass")
    ]


@pytest.mark.usefixtures("compiler")
def test_failing_move_test_fails_the_command(home, tested_package):
    result = home.run("package", "test", tested_package, "--seed", 5)
    assert result.code == 7
    assert "aborted with EWrong 4 in main::breaks, sources/main.move:5" in result.stdout
    assert "seed 5" in result.stderr


@pytest.mark.long
@pytest.mark.usefixtures("compiler")
def test_tested_package_may_depend_on_another_folder(home, tested_package):
    other = tested_package.parent / "other"
    (other / "sources").mkdir(parents=True)
    (other / "Move.toml").write_text('[package]\nname = "other"\nedition = "2024"\n')
    (other / "sources" / "main.move").write_text(
        "module other::main;\npublic fun fails() { abort 9 }"
    )
    with (tested_package / "Move.toml").open("a") as manifest:
        manifest.write('\n[dependencies]\nother = { local = "../other" }\n')
    source = tested_package / "sources" / "main.move"
    source.write_text(source.read_text() + "#[test] fun far() { other::main::fails() }\n")
    result = home.run("package", "test", tested_package, "--filter", "far")
    assert result.code == 7
    assert "at other::main::fails (../other/sources/main.move:2)" in result.stdout


@pytest.mark.usefixtures("compiler")
def test_dependency_from_a_repository_is_an_error(home, tested_package):
    with (tested_package / "Move.toml").open("a") as manifest:
        manifest.write('\n[dependencies]\nfar = { git = "https://example.com/far.git" }\n')
    result = home.run("package", "test", tested_package, "--json")
    assert (result.code, result.error["code"]) == (7, "move_dependency_unsupported")
    assert "https://example.com/far.git" in result.error["message"]
    assert "local" in result.error["hint"]


@pytest.mark.long
@pytest.mark.usefixtures("compiler")
def test_coverage_is_printed_as_a_table_and_written_as_lcov(home, covered_package, tmp_path):
    report = tmp_path / "coverage.info"
    result = home.run("package", "test", covered_package, "--coverage", "--coverage-report", report)
    assert result.code == 0
    rows = [line.split() for line in result.stdout.splitlines()]
    assert ["covered::main", "2", "1", "50.0", "%", "4"] in rows
    path = (covered_package / "sources" / "main.move").as_posix()
    assert f"SF:{path}\n" in report.read_text()
    assert "DA:3,1\nDA:4,0\nLF:2\nLH:1\n" in report.read_text()


@pytest.mark.usefixtures("compiler")
def test_coverage_is_included_in_json(home, covered_package):
    coverage = home.json("package", "test", covered_package, "--coverage")["coverage"]
    assert (coverage["lines"], coverage["covered"]) == (2, 1)
    assert coverage["modules"][0]["missed"] == [[4, 4]]


@pytest.mark.usefixtures("compiler")
def test_tests_are_listed_without_being_run(home, tested_package):
    listed = home.json("package", "test", tested_package, "--list")
    assert [test["test"].rsplit("::", 1)[-1] for test in listed] == ["holds", "breaks", "any"]


def test_build_rejects_folder_without_package(home, tmp_path):
    assert home.run("package", "build", tmp_path / "nothing").code == 2


def write_package(folder, source, dependencies=""):
    """A package with one module, named after its folder."""
    name = folder.name
    (folder / "sources").mkdir(parents=True)
    (folder / "Move.toml").write_text(
        f'[package]\nname = "{name}"\nedition = "2024"\n\n[dependencies]\n{dependencies}\n'
        f'[addresses]\n{name} = "0x0"\n'
    )
    (folder / "sources" / "main.move").write_text(source)
    return folder


@pytest.fixture
def app_with_dependency(tmp_path):
    """A package that depends on one in a repository; its checkout is beside it."""
    write_package(tmp_path / "library", "module library::parts;\npublic fun eight(): u64 { 8 }\n")
    return write_package(
        tmp_path / "app",
        "module app::main;\npublic fun nine(): u64 { library::parts::eight() + 1 }\n"
        "#[test] fun is_nine() { assert!(nine() == 9) }\n",
        'library = { git = "https://example.com/library.git", rev = "main" }\n',
    )


@pytest.mark.usefixtures("compiler")
def test_repository_dependency_error_hints_at_dependency_option(home, app_with_dependency):
    for verb in ("build", "test", "publish"):
        error = home.run("package", verb, app_with_dependency, "--json").error
        assert error["code"] == "move_dependency_unsupported"
        assert "app depends on library from https://example.com/library.git" in error["message"]
        assert "--dependency library=FOLDER" in error["hint"]


@pytest.mark.usefixtures("compiler")
def test_dependency_option_reads_a_checkout(home, app_with_dependency):
    checkout = f"library={app_with_dependency.parent / 'library'}"
    assert home.json("package", "test", app_with_dependency, "--dependency", checkout)["tests"]
    built = home.json(
        "package", "build", app_with_dependency, "--dependency", checkout, "--bundle", "all"
    )
    assert built["modules"] == ["parts", "main"]


@pytest.mark.long
@pytest.mark.usefixtures("compiler")
def test_bindings_accept_compilation_options(home, app_with_dependency):
    made = ("package", "bindings", app_with_dependency, "-o", home.folder / "out")
    assert home.fails(*made) == (7, "move_dependency_unsupported")
    checkout = ("--dependency", f"library={app_with_dependency.parent / 'library'}")
    assert home.json(*made, *checkout)["modules"] == 1
    assert home.fails(*made, *checkout, "--build-timeout", "1e-9") == (7, "move_build_failed")
    elsewhere = ("--framework-from", "nowhere")
    assert home.fails(*made, *checkout, *elsewhere) == (2, "framework_source_invalid")
    framework = home.folder / "framework"
    write_release(embedded_release(), framework)
    assert home.json(*made, *checkout, "--framework-from", framework)["types"] == 0


@pytest.fixture
def compiling_author(author, lend_compiler):
    """The author, who has the Move compiler."""
    lend_compiler(author.cache)
    return author


def test_dependency_option_rejects_missing_checkout(home, app_with_dependency):
    for wrong in ("library", "library=", "=library", f"library={app_with_dependency / 'nowhere'}"):
        found = home.fails("package", "build", app_with_dependency, "--dependency", wrong)
        assert found == (2, "dependency_invalid")


def test_publish_includes_dependencies_of_a_user_package(compiling_author, app_with_dependency):
    author = compiling_author
    deployments = author.settings["deployments"]
    options = (
        "--dependency",
        f"library={app_with_dependency.parent / 'library'}",
        "--bundle",
        "all",
    )
    rehearsed = author.json("package", "publish", app_with_dependency, *options, "--dry-run")
    assert (rehearsed["dry_run"], rehearsed.get("package_id")) == (True, None)
    published = author.json("package", "publish", app_with_dependency, *options, "--yes")
    assert published["package_id"] in published["effects"]["created"]
    assert published["upgrade_cap"] in published["effects"]["created"]
    assert author.settings["deployments"] == deployments


@pytest.mark.long
def test_publish_names_dependency_missing_on_the_network(compiling_author, app_with_dependency):
    manifest = app_with_dependency.parent / "library" / "Move.toml"
    manifest.write_text(manifest.read_text().replace('"0x0"', '"0xabc"'))
    options = ("--dependency", f"library={app_with_dependency.parent / 'library'}", "--yes")
    error = compiling_author.run(
        "package", "publish", app_with_dependency, *options, "--json"
    ).error
    assert error["code"] == "dependency_not_on_network"
    assert f"0x{'abc':0>64}" in error["message"]
    assert "--bundle all" in error["hint"]
    assert compiling_author.json(
        "package", "publish", app_with_dependency, *options, "--bundle", "all"
    )


@pytest.mark.long
def test_publish_names_dependency_that_differs_on_chain(compiling_author, app_with_dependency):
    author, library = compiling_author, app_with_dependency.parent / "library"
    package = author.json("package", "publish", library, "--yes")["package_id"]
    manifest = library / "Move.toml"
    manifest.write_text(manifest.read_text().replace('"0x0"', f'"{package}"'))
    publish = ("package", "publish", app_with_dependency, "--dependency", f"library={library}")
    assert author.json(*publish, "--dry-run")["dry_run"] is True
    for path in (library, app_with_dependency):
        source = path / "sources" / "main.move"
        source.write_text(source.read_text().replace("u64", "u8"))
    for option in ("--yes", "--dry-run"):
        error = author.run(*publish, option, "--json").error
        assert error["code"] == "vm_verification_or_deserialization_error"
        place = f"{Address.parse(package).short()}::parts::eight"
        assert error["details"]["differing"] == [
            f"{place} is declared differently in version 1 of the package"
        ]
        assert error["message"].endswith(error["details"]["differing"][0])


def test_publish_explains_a_rejected_module(compiling_author, tmp_path):
    source = "module alien::main;\npublic native fun one(): u64;\n"
    folder = write_package(tmp_path / "alien", source)
    error = compiling_author.run("package", "publish", folder, "--yes", "--json").error
    assert (error["code"], "a function is native" in error["message"]) == ("module_refused", True)


def test_publish_rejects_package_without_modules(compiling_author, tmp_path):
    source = "#[test_only]\nmodule empty::main;\npublic fun one(): u64 { 1 }\n"
    folder = write_package(tmp_path / "empty", source)
    found = compiling_author.fails("package", "publish", folder, "--yes")
    assert found == (7, "package_empty")


@pytest.mark.long
def test_oversized_bundle_error_hints_at_publishing_dependencies(
    compiling_author, app_with_dependency
):
    # A constant has at most 64 KiB: two of 60 000 bytes are more than the 102 400 of a package.
    bytes_ = [f'const BYTES_{i}: vector<u8> = x"{i:02x}{"00" * 59_999}";' for i in range(2)]
    (app_with_dependency.parent / "library" / "sources" / "main.move").write_text(
        "module library::parts;\n"
        + "\n".join(bytes_)
        + "\npublic fun eight(): u64 { BYTES_0.length() + BYTES_1.length() }\n"
    )
    options = (
        "--dependency",
        f"library={app_with_dependency.parent / 'library'}",
        "--bundle",
        "all",
        "--yes",
    )
    error = compiling_author.run(
        "package", "publish", app_with_dependency, *options, "--json"
    ).error
    assert error["code"] == "package_too_large"
    assert "102400" in error["message"]
    assert "Publish dependencies first" in error["hint"]


@pytest.mark.long
@pytest.mark.usefixtures("compiler")
def test_move_tests_have_the_gas_limit_of_the_library(home, tmp_path):
    # 400 000 rounds use more than 200 000 000 internal gas units.
    folder = write_package(
        tmp_path / "patient",
        "module patient::main;\n#[test] fun counts() {\n"
        "    let mut n = 0u64;\n    while (n < 400_000) n = n + 1;\n}\n",
    )
    assert home.json("package", "test", folder)["tests"][0]["verdict"] == "pass"
    limit = ("--gas-limit", "200000000")
    assert home.run("package", "test", folder, *limit).code == 7


def test_help_prints_the_limits_of_the_library(home):
    told = home.run("package", "test", "--help").stdout
    assert GAS_LIMIT == 10**12
    assert "10^12" in told
    assert BUILD_TIMEOUT_S == 60
    assert "internal gas units" in told.lower().replace("\n", " ")


@pytest.mark.usefixtures("compiler")
def test_build_timeout_option_limits_compilation(home, app_with_dependency):
    checkout = f"library={app_with_dependency.parent / 'library'}"
    options = ("--dependency", checkout, "--bundle", "all", "--build-timeout", "1e-9")
    error = home.run("package", "build", app_with_dependency, *options, "--json").error
    assert "did not end within" in error["message"]
    assert "--build-timeout" in error["hint"]
