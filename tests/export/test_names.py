import hashlib
import re
from itertools import permutations

import pytest

from nexus_tools.export import MAX_NAME_LENGTHS, export_names
from nexus_tools.export.names import mcp_name
from nexus_tools.tool import ToolFqn

LONG = f"xyz.example.{'long' * 40}@7"


def names(*fqns, system="openai"):
    return [*export_names(map(ToolFqn.parse, fqns), system).values()]


def digits(fqn, count=8):
    return hashlib.sha256(fqn.encode()).hexdigest()[:count]


def test_dots_become_underscores_and_the_version_a_suffix():
    assert names("xyz.example.math.add@12") == ["xyz_example_math_add_v12"]


@pytest.mark.parametrize("system", MAX_NAME_LENGTHS)
def test_name_obeys_the_rules_of_its_system(system):
    for name in names(LONG, "xyz.example.a-b_c@1", system=system):
        assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) or system == "openapi"
        assert re.fullmatch(r"[a-zA-Z0-9_-]{1,128}", name)


def test_too_long_name_is_cut_and_ends_in_digits():
    [name] = names(LONG)
    assert len(name) == 64
    assert name == f"{('xyz_example_' + 'long' * 40)[:55]}_{digits(LONG)}"


def test_name_at_the_limit_is_not_cut():
    fqn = f"xyz.example.{'n' * 49}@1"
    assert names(fqn) == [f"xyz_example_{'n' * 49}_v1"]
    assert len(names(fqn)[0]) == 64


def test_tools_with_equal_names_all_get_digits():
    fqns = ["xyz.one.two.add@1", "xyz.one_two.add@1"]
    assert names(*fqns) == [f"xyz_one_two_add_v1_{digits(fqn)}" for fqn in fqns]


def test_order_of_the_tools_does_not_matter():
    fqns = ["xyz.one.two.add@1", "xyz.one_two.add@1", "xyz.one.two_add@1", LONG]
    tables = [export_names(map(ToolFqn.parse, order), "openai") for order in permutations(fqns)]
    assert all(table == tables[0] for table in tables)
    assert len(set(tables[0].values())) == 4


def test_names_with_colliding_digits_get_more_digits(monkeypatch):
    """An attacker can search for a long FQN with the same first digits as another."""
    real = hashlib.sha256

    class Weak:
        def __init__(self, data):
            self._data = data

        def hexdigest(self):
            return "0" * 8 + real(self._data).hexdigest()[8:]

    monkeypatch.setattr(hashlib, "sha256", Weak)
    found = names(f"{LONG[:-1]}8", LONG)
    assert len(set(found)) == 2
    assert all(re.fullmatch(r"xyz_example_.*_0{8}[0-9a-f]{8}", name) for name in found)


def test_mcp_names_are_those_of_the_server():
    fqns = ["xyz.example.math.add@1", "xyz.example.text.count_words@1", LONG]
    assert names(*fqns, system="mcp") == [mcp_name(ToolFqn.parse(fqn)) for fqn in fqns]
