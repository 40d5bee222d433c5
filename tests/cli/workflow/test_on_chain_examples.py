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
def workflow_owner(chain, publisher, new_home, operator_leader, running_leader, lend_compiler):
    """Return the publisher of the Move package and the workflows, who also owns the tools."""
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
        served = ("--url", url, "--all", "--price", "0.001", "--leader", operator_leader, "--yes")
        user.json("tool", "register", *served)
        user.json("workflow", "publish", source, "--yes")
    return user


@pytest.fixture
def run(author, workflow_owner):
    """Begins a published workflow; with `wait`, gives what it came to."""

    def run(fqn, *more, **inputs):
        given = [f"--input={name}={json.dumps(value)}" for name, value in inputs.items()]
        return author.json("workflow", "run", fqn, *given, "--yes", *more)

    return run


@pytest.fixture
def examiner(new_home, publisher, chain):
    """Return the user who answers questions."""
    home = new_home("examiner", publisher)
    chain.fund(home.wallet.signer().address, 10**9)
    return home


def address_of(home):
    return str(home.wallet.signer().address)


def question_of(execution, examiner):
    """Wait for the question of an execution to a user, and return it."""
    for _ in range(1_000):
        if questions := examiner.json("question", "list"):
            [question] = questions
            assert question["execution"] == execution
            return question
    raise AssertionError(f"{execution} asks nothing")


def final_state(author, execution):
    """Wait for the end of an execution, and return its record."""
    assert author.spawn("workflow", "watch", execution, "--json").code == 0
    return author.json("workflow", "show", execution)


# --- badge.py: a person decides, a Move function mints


@pytest.fixture
def start_badge(run, author, examiner):
    """Begins a test with answers; gives the execution."""

    def begin(answers):
        terms = {"pupil": "Ada", "answers": answers, "student": address_of(author)}
        return run(BADGE, examiner=address_of(examiner), **terms)["execution"]

    return begin


@pytest.mark.long
def test_badge_is_minted_when_the_examiner_approves(start_badge, author, examiner):
    execution = start_badge(SQUARES)
    question = question_of(execution, examiner)
    assert question["question"] == "Ada has 4 of 4 points: shall the badge be minted?"
    assert question["workflow"] == BADGE
    [wait] = author.json("workflow", "show", execution)["waits_for"]
    assert (wait["reason"], wait["answerer"]) == ("answer", address_of(examiner))
    assert wait["question"] == question["question"]
    assert wait["until_ms"] == question["deadline_ms"]
    watching = author.daemon("nexus-tools question list", "workflow", "watch", execution)
    assert f"ask waits for the answer of {address_of(examiner)} until" in watching.line
    answer = ("question", "answer", question["invocation"])
    assert examiner.json(*answer, "--reject", "--dry-run")["dry_run"]
    examiner.json(*answer, "--approve", "--yes")
    found = final_state(author, execution)
    assert found["status"] == "completed"
    assert found["outputs"]["badge"].startswith("0x")
    assert examiner.json("question", "list") == []


@pytest.mark.long
def test_badge_is_refused_when_the_examiner_rejects(start_badge, author, examiner):
    execution = start_badge([1, 4, 8, 16])
    question = question_of(execution, examiner)
    note = ("--note", "Nine is not eight.")
    examiner.json("question", "answer", question["invocation"], "--reject", *note, "--yes")
    assert final_state(author, execution)["outputs"] == {"refused": "Nine is not eight."}


def test_answer_prompt_shows_question_answer_and_fee(start_badge, examiner):
    execution = start_badge(SQUARES)
    question = question_of(execution, examiner)["invocation"]
    words = ("question", "answer", question, "--reject", "--note", "Not today.")
    told = examiner.run(*words, stdin=Typist("y")).stderr
    assert f"{BADGE} asks: Ada has 4 of 4 points: shall the badge be minted?" in told
    assert "your answer: reject, with the note: Not today." in told
    assert "with a fee of 0." in told
    assert examiner.json("question", "list") == []


def test_answer_rejects_note_above_the_paid_size(start_badge, examiner):
    question = question_of(start_badge(SQUARES), examiner)["invocation"]
    answer = ("question", "answer", question, "--reject", "--yes", "--json", "--note")
    error = examiner.run(*answer, "n" * 5_000).error
    assert error["code"] == "note_too_long"
    length = int(error["hint"].removeprefix("Shorten it to ").removesuffix(" bytes."))
    assert examiner.run(*answer, "n" * (length + 1)).error["code"] == "note_too_long"
    assert examiner.run(*answer, "n" * length).code == 0


def test_examiner_is_not_asked_when_points_are_too_few(start_badge, author):
    found = final_state(author, start_badge([1, 2, 3, 4]))
    assert found["outputs"] == {"refused": "Ada has 1 of 4 points"}


def test_answer_needs_a_choice_and_the_asked_account(start_badge, author, examiner):
    execution = start_badge(SQUARES)
    question = question_of(execution, examiner)["invocation"]
    assert examiner.fails("question", "answer", question, "--yes") == (2, "answer_missing")
    assert author.fails("question", "answer", question, "--approve", "--yes")[1] == "not_answerer"
    assert author.json("question", "list", "--others")[0]["invocation"] == question


