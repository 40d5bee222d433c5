"""Packages that depend on others in folders: visible names, and reports of failures."""

import pytest

from nexus_tools.errors import NotFoundError, ValidationError
from nexus_tools.sui.localnet.compiler import read_package
from nexus_tools.sui.localnet.move_test import (
    Verdict,
    build_dependencies,
)

LIBRARY = """module library::main;

const EZero: u64 = 3;

public struct Number has copy, drop, store { value: u64 }

public fun number(value: u64): Number { Number { value } }

public fun divided(number: &Number, by: u64): u64 {
    assert!(by != 0, EZero);
    number.value / by
}

public fun own(): address { @library }

#[test_only]
public fun eight(): Number { number(8) }

public(package) fun secret() {}

#[test]
fun not_of_the_tested_package() { abort 1 }
"""


def manifest(name, dependencies="", addresses=None):
    """Return a manifest, which has the newer format without addresses."""
    table = "" if addresses is None else f"\n[addresses]\n{addresses}\n"
    head = f'[package]\nname = "{name}"\nedition = "2024"\n'
    return f"{head}\n[dependencies]\n{dependencies}\n{table}"


@pytest.fixture
def app(world):
    """Write a package with the given body that depends on `library`, and return its folder."""

    def write(body):
        tested = manifest("app", 'Library = { local = "../libraries/library" }', 'app = "0x0"')
        library = manifest("Library", addresses='library = "0x0"')
        return (
            world(
                app=(tested, f"module app::main;\n{body}\n"),
                libraries__library=(library, LIBRARY),
            )
            / "app"
        )

    return write


def test_tests_use_dependency_and_its_test_only_code(app, run_package):
    body = """
    fun half(): u64 { library::main::number(8).divided(2) }
    #[test] fun halves() { assert!(half() == library::main::eight().divided(2)) }
    """
    results = run_package(app(body))
    assert {name: result.verdict for name, result in results.items()} == {"halves": Verdict.PASS}


def test_packages_have_their_own_addresses(app, run_package):
    body = """
    #[test] fun own() { assert!(library::main::own() == @library && @library != @app) }
    """
    assert run_package(app(body))["own"].verdict is Verdict.PASS


def test_dependency_errors_are_known_by_name(app, run_package):
    body = """
    #[test, expected_failure(abort_code = library::main::EZero)]
    fun zero() { library::main::eight().divided(0); }
    """
    assert run_package(app(body))["zero"].verdict is Verdict.PASS


@pytest.mark.long
def test_dependency_frames_have_files_and_lines(app, run_package):
    explanation = run_package(
        app("#[test]\nfun zero() {\n  library::main::eight().divided(0);\n}")
    )["zero"].explanation
    path = "../libraries/library/sources/main.move"
    assert explanation.summary == f"aborted with EZero 3 in main::divided, {path}:10"
    assert explanation.stack == (
        f"library::main::divided ({path}:9)",
        "app::main::zero (sources/main.move:4)",
    )


def test_package_functions_are_hidden_from_other_packages(app, run_package):
    with pytest.raises(ValidationError, match=r"public\(package\)"):
        run_package(app("#[test] fun secret() { library::main::secret() }"))


def test_transitive_dependencies_are_resolved_from_their_folders(world, run_package):
    folder = world(
        app=(
            manifest("app", 'left = { local = "../left" }\nright = { local = "../a/right" }'),
            (
                "module app::main;\n#[test] fun sum() {\n"
                "  assert!(left::main::base() == right::main::base()) }\n"
            ),
        ),
        left=(
            manifest("left", 'base = { local = "../a/base" }'),
            "module left::main; public fun base(): base::main::Base { base::main::new() }",
        ),
        a__right=(
            manifest("right", 'base = { local = "../base" }'),
            "module right::main; public fun base(): base::main::Base { base::main::new() }",
        ),
        a__base=(
            manifest("base"),
            (
                "module base::main; public struct Base has copy, drop {}\n"
                "public fun new(): Base { Base {} }"
            ),
        ),
    )
    assert run_package(folder / "app")["sum"].verdict is Verdict.PASS


