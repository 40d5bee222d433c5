"""The runner itself: it finds errors in pages."""

import os
import re
import signal

import pytest

from documents import Page, PageRunner, environment_of
from documents import terminal as terminal_module
from documents.shown import begins_as_shown, is_shown
from documents.terminal import Terminal, UnexpectedError
from documents.walk import PROGRAMS


@pytest.fixture
def follow(tmp_path):
    """Return a function that follows a page with this text, in which `~~~` fences a block."""

    def follow(text):
        (tmp_path / "folder").mkdir()
        environment = environment_of(tmp_path / "home", PROGRAMS)
        with PageRunner(tmp_path / "folder", environment, installs=False) as walk:
            walk.follow(Page("page.md", text.replace("~~~", "```")))

    return follow


def test_terminal_continues_from_block_to_block(follow):
    follow(
        "~~~console\n$ mkdir inner && cd inner\n$ name=Ada\n~~~\n\n"
        "~~~console\n$ echo $name in $(basename $PWD)\nAda in inner\n~~~\n"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("~~~console\n$ echo two\none\n~~~\n", "page.md:1: `echo two` printed:\ntwo"),
        ("~~~console\n$ echo one; echo two\none\n~~~\n", "printed:\none\ntwo"),
        ("~~~console\n$ false\n~~~\n", "`false` ended with 1"),
        ("~~~console\n$ echo 'error: no'\nerror: no\n~~~\n", "ended with 0"),
        ("\n\n~~~python\nprint(1)\n~~~\n\n~~~text\n2\n~~~\n", "page.md:3: the program printed:\n1"),
        ("~~~python\nprint(1)\n~~~\n", "the program printed:\n1"),
        ("~~~python\nraise ValueError('no')\n~~~\n", "ValueError: no"),
        ("~~~python\nimport warnings\nwarnings.warn('old')\n~~~\n", "UserWarning: old"),
        ('~~~console title="B"\n$ echo two\none\n~~~\n', "`echo two` printed:\ntwo"),
        ("~~~console\n$ pip install 'nexus-tools[nothing]'\n~~~\n", "does not have an extra"),
        (
            '~~~console\n$ echo 1 > a.py\n~~~\n~~~python title="a.py"\n2\n~~~\n',
            "the file a.py has another text",
        ),
    ],
)
def test_error_is_reported_at_its_line(follow, text, said):
    with pytest.raises(UnexpectedError, match=re.escape(said)):
        follow(text)


def test_command_continues_in_the_background_after_the_shown_output(follow):
    follow(
        "~~~console\n$ mkfifo pipe\n~~~\n\n"
        '~~~console title="B"\n$ echo ready; cat pipe\nready\n~~~\n\n'
        "~~~console\n$ echo from A > pipe\n~~~\n\n"
        '~~~console title="B"\n^C\n$ echo again\nagain\n~~~\n'
    )


def test_python_continues_and_awaits(follow):
    follow(
        "~~~python\nimport asyncio\nn = 1\n~~~\n"
        "<!-- python\nn += 1\n-->\n"
        "~~~python\nawait asyncio.sleep(0)\nprint(n)\n~~~\n\n~~~text\n2\n~~~\n"
    )


def test_port_of_a_page_is_mapped_to_a_free_port(follow):
    serve = (
        "python -c \"import socket; s = socket.create_server(('127.0.0.1', 8080)); print('up')\""
    )
    follow(f"~~~console\n$ {serve} # 127.0.0.1:8080\nup\n~~~\n" * 2)


def test_ports_of_a_page_are_mapped_to_different_ports(follow):
    names = [str(port) for port in range(10_000, 10_500)]
    count = "python -c 'import sys; print(len(set(sys.stdin.read().split())))'"
    follow(f"~~~console\n$ echo 127.0.0.1:{' 127.0.0.1:'.join(names)} | {count}\n500\n~~~\n")


@pytest.mark.parametrize(
    ("output", "shown"),
    [
        ("a\nb\nc\n", "a\n…\n"),
        ("a\nb\nc\n", "…\nc\n"),
        ("a\n", "a\n…\n"),
        ("one two three\n", "one … three\n"),
        ("paid 0.0173476 SUI\n", "paid 0.0189123 SUI\n"),
        ("paid 0.017 SUI\n", "paid 0.0189123 SUI\n"),
        (f"0x{'a' * 64}\n", f"0x{'b' * 64}\n"),
        ("at 2026-11-22 19:57 UTC (in 7 d)\n", "at 2025-01-01 00:00 UTC (in 6 d 23 h)\n"),
        ("200 after 1 ms\n", "200 after 12 ms\n"),
    ],
)
def test_variable_output_may_differ(output, shown):
    assert is_shown(output, shown)


@pytest.mark.parametrize(
    ("output", "shown"),
    [
        ("a\nb\n", "a\n"),
        ("a\n", "a\nb\n"),
        ("paid 1 SUI\n", "paid 2 SUI\n"),
        ("paid 0.001 SUI\n", "paid 0.002 SUI\n"),
        ("a fee of 0.0005 SUI\n", "a fee of 0.0006 SUI\n"),
        ("one two\n", "one … three\n"),
        ("0xab\n", "0xcd\n"),
    ],
)
def test_other_output_must_be_equal(output, shown):
    assert not is_shown(output, shown)


def test_output_is_read_by_whole_lines():
    assert not begins_as_shown("listens at 127", "listens at 127…\n")
    assert begins_as_shown("listens at 127.0.0.1\nmore", "listens at 127…\n")


LOQUACIOUS = """
import signal, sys
def end(*_):
    print("x" * 2**20, flush=True)
    open("ended", "w").close()
    sys.exit()
signal.signal(signal.SIGINT, end)
print("ready", flush=True)
signal.pause()
"""


@pytest.mark.parametrize("watched", [False, True])
def test_interrupted_program_with_much_output_ends_by_itself(tmp_path, watched):
    environment = environment_of(tmp_path / "home", PROGRAMS)
    (tmp_path / "loquacious.py").write_text(LOQUACIOUS)
    terminal = Terminal.shell(tmp_path, environment, watched=watched)
    terminal.type("python loquacious.py")
    terminal.output(lambda printed: "ready" in printed)
    terminal.close()
    assert (tmp_path / "ended").exists()


def test_terminal_does_not_wait_for_background_processes(tmp_path, monkeypatch):
    monkeypatch.setattr(terminal_module, "END_PATIENCE_S", 1_000)
    terminal = Terminal.shell(tmp_path, environment_of(tmp_path / "home", PROGRAMS))
    terminal.type("sleep 1000 & echo $!")
    printed, _ = terminal.output()
    terminal.close()
    os.kill(int(printed), signal.SIGKILL)


def test_patience_starts_again_with_each_output(tmp_path, monkeypatch):
    terminal = Terminal.shell(tmp_path, environment_of(tmp_path / "home", PROGRAMS))
    parts, waits = iter([b"a\n", b"b\n", b"\x1e0\n"]), []
    with monkeypatch.context() as patch:
        patch.setattr(terminal, "_next", lambda wait: waits.append(wait) or next(parts))
        assert terminal.output() == ("a\nb\n", 0)
    terminal.close()
    assert waits == [terminal_module.PATIENCE_S] * 3
