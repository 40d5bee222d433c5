"""Python and Move accept exactly the same FQNs."""

import random

from nexus_tools.errors import ValidationError
from nexus_tools.sui.bcs import byte_vector
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import MOVE_STDLIB
from nexus_tools.tool import ToolFqn

VALID = "xyz.taluslabs.math.i64.add@1"
SIGNS = "abz019_-.@A! é\n\x00"
PER_TRANSACTION = 100


def near_misses(count):
    """Return FQNs with a few characters inserted, removed or replaced; deterministic."""
    chance = random.Random(20_240_229)
    for _ in range(count):
        text = list(
            chance.choice([VALID, "ab.cd.ef@4294967295", "a1.b_.c-@10", "x" * 190 + ".ab.cd@1"])
        )
        for _ in range(chance.randrange(4)):
            place = chance.randrange(len(text))
            change = chance.choice(["insert", "delete", "replace"])
            if change == "insert":
                text.insert(place, chance.choice(SIGNS))
            elif change == "delete" and len(text) > 1:
                del text[place]
            else:
                text[place] = chance.choice(SIGNS)
        yield "".join(text)


def python_accepts(text):
    try:
        return str(ToolFqn.parse(text)) == text
    except ValidationError:
        return False


async def move_accepts(client, deployment, texts):
    """Return what `fqn::is_valid` says of ASCII text; other text is not an ASCII string."""
    builder = TransactionBuilder()
    for text in texts:
        ascii_string = builder.move_call(
            MOVE_STDLIB, "ascii", "string", [builder.pure(byte_vector, text.encode())]
        )
        builder.move_call(deployment.package_id, "fqn", "is_valid", [ascii_string])
    simulated = await client.inspect(builder)
    results = simulated.results[1::2]
    return [result == (b"\x01",) for result in results]


async def test_python_and_move_accept_the_same_fqns(stage, author):
    texts = [text for text in near_misses(1_200) if text.isascii()]
    accepted = 0
    for start in range(0, len(texts), PER_TRANSACTION):
        part = texts[start : start + PER_TRANSACTION]
        expected = [python_accepts(text) for text in part]
        assert await move_accepts(author, stage.deployment, part) == expected, part
        accepted += sum(expected)
    assert 200 < accepted < len(texts) - 200