def test_only_dependencies_of_test_mode_are_included(world, run_package):
    folder = world(
        app=(
            manifest(
                "app",
                'tests = { local = "../tests", modes = ["test"] }\n'
                'other = { local = "../nowhere", modes = ["spec"] }\n\n'
                '[dev-dependencies]\nolder = { local = "../older" }',
            ),
            (
                "module app::main;\n#[test] fun sum() {\n"
                "  assert!(tests::main::one() + older::main::one() == 2) }\n"
            ),
        ),
        tests=(manifest("tests"), "module tests::main; public fun one(): u64 { 1 }"),
        older=(manifest("older"), "module older::main; public fun one(): u64 { 1 }"),
    )
    assert run_package(folder / "app")["sum"].verdict is Verdict.PASS


def test_open_addresses_are_assigned(world, run_package):
    folder = world(
        app=(
            manifest(
                "app",
                'library = { local = "../library", addr_subst = { owner = "0x77" } }',
                'app = "_"\nadmin = "_"\nguest = "_"\n\n[dev-addresses]\nadmin = "0xAD"\n'
                'guest = "0x6E"',
            ),
            (
                "module app::main;\n#[test] fun all() {\n"
                "  assert!(@admin == @0xAD && @owner == @0x77);\n"
                "  assert!(library::main::guest() == @0x6E && library::main::owner() == @0x77) }\n"
            ),
        ),
        library=(
            manifest("library", "", 'library = "_"\nowner = "_"\nguest = "_"'),
            (
                "module library::main;\n"
                "public fun owner(): address { @owner } public fun guest(): address { @guest }"
            ),
        ),
    )
    assert run_package(folder / "app")["all"].verdict is Verdict.PASS


def test_unassigned_address_is_an_error(world):
    folder = world(
        app=(manifest("app", 'library = { local = "../library" }'), "module app::main;"),
        library=(manifest("library", "", 'library = "0x0"\nowner = "_"'), "module library::main;"),
    )
    with pytest.raises(ValidationError, match="does not assign the address owner") as caught:
        read_package(folder / "app", for_tests=True)
    assert caught.value.code == "address_unassigned"


def test_published_package_keeps_its_address(world, run_package):
    folder = world(
        app=(
            manifest("app", 'library = { local = "../library" }'),
            (
                "module app::main;\n"
                "#[test, expected_failure(abort_code = 5, location = library::main)]\n"
                "fun at() { assert!(@library == @0xCAFE); library::main::fails() }\n"
            ),
        ),
        library=(
            (
                '[package]\nname = "library"\nedition = "2024"\npublished-at = "0xCAFE"\n'
                '\n[addresses]\nlibrary = "0xCAFE"\n'
            ),
            (
                "module library::main;\n"
                "public fun fails() { if (@library == @0xCAFE) abort 5 else abort 6 }"
            ),
        ),
    )
    assert run_package(folder / "app")["at"].verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("head", "table"),
    [
        ('name = "Worm"\npublished-at = "0x5306"', 'worm = "0x5306"'),
        ('name = "Worm"\npublished-at = "0x7777"', 'worm = "0x5306"'),
        ('name = "Worm"', 'worm = "0x5306"'),
        ('name = "Other"', 'worm = "0x5306"'),
        ('name = "Worm"\npublished-at = "0x5306"', 'worm = "0x0"'),
        ('name = "worm"\npublished-at = "0x5306"', ""),
    ],
)
def test_tested_package_has_address_of_its_manifest(world, run_package, head, table):
    """The unit-test runner of Sui 1.71.1 does the same."""
    text = f'[package]\n{head}\nedition = "2024"\n\n[addresses]\n{table}\n'
    body = "module worm::main;\n#[test] fun at() { assert!(@worm == @0x5306) }\n"
    assert run_package(world(worm=(text, body)) / "worm")["at"].verdict is Verdict.PASS


