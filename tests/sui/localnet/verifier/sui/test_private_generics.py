import pytest

from nexus_tools.sui.bytecode import (
    Ability,
    DatatypeToken,
    Opcode,
    TypeParameterToken,
    VectorToken,
    Visibility,
)
from nexus_tools.sui.localnet.verifier import is_internal
from nexus_tools.sui.types.address import MOVE_STDLIB, SUI_FRAMEWORK

PRIVATE = ("transfer", "freeze_object", "share_object", "receive", "party_transfer")


def calling(sketch, module, function, *types, address=SUI_FRAMEWORK):
    """Return a module whose `t` calls a generic function."""
    callee = sketch.callee(module, function, generic=types, address=address)
    constraints = [Ability.KEY]
    sketch.function("t", [(Opcode.CALL_GENERIC, callee), Opcode.RET], type_parameters=constraints)
    return sketch


@pytest.mark.parametrize("function", PRIVATE)
def test_private_transfer_accepts_own_types(sketch, function):
    calling(sketch, "transfer", function, sketch.object("Own")).verify()


@pytest.mark.parametrize("function", PRIVATE)
def test_private_transfer_of_foreign_type_is_rejected(sketch, function):
    coin = sketch.foreign("coin", "Coin", Ability.KEY | Ability.STORE)
    calling(sketch, "transfer", function, DatatypeToken(coin.handle, ("u64",)))
    assert sketch.reason() == (
        f"_::m::t. Invalid call to 'sui::transfer::{function}'. Type argument #0 must be a type"
        " defined in the current module, found 'sui::coin::Coin<u64>'. If the type has the"
        " 'store' ability, use the public variant instead:"
        f" 'sui::transfer::public_{function}'."
    )
    assert (sketch.refused().function, sketch.refused().offset) == ("t", 0)


@pytest.mark.parametrize("function", PRIVATE)
def test_public_transfer_accepts_all_types(sketch, function):
    calling(sketch, "transfer", f"public_{function}", TypeParameterToken(0)).verify()


def test_event_of_own_module_is_accepted(sketch):
    event = sketch.struct("X", Ability.COPY | Ability.DROP, {"flag": "bool"})
    calling(sketch, "event", "emit", event).verify()


@pytest.mark.parametrize(
    ("token", "text"),
    [
        ("u64", "u64"),
        (TypeParameterToken(0), "T0"),
        (VectorToken("address"), "vector<address>"),
    ],
)
@pytest.mark.parametrize(
    "callee", ["event::emit", "event::emit_authenticated", "coin_registry::new_currency"]
)
def test_types_without_module_are_not_internal(sketch, callee, token, text):
    calling(sketch, *callee.split("::"), token)
    assert sketch.reason() == (
        f"_::m::t. Invalid call to 'sui::{callee}'. Type argument #0 must be a type defined in the"
        f" current module, found '{text}'."
    )


def test_permit_accepts_own_types(sketch):
    calling(sketch, "internal", "permit", "u64", address=MOVE_STDLIB)
    assert "Invalid call to 'std::internal::permit'" in sketch.reason()


def test_functions_of_other_packages_are_unrestricted(sketch):
    calling(sketch, "transfer", "transfer", "u64", address=b"\x09" * 32).verify()


def test_wrong_number_of_type_arguments_is_an_invariant_violation(sketch):
    error = calling(sketch, "event", "emit", "u64", "u64").refused()
    assert error.status == "INVARIANT_VIOLATION"
    assert "expects 1 type arguments found 2" in str(error)


def test_unlisted_public_framework_function_is_reported(sketched, returning):
    sketch = sketched("event", SUI_FRAMEWORK)
    sketch.function("shout", returning, visibility=Visibility.PUBLIC)
    error = sketch.refused()
    assert error.status == "INVARIANT_VIOLATION"
    assert "must be listed in FUNCTIONS_TO_CHECK" in str(error)


def test_scenario_moves_objects_of_all_modules(sketched):
    sketch = sketched("test_scenario", SUI_FRAMEWORK)
    calling(sketch, "transfer", "transfer", "u64").verify()


def test_transaction_may_not_call_internal_functions():
    assert is_internal(SUI_FRAMEWORK, "transfer", "share_object")
    assert is_internal(MOVE_STDLIB, "internal", "permit")
    assert not is_internal(SUI_FRAMEWORK, "transfer", "public_share_object")
    assert not is_internal(b"\x09" * 32, "event", "emit")
