from pathlib import Path

import anyio
import pytest

EXAMPLES = Path(__file__).parents[3] / "examples" / "bridges" / "nora"


@pytest.mark.parametrize(
    ("ports", "result"),
    [({"text": "To be, or not to be"}, "6"), ({"text": "To be, or not to be", "word": "be"}, "2")],
)
def test_example_counts_words(discover, ports, result):
    [tool] = discover(EXAMPLES).tools
    outcome = anyio.run(tool.invoke, ports)
    assert (outcome.variant, outcome.ports) == ("ok", {"result": result})
