"""The workflows of the examples with on-chain tools: minting, asking, waiting."""

import json
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[3] / "examples"
BADGE = "xyz.example.school.badge@1"
JOB = "xyz.example.jobs.result@1"
SQUARES = [1, 4, 9, 16]


@pytest.fixture(scope="module")
def published(chain, publisher, new_home, carrier, running, compiler_cache):
    """Who published the Move package, owns the tools, and published the workflows."""
    user = new_home("on chain", publisher)
    chain.fund(user.wallet.signer().address, 60 * 10**9)
    cache = user.path / "cache" / "nexus-tools"
    cache.mkdir(parents=True)
    for name in ("sui-move-builder", "wasmtime"):
        (cache / name).symlink_to(compiler_cache / name)
    package = user.json("package", "publish", EXAMPLES / "on_chain", "--yes")["package_id"]
    badge = EXAMPLES / "on_chain" / "badge.json"
    terms = ("--price", "0.001", "--yes")
    user.json("tool", "register", "--from-meta", badge, "--package", package, *terms)
    publisher.json("tool", "register", "--waiting", "--yes")
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


def asked(author, examiner, execution):
    """The question of an execution, once it is there."""
    author.run("workflow", "watch", execution, "--until", "asked")
    [question] = examiner.json("ask", "list")
    return question


# --- badge.py: a person decides, a Move function mints


def test_a_badge_is_minted_for_who_passed_when_the_examiner_says_yes(run, author, examiner):
    student = address_of(author)
    terms = {"pupil": "Ada", "answers": SQUARES, "student": student}
    begun = run(BADGE, **terms, examiner=address_of(examiner))
    question = asked(examiner, begun["execution"])
    assert question["question"] == "Ada has 4 of 4 points: shall the badge be minted?"
    assert question["workflow"] == BADGE
    examiner.json("ask", "answer", question["invocation"], "--approve", "--yes")
    found = author.json("workflow", "watch", begun["execution"])
    assert found["status"] == "completed"
