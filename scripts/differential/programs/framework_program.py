"""Programs that use the framework: objects, their fields, collections, money, events, transfers."""

from random import Random

from differential.programs.keyed import KEYED
from differential.programs.statements import Program
from differential.programs.unkeyed import UNKEYED

_KEYS = 5
_RARE = 0.15
_BOLD = 0.4
_EVENT = "event::emit(Happened { place: $k, value: $v, text: bcs::to_bytes(&seen) });"


def collection_program(name: str, chance: Random) -> Program:
    """Return a program that operates on one collection."""
    collection = chance.choice([*KEYED, *UNKEYED])
    statements = ["let mut seen = vector<u64>[];", _filled(chance, collection.made)]
    safe = [one for one in collection.done if not one.startswith("!")]
    bold = chance.random() < _BOLD
    for _ in range(chance.randint(4, 14)):
        done = chance.choice(collection.done if bold else safe)
        line = _filled(chance, _EVENT if chance.random() < _RARE else done.removeprefix("!"))
        line = line.rstrip(";") + ";"
        if chance.random() < _RARE:
            line = f"if (p0 % 7 < {chance.randrange(7)}) {{ {line} }};"
        statements.append(line)
    statements.append(collection.ended)
    parameters = (("p0", "u64"), ("p1", "u64"), ("ctx", "&mut TxContext"))
    return Program(name, parameters, tuple(statements), (("vector<u64>", "seen"),))


def _filled(chance: Random, line: str) -> str:
    key = chance.choice([str(chance.randrange(_KEYS)), str(chance.randrange(_KEYS)), "(p1 % 5)"])
    value = chance.choice([str(chance.randrange(100)), "p1", "(p0 % 1000)", "p0"])
    return line.replace("$k", key).replace("$v", value)
