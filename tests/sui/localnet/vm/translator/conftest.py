"""Functions of random blocks, and an interpreter that executes them one instruction at a time."""

import pytest

LOCALS = 4
# One for the push, and the bytes: 8 of a u64 that is copied, 1 of any that is made.
PUSH_COSTS = {"COPY_LOC": 1 + 8} | dict.fromkeys(
    ("LD_U64", "XOR", "BIT_AND", "BIT_OR", "ADD", "LT"), 1 + 1
)


class RandomFunction:
    """A function whose blocks change four numbers and branch to random blocks, including loops."""

    def __init__(self, chance, blocks):
        self.chance = chance
        self.code = []
        self.branches = []
        self.cost = 0
        starts = []
        for _ in range(blocks):
            starts.append(len(self.code))
            self.add_block()
        self.code += [("COPY_LOC", 0), "RET"]
        for offset in self.branches:
            self.code[offset] = (self.code[offset], chance.choice(starts))

    def add_block(self):
        for _ in range(self.chance.randrange(3)):
            one, other, target = (self.chance.randrange(LOCALS) for _ in range(3))
            name = self.chance.choice(["XOR", "BIT_AND", "BIT_OR"])
            self.code += [("COPY_LOC", one), ("COPY_LOC", other), name, ("ST_LOC", target)]
        kind = self.chance.randrange(8)
        if kind == 0:
            self.code += [("COPY_LOC", self.chance.randrange(LOCALS)), "RET"]
        elif kind < 3:
            self.add_branch("BRANCH")
        elif kind < 7:
            counter, limit = self.chance.randrange(LOCALS), self.chance.randrange(64)
            step = [("COPY_LOC", counter), ("LD_U64", 7), "ADD", ("LD_U64", 63), "BIT_AND"]
            self.code += [*step, ("ST_LOC", counter), ("COPY_LOC", counter), ("LD_U64", limit)]
            self.code.append("LT")
            self.add_branch(self.chance.choice(["BR_TRUE", "BR_FALSE"]))

    def add_branch(self, name):
        self.branches.append(len(self.code))
        self.code.append(name)

    def interpret(self, numbers, steps):
        """Return the result of the function, or None if it needs more steps.

        `cost` is then the cost of the instructions, below all tiers.
        """
        self.cost = 0
        numbers, stack, offset = list(numbers), [], 0
        for _ in range(steps):
            instruction = self.code[offset]
            name, operand = (instruction, None) if isinstance(instruction, str) else instruction
            self.cost += 1 + PUSH_COSTS.get(name, 0)
            if name == "RET":
                return stack.pop()
            jumps = name == "BRANCH" or (
                name in ("BR_TRUE", "BR_FALSE") and stack.pop() == (name == "BR_TRUE")
            )
            offset = operand if jumps else offset + 1
            self.step(name, operand, numbers, stack)
        return None

    @staticmethod
    def step(name, operand, numbers, stack):
        if name == "COPY_LOC":
            stack.append(numbers[operand])
        elif name == "ST_LOC":
            numbers[operand] = stack.pop()
        elif name == "LD_U64":
            stack.append(operand)
        elif name in ("XOR", "BIT_AND", "BIT_OR", "ADD", "LT"):
            right, left = stack.pop(), stack.pop()
            stack.append(
                {
                    "XOR": left ^ right,
                    "BIT_AND": left & right,
                    "BIT_OR": left | right,
                    "ADD": left + right,
                    "LT": left < right,
                }[name]
            )


@pytest.fixture
def random_function():
    return RandomFunction
