"""Compiler messages about names that the framework lacks, and the hints for them."""

import pytest

from nexus_tools.errors import ValidationError
from nexus_tools.sui.localnet.compiler import MoveBuilder, build_to_publish
from nexus_tools.sui.localnet.compiler.missing_names import missing_names
from nexus_tools.sui.localnet.framework import read_release, write_release

MANIFEST = '[package]\nname = "sample"\nedition = "2024"\n\n[addresses]\nsample = "0x0"\n'
WITH_SYSTEM = MANIFEST + '\n[dependencies]\nsui_system = { system = "sui_system" }\n'

# Names of frameworks after 1.62.1, as packages use them, by the name that the hint must contain.
_USES = {
    "sui::scratch": "use sui::scratch; public fun f() { scratch::g() }",
    "sui::ristretto255": "public fun f(_: &sui::ristretto255::Point) {}",
    "sui::balance::settled_funds_value": "use sui::balance::settled_funds_value;",
    "sui::dynamic_field::exists": "public fun f(id: &UID): bool"
    " { sui::dynamic_field::exists(id, 1u8) }",
    "std::u64::saturating_sub": "public fun f(n: u64): u64 { n.saturating_sub(1) }",
    "sui::coin::Token": "public fun f(_: &sui::coin::Token<u8>) {}",
}


def refusal(builder, sources, modes=()):
    with pytest.raises(ValidationError) as caught:
        builder.build(sources, modes=modes)
    assert caught.value.code == "move_build_failed"
    return caught.value


@pytest.mark.parametrize("name", _USES)
def test_name_of_newer_framework_has_hint_to_use_it(builder, package, name):
    error = refusal(builder, package(_USES[name]))
    assert missing_names(error.message) == (name,)
    assert f"The Sui framework 1.62.1 does not have {name}. " in error.hint
    assert "--framework-from" in error.hint


def test_hint_shows_three_names_and_counts_the_rest(builder, package):
    body = " ".join(f"x.newer_{number}();" for number in range(5))
    hint = refusal(builder, package(f"public fun f(x: u64) {{ {body} }}")).hint
    assert "std::u64::newer_0, std::u64::newer_1, std::u64::newer_2 and 2 more" in hint


def test_hint_names_bytecode_of_other_framework(builder, package, dist, tmp_path):
    write_release(builder.release, tmp_path / "framework")
    release = read_release(tmp_path / "framework")
    other = MoveBuilder(dist, dist.parent.parent / "wasmtime", release=release)
    hint = refusal(other, package(_USES["sui::scratch"])).hint
    assert f"The bytecode of {tmp_path / 'framework'} does not have sui::scratch" in hint
    assert "--framework-from" not in hint


@pytest.mark.parametrize(
    "body", ["public fun f(): u64 { true }", "use other::thing;", "public fun f() { g() }"]
)
def test_other_errors_have_no_framework_hint(builder, package, body):
    assert refusal(builder, package(body)).hint == ""


@pytest.mark.parametrize(
    "use",
    [
        "public fun f(_: &sui_system::sui_system::SuiSystemState) {}",
        "use sui_system::sui_system::SuiSystemState;",
    ],
)
def test_hint_names_the_system_dependency_when_the_manifest_lacks_it(builder, package, use):
    hint = refusal(builder, package(use)).hint
    assert hint == 'Add `sui_system = { system = "sui_system" }` to [dependencies] of Move.toml.'
    assert builder.build(package(use, WITH_SYSTEM)).modules


@pytest.mark.parametrize(
    "name",
    ["sui::coin::mint_for_testing", "sui::test_scenario", "sui_system::sui_system::validators_mut"],
)
def test_hint_distinguishes_test_only_names_from_newer_ones(builder, package, name):
    is_member = name.count("::") == 2
    body = f"public fun f() {{ {name}() }}" if is_member else f"use {name};"
    manifest = WITH_SYSTEM if name.startswith("sui_system") else MANIFEST
    hint = refusal(builder, package(body, manifest)).hint
    assert hint == f"Use {name} only in code with #[test_only]."
    hint = refusal(builder, package(body, manifest), modes=["some_mode"]).hint
    assert hint == f"Run these tests with the Sui CLI, because this test runner lacks {name}."


def test_error_in_dependency_has_hint(builder, tmp_path):
    for name, body, dependencies in (
        ("library", _USES["sui::scratch"], ""),
        ("app", "", '[dependencies]\nlibrary = { local = "../library" }\n'),
    ):
        folder = tmp_path / name
        (folder / "sources").mkdir(parents=True)
        (folder / "Move.toml").write_text(
            f'[package]\nname = "{name}"\nedition = "2024"\n{dependencies}'
            f'[addresses]\n{name} = "0x0"\n'
        )
        (folder / "sources" / "main.move").write_text(f"module {name}::{name};\n{body}\n")
    with pytest.raises(ValidationError) as caught:
        build_to_publish(builder, tmp_path / "app", bundle="all")
    assert "does not have sui::scratch" in caught.value.hint
