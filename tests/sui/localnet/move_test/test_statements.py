"""Markers are inserted before statements wherever the syntax allows it."""

import pytest

from nexus_tools.sui.localnet.move_test.compilation.annotated_sources import read_test_source
from nexus_tools.sui.localnet.move_test.compilation.statements import statement_positions


def marked(body):
    """Return a function body with `@` before each statement, and brackets for new blocks."""
    source = f"module a::m; fun f() {body}"
    (function,) = read_test_source("a.move", source).bodies
    marks = []
    for place in statement_positions(function.tokens):
        marks += [(place.start, "@")] if place.end is None else [(place.start, "[@")]
        marks += [] if place.end is None else [(place.end, "]")]
    for position, mark in sorted(marks, reverse=True):
        source = source[:position] + mark + source[position:]
    return source.removeprefix("module a::m; fun f() ")


@pytest.mark.parametrize(
    "expected",
    [
        "{ @let x = 1; @x }",
        "{@}",
        "{ use a::b; use c::{d, e}; @b::g(); }",
        "{ #[allow(unused)] use a::b; @b::g() }",
        "{ @if (c) { @a(); } else if (d) { @b() } else { @c() }; @e() }",
        "{ @while (c) { @a(); @b() }; @loop { @break } }",
        "{ @let x = { @a(); @b() }; @f({ @x }) }",
        "{ @'outer: loop { @break 'outer } }",
        "{ @let S { a, b: T { c } } = x; @S { a, b: T<u8> { c } } }",
        "{ @let s = S { a: { @x() }, b }; @s }",
        "{ @values.do!(|x| { @f(x); }); @values.map!(|x| x + 1) }",
        "{ @values.map!(|x| -> u64 { @f(x) }) }",
        "{ @match (x) { A => [@1], B { c } => { @c }, D(e) if (e > 1) => [@abort 2] } }",
        "{ @match (x) { A => f<B, C>(), D => [@g()] } }",
        "{ @match (x) { A => [@match (y) { B => [@1], _ => [@2] }], _ => [@3] } }",
        "{ spec { assert x > 1; }; @a() }",
        '{ @b"} { ;"; /* ; { */ @x"00" // ;\n }',
        "{ @return { @1 } }",
        "{ @a();; @b() }",
        "{ @x = y & { @z }; @abort }",
    ],
)
def test_statements_are_marked(expected):
    plain = expected.replace("[@", "").replace("@", "").replace("]", "")
    if "#[" in expected:
        plain = plain.replace("#[allow(unused)", "#[allow(unused)]")
    assert marked(plain) == expected


def test_native_functions_and_empty_macros_have_no_body():
    source = "module a::m; native fun f(); macro fun g($x: |u8| -> u8): u8 { $x(1) }"
    assert [body.name for body in read_test_source("a.move", source).bodies] == ["g"]


def test_prover_code_is_not_a_function():
    source = """module a::m {
        spec module { pragma verify; }
        spec fun s(x: u64): u64 { x }
        spec f { ensures result == 1; }
        fun f(spec: u64): u64 { spec.g(); spec }
    }"""
    assert [body.name for body in read_test_source("a.move", source).bodies] == ["f"]


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("sources/a.move", "module a::m; #[test] fun f() {}"),
        ("sources/a.move", "module a::m; #[test_only] public fun f() {}"),
        ("sources/a.move", "#[test_only] module a::m; public fun f() {}"),
        ("tests/a.move", "module a::m; public fun f() {}"),
    ],
)
def test_only_code_is_known_by_attributes_and_folder(path, source):
    (body,) = read_test_source(path, source).bodies
    assert body.is_test_only


def test_only_module_does_not_affect_next_one():
    source = "#[test_only] module a::m { fun f() {} } module a::n { fun g() {} }"
    bodies = read_test_source("sources/a.move", source).bodies
    assert [body.is_test_only for body in bodies] == [True, False]
