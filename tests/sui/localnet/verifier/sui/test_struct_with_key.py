import pytest

from nexus_tools.sui.bytecode import Ability, TypeParameterToken, VectorToken
from nexus_tools.sui.types.address import Address


def test_object_with_id_first_is_accepted(sketch):
    sketch.struct("S", Ability.KEY, {"id": sketch.uid, "flag": "bool"})
    sketch.verify()


def test_struct_without_key_may_start_with_any_field(sketch):
    sketch.struct("S", Ability.STORE, {"flag": "bool", "id": sketch.uid})
    sketch.verify()


def test_id_as_second_field_is_rejected(sketch):
    sketch.struct("S", Ability.KEY, {"flag": "bool", "id": sketch.uid})
    assert sketch.reason() == "First field of struct S must be 'id', flag found"


def test_object_without_fields_is_rejected(sketch):
    sketch.struct("S", Ability.KEY, {})
    assert sketch.reason() == "First field of struct S must be 'id', no field found"


def test_id_of_other_framework_struct_is_rejected(sketch):
    sketch.struct("S", Ability.KEY, {"id": sketch.foreign("object", "ID")})
    expected = (
        "First field of struct S must be of type sui::object::UID, sui::object::ID type found"
    )
    assert sketch.reason() == expected


def test_uid_of_other_package_is_rejected(sketch):
    stranger = sketch.foreign("object", "UID", address=Address.of(9))
    sketch.struct("S", Ability.KEY, {"id": stranger})
    assert f"{Address.of(9).hex()}::object::UID type found" in sketch.reason()


@pytest.mark.parametrize(
    ("token", "text"),
    [
        ("bool", "Bool"),
        (VectorToken("u8"), "Vector(U8)"),
        (TypeParameterToken(0), "TypeParameter(0)"),
    ],
)
def test_id_that_is_not_a_struct_is_rejected(sketch, token, text):
    sketch.struct("S", Ability.KEY, {"id": token})
    expected = f"First field of struct S must be of type sui::object::UID, {text} type found"
    assert sketch.reason() == expected


def test_enum_with_key_is_rejected(sketch):
    sketch.enum("X", Ability.KEY, {"Only": {"id": sketch.uid}})
    expected = "Enum X cannot have the 'key' ability. Enums cannot have the 'key' ability."
    assert sketch.reason() == expected
