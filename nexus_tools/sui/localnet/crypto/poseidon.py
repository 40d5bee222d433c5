"""The hash function Poseidon over the scalar field of BN254, as in circomlib, zkLogin and Sui.

Source: Grassi and others, "Poseidon: A New Hash Function for Zero-Knowledge Proof Systems"
(https://eprint.iacr.org/2019/458). The hash uses x⁵, eight full rounds, and the pseudo-random
parameters of appendix E. The parameters for a number of inputs are computed when they are first
needed.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from operator import mul

from msgspec import Struct

BN254_ORDER = 21888242871839275222246405745257275088548364400416034343698204186575808495617
"""The number of elements of the field."""

MAX_INPUTS = 16

_FIELD_BITS = 254
# Full rounds raise all elements to the fifth power. Half of the full rounds precede the partial
# rounds, and the other half follow them. Partial rounds raise only the first element, which costs
# less in a circuit.
_FULL_ROUNDS = 8
# The numbers of partial rounds for states of 2 to 17 elements.
_PARTIAL_ROUNDS = (56, 57, 56, 60, 60, 63, 64, 63, 60, 66, 60, 65, 70, 60, 64, 68)

# The state of the generator Grain has 80 bits, and the lowest bit is the oldest. No tap is above
# 62, so a step can generate 16 bits at once.
_STATE_BITS, _STEP = 80, 16
_TAPS = (0, 13, 23, 38, 51, 62)
_WARM_UP_STEPS = 160 // _STEP
# The output for each byte of generated bits. For each pair of bits whose first bit is 1, the output
# contains the second bit. Pairs start at the lowest bit. For example, the byte 00001101 has the
# pairs 1 0, 1 1, 0 0 and 0 0, so the output is "01".
_OUTPUTS = tuple(
    "".join(str(byte >> first + 1 & 1) for first in range(0, 8, 2) if byte >> first & 1)
    for byte in range(256)
)


class Parameters(Struct, frozen=True):
    """The constants by round and element of the state, and the rows of the mixing matrix."""

    constants: tuple[tuple[int, ...], ...]
    matrix: tuple[tuple[int, ...], ...]


def poseidon(inputs: Sequence[int]) -> int:
    """Return the hash of 1 to 16 elements of the field."""
    round_parameters = parameters(1 + len(inputs))
    state = [0, *inputs]
    rounds = len(round_parameters.constants)
    half = _FULL_ROUNDS // 2
    for number, constants in enumerate(round_parameters.constants):
        state = [element + constant for element, constant in zip(state, constants, strict=True)]
        if half <= number < rounds - half:
            state[0] = pow(state[0], 5, BN254_ORDER)
        else:
            state = [pow(element, 5, BN254_ORDER) for element in state]
        state = [sum(map(mul, row, state)) % BN254_ORDER for row in round_parameters.matrix]
    return state[0]


def poseidon_tree(inputs: Sequence[int]) -> int:
    """Return the hash of any number of field elements. Over 16 elements are hashed in groups."""
    if len(inputs) <= MAX_INPUTS:
        return poseidon(inputs)
    starts = range(0, len(inputs), MAX_INPUTS)
    return poseidon_tree([poseidon(inputs[start : start + MAX_INPUTS]) for start in starts])


@cache
def parameters(width: int) -> Parameters:
    """Return the parameters for a state of `width` elements, one more than the inputs."""
    rounds = _FULL_ROUNDS + _PARTIAL_ROUNDS[width - 2]
    numbers = _random_numbers(width)
    elements = (number for number in numbers if number < BN254_ORDER)
    constants = tuple(tuple(next(elements) for _ in range(width)) for _ in range(rounds))
    # The matrix is a Cauchy matrix. Generated numbers that are too large for the field are reduced
    # here, whereas the round constants discard such numbers.
    xs, ys = ([next(numbers) for _ in range(width)] for _ in range(2))
    matrix = tuple(tuple(pow(x + y, -1, BN254_ORDER) for y in ys) for x in xs)
    return Parameters(constants, matrix)


def _random_numbers(width: int) -> Iterator[int]:
    """Yield 254-bit numbers from the generator Grain in self-shrinking mode."""
    outputs = _random_bits(width)
    bits = ""
    while True:
        while len(bits) < _FIELD_BITS:
            bits += next(outputs)
        yield int(bits[:_FIELD_BITS], 2)
        bits = bits[_FIELD_BITS:]


def _random_bits(width: int) -> Iterator[str]:
    state = _initial_state(width)
    steps = 0
    while True:
        step = 0
        for tap in _TAPS:
            step ^= state >> tap
        step &= (1 << _STEP) - 1
        state = state >> _STEP | step << _STATE_BITS - _STEP
        steps += 1
        if steps > _WARM_UP_STEPS:
            yield _OUTPUTS[step & 0xFF] + _OUTPUTS[step >> 8]


def _initial_state(width: int) -> int:
    """Return the initial state of Grain, which encodes the hash's parameters, padded with ones."""
    fields = (
        (1, 2),
        (0, 4),
        (_FIELD_BITS, 12),
        (width, 12),
        (_FULL_ROUNDS, 10),
        (_PARTIAL_ROUNDS[width - 2], 10),
    )
    bits = "".join(f"{value:0{size}b}" for value, size in fields).ljust(_STATE_BITS, "1")
    return int(bits[::-1], 2)
