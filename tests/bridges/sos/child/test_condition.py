"""The expected results are those of SOS-Toolkit 0.0.2."""

import pytest

from nexus_tools.bridges.sos.child.action import MetaCondition
from nexus_tools.bridges.sos.child.context import SOSContext

CASES = [
    ("a", {"valid": "a"}, True),
    ("a", {"valid": ["a", "b"]}, True),
    ("a", {"valid": True}, False),
    ("a", {}, False),
    ("a", {"valid": "a", "comparison": "equal"}, True),
    ("a", {"valid": ["a"], "comparison": "equal"}, True),
    (True, {"valid": True}, True),
    (True, {"valid": False}, False),
    (True, {"valid": True, "comparison": "equal"}, True),
    (False, {"valid": False}, True),
    (None, {}, True),
    (None, {"comparison": "equal"}, True),
    (None, {"valid": "a"}, False),
    ("", {"valid": "a"}, False),
    (1, {"valid": [["a"], 1]}, True),
]


@pytest.mark.parametrize(("value", "fields", "holds"), CASES)
def test_condition_holds_as_in_the_toolkit(value, fields, holds):
    context = SOSContext(namespace={"x": value})
    condition = MetaCondition(ctx_key="namespace.x", raise_exc=False, **fields)
    assert condition.resolve(context) is holds


def test_missing_value_is_none():
    assert MetaCondition(ctx_key="namespace.x").resolve(SOSContext()) is True


def test_inverse_negates_the_result():
    context = SOSContext(namespace={"x": "a"})
    condition = MetaCondition(ctx_key="namespace.x", valid="b", is_inverse=True)
    assert condition.resolve(context) is True


def test_failing_condition_raises_by_default():
    condition = MetaCondition(ctx_key="namespace.x", valid="b")
    with pytest.raises(ValueError, match=r"namespace\.x must be in \['b'\]"):
        condition.resolve(SOSContext())
    assert condition.resolve(context=SOSContext(), raise_exc=False) is False
