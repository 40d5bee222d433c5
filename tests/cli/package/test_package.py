import shutil
from pathlib import Path

import pytest

from nexus_tools.sui.localnet.compiler import BUILD_TIMEOUT_S
from nexus_tools.sui.localnet.framework import embedded_release, write_release
from nexus_tools.sui.localnet.move_test import GAS_LIMIT
from nexus_tools.sui.types.address import Address

ROOT = Path(__file__).parents[3]


def test_the_package_is_shown_with_what_its_registries_ask_for(author):
    document = author.json("package", "show")
    assert document["version"] == 1
    assert document["collateral_mist"] == 1_000_000_000
    assert document["unregister_delay_ms"] == 7 * 86_400_000
    assert document["leader_collateral_mist"] == 10_000_000_000
    words = author.run("package", "show").stdout
    assert "1 SUI" in words
    assert "7 d" in words


def test_a_published_package_is_not_published_twice_by_mistake(author):
    assert author.fails("package", "publish", "--yes") == (4, "package_published")


def test_a_second_package_has_registries_of_its_own(author):
    first = author.json("package", "show")
    second = author.json("package", "publish", "--republish", "--yes")
    assert second["tool_registry"] != first["tool_registry"]
    assert author.json("package", "show")["package_id"] == second["package_id"]


def test_a_dry_run_publishes_nothing(author):
    settings, balance = author.settings, author.json("wallet", "show")
    document = author.json("package", "publish", "--republish", "--dry-run")
    assert (document["dry_run"], document["digest"]) == (True, None)
    assert document["cost_mist"] > 0
    assert author.settings == settings
    assert author.json("wallet", "show") == balance


def test_a_published_package_is_found_by_its_id(author, publisher):
    known = author.json("package", "show")["package_id"]
    author.configure(network="test", networks=author.settings["networks"])
    assert author.fails("package", "show") == (3, "package_not_published")
    author.json("package", "use", known)
    assert author.settings["deployments"] == publisher.settings["deployments"]


def test_what_is_no_package_cannot_be_used(author):
    assert author.fails("package", "use", f"0x{0x1234:064x}") == (3, "package_unknown")
    assert author.fails("package", "use", f"0x{6:064x}")[0] in (3, 7)


def test_without_the_package_a_command_says_how_to_publish_it(author):
    author.configure(network="test", networks=author.settings["networks"])
    result = author.run("tool", "list", "--json")
    assert (result.code, result.error["code"]) == (3, "package_not_published")
    assert "package publish" in result.error["hint"]


@pytest.mark.usefixtures("compiler")
def test_our_sources_compile_to_what_we_ship(home, tmp_path):
    built = home.json("package", "build", "--output", tmp_path / "out")
    shipped = ROOT / "nexus_tools" / "contracts" / "bytecode"
    for name in built["modules"]:
        written = (tmp_path / "out" / f"{name}.mv").read_bytes()
        assert written == (shipped / f"{name}.mv").read_bytes()


@pytest.mark.usefixtures("compiler")
def test_what_does_not_compile_is_said_in_the_words_of_the_compiler(home, tmp_path):
    package = tmp_path / "broken"
    shutil.copytree(ROOT / "move" / "nexus_tools", package, ignore=shutil.ignore_patterns("tests"))
    source = package / "sources" / "fqn.move"
    source.write_text(source.read_text().replace("u64", "u63"))
    result = home.run("package", "build", package, "--json")
    assert (result.code, result.error["code"]) == (7, "move_build_failed")
    assert "u63" in result.error["message"]


@pytest.fixture
def tested(tmp_path):
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
def covered(tmp_path):
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
def test_tests_are_selected_and_their_results_are_json(home, tested):
    report = home.json("package", "test", tested, "--filter", "holds")
    assert [(test["test"], test["verdict"]) for test in report["tests"]] == [
        ("tested::main::holds", "pass")
    ]


@pytest.mark.usefixtures("compiler")
def test_a_test_that_does_not_pass_fails_the_command(home, tested):
    result = home.run("package", "test", tested, "--seed", 5)
    assert result.code == 7
    assert "aborted with EWrong 4 in main::breaks, sources/main.move:5" in result.stdout
    assert "seed 5" in result.stderr