def test_answer_rejects_unknown_question(author, examiner, workflow_owner):
    nowhere = f"0x{'1' * 64}"
    code = examiner.fails("question", "answer", nowhere, "--approve", "--yes")
    assert code[1] == "question_unknown"


def test_question_ends_with_its_execution(start_badge, author, examiner):
    execution = start_badge(SQUARES)
    question_of(execution, examiner)
    cancelled = author.run("workflow", "cancel", execution, "--yes")
    assert f"next: nexus-tools workflow show {execution}" in cancelled.stderr
    assert author.spawn("workflow", "watch", execution, "--json").code == 1
    assert author.json("workflow", "show", execution)["status"] == "cancelled"
    assert examiner.json("question", "list") == []


def test_delete_leaves_invocations_of_executions(start_badge, author):
    final_state(author, start_badge([1, 2, 3, 4]))
    deleted = author.run("invocation", "delete", "--closed", "--yes")
    assert deleted.code == 0
    assert "no closed invocations to delete" in deleted.stderr
    assert "delete --closed" not in author.run("invocation", "list").stderr


def test_list_shows_pending_invocations_of_executions(start_badge, author, examiner):
    execution = start_badge(SQUARES)
    question = question_of(execution, examiner)
    [row] = author.json("invocation", "list")
    assert (row["invocation"], row["state"]) == (question["invocation"], "requested")
    [pending] = author.json("status")["pending"]
    assert pending["invocation"] == question["invocation"]


# --- Beside the tools of servers


def test_on_chain_tools_are_healthy_without_a_server(publisher, workflow_owner):
    tools = publisher.json("status")["tools"]
    assert {each["fqn"]: each["healthy"] for each in tools} == {
        "nexus_tools.waiting.ask@1": True,
        "nexus_tools.waiting.wait@1": True,
    }
    assert "missing an 'http" not in publisher.run("doctor").stdout


# --- job.py: ever longer waits


def test_job_example_polls_until_the_job_is_done(run):
    found = run(JOB, "--wait", seconds=1)
    assert found["status"] == "completed"
    assert found["outputs"] == {"result": "42"}
    looks = [each["variant"] for each in found["runs"] if each["vertex"] == "look"]
    waits = [each["variant"] for each in found["runs"] if each["vertex"] == "wait"]
    # After 0.5 s and after 1.5 s, unless the chain takes a second for the first.
    assert sorted(looks) == ["done"] + ["running"] * (len(looks) - 1)
    assert waits == ["over"] * len(looks)


def test_job_example_polls_a_finished_job_once(run):
    found = run(JOB, "--wait", seconds=0)
    assert sorted(each["vertex"] for each in found["runs"]) == ["look", "start", "wait"]


# --- Keeping an on-chain tool up to date


def test_on_chain_tool_is_updated_from_its_definition(workflow_owner, tmp_path):
    fqn = "xyz.example.badges.mint@1"
    registered = workflow_owner.json("tool", "show", fqn)
    package = registered["url"].split("::")[0]
    document = json.loads((EXAMPLES / "on_chain" / "badge.json").read_text())
    document["function"]["gas"] = 6_000_000
    meta = tmp_path / "badge.json"
    meta.write_text(json.dumps(document))
    update = ("tool", "update", fqn, "--from-meta", meta, "--package", package, "--yes")
    assert workflow_owner.json(*update)["function"]["gas"] == 6_000_000
    assert workflow_owner.json("tool", "show", fqn)["function"]["gas"] == 6_000_000
    assert workflow_owner.fails(*update) == (2, "nothing_to_update")
    document["input_schema"]["properties"]["more"] = {"type": "integer"}
    meta.write_text(json.dumps(document))
    assert workflow_owner.fails(*update) == (7, "definition_differs")
    document["fqn"] = "xyz.example.badges.other@1"
    meta.write_text(json.dumps(document))
    assert workflow_owner.fails(*update) == (2, "definitions_missing")


def test_run_warns_of_a_wait_longer_than_the_execution(author, workflow_owner):
    address = address_of(author)
    given = {"pupil": "Ada", "answers": SQUARES, "student": address, "examiner": address}
    run = ("workflow", "run", BADGE, "--input", json.dumps(given), "--dry-run")
    warned = "ask may wait for 89 d, but the execution ends after 1 d. Pass --deadline to extend it"
    assert warned in " ".join(author.run(*run).stderr.split())
    assert "may wait" not in author.run(*run, "--deadline", "90d").stderr


def test_schedule_create_warns_of_a_wait_longer_than_the_execution(author, workflow_owner):
    address = address_of(author)
    given = {"pupil": "Ada", "answers": SQUARES, "student": address, "examiner": address}
    create = ("schedule", "create", BADGE, "--input", json.dumps(given), "--every", "1h")
    create += ("--funds", "5", "--dry-run")
    warned = "ask may wait for 89 d, but the execution ends after 1 h. Pass --deadline to extend it"
    assert warned in " ".join(author.run(*create).stderr.split())
    assert "may wait" not in author.run(*create, "--deadline", "90d").stderr
