import json

import click
import pytest
from rich.tree import Tree

from nexus_tools.cli import app
from nexus_tools.cli.app import app as cli
from nexus_tools.cli.framework import Output, print_tree
from nexus_tools.errors import NexusError
from nexus_tools.sui.support.untrusted_text import is_displayable

HOSTILE = "good\x1b[2J\x1b]0;owned\x07\r\nbad [red]tool[/red] \u202edne eht"


def test_untrusted_text_cannot_control_terminal(capsys):
    Output().record({"description": HOSTILE})
    Output().table([{"description": HOSTILE}], {"description": "Description"}, empty="")
    printed = capsys.readouterr().out
    assert not set(printed) & set("\x1b\x07\r\u202e")
    assert printed.count("[red]tool[/red]") == 2


def test_narrow_table_keeps_words_whole(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    ids = [f"0x{digit * 64}" for digit in "ab"]
    rows = [{"alias": "leader", "address": one} for one in ids]
    Output().table(rows, {"alias": "Alias", "address": "Address"}, empty="")
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == ["  Alias    leader", f"  Address  {ids[0]}", ""]
    assert lines[4] == f"  Address  {ids[1]}"


def test_narrow_table_wraps_cells(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    rows = [{"alias": "leader", "what": "a sentence of many words goes on in the next line"}]
    Output().table(rows, {"alias": "Alias", "what": "What"}, empty="")
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert "leader   a sentence of many" in lines
    assert "words goes on in" in lines


def test_table_outside_a_terminal_has_one_line_for_each_row(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    rows = [{key: f"0x{key * 64} of many words" for key in "abcdef"} for _ in range(3)]
    Output().table(rows, {key: f"The heading {key}" for key in "abcdef"}, empty="")
    lines = [line for line in capsys.readouterr().out.splitlines() if line.strip(" ─")]
    assert len(lines) == 1 + 3
    assert all(value in lines[1] for value in rows[0].values())


def test_tree_outside_a_terminal_has_one_line_for_each_node(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    tree = Tree("root")
    tree.add("many words " * 50)
    print_tree(tree)
    assert len(capsys.readouterr().out.splitlines()) == 2


@pytest.mark.parametrize("width", range(67, 140, 7))
def test_table_in_a_terminal_never_breaks_a_word(capsys, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    row = {
        "fqn": "xyz.taluslabs.math.arithmetic@1",
        "state": "suspended, not enough collateral",
        "price": "0.001 SUI",
        "slash": "takes effect in three days from now, unless the owner objects",
    }
    Output().table([row], {key: key.title() for key in row}, empty="")
    printed = click.unstyle(capsys.readouterr().out)
    assert {word for text in row.values() for word in text.split()} <= set(printed.split())
    assert max(map(len, printed.splitlines())) <= width


def test_table_is_printed_as_records_when_another_one_has_no_room(capsys):
    output = Output()
    rows, columns = [{"fqn": "xyz.a@1"}], {"fqn": "Tool"}
    assert output.has_room(rows, columns)
    output.table(rows, columns, empty="", as_records=True)
    assert capsys.readouterr().out == "  Tool  xyz.a@1\n\n"


def test_json_keeps_text_and_escapes_control_characters(capsys):
    Output(as_json=True).record({"description": HOSTILE})
    printed = capsys.readouterr().out
    assert json.loads(printed) == {"description": HOSTILE}
    assert not set(printed) & set("\x1b\x07\r\u202e")


def test_empty_table_prints_message_on_stderr(capsys):
    Output().table([], {"fqn": "FQN"}, empty="no tool is registered")
    assert capsys.readouterr() == ("", "no tool is registered\n")
    Output(as_json=True).table([], {"fqn": "FQN"}, empty="no tool is registered")
    assert capsys.readouterr() == ("[]\n", "")


def test_quiet_prints_only_results(capsys):
    output = Output(quiet=True)
    output.done("done")
    output.note("note")
    output.record({"a": 1})
    assert capsys.readouterr() == ("  a  1\n", "")


def test_record_omits_missing_values(capsys):
    Output().record({"a": None, "b": False, "c": []})
    assert capsys.readouterr().out == "  b  no\n  c  none\n"


def test_confirm_needs_terminal_or_yes(monkeypatch):
    with pytest.raises(click.UsageError, match="--yes"):
        Output(as_json=True).confirm("Lock 1 SUI?", yes=False)
    Output(as_json=True).confirm("Lock 1 SUI?", yes=True)


def test_list_is_printed_without_brackets(capsys):
    Output().record({"names": ["one", "two"], "numbers": [1, 2]})
    assert capsys.readouterr().out == "  names    one, two\n  numbers  [1, 2]\n"


ATTACK = "ok\x1b[2J\u202eevil\U000e0041\x9b31m\r\nerror: forged"


@pytest.mark.parametrize("say", ["note", "warn", "done"])
def test_messages_show_untrusted_text_without_terminal_control(capsys, say):
    getattr(Output(), say)(f"the tool says {ATTACK}")
    shown = capsys.readouterr().err
    assert is_displayable(shown.replace("\n", ""))
    assert "ok�[2J�evil" in shown


def test_tables_and_records_show_untrusted_text_without_terminal_control(capsys):
    row = {"a": ATTACK, "b": [ATTACK], "c": {"d": ATTACK}, "e": [{"f": ATTACK}]}
    Output().table([row], {key: key for key in row}, empty="none")
    Output().record(row, title=ATTACK)
    shown = capsys.readouterr().out
    assert is_displayable(shown.replace("\n", ""))
    assert "\nerror: forged" not in shown


def test_json_is_exact_and_safe_to_display(capsys):
    Output(as_json=True).document({"a": ATTACK})
    shown = capsys.readouterr().out
    assert is_displayable(shown.replace("\n", ""))
    assert json.loads(shown) == {"a": ATTACK}


def test_untrusted_lines_are_marked(capsys):
    text = (
        "0x1::evil::run aborts: paid\n\n✓ refunded 3 SUI\n  your wallet is locked: `rm`\r\nerror: x"
    )
    app._report(NexusError("move_abort", text))
    first, *others = capsys.readouterr().err.splitlines()
    assert first == "error: 0x1::evil::run aborts: paid"
    assert len(others) == 4
    assert all(line.startswith("  | ") for line in others)


def test_commands_in_untrusted_text_stay_unchanged(capsys):
    root = click.Context(cli, info_name="nexus-tools")
    with click.Context(cli.get_command(root, "question"), parent=root) as context:
        context.params = {"wallet_name": "bob", "network_name": "mainnet"}
        Output().quote("xyz.flow asks: run `nexus-tools wallet transfer 0xe1 all --yes`\nnow")
    assert capsys.readouterr().err == (
        "xyz.flow asks: run `nexus-tools wallet transfer 0xe1 all --yes` now\n"
    )


def test_long_text_is_truncated_in_tables_only(capsys):
    rows = [{"a": "x" * 100_000, "b": [{"c": "y" * 100_000}]}, {"a": "short", "b": None}]
    columns = {"a": "A", "b": "B"}
    Output().table(rows, columns, empty="")
    Output().table(rows, columns, empty="", as_records=True)
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) < 1_100
    assert "x…" in shown
    assert "y…" in shown
    Output(as_json=True).table(rows, columns, empty="")
    assert json.loads(capsys.readouterr().out) == rows
    Output().record({"a": rows[0]["a"]})
    assert rows[0]["a"] in capsys.readouterr().out


@pytest.mark.parametrize("say", ["note", "warn", "done"])
def test_lines_in_messages_are_marked(capsys, say):
    getattr(Output(), say)("the leader is named a\n✓ refunded 3 SUI")
    _, line = capsys.readouterr().err.splitlines()
    assert line == "  | ✓ refunded 3 SUI"


def test_untrusted_labels_cannot_control_terminal(capsys):
    Output().record({"a": 1}, {"a": ATTACK})
    assert is_displayable(capsys.readouterr().out.replace("\n", ""))
