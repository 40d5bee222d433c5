"""Tests are found by their attributes, and become ordinary code on the same lines."""

import pytest

from nexus_tools.sui.localnet.move_test.compilation.annotated_sources import read_test_source

MARK = "#[mode(unit_testing, test)]"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("#[test] fun t() {}", f"{MARK} fun t() {{}}"),
        ("#[test_only] use a::b;", f"{MARK} use a::b;"),
        ("#[test, expected_failure] fun t() {}", f"{MARK} fun t() {{}}"),
        ("#[test]\n#[expected_failure(abort_code = 1)]\nfun t() {}", f"{MARK}\n\nfun t() {{}}"),
        (
            "#[test,\n expected_failure(\n arithmetic_error)] fun t() {}",
            f"{MARK}\n\n fun t() {{}}",
        ),
        (
            "#[test, allow(unused)] fun t() {}",
            "#[allow(unused), mode(unit_testing, test)] fun t() {}",
        ),
        ('const A: vector<u8> = b"#[test]";', 'const A: vector<u8> = b"#[test]";'),
        ("/* #[test] /* */ #[test] */ // #[test]", "/* #[test] /* */ #[test] */ // #[test]"),
        ("#[allow(lint(x))] fun f() {}", "#[allow(lint(x))] fun f() {}"),
        ("entry fun f() {}", "public entry fun f() {}"),
        ("public(package) entry fun f() {}", "public(package) entry fun f() {}"),
        ("public entry fun f() { entry }", "public entry fun f() { entry }"),
    ],
)
def test_attributes_become_a_mode(before, after):
    source = read_test_source("a.move", f"module a::m; {before}")
    assert source.text == f"module a::m; {after}"


def test_move_test_has_location_and_attributes():
    source = "module a::m;\n\n#[random_test]\n#[expected_failure(vector_error, location = b::c)]\n"
    (test,) = read_test_source("a.move", f"{source}public fun t(x: u8) {{}}").tests
    assert (test.title, test.path, test.line) == ("a::m::t", "a.move", 5)
    assert test.is_random
    assert test.expected_failure.arguments == (("vector_error", ()), ("location", ("b", "::", "c")))


def test_attribute_applies_only_to_next_item():
    source = "module a::m;\n#[test_only] const A: u64 = 1;\n#[test] fun t() {}\nfun u() {}"
    assert [test.name for test in read_test_source("a.move", source).tests] == ["t"]


def test_imports_are_known_by_their_local_names():
    source = "module a::m { use a::{b::{Self, EOne}, c as d}; use x::y; use x::z::E as F; }"
    uses = read_test_source("a.move", source).uses
    assert {name: path for (_, name), path in uses.items()} == {
        "b": "a::b",
        "EOne": "a::b::EOne",
        "d": "a::c",
        "y": "x::y",
        "F": "x::z::E",
    }


def test_import_inside_function_does_not_belong_to_module():
    body = "use x::y; use fun g as T.y; fun f() { use z::y; use q::r as k; y::g(); k::h() }"
    assert read_test_source("a.move", f"module a::m {{ {body} }}").uses == {("a::m", "y"): "x::y"}


def test_arguments_are_matched_by_parameter_name():
    source = "module a::m;\n#[test(b = @0xB, a = @0xA, c = @0xC)]\nfun t(a: address, b: address) {}"
    (test,) = read_test_source("a.move", source).tests
    assert test.arguments == (("a", ("@0xA",)), ("b", ("@0xB",)))