@pytest.mark.parametrize(
    "entry",
    [
        'other = { local = "../library", rename-from = "library" }',
        'Library = { local = "../library", addr_subst = { other = "library" } }',
    ],
)
def test_dependency_may_be_renamed(world, run_package, entry):
    folder = world(
        app=(
            manifest("app", entry),
            "module app::main;\n#[test] fun one() { assert!(other::main::one() == 1) }\n",
        ),
        library=(manifest("library"), "module library::main; public fun one(): u64 { 1 }"),
    )
    assert run_package(folder / "app")["one"].verdict is Verdict.PASS


def test_dependency_modules_may_use_address_literal(world, run_package):
    folder = world(
        app=(
            manifest("app", 'library = { local = "../library" }'),
            "module app::main;\n#[test] fun one() { assert!(0x77::main::one() == 1) }\n",
        ),
        library=(manifest("library"), "module 0x77::main; public fun one(): u64 { 1 }"),
    )
    assert run_package(folder / "app")["one"].verdict is Verdict.PASS


def test_framework_may_be_named_in_any_manifest(world, run_package):
    sui = (
        'Sui = { git = "https://github.com/MystenLabs/sui.git", '
        'subdir = "crates/sui-framework/packages/sui-framework", rev = "framework/testnet" }'
    )
    folder = world(
        app=(
            manifest("app", 'library = { local = "../library" }'),
            "module app::main;\n#[test] fun one() { assert!(library::main::one() == 1) }\n",
        ),
        library=(
            manifest("library", sui, 'library = "0x0"'),
            "module library::main; public fun one(): u64 { sui::math::max(1, 0) }",
        ),
    )
    assert run_package(folder / "app")["one"].verdict is Verdict.PASS


FRAMEWORK = "https://github.com/MystenLabs/sui.git"
FOLDER = "crates/sui-framework/packages"


@pytest.mark.parametrize(
    "dependencies",
    [
        (
            f'std = {{ git = "{FRAMEWORK}", subdir = "{FOLDER}/move-stdlib", rev = "main" }}\n'
            f'sui = {{ git = "{FRAMEWORK}", subdir = "{FOLDER}/sui-framework", rev = "main" }}'
        ),
        'std = { system = "std" }\nsui = { system = "sui" }',
    ],
)
def test_framework_may_be_the_only_explicit_dependency(world, run_package, dependencies):
    head = '[package]\nname = "app"\nedition = "2024"\nimplicit-dependencies = false\n'
    folder = world(
        app=(
            f"{head}\n[dependencies]\n{dependencies}\n",
            "module app::main;\n#[test] fun one() { assert!(sui::math::max(1, 0) == 1) }\n",
        ),
    )
    assert run_package(folder / "app")["one"].verdict is Verdict.PASS


def test_system_dependency_may_be_explicit(world, run_package):
    folder = world(
        app=(
            manifest("app", 'sui_system = { system = "sui_system" }'),
            (
                "module app::main;\nuse sui_system::staking_pool::StakedSui;\n"
                "public fun mist(staked: &StakedSui): u64 { staked.amount() }\n"
                "#[test] fun one() { assert!(@sui_system == @0x3) }\n"
            ),
        ),
    )
    assert run_package(folder / "app")["one"].verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("entry", "what"),
    [
        (
            'far = { git = "https://example.com/far.git", rev = "main" }',
            "app depends on far from https://example.com/far.git",
        ),
        (
            f'far = {{ git = "{FRAMEWORK}", subdir = "{FOLDER}/deepbook", rev = "main" }}',
            "app depends on far from https://github.com/MystenLabs/sui.git",
        ),
        ('far = { r.mvr = "@far/away" }', "app depends on far from"),
    ],
)
def test_dependency_without_folder_is_an_error_with_hint(world, entry, what):
    folder = world(app=(manifest("app", entry), "module app::main;"))
    with pytest.raises(ValidationError, match=what) as caught:
        read_package(folder / "app", for_tests=True)
    assert caught.value.code == "move_dependency_unsupported"
    assert "--dependency far=FOLDER" in caught.value.hint
    assert 'far = { local = "FOLDER" }' in caught.value.hint