@pytest.mark.usefixtures("compiler")
def test_the_tested_package_may_depend_on_one_in_another_folder(home, tested):
    other = tested.parent / "other"
    (other / "sources").mkdir(parents=True)
    (other / "Move.toml").write_text('[package]\nname = "other"\nedition = "2024"\n')
    (other / "sources" / "main.move").write_text(
        "module other::main;\npublic fun fails() { abort 9 }"
    )
    with (tested / "Move.toml").open("a") as manifest:
        manifest.write('\n[dependencies]\nother = { local = "../other" }\n')
    source = tested / "sources" / "main.move"
    source.write_text(source.read_text() + "#[test] fun far() { other::main::fails() }\n")
    result = home.run("package", "test", tested, "--filter", "far")
    assert result.code == 7
    assert "at other::main::fails (../other/sources/main.move:2)" in result.stdout


@pytest.mark.usefixtures("compiler")
def test_a_dependency_that_had_to_be_fetched_is_an_error(home, tested):
    with (tested / "Move.toml").open("a") as manifest:
        manifest.write('\n[dependencies]\nfar = { git = "https://example.com/far.git" }\n')
    result = home.run("package", "test", tested, "--json")
    assert (result.code, result.error["code"]) == (7, "move_dependency_unsupported")
    assert "https://example.com/far.git" in result.error["message"]
    assert "local" in result.error["hint"]


@pytest.mark.usefixtures("compiler")
def test_the_coverage_is_a_table_for_people_and_lcov_for_programs(home, covered, tmp_path):
    report = tmp_path / "coverage.info"
    result = home.run("package", "test", covered, "--coverage", "--coverage-report", report)
    assert result.code == 0
    rows = [line.split() for line in result.stdout.splitlines()]
    assert ["covered::main", "2", "1", "50.0", "%", "4"] in rows
    path = (covered / "sources" / "main.move").as_posix()
    assert f"SF:{path}\n" in report.read_text()
    assert "DA:3,1\nDA:4,0\nLF:2\nLH:1\n" in report.read_text()


@pytest.mark.usefixtures("compiler")
def test_the_coverage_is_json(home, covered):
    coverage = home.json("package", "test", covered, "--coverage")["coverage"]
    assert (coverage["lines"], coverage["covered"]) == (2, 1)
    assert coverage["modules"][0]["missed"] == [[4, 4]]


@pytest.mark.usefixtures("compiler")
def test_tests_are_listed_without_being_run(home, tested):
    listed = home.json("package", "test", tested, "--list")
    assert [test["test"].rsplit("::", 1)[-1] for test in listed] == ["holds", "breaks", "any"]


def test_a_folder_without_a_package_is_said_so(home, tmp_path):
    assert home.run("package", "build", tmp_path / "nothing").code == 2


def written(folder, source, dependencies=""):
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
def far(tmp_path):
    """A package that depends on one in a repository; its checkout is beside it."""
    written(tmp_path / "library", "module library::parts;\npublic fun eight(): u64 { 8 }\n")
    return written(
        tmp_path / "app",
        "module app::main;\npublic fun nine(): u64 { library::parts::eight() + 1 }\n"
        "#[test] fun is_nine() { assert!(nine() == 9) }\n",
        'library = { git = "https://example.com/library.git", rev = "main" }\n',
    )


@pytest.mark.usefixtures("compiler")
def test_a_dependency_in_a_repository_is_named_with_the_way_out(home, far):
    for verb in ("build", "test", "publish"):
        error = home.run("package", verb, far, "--json").error
        assert error["code"] == "move_dependency_unsupported"
        assert "app depends on library from https://example.com/library.git" in error["message"]
        assert "--dependency library=FOLDER" in error["hint"]


@pytest.mark.usefixtures("compiler")
def test_a_dependency_is_read_from_its_checkout(home, far):
    checkout = f"library={far.parent / 'library'}"
    assert home.json("package", "test", far, "--dependency", checkout)["tests"]
    built = home.json("package", "build", far, "--dependency", checkout, "--bundle", "all")
    assert built["modules"] == ["parts", "main"]


@pytest.mark.usefixtures("compiler")
def test_bindings_are_made_with_the_options_of_a_compilation(home, far):
    made = ("package", "bindings", far, "-o", home.folder / "out")
    assert home.fails(*made) == (7, "move_dependency_unsupported")
    checkout = ("--dependency", f"library={far.parent / 'library'}")
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


def test_a_checkout_that_is_no_folder_is_refused(home, far):
    for wrong in ("library", "library=", "=library", f"library={far / 'nowhere'}"):
        found = home.fails("package", "build", far, "--dependency", wrong)
        assert found == (2, "dependency_invalid")


