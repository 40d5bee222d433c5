"""Every command that a message, a hint or a help text names can be typed as it stands there."""

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import nexus_tools
from nexus_tools.cli.app import app
from nexus_tools.cli.framework import with_current_options

_CODE = Path(nexus_tools.__file__).parent
_BACKTICKS = re.compile(r"`([^`]+)`")
_ROOT = click.Context(app)


def _texts(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield texts for users with their lines, and `X` for each inserted value.

    A docstring counts if click shows it: that of a command.
    """
    nodes = list(ast.walk(tree))
    unread = {id(doc) for node in nodes if not _is_command(node) and (doc := _docstring(node))}
    parts = {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            yield node.lineno, "".join(map(_part, node.values))
        elif isinstance(node, ast.Constant) and id(node) not in unread | parts:
            yield node.lineno, str(node.value)


def _part(node: ast.expr) -> str:
    return str(node.value) if isinstance(node, ast.Constant) else "X"


def _docstring(node: ast.AST) -> ast.expr | None:
    body = getattr(node, "body", None)
    first = body[0] if isinstance(body, list) and body else None
    return first.value if isinstance(first, ast.Expr) else None


def _is_command(node: ast.AST) -> bool:
    """Whether click makes a command or a group of it."""
    decorators = map(ast.unparse, getattr(node, "decorator_list", ()))
    return any(re.search(r"\b(command|group)\b", name) for name in decorators)


def _named_commands() -> Iterator[tuple[str, str]]:
    """Where a command is named, and how: in backticks, or as the whole text."""
    # Parsing takes most of the time, so skip files without the first word of a command.
    first_words = "|".join(map(re.escape, app.list_commands(_ROOT)))
    first_word = re.compile(rf"nexus-tools|`[\s\"'f]*(?:{first_words})\b")
    for path in sorted(_CODE.rglob("*.py")):
        source = path.read_text()
        if first_word.search(source) is None:
            continue
        for line, text in _texts(ast.parse(source)):
            named = [span for span in _BACKTICKS.findall(" ".join(text.split())) if _names(span)]
            if text.partition(" ")[0] == "nexus-tools" and _names(text.partition(" ")[2]):
                named.append(text)
            yield from ((f"{path.relative_to(_CODE)}:{line}", span) for span in named)


def _names(text: str) -> bool:
    """Whether it is meant as a command: ours by its first word, or by a noun and a verb of it."""
    first, second, *_ = [*text.split(), "", ""]
    if first == "nexus-tools" and second:
        return True
    noun = app.get_command(_ROOT, first)
    return isinstance(noun, click.Group) and noun.get_command(_ROOT, second) is not None


def parse(text: str) -> None:
    """Read a command line as click does, but for the types of values."""
    name, *words = shlex.split(text)
    assert name == "nexus-tools", f"`{text}` does not begin with nexus-tools"
    command: click.Command = app
    while isinstance(command, click.Group) and words and words[0] in command.list_commands(_ROOT):
        command = command.get_command(_ROOT, words.pop(0)) or app
    verb_alone = not words
    values, rest, _ = command.make_parser(click.Context(command)).parse_args(words)
    assert rest == [], f"`{text}`: {rest} means nothing"
    for each in () if verb_alone else command.params:
        given = each.name in values and not each.value_is_missing(values[each.name])
        assert given or not each.required, f"`{text}` lacks {each.name}"


def test_commands_named_in_texts_can_be_parsed():
    invalid = []
    for place, text in sorted(set(_named_commands())):
        try:
            parse(text)
        except (AssertionError, click.UsageError) as error:
            invalid.append(f"{place}: {error}")
    assert not invalid, "\n".join(invalid)


@pytest.mark.parametrize(
    "text",
    [
        "tool list",
        "nexus-tools walet new",
        "nexus-tools wallet mend",
        "nexus-tools tool list --al",
        "nexus-tools tool outcome --explain",
        "nexus-tools tool list more",
    ],
)
def test_parse_rejects_wrong_commands(text):
    with pytest.raises((AssertionError, click.UsageError)):
        parse(text)


@pytest.mark.parametrize(
    ("typed", "text", "shown"),
    [
        (("-w", "buyer"), "`nexus-tools tool accept a.b`", "`nexus-tools tool accept a.b {w}`"),
        (("-w", "buyer"), "nexus-tools invocation list", "nexus-tools invocation list {w}"),
        (("--wallet=buyer", "-n", "a net"), "`nexus-tools status`", "`nexus-tools status {w} {n}`"),
        (("-w", "buyer"), "`nexus-tools wallet new`: it takes none", None),
        (("-w", "buyer"), "`nexus-tools leader worker add X --wallet OWNER`", None),
        (
            ("-w", "buyer", "-n", "a net"),
            "`nexus-tools status -n b`",
            "`nexus-tools status -n b {w}`",
        ),
        (("-w", "buyer"), "`nexus-tools leader worker` has no verb", None),
        (("-w", "buyer"), "the node says that `it's` late; nexus-tools status", None),
        ((), "`nexus-tools status`", None),
    ],
)
def test_hint_keeps_the_typed_wallet_and_network(typed, text, shown):
    expected = (shown or text).format(w="--wallet buyer", n="--network 'a net'")
    with app.make_context("nexus-tools", ["status", *typed]) as root:
        status = app.get_command(root, "status")
        with status.make_context("status", [*typed], parent=root):
            assert with_current_options(text) == expected


def test_text_outside_a_command_is_unchanged():
    assert with_current_options("`nexus-tools status`") == "`nexus-tools status`"


def test_hints_of_results_errors_and_findings_keep_the_wallet(author, publisher):
    author.wallet.new("buyer")
    buyer = ("--wallet", "buyer")
    listed = author.run("leader", "status", *buyer)
    assert "Run `nexus-tools leader register --wallet buyer` to register one" in listed.stderr
    refused = author.run("leader", "run", *buyer)
    assert "Run `nexus-tools leader register --wallet buyer` to register one" in refused.stderr
    publisher.json("admin", "offer", author.json("wallet", "show", *buyer)["address"], "--yes")
    offers = author.json("status", *buyer)["offers"]
    publisher.json("admin", "offer", "--cancel", "--yes")
    assert [offer["accept"] for offer in offers] == ["nexus-tools admin accept --wallet buyer"]


def test_hint_names_the_required_wallet_if_it_is_an_own_one(author, stranger, registered_fqn):
    owner = author.json("wallet", "show")["address"]
    author.wallet.new("other")
    offer = ("tool", "offer", registered_fqn.partition("@")[0], "--cancel", "--yes")
    refused = author.run(*offer, "-w", "other")
    assert f"Sign with the wallet of {owner}: --wallet author." in refused.stderr
    refused = stranger.run(*offer)
    assert f"Sign with the wallet of {owner}.\n" in refused.stderr
