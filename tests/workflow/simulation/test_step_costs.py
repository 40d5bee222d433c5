from nexus_tools.tool import Answer, Failure, FailureReason
from nexus_tools.workflow.simulation.step_costs import StepCosts

FQN = "xyz.example.math.add@1"
# Inputs count as JSON, {"a":2}: 7 bytes. Ports of an answer count as BCS. BCS has the number of
# ports, and the name and the value of each port with their lengths: 01, 01 "b", 00 01 "3" are 6
# bytes.
PORTS = {"a": 2}


def test_answer_costs_price_fee_and_bytes():
    costs = StepCosts({FQN: 1_000_000_000})
    # The answer has 2 bytes for `ok`, and 6 bytes for its ports.
    expected = 1_000_000_000 + 3_520_000 + 7 * 100 + 8 * 7_600
    assert costs.of(FQN, PORTS, Answer("ok", {"b": 3})) == expected


def test_failure_costs_no_price():
    costs = StepCosts({FQN: 1_000_000_000})
    assert costs.of(FQN, PORTS, Failure(FailureReason.UNREACHABLE, "")) == 1_520_000 + 700


def test_free_tool_costs_only_the_fee():
    costs = StepCosts(settled_mist=7, input_byte_mist=0, outcome_byte_mist=0)
    assert costs.of(FQN, PORTS, Answer("ok", {})) == 7


def test_fees_equal_those_in_the_money_guide():
    # docs/concepts/money.md: 11 bytes of inputs and 13 of the answer, at a gas price of 1 000.
    costs = StepCosts()
    assert costs.failed_mist + 11 * costs.input_byte_mist == 1_521_100
    settled = costs.settled_mist + 11 * costs.input_byte_mist + 13 * costs.outcome_byte_mist
    assert settled == 3_619_900
