"""The workflows of the examples with on-chain tools: minting, asking, waiting."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Typist

EXAMPLES = Path(__file__).parents[3] / "examples"
BADGE = "xyz.example.school.badge@1"
JOB = "xyz.example.jobs.result@1"
SQUARES = [1, 4, 9, 16]


@pytest.fixture(scope="module")
def published(chain, publisher, new_home, carrier, running, lend_compiler):
    """Who published the Move package, owns the tools, and published the workflows."""
    user = new_home("minter", publisher)
    chain.fund(user.wallet.signer().address, 60 * 10**9)
    lend_compiler(user.cache)
    package = user.json("package", "publish", EXAMPLES / "on_chain", "--yes")["package_id"]
    badge = EXAMPLES / "on_chain" / "badge.json"
    terms = ("--price", "0.001", "--yes")
    user.json("tool", "register", "--from-meta", badge, "--package", package, *terms)
    publisher.json("tool", "register", "--builtin", "--yes")
    for name in ("badge.py", "job.py"):
        source = EXAMPLES / "workflows" / name
        server = user.daemon(" at ", "tool", "serve", source, BIND_ADDR="127.0.0.1:0")
        url = server.line.split(" at ")[1].rsplit("/", 1)[0]
        served = ("--url", url, "--all", "--price", "0.001", "--leader", carrier, "--yes")
        user.json("tool", "register", *served)
        user.json("workflow", "publish", source, "--yes")
    return user


@pytest.fixture
def run(author, published):
    """Begins a published workflow; with `wait`, gives what it came to."""

    def run(fqn, *more, **inputs):
        given = [f"--input={name}={json.dumps(value)}" for name, value in inputs.items()]
        return author.json("workflow", "run", fqn, *given, "--yes", *more)

    return run


@pytest.fixture
def examiner(new_home, publisher, chain):
    """Somebody who is asked."""
    home = new_home("examiner", publisher)
    chain.fund(home.wallet.signer().address, 10**9)
    return home


def address_of(home):
    return str(home.wallet.signer().address)


def asked(execution, examiner):
    """The question of an execution to somebody, once it has asked."""
    for _ in range(1_000):
        if questions := examiner.json("question", "list"):
            [question] = questions
            assert question["execution"] == execution
            return question
    raise AssertionError(f"{execution} asks nothing")


def ended(author, execution):
    """What an execution came to, at its end."""
    assert author.spawn("workflow", "watch", execution, "--json").code == 0
    return author.json("workflow", "show", execution)


# --- badge.py: a person decides, a Move function mints


@pytest.fixture
def begun(run, author, examiner):
    """Begins a test with answers; gives the execution."""

    def begin(answers):
        terms = {"pupil": "Ada", "answers": answers, "student": address_of(author)}
        return run(BADGE, examiner=address_of(examiner), **terms)["execution"]

    return begin


def test_a_badge_is_minted_when_the_examiner_says_yes(begun, author, examiner):
    execution = begun(SQUARES)
    question = asked(execution, examiner)
    assert question["question"] == "Ada has 4 of 4 points: shall the badge be minted?"
    assert question["workflow"] == BADGE
    [wait] = author.json("workflow", "show", execution)["waits_for"]
    assert (wait["reason"], wait["answerer"]) == ("answer", address_of(examiner))
    assert wait["question"] == question["question"]
    assert wait["until_ms"] == question["until_ms"]
    watching = author.daemon("nexus-tools question list", "workflow", "watch", execution)
    assert f"ask waits for the answer of {address_of(examiner)} until" in watching.line
    answer = ("question", "answer", question["invocation"])
    assert examiner.json(*answer, "--reject", "--dry-run")["dry_run"]
    examiner.json(*answer, "--approve", "--yes")
    found = ended(author, execution)
    assert found["status"] == "completed"
    assert found["outputs"]["badge"].startswith("0x")
    assert examiner.json("question", "list") == []


def test_no_badge_is_minted_when_the_examiner_says_no(begun, author, examiner):
    execution = begun([1, 4, 8, 16])
    question = asked(execution, examiner)
    note = ("--note", "Nine is not eight.")
    examiner.json("question", "answer", question["invocation"], "--reject", *note, "--yes")
    assert ended(author, execution)["outputs"] == {"refused": "Nine is not eight."}


def test_who_answers_sees_what_is_asked_what_is_said_and_what_it_brings(begun, examiner):
    execution = begun(SQUARES)
    question = asked(execution, examiner)["invocation"]
    words = ("question", "answer", question, "--reject", "--note", "Not today.")
    told = examiner.run(*words, stdin=Typist("y")).stderr
    assert f"{BADGE} asks: Ada has 4 of 4 points: shall the badge be minted?" in told
    assert "your answer: reject, with the note: Not today." in told
    assert "with a fee of 0." in told
    assert examiner.json("question", "list") == []


def test_a_note_is_refused_that_is_longer_than_what_was_paid_for(begun, examiner):
    question = asked(begun(SQUARES), examiner)["invocation"]
    answer = ("question", "answer", question, "--reject", "--yes", "--json", "--note")
    error = examiner.run(*answer, "n" * 5_000).error
    assert error["code"] == "note_too_long"
    length = int(error["hint"].removeprefix("Shorten it to ").removesuffix(" bytes."))
    assert examiner.run(*answer, "n" * (length + 1)).error["code"] == "note_too_long"
    assert examiner.run(*answer, "n" * length).code == 0


def test_nobody_is_asked_for_who_has_too_few_points(begun, author):
    found = ended(author, begun([1, 2, 3, 4]))
    assert found["outputs"] == {"refused": "Ada has 1 of 4 points"}


def test_an_answer_is_yes_or_no_and_of_who_is_asked(begun, author, examiner):
    execution = begun(SQUARES)
    question = asked(execution, examiner)["invocation"]
    assert examiner.fails("question", "answer", question, "--yes") == (2, "answer_missing")
    assert author.fails("question", "answer", question, "--approve", "--yes")[1] == "not_answerer"
    assert author.json("question", "list", "--all")[-1]["invocation"] == question


def test_a_question_that_is_not_there_has_no_answer(author, examiner, published):
    nowhere = f"0x{'1' * 64}"
    code = examiner.fails("question", "answer", nowhere, "--approve", "--yes")
    assert code[1] == "question_unknown"


def test_a_question_ends_with_its_execution(begun, author, examiner):
    execution = begun(SQUARES)
    asked(execution, examiner)
    cancelled = author.run("workflow", "cancel", execution, "--yes")
    assert f"next: nexus-tools workflow show {execution}" in cancelled.stderr
    assert author.spawn("workflow", "watch", execution, "--json").code == 1
    assert author.json("workflow", "show", execution)["status"] == "cancelled"
    assert examiner.json("question", "list") == []


def test_invocations_of_executions_are_left_to_them(begun, author):
    ended(author, begun([1, 2, 3, 4]))
    deleted = author.run("invocation", "delete", "--closed", "--yes")
    assert deleted.code == 0
    assert "no closed invocations to delete" in deleted.stderr
    assert "delete --closed" not in author.run("invocation", "list").stderr


# --- Beside the tools of servers


def test_functions_are_well_without_a_server(publisher, published):
    tools = publisher.json("status")["tools"]
    assert {each["fqn"]: each["healthy"] for each in tools} == {
        "nexus_tools.waiting.ask@1": True,
        "nexus_tools.waiting.wait@1": True,
    }
    assert "missing an 'http" not in publisher.run("doctor").stdout


# --- job.py: ever longer waits


def test_a_job_is_looked_after_until_it_is_done(run):
    found = run(JOB, "--wait", seconds=1)
    assert found["status"] == "completed"
    assert found["outputs"] == {"result": "42"}
    looks = [each["variant"] for each in found["runs"] if each["vertex"] == "look"]
    waits = [each["variant"] for each in found["runs"] if each["vertex"] == "wait"]
    # After 0.5 s and after 1.5 s, unless the chain takes a second for the first.
    assert sorted(looks) == ["done"] + ["running"] * (len(looks) - 1)
    assert waits == ["over"] * len(looks)


def test_a_job_that_is_done_is_looked_after_once(run):
    found = run(JOB, "--wait", seconds=0)
    assert sorted(each["vertex"] for each in found["runs"]) == ["look", "start", "wait"]


# --- Keeping an on-chain tool up to date


def test_an_on_chain_tool_is_updated_from_its_definition(published, tmp_path):
    fqn = "xyz.example.badges.mint@1"
    registered = published.json("tool", "show", fqn)
    package = registered["url"].split("::")[0]
    document = json.loads((EXAMPLES / "on_chain" / "badge.json").read_text())
    document["function"]["gas"] = 6_000_000
    meta = tmp_path / "badge.json"
    meta.write_text(json.dumps(document))
    update = ("tool", "update", fqn, "--from-meta", meta, "--package", package, "--yes")
    assert published.json(*update)["function"]["gas"] == 6_000_000
    assert published.json("tool", "show", fqn)["function"]["gas"] == 6_000_000
    assert published.fails(*update) == (2, "nothing_to_update")
    document["input_schema"]["properties"]["more"] = {"type": "integer"}
    meta.write_text(json.dumps(document))
    assert published.fails(*update) == (7, "definition_differs")
    document["fqn"] = "xyz.example.badges.other@1"
    meta.write_text(json.dumps(document))
    assert published.fails(*update) == (2, "definitions_missing")


def test_who_begins_what_waits_longer_than_it_lasts_is_told(author, published):
    address = address_of(author)
    given = {"pupil": "Ada", "answers": SQUARES, "student": address, "examiner": address}
    run = ("workflow", "run", BADGE, "--input", json.dumps(given), "--dry-run")
    warned = "ask may wait for 89 d, but the execution ends after 1 d. Pass --deadline to extend it"
    assert warned in " ".join(author.run(*run).stderr.split())
    assert "may wait" not in author.run(*run, "--deadline", "90d").stderr


def test_who_plans_what_waits_longer_than_it_lasts_is_told(author, published):
    address = address_of(author)
    given = {"pupil": "Ada", "answers": SQUARES, "student": address, "examiner": address}
    create = ("schedule", "create", BADGE, "--input", json.dumps(given), "--every", "1h")
    create += ("--funds", "5", "--dry-run")
    warned = "ask may wait for 89 d, but the execution ends after 1 h. Pass --deadline to extend it"
    assert warned in " ".join(author.run(*create).stderr.split())
    assert "may wait" not in author.run(*create, "--deadline", "90d").stderr