def test_missing_folder_is_reported_with_its_manifest(world):
    folder = world(
        app=(manifest("app", 'lost = { local = "../lost" }'), "module app::main;"),
    )
    with pytest.raises(NotFoundError, match=r"lost has no Move\.toml") as caught:
        read_package(folder / "app", for_tests=True)
    assert str(folder / "app" / "Move.toml") in caught.value.hint


def test_dependency_cycle_is_an_error(world):
    folder = world(
        app=(manifest("app", 'other = { local = "../other" }'), "module app::main;"),
        other=(manifest("other", 'app = { local = "../app" }'), "module other::main;"),
    )
    with pytest.raises(ValidationError, match="app -> other -> app") as caught:
        read_package(folder / "app", for_tests=True)
    assert caught.value.code == "move_dependency_cycle"


@pytest.mark.parametrize(
    "text",
    [
        "[package",
        "[package]\n",
        "package = 5\n",
        '[package]\nname = "app"\n[dependencies]\nother = "../other"\n',
        '[package]\nname = "app"\n[addresses]\napp = "mine"\n',
        '[package]\nname = "app"\n[addresses]\napp = 5\n',
        '[package]\nname = "app"\n[dependencies]\na = { local = "a", addr_subst = { b = "0xq" } }',
    ],
)
def test_unreadable_manifest_is_named(world, text):
    folder = world(app=(text, "module app::main;"))
    with pytest.raises(ValidationError, match=r"app/Move\.toml") as caught:
        read_package(folder / "app", for_tests=True)
    assert caught.value.code == "manifest_invalid"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            '[package]\nname = "app"\n\n[addresses]\napp = "0x"\n',
            (
                "Move.toml:5: addresses.app: expected an address with up to 64 hexadecimal"
                " digits, got '0x'"
            ),
        ),
        (
            '[package]\nname = "app"\n[dependencies]\na = { local = "a", modes = 5 }\n',
            "Move.toml:4: dependencies.a.modes: expected a list, got 5",
        ),
    ],
)
def test_manifest_error_names_the_line_and_the_entry(world, text, problem):
    folder = world(app=(text, "module app::main;"))
    with pytest.raises(ValidationError) as caught:
        read_package(folder / "app", for_tests=True)
    assert caught.value.message.endswith(problem)


def test_dependency_that_does_not_compile_is_named(app, builder):
    folder = app("")
    source = folder.parent / "libraries" / "library" / "sources" / "main.move"
    source.write_text(source.read_text().replace("u64", "u63"))
    package = read_package(folder, for_tests=True)
    with pytest.raises(ValidationError, match=r"^\.\./libraries/library: .*") as caught:
        build_dependencies(builder, package.dependencies)
    assert caught.value.code == "move_build_failed"
    assert "u63" in caught.value.message


def with_tests_of_its_own(world, of_library):
    folder = world(
        app=(
            manifest("app", 'library = { local = "../library" }'),
            ("module app::main;\n#[test] fun all() { assert!(library::helpers::eight() == 8) }\n"),
        ),
        library=(manifest("library"), "module library::main; public fun four(): u64 { 4 }"),
    )
    (folder / "library" / "tests").mkdir()
    (folder / "library" / "tests" / "helpers.move").write_text(of_library)
    return folder / "app"


def test_tests_use_test_modules_of_a_dependency(world, run_package):
    helpers = (
        "#[test_only]\nmodule library::helpers;\n"
        "public fun eight(): u64 { library::main::four() * 2 }\n"
    )
    results = run_package(with_tests_of_its_own(world, helpers))
    assert {name: result.verdict for name, result in results.items()} == {"all": Verdict.PASS}


def test_called_test_of_dependency_is_compiled_but_not_run(world, run_package):
    helpers = (
        "#[test_only]\nmodule library::helpers;\n"
        "#[test] public fun base() { assert!(library::main::four() == 4) }\n"
        "public fun eight(): u64 { base(); 8 }\n"
    )
    results = run_package(with_tests_of_its_own(world, helpers))
    assert list(results) == ["all"]
    assert results["all"].verdict is Verdict.PASS
