"""Packages that attack users who generate bindings of them."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from msgspec.structs import replace

from fuzzing.bindings import (
    HOSTILE_NAMES,
    RESERVED_NAMES,
    check,
    check_bindings,
    inputs,
    packed,
    with_error_name,
    with_text,
)
from fuzzing.corpus import user_packages
from fuzzing.finding import Broken
from fuzzing.rows import with_row
from nexus_tools.errors import NexusError
from nexus_tools.sui.bindings.generator import PackageSource, generate, write_bindings
from nexus_tools.sui.bytecode import ReferenceToken, deserialize, serialize
from nexus_tools.sui.localnet.framework import load_framework

ROOT = Path(__file__).parents[3]
PAYLOAD = "E\n\nopen('canary', 'w')\n\nX"
SOURCE = """/// {doc}
module a::calls {{
    /** {doc} */
    #[error]
    const TooSmall: vector<u8> = b"{doc}";
}}
"""


@pytest.fixture(scope="module")
def calls():
    """Return a module that aborts with errors whose names and messages are bytecode constants."""
    return next(
        deserialize(user_package["calls"])
        for user_package in user_packages()
        if "calls" in user_package
    )


def bindings_of(module, source="", origin="a package"):
    sources = {"a.move": source}
    package = PackageSource(origin, (serialize(module),), sources)
    return generate(package, lambda address: load_framework()[bytes(address)].modules)


def name_of_the_error(module):
    data = b"\x08TooSmall"
    return next(at for at, constant in enumerate(module.constants) if constant.data == data)


def imported(folder, *names):
    """Import modules in a separate process, in the folder."""
    return subprocess.run(
        [sys.executable, "-c", f"import {', '.join(names)}"],
        cwd=folder,
        env={"PYTHONPATH": f"{folder}:{ROOT}"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_bindings_run_no_code_that_an_error_name_holds(calls, tmp_path):
    hostile = replace(calls, constants=with_error_name(calls, name_of_the_error(calls), PAYLOAD))
    write_bindings(tmp_path / "hostile", bindings_of(hostile).files)
    ended = imported(tmp_path, "hostile.calls")
    assert ended.returncode == 0, ended.stderr
    assert not (tmp_path / "canary").exists()


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_bindings_leave_out_errors_whose_name_is_not_an_identifier(calls, name):
    assert "TooSmall = MoveError(" in bindings_of(calls).files["calls.py"]
    hostile = replace(calls, constants=with_error_name(calls, name_of_the_error(calls), name))
    found = bindings_of(hostile)
    check_bindings(found.files)
    assert found.errors == bindings_of(calls).errors - 1


@pytest.mark.parametrize(
    "doc", ['"""\nopen("canary", "w")\n"""', '\\"""', '""', "\\", "\0\x1b[2J\u202e", '"\u200d""']
)
def test_bindings_run_no_code_that_comments_hold(calls, tmp_path, doc):
    found = bindings_of(calls, SOURCE.format(doc=doc), origin=f"the folder {doc}")
    check_bindings(found.files)
    write_bindings(tmp_path / "hostile", found.files)
    ended = imported(tmp_path, "hostile.calls")
    assert ended.returncode == 0, ended.stderr
    assert not (tmp_path / "canary").exists()


@pytest.mark.parametrize("name", RESERVED_NAMES)
def test_bindings_can_be_imported_whatever_an_identifier_is(calls, name):
    for place, identifier in enumerate(calls.identifiers):
        module = replace(calls, identifiers=with_text(calls.identifiers, place, name))
        if identifier != calls.name:
            assert check(packed(serialize(module), "")) == "generated"
    at = calls.identifiers.index(calls.name)
    module = replace(calls, identifiers=with_text(calls.identifiers, at, name))
    check_bindings(bindings_of(module).files)


def test_functions_do_not_hide_a_struct_of_their_name(tmp_path, monkeypatch):
    generics = next(
        deserialize(user_package["generics"])
        for user_package in user_packages()
        if "generics" in user_package
    )
    place = generics.identifiers.index("boxed")
    hostile = replace(generics, identifiers=with_text(generics.identifiers, place, "Box"))
    write_bindings(tmp_path / "hiding", bindings_of(hostile).files)
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("hiding.generics")
    assert isinstance(module.Box, type)
    assert callable(module.Box_)


def test_functions_that_take_a_signer_are_left_out(calls):
    place = next(at for at, signature in enumerate(calls.signatures) if signature == ("u64",))
    signatures = with_row(calls.signatures, place, lambda _: (ReferenceToken("signer", False),))
    found = bindings_of(replace(calls, signatures=signatures))
    assert 0 < found.functions < bindings_of(calls).functions


def test_generate_takes_a_module_whose_emit_has_no_type():
    module, at = next(
        (module, called.type_arguments)
        for user_package in user_packages()
        for module in map(deserialize, user_package.values())
        for called in module.function_instantiations
        if module.function_id(called.target)[1:] == ("event", "emit")
    )
    signatures = (*module.signatures, ())
    calls = tuple(
        replace(function_instantiation, type_arguments=len(module.signatures))
        if function_instantiation.type_arguments == at
        else function_instantiation
        for function_instantiation in module.function_instantiations
    )
    assert bindings_of(replace(module, signatures=signatures, function_instantiations=calls)).files


def test_modules_that_no_network_accepts_are_refused(calls):
    place = next(at for at, signature in enumerate(calls.signatures) if signature == ("u64",))
    reference = ReferenceToken(ReferenceToken("u8", False), False)
    signatures = with_row(calls.signatures, place, lambda _: (reference,))
    with pytest.raises(NexusError, match="the module calls is not valid: a type contains a"):
        bindings_of(replace(calls, signatures=signatures))


@pytest.mark.parametrize(
    "text",
    [
        "import os",
        "print(1)",
        "class __x:\n pass",
        "from typing import Any\nAny = 1",
        "x = [1 for _ in x]",
    ],
)
def test_check_bindings_finds_what_is_not_a_declaration(text):
    with pytest.raises(Broken):
        check_bindings({"a.py": text})


@settings(max_examples=80, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(inputs())
def test_bindings_of_mutated_modules_are_only_declarations(data):
    assert check(data)
