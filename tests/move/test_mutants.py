"""The small changes of a Move source that mutation testing makes."""

from move_mutation import mutants_of

SOURCE = """
module a::b;

/// A comment with 1 < 2.
const ETooMany: u64 = 7;
const MOST: u64 = 5;
const TEXT: vector<u8> = b"ab";
const NOBODY: address = @0x0;

public enum State { Open, Shut, Full(u64) }

fun f(self: &mut T, price_mist: u64, ctx: &TxContext): bool {
    let Self { rest_mist, .. } = self;
    assert!(price_mist <= MOST, ETooMany);
    if (!self.is_open() && x + 1 == 2) return false;
    pay(self.price_mist, ctx.sender());
    self.state = State::Shut;
    event::emit(Paid { price_mist, total_mist: price_mist });
    true
}

fun is_open(self: &T): bool { self.state == State::Open }

#[test_only]
fun for_tests(): u64 { 1 }
"""


def changes(kind):
    """Return the text before and after each change, by position."""
    mutants = mutants_of("sources/b.move", SOURCE)
    return [(item.before, item.after) for item in mutants if item.kind == kind]


def test_constants_change_and_error_codes_do_not():
    assert changes("constant") == [
        ("5", "4"),
        ("5", "6"),
        ('b"ab"', 'b"a"'),
        ("@0x0", "@0x1"),
    ]


def test_literals_of_published_functions_change():
    assert changes("literal") == [
        ("1", "0"),
        ("1", "2"),
        ("2", "1"),
        ("2", "3"),
        ("false", "true"),
        ("true", "false"),
    ]


def test_comparisons_are_shifted_or_reversed():
    assert changes("comparison") == [("<=", "<"), ("==", "!="), ("==", "!=")]


def test_other_operators_are_inverted():
    assert changes("connective") == [("&&", "||")]
    assert changes("arithmetic") == [("+", "-")]


def test_conditions_are_negated():
    assert changes("condition negated") == [
        ("price_mist <= MOST", "!(price_mist <= MOST)"),
        ("!self.is_open() && x + 1 == 2", "!(!self.is_open() && x + 1 == 2)"),
        ("self.state == State::Open", "!(self.state == State::Open)"),
    ]


def test_assertions_and_statements_are_removed():
    assert changes("assertion dropped") == [("assert!(price_mist <= MOST, ETooMany);", "")]
    assert [before.split("(")[0] for before, _ in changes("statement dropped")] == [
        "if ",
        "pay",
        "self.state = State::Shut;",
        "event::emit",
    ]


def test_amounts_are_changed_by_one_or_set_to_zero():
    def changed(path):
        return [(path, f"({path} + 1)"), (path, f"({path} - 1)"), (path, "0")]

    values = ("price_mist", "self.price_mist", "price_mist")
    assert changes("amount") == [change for path in values for change in changed(path)]


def test_states_with_same_fields_are_exchanged():
    assert changes("variant") == [("Shut", "Open"), ("Open", "Shut")]


def test_sender_becomes_another_account():
    assert changes("sender") == [("ctx.sender()", "@0xBAD")]


def test_mutant_has_its_location_and_differs_only_there():
    mutant = next(item for item in mutants_of("sources/b.move", SOURCE) if item.kind == "sender")
    assert str(mutant) == "sources/b.move:16: sender: ctx.sender() -> @0xBAD"
    assert mutant.applied_to(SOURCE) == SOURCE.replace("ctx.sender()", "@0xBAD")
