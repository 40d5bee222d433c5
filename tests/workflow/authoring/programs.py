"""Programs that write workflows: tools for them, and what comes of one."""

import textwrap

import pytest

from nexus_tools.errors import NexusError
from nexus_tools.sui.types.address import Address
from nexus_tools.tool_server import Variant, tool
from nexus_tools.workflow import (
    InputPort,
    OutputPort,
    Workflow,
)


class Found(Variant, name="ok"):
    papers: list[str]
    authors: list[str]


class Text(Variant, name="ok"):
    text: str


class Done(Variant, name="ok"):
    pass


class Poor(Variant, name="poor"):
    text: str
    hints: list[str]


class Good(Variant, name="good"):
    text: str


class Approved(Variant, name="approved"):
    text: str


class Rejected(Variant, name="rejected"):
    note: str


class Expired(Variant, name="expired"):
    note: str


class Posted(Variant, name="ok"):
    url: str


class Broken(Variant, name="err_network"):
    reason: str


@tool("xyz.example.search@1")
def search(topic: str) -> Found:
    """Finds papers and their authors."""


@tool("xyz.example.summarise@1")
def summarise(paper: str, words: int = 100) -> Text:
    """Makes a paper short."""


@tool("xyz.example.write@1")
def write(notes: list[str]) -> Text:
    """Makes a report of notes."""


@tool("xyz.example.improve@1")
def improve(text: str, hints: list[str], topic: str) -> Text:
    """Makes a text better."""


@tool("xyz.example.judge@1")
def judge(text: str) -> Poor | Good:
    """Says whether a text is good, and what is wrong with it."""


@tool("xyz.example.ask@1")
def ask(who: str, question: str) -> Approved | Rejected | Expired:
    """Asks a person."""


@tool("xyz.example.post@1")
def post(text: str) -> Posted | Broken:
    """Puts a text where all can read it."""


@tool("xyz.example.greet@1")
def greet(name: str) -> Done:
    """Greets a person."""


@tool("xyz.example.tell-time@1")
def tell_time() -> Text:
    """Says what time it is."""


TOOLS = {
    "Address": Address,
    "Workflow": Workflow,
    "ask": ask,
    "greet": greet,
    "improve": improve,
    "judge": judge,
    "post": post,
    "search": search,
    "summarise": summarise,
    "tell_time": tell_time,
    "write": write,
}
BEGINNING = compile(
    'flow = Workflow("xyz.example.report@1")\n[topic] = flow.inputs(topic=str)\n',
    "begin.py",
    "exec",
)


def names_in(program):
    """Return the names in a program that starts with a workflow and an input."""
    names = dict(TOOLS)
    exec(BEGINNING, names)
    exec(compile(textwrap.dedent(program).strip(), "report.py", "exec"), names)
    return names


def document_of(program):
    return names_in(program)["flow"].document()


def edges_of(program):
    return [f"{edge.kind} {edge.source} {edge.target}" for edge in document_of(program).edges]


def rejection(program):
    with pytest.raises(NexusError) as caught:
        document_of(program)
    return caught.value


def output(text):
    return OutputPort(*text.split("."))


def target(text):
    return InputPort(*text.split("."))


FOUND = "found = flow.add(search, topic=topic)\n"
SUMMARY = (
    FOUND
    + """with flow.for_each(found.ok.papers) as paper:
    summary = flow.add(summarise, paper=paper)
"""
)
JUDGED = """with flow.loop(text=topic) as loop:
    better = flow.add(summarise, paper=loop.text)
    verdict = flow.add(judge, text=better.ok.text)
"""
ROUNDS = JUDGED + "    loop.again(text=verdict.poor.text)\n"


def assert_refused(program, code, line, message):
    error = rejection(program)
    assert (error.code, error.message) == (code, f"report.py:{line}: {message}")
    assert (error.details["file"], error.details["line"]) == ("report.py", line)
