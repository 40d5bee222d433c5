"""Keccak-256, the hash that Ethereum uses. Keccak-256 is SHA3-256 with a different padding.

Source: the Keccak reference, version 3.0. The permutation is in FIPS 202.
"""

# The rate in bytes: the 1 600 bits of the state minus twice the 256 bits of the hash.
_RATE = 136
KECCAK_PADDING = 0x01
_PADDING_END = 0x80
_ROUNDS = 24
_LANE = (1 << 64) - 1


def _round_constants() -> tuple[int, ...]:
    """Return the constants of the step iota, from a linear feedback shift register (section 1.2).

    The first constants are 0x1, 0x8082 and 0x800000000000808a.
    """
    constants, register = [], 1
    for _ in range(_ROUNDS):
        constant = 0
        for exponent in range(7):
            if register & 1:
                constant |= 1 << ((1 << exponent) - 1)
            register = (register << 1) ^ (0x171 if register & 0x80 else 0)
        constants.append(constant)
    return tuple(constants)


def _rotations() -> tuple[tuple[int, int, int], ...]:
    """Return the source, target and rotation of each lane for the steps rho and pi."""
    moves, x, y, offset = [], 1, 0, 0
    for step in range(_ROUNDS):
        offset += step + 1
        target = (y, (2 * x + 3 * y) % 5)
        moves.append((x + 5 * y, target[0] + 5 * target[1], offset % 64))
        x, y = target
    return tuple(moves)


_CONSTANTS = _round_constants()
_MOVES = _rotations()


def keccak256(message: bytes) -> bytes:
    """Return the 32-byte Keccak-256 hash of a message."""
    return sponge(message, KECCAK_PADDING)


def sponge(message: bytes, padding: int) -> bytes:
    """Absorb a message into a sponge with a rate of 136 bytes, and return 32 bytes.

    `padding` is the byte that follows the message. The last bit of the last block is always set.
    """
    tail = bytearray(_RATE - len(message) % _RATE)
    tail[0] = padding
    tail[-1] |= _PADDING_END
    padded = message + tail
    lanes = [0] * 25
    for start in range(0, len(padded), _RATE):
        for lane_index in range(_RATE // 8):
            position = start + 8 * lane_index
            lanes[lane_index] ^= int.from_bytes(padded[position : position + 8], "little")
        lanes = _permute(lanes)
    return b"".join(lane.to_bytes(8, "little") for lane in lanes[:4])


def _permute(lanes: list[int]) -> list[int]:
    """Apply Keccak-f[1600]: the steps theta, rho and pi, chi, iota, in 24 rounds."""
    for constant in _CONSTANTS:
        columns = [
            lanes[x] ^ lanes[x + 5] ^ lanes[x + 10] ^ lanes[x + 15] ^ lanes[x + 20]
            for x in range(5)
        ]
        theta = [columns[(x + 4) % 5] ^ _rotate(columns[(x + 1) % 5], 1) for x in range(5)]
        lanes = [lane ^ theta[index % 5] for index, lane in enumerate(lanes)]
        rotated_lanes = lanes[:]
        for source, target, offset in _MOVES:
            rotated_lanes[target] = _rotate(lanes[source], offset)
        lanes = [
            rotated_lanes[row + x]
            ^ (~rotated_lanes[row + (x + 1) % 5] & _LANE & rotated_lanes[row + (x + 2) % 5])
            for row in range(0, 25, 5)
            for x in range(5)
        ]
        lanes[0] ^= constant
    return lanes


def _rotate(lane: int, offset: int) -> int:
    return ((lane << offset) | (lane >> (64 - offset))) & _LANE
