"""Sources of all styles are parsed, and invalid text does no harm."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nexus_tools.sui.move_source import line_of, read_modules, tokens_of

ROOT = Path(__file__).parents[3]


def only(source):
    (module,) = read_modules(source)
    return module


def items(source):
    return only(f"module a::m;\n{source}")


# --- Tokens


def test_comments_are_skipped_and_block_comments_nest():
    source = "a /* b /* c */ // d */ e // f\n/// g\nh ////i"
    assert [token.text for token in tokens_of(source)] == ["a", "e", "h"]


def test_string_content_is_not_code():
    source = r'const A: vector<u8> = b"fun \" f() { /* //"; const B: vector<u8> = x"00";'
    module = items(source)
    assert [constant.name for constant in module.constants] == ["A", "B"]
    assert module.constants[0].value == (r'b"fun \" f() { /* //"',)


def test_doc_comment_belongs_to_next_token():
    a, b = tokens_of("/// One.\n///   Two.\n\n/// Three.\na /** x\n * y\n */ b")
    assert a.doc == "One.\n  Two.\nThree."
    assert b.doc == "x\ny"
    assert tokens_of("/**/ a")[0].doc == ""
    assert tokens_of("/*** no ***/ //// no\na")[0].doc == ""


def test_token_has_its_position():
    source = "module a::m;\n\n  fun f() {}"
    token = only(source).functions[0].name_token
    assert source[token.start : token.end] == "f"
    assert line_of(source, token.start) == 3


# --- Modules


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("module a::m;", [("a", "m")]),
        ("module 0x2::m { fun f() {} } module b::n { fun f() {} }", [("0x2", "m"), ("b", "n")]),
        ("address 0x1 { module m { fun f() {} } }", [("", "m")]),
        ("module a::m;\nfun f() {}\nmodule a::n;\nfun f() {}", [("a", "m"), ("a", "n")]),
        ("script { fun main() {} } module a::m { fun f() {} }", [("a", "m")]),
        ("#[test_only]\n/// Doc.\nmodule a::m;", [("a", "m")]),
        ("", []),
    ],
)
def test_modules_are_found_in_all_forms(source, names):
    assert [(module.address, module.name) for module in read_modules(source)] == names


def test_module_has_doc_and_attributes():
    module = only("/// What it is.\n#[allow(unused), test_only]\nmodule a::m { }")
    assert module.doc == "What it is."
    assert [attribute.name for attribute in module.attributes] == ["allow", "test_only"]


# --- Types


def test_structs_have_fields_parameters_and_docs():
    module = items(
        """
        /// A pool.
        #[allow(lint(x))]
        public struct Pool<phantom A, B: copy + drop, C: key> has key, store {
            /// Its id.
            id: UID,
            b: vector<Table<u64, B>>, // not this
            #[test_only] f: |u64| -> u8,
        }
        struct Old has drop { a: u8 }
        public struct Point(u64, /// The other.
            vector<u8>) has copy, drop;
        public struct Empty {}
        public struct Nothing() has drop;
        """
    )
    pool, old, point, empty, nothing = module.structs
    assert (pool.name, pool.doc, pool.type_parameters) == ("Pool", "A pool.", ("A", "B", "C"))
    assert [(field.name, field.type) for field in pool.fields] == [
        ("id", "UID"),
        ("b", "vector<Table<u64, B>>"),
        ("f", "|u64|->u8"),
    ]
    assert pool.fields[0].doc == "Its id."
    assert (pool.is_public, old.is_public) == (True, False)
    assert [(field.name, field.type, field.doc) for field in point.fields] == [
        ("0", "u64", ""),
        ("1", "vector<u8>", "The other."),
    ]
    assert (empty.fields, nothing.fields) == ((), ())


def test_positional_struct_may_end_without_semicolon():
    source = (
        "module a::b;\npublic struct V3()\nconst E: u64 = 0;\nstruct P(u8) has copy;\nfun f() {}"
    )
    (module,) = read_modules(source)
    assert [(item.name, item.abilities) for item in module.structs] == [
        ("V3", ()),
        ("P", ("copy",)),
    ]
    assert [item.name for item in module.constants] == ["E"]
    assert [item.name for item in module.functions] == ["f"]


def test_enums_have_variants_of_all_kinds():
    (enum,) = items(
        """
        /// One of them.
        public enum Shape<T> has copy, drop {
            /// Nothing.
            Point,
            Circle(/// Its radius.
                u64, T),
            #[allow(unused)] Square { /** Its side. */ side: Table<u8, T>, at: u8 },
        }
        """
    ).enums
    assert (enum.doc, enum.type_parameters) == ("One of them.", ("T",))
    point, circle, square = enum.variants
    assert (point.name, point.doc, point.fields) == ("Point", "Nothing.", ())
    assert [(field.type, field.doc) for field in circle.fields] == [
        ("u64", "Its radius."),
        ("T", ""),
    ]
    assert [(field.name, field.doc) for field in square.fields] == [
        ("side", "Its side."),
        ("at", ""),
    ]


# --- Constants and functions


def test_constants_have_types_values_and_attributes():
    error, list_, sum_ = items(
        '#[error(code = 7)] const EBad: vector<u8> = b"Bad; very";\n'
        '/// Names.\nconst NAMES: vector<vector<u8>> = vector[b"a", b"b"];\n'
        "const SUM: u64 = { 1 + (2; 3) };"
    ).constants
    assert error.attributes[0].argument("code") == ("7",)
    assert error.attributes[0].argument("other") is None
    assert (error.type, error.value) == ("vector<u8>", ('b"Bad; very"',))
    assert (list_.doc, list_.type) == ("Names.", "vector<vector<u8>>")
    assert sum_.name == "SUM"


@pytest.mark.parametrize(
    ("source", "visibility", "is_entry", "is_macro"),
    [
        ("fun f() {}", "", False, False),
        ("public fun f() {}", "public", False, False),
        ("public(package) fun f() {}", "public(package)", False, False),
        ("public(friend) entry fun f() {}", "public(friend)", True, False),
        ("entry fun f() {}", "", True, False),
        ("entry public fun f() {}", "public", True, False),
        ("public native fun f();", "public", False, False),
        ("native public fun f();", "public", False, False),
        ("public macro fun f<$T>($x: $T, $f: |$T| -> u8): u8 { $f($x) }", "public", False, True),
    ],
)
def test_functions_of_all_kinds(source, visibility, is_entry, is_macro):
    (function,) = items(f"use a::b; {source} friend a::c;").functions
    assert function.name == "f"
    assert (function.visibility, function.entry_token is not None) == (visibility, is_entry)
    assert function.is_macro == is_macro


def test_parameters_have_names_and_types():
    (function,) = items(
        """
        public fun swap<A, phantom B: key + store>(
            mut self: &mut Pool<A, B>, // the pool
            _: &Cap,
            `type`: u8,
            pairs: vector<Pair<A, B>>,
            ctx: &mut tx_context::TxContext,
        ): (Coin<A>, vector<u8>) acquires Pool { let fun = 1; }
        """
    ).functions
    assert function.type_parameters == ("A", "B")
    assert [item.name for item in function.parameters][:4] == ["self", "_", "type", "pairs"]
    assert [item.type for item in function.parameters][:4] == [
        "&mut Pool<A, B>",
        "&Cap",
        "u8",
        "vector<Pair<A, B>>",
    ]
    assert function.parameters[-1].type == "&mut tx_context::TxContext"
    assert function.returns == "(Coin<A>, vector<u8>)"


def test_function_bodies_are_skipped():
    module = items(
        """
        fun first() {
            'outer: loop { while (true) { break 'outer }; };
            let struct_ = Point { x: 1 }; /* } */
            vector[1, 2].do!(|x| { if (x < 2) return; });
            match (self) { State::A { fun_: _, .. } => b"}", _ => b"{" }
        }
        #[test, expected_failure(abort_code = EBad, location = a::b)]
        fun second() { abort }
        spec first { pragma verify = true; }
        spec module { fun third(): bool { true } }
        use fun first as u64.first;
        fun `entry`() {}
        """
    )
    names = [function.name for function in module.functions]
    assert names[:2] == ["first", "second"]
    assert names[-1] == "entry"
    failure = module.functions[1].attributes[1]
    assert failure.arguments == (("abort_code", ("EBad",)), ("location", ("a", "::", "b")))


def test_own_sources_are_read_completely():
    for path in (ROOT / "move" / "nexus_tools" / "sources").glob("*.move"):
        module = only(path.read_text())
        assert module.name == path.stem
        assert module.doc
        shipped = [item for item in module.functions if not item.attributes]
        assert all(item.doc for item in shipped if item.visibility == "public")


# --- Invalid sources


@pytest.mark.parametrize(
    "source",
    [
        "module",
        "module a::",
        "module a::m { struct",
        "module a::m { struct S { a: ",
        "module a::m { enum E { A(",
        "module a::m; const",
        "module a::m; const A: u64",
        "module a::m; public fun f<T(",
        "module a::m; #[",
        "module a::m; #[] #[,] #[a(] fun f() {}",
        "module a::m; } ) ] fun f() {}",
        'module a::m; const A: vector<u8> = b"never closed; fun f() {}',
        "module a::m; /* never closed",
        "public fun f() {}",
    ],
)
def test_invalid_source_is_read_as_far_as_possible(source):
    read_modules(source)


_PIECES = (
    *("module", "a", "::", "m", "struct", "enum", "const", "fun", "public", "entry", "native"),
    *("use", "spec", "mut", "phantom", "has", "macro", "address", "script", "vector", "u64", "x"),
    *(";", "{", "}", "(", ")", "[", "]", "<", ">", ",", ":", "#", "|", "->", "&", "=", "$", "`"),
    *('b"', '"', "/*", "*/", "///", "/**", "//", "\n", "'"),
)


@given(st.lists(st.sampled_from(_PIECES), max_size=60))
def test_reader_never_fails(pieces):
    read_modules("module a::m;" + " ".join(pieces))