def test_a_package_of_a_users_own_is_published_with_what_it_depends_on(compiling_author, far):
    author = compiling_author
    deployments = author.settings["deployments"]
    options = ("--dependency", f"library={far.parent / 'library'}", "--bundle", "all")
    rehearsed = author.json("package", "publish", far, *options, "--dry-run")
    assert (rehearsed["dry_run"], rehearsed.get("package_id")) == (True, None)
    published = author.json("package", "publish", far, *options, "--yes")
    assert published["package_id"] in published["effects"]["created"]
    assert published["upgrade_cap"] in published["effects"]["created"]
    assert author.settings["deployments"] == deployments


def test_a_dependency_that_is_on_another_network_is_named_with_the_way_out(compiling_author, far):
    manifest = far.parent / "library" / "Move.toml"
    manifest.write_text(manifest.read_text().replace('"0x0"', '"0xabc"'))
    options = ("--dependency", f"library={far.parent / 'library'}", "--yes")
    error = compiling_author.run("package", "publish", far, *options, "--json").error
    assert error["code"] == "dependency_not_on_network"
    assert f"0x{'abc':0>64}" in error["message"]
    assert "--bundle all" in error["hint"]
    assert compiling_author.json("package", "publish", far, *options, "--bundle", "all")


def test_a_dependency_that_is_published_otherwise_is_named(compiling_author, far):
    author, library = compiling_author, far.parent / "library"
    package = author.json("package", "publish", library, "--yes")["package_id"]
    manifest = library / "Move.toml"
    manifest.write_text(manifest.read_text().replace('"0x0"', f'"{package}"'))
    publish = ("package", "publish", far, "--dependency", f"library={library}")
    assert author.json(*publish, "--dry-run")["dry_run"] is True
    for path in (library, far):
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


def test_a_module_that_no_network_takes_is_told_why(compiling_author, tmp_path):
    source = "module alien::main;\npublic native fun one(): u64;\n"
    folder = written(tmp_path / "alien", source)
    error = compiling_author.run("package", "publish", folder, "--yes", "--json").error
    assert (error["code"], "a function is native" in error["message"]) == ("module_refused", True)


def test_a_package_without_modules_is_not_sent(compiling_author, tmp_path):
    source = "#[test_only]\nmodule empty::main;\npublic fun one(): u64 { 1 }\n"
    folder = written(tmp_path / "empty", source)
    found = compiling_author.fails("package", "publish", folder, "--yes")
    assert found == (7, "package_empty")


def test_a_package_that_bundles_too_much_is_told_to_publish_what_it_depends_on(
    compiling_author, far
):
    # A constant has at most 64 KiB: two of 60 000 bytes are more than the 102 400 of a package.
    bytes_ = [f'const BYTES_{i}: vector<u8> = x"{i:02x}{"00" * 59_999}";' for i in range(2)]
    (far.parent / "library" / "sources" / "main.move").write_text(
        "module library::parts;\n"
        + "\n".join(bytes_)
        + "\npublic fun eight(): u64 { BYTES_0.length() + BYTES_1.length() }\n"
    )
    options = ("--dependency", f"library={far.parent / 'library'}", "--bundle", "all", "--yes")
    error = compiling_author.run("package", "publish", far, *options, "--json").error
    assert error["code"] == "package_too_large"
    assert "102400" in error["message"]
    assert "Publish dependencies first" in error["hint"]


@pytest.mark.usefixtures("compiler")
def test_a_test_may_use_as_much_gas_as_in_the_runner_of_the_library(home, tmp_path):
    # 400 000 rounds use more than 200 000 000 internal gas units.
    folder = written(
        tmp_path / "patient",
        "module patient::main;\n#[test] fun counts() {\n"
        "    let mut n = 0u64;\n    while (n < 400_000) n = n + 1;\n}\n",
    )
    assert home.json("package", "test", folder)["tests"][0]["verdict"] == "pass"
    limit = ("--gas-limit", "200000000")
    assert home.run("package", "test", folder, *limit).code == 7


def test_the_limits_that_help_tells_are_those_of_the_library(home):
    told = home.run("package", "test", "--help").stdout
    assert GAS_LIMIT == 10**12
    assert "10^12" in told
    assert BUILD_TIMEOUT_S == 60
    assert "internal gas units" in told.lower().replace("\n", " ")


@pytest.mark.usefixtures("compiler")
def test_a_compilation_may_be_given_less_time(home, far):
    checkout = f"library={far.parent / 'library'}"
    options = ("--dependency", checkout, "--bundle", "all", "--build-timeout", "1e-9")
    error = home.run("package", "build", far, *options, "--json").error
    assert "did not end within" in error["message"]
    assert "--build-timeout" in error["hint"]
