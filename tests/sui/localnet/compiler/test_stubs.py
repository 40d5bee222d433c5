import re

from msgspec.structs import replace

from nexus_tools.sui.bytecode import deserialize
from nexus_tools.sui.localnet.compiler import overlay, stub_packages
from nexus_tools.sui.localnet.compiler.stubs import stub
from nexus_tools.sui.localnet.framework import embedded_release, load_framework
from nexus_tools.sui.types.address import MOVE_STDLIB, SUI_FRAMEWORK, SUI_SYSTEM


def lines_of(module):
    return stub_packages(embedded_release())[SUI_FRAMEWORK][f"sources/{module}.move"].splitlines()


def test_all_framework_modules_have_a_stub():
    assert len(stub_packages(embedded_release())[MOVE_STDLIB]) == 1 + 22
    assert len(stub_packages(embedded_release())[SUI_FRAMEWORK]) == 1 + 61


# The expected texts are those of the framework's sources.
def test_struct_keeps_abilities_type_parameters_and_fields():
    assert (
        "public struct Coin<phantom T0> has store, key"
        " { id: sui::object::UID, balance: sui::balance::Balance<T0> }" in lines_of("coin")
    )


def test_struct_without_fields_has_no_filler():
    assert "public struct SUI has drop {}" in lines_of("sui")


def test_positional_struct_stays_positional():
    assert (
        "public struct DerivedObjectKey<T0: copy + drop + store>(T0) has copy, drop, store;"
        in lines_of("derived_object")
    )


def test_enum_keeps_its_variants():
    assert "public enum ClaimedStatus has store { Reserved }" in lines_of("derived_object")


def test_function_keeps_its_signature():
    assert (
        "public native fun split<T0>(a0: &mut Coin<T0>, a1: u64,"
        " a2: &mut sui::tx_context::TxContext): Coin<T0>;" in lines_of("coin")
    )


def test_private_and_package_functions_are_omitted():
    names = re.findall(r"native fun (\w+)", "\n".join(lines_of("object")))
    assert "new" in names
    assert "new_uid_from_hash" not in names


def test_overlay_names_exist_in_framework():
    stubs = {
        f"{prefix}::{path.removeprefix('sources/').removesuffix('.move')}": text
        for prefix, address in (
            ("std", MOVE_STDLIB),
            ("sui", SUI_FRAMEWORK),
            ("sui_system", SUI_SYSTEM),
        )
        for path, text in stub_packages(embedded_release())[address].items()
    }
    for table in (overlay.INSTRUCTIONS, overlay.INDEX_FUNCTIONS):
        for module, functions in table.items():
            assert all(f"native fun {name}" in stubs[module] for name in functions), module
    for module, methods in overlay.METHODS.items():
        for function in methods.values():
            home, _, name = function.rpartition("::")
            assert f"native fun {name}" in stubs[home or module], function
    assert overlay.PRIMITIVES.keys() <= stubs.keys()


def test_keyword_is_escaped():
    modules = map(deserialize, load_framework()[SUI_FRAMEWORK].modules)
    module = next(module for module in modules if module.name == "transfer")
    renamed = [("match" if name == "public_transfer" else name) for name in module.identifiers]
    changed = replace(module, identifiers=tuple(renamed))
    assert "public native fun `match`<T0: store + key>" in stub(changed)
