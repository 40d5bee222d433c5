import gc
import json
import weakref
from pathlib import Path

import pytest

from nexus_tools.errors import UsageError, ValidationError
from nexus_tools.sui.bytecode import Opcode, Visibility, check_publishable, deserialize
from nexus_tools.sui.localnet.compiler import MoveBuilder, read_sources
from nexus_tools.sui.types.address import MOVE_STDLIB, SUI_FRAMEWORK

ROOT = Path(__file__).parents[4]
BYTECODE = ROOT / "nexus_tools" / "contracts" / "bytecode"


def test_own_package_compiles_to_committed_bytes(builder):
    built = builder.build(read_sources(ROOT / "move" / "nexus_tools"))
    manifest = json.loads((BYTECODE / "package.json").read_text())
    names = [deserialize(module).name for module in built.modules]
    assert names == manifest["modules"]
    assert built.modules == tuple((BYTECODE / f"{name}.mv").read_bytes() for name in names)
    assert built.dependencies == (MOVE_STDLIB, SUI_FRAMEWORK)
    assert built.digest.hex() == manifest["digest"]


def test_own_package_compiles_without_warnings(builder):
    assert builder.build(read_sources(ROOT / "move" / "nexus_tools")).warnings == ""


def test_module_is_compiled(builder, package):
    built = builder.build(package("public fun double(n: u64): u64 { n * 2 }"))
    (module,) = map(deserialize, built.modules)
    (function,) = module.function_definitions
    assert module.name == "main"
    assert module.address == bytes(32)
    assert function.visibility is Visibility.PUBLIC
    assert [i.opcode for i in function.code.instructions] == [
        Opcode.MOVE_LOC,
        Opcode.LD_U64,
        Opcode.MUL,
        Opcode.RET,
    ]
    check_publishable(module)


def test_framework_methods_and_index_syntax_are_known(builder, package):
    body = """
        use sui::balance::Balance;
        use sui::coin::Coin;
        use sui::sui::SUI;
        use sui::table::Table;

        public fun first(v: &vector<u64>): u64 { v[0] + v.length() }
        public fun named(t: &mut Table<u64, bool>) { *&mut t[1] = true; }
        public fun coin(b: Balance<SUI>, ctx: &mut TxContext): Coin<SUI> { b.into_coin(ctx) }
        public fun text(): std::string::String { b"text".to_string() }
        public fun inner(id: &UID): ID { id.to_inner() }
    """
    (module,) = map(deserialize, builder.build(package(body)).modules)
    functions = {module.function_id(f.handle)[2]: f.code for f in module.function_definitions}
    assert functions.keys() == {"first", "named", "coin", "text", "inner"}
    opcodes = [i.opcode for i in functions["first"].instructions]
    assert {Opcode.VEC_IMM_BORROW, Opcode.VEC_LEN} <= set(opcodes)


def test_framework_methods_with_other_names_are_known(builder, package):
    body = """
        use sui::balance::{Balance, Supply};
        use sui::coin::TreasuryCap;
        use sui::coin_registry::CurrencyInitializer;
        use sui::funds_accumulator::Withdrawal;

        public fun supply<T>(s: &Supply<T>): u64 { s.value() }
        public fun given<T>(cap: TreasuryCap<T>): Supply<T> { cap.into_supply() }
        public fun fixed<T>(of: &mut CurrencyInitializer<T>, cap: TreasuryCap<T>) {
            of.make_supply_fixed(cap)
        }
        public fun burnt<T>(of: &mut CurrencyInitializer<T>, cap: TreasuryCap<T>) {
            of.make_supply_burn_only(cap)
        }
        public fun funds<T>(w: &mut Withdrawal<Balance<T>>): (address, u256) {
            let part = w.split(1);
            w.join(part);
            (w.owner(), w.limit())
        }
    """
    (module,) = map(deserialize, builder.build(package(body)).modules)
    called = {module.function_id(i)[2] for i in range(len(module.function_handles))}
    assert called >= {
        "supply_value",
        "treasury_into_supply",
        "make_supply_fixed_init",
        "make_supply_burn_only_init",
        "withdrawal_split",
        "withdrawal_join",
        "withdrawal_owner",
        "withdrawal_limit",
    }


def test_syntax_error_has_compiler_message(builder, package):
    with pytest.raises(ValidationError, match="unexpected token") as caught:
        builder.build(package("public fun broken( {"))
    assert caught.value.code == "move_build_failed"
    assert "sources/main.move" in caught.value.message


def test_type_error_has_compiler_message(builder, package):
    with pytest.raises(ValidationError, match="incompatible types"):
        builder.build(package("public fun wrong(): u64 { true }"))


def test_unknown_framework_module_is_reported(builder, package):
    with pytest.raises(ValidationError, match=r"(?i)unbound module.*sui::no_such"):
        builder.build(package("use sui::no_such; public fun f() { no_such::g() }"))


def test_compiler_warnings_are_returned(builder, package):
    built = builder.build(package("public fun idle() { let unused = 1u64; }"))
    assert "unused" in built.warnings


def test_invalid_toml_manifest_is_reported(builder, package):
    with pytest.raises(ValidationError, match=r"Move\.toml|TOML|parse"):
        builder.build(package("public fun f() {}", manifest="[package"))


def test_unsupported_dependency_is_rejected(builder, package):
    manifest = (
        '[package]\nname = "sample"\nedition = "2024"\n\n'
        '[dependencies]\nOther = { local = "../other" }\n\n[addresses]\nsample = "0x0"\n'
    )
    with pytest.raises(ValidationError, match=r"\.\./other") as caught:
        builder.build(package("public fun f() {}", manifest=manifest))
    assert caught.value.code == "move_dependency_unsupported"


def test_package_may_depend_on_system_package(builder, package):
    manifest = package("")["Move.toml"].replace(
        "[addresses]",
        '[dependencies]\nSuiSystem = { git = "https://github.com/MystenLabs/sui.git", '
        'subdir = "crates/sui-framework/packages/sui-system", rev = "framework/testnet" }\n\n'
        "[addresses]",
    )
    body = "public fun mist(staked: &sui_system::staking_pool::StakedSui): u64 { staked.amount() }"
    built = builder.build(package(body, manifest=manifest))
    assert (3).to_bytes(32, "big") in built.dependencies


def test_builder_works_again_after_a_failure(builder, package):
    with pytest.raises(ValidationError):
        builder.build(package("public fun broken( {"))
    assert len(builder.build(package("public fun f() {}")).modules) == 1


def test_build_is_stopped_after_its_timeout(dist, compiler_cache, builder, package):
    sources = package("public fun f() {}")
    hasty = MoveBuilder(dist, compiler_cache / "wasmtime", timeout_s=0.0)
    with pytest.raises(ValidationError, match="did not end within 0 s"):
        hasty.build(sources)
    assert len(builder.build(sources).modules) == 1


def test_tests_need_framework_sources(builder, package, tmp_path):
    with pytest.raises(UsageError, match="not a package of the Sui framework"):
        builder.test(package("#[test] fun f() {}"), tmp_path)


def test_compiler_memory_is_freed_after_use(builder):
    with builder._wasm.instance(10) as instance:
        used = weakref.ref(instance)
    del instance
    gc.collect()
    assert used() is None
