"""Wesolowski's verifiable delay function over a class group.

Source: Wesolowski, "Efficient Verifiable Delay Functions" (https://eprint.iacr.org/2018/623).
Numbers are generated as in `hash_prime.rs`, `hash.rs` and `wesolowski.rs` of `fastcrypto-vdf`.
"""

import hashlib
from collections.abc import Iterator

from nexus_tools.sui.bcs import byte_vector, u64
from nexus_tools.sui.localnet.crypto.chacha import chacha_stream
from nexus_tools.sui.localnet.crypto.class_group import (
    DISCRIMINANT,
    QuadraticForm,
    combine,
    signed_bytes,
)
from nexus_tools.sui.localnet.crypto.primes import (
    is_prime,
    is_square_modulo,
    square_root_modulo,
)

_CHALLENGE_LENGTH = 33
_FACTOR_LENGTH, _WORD_LENGTH = 17, 4


def verifies(
    source: QuadraticForm, result: QuadraticForm, proof: QuadraticForm, iterations: int
) -> bool:
    """Return whether a proof shows that `result` is `source` doubled `iterations` times."""
    if not (source.is_in_group and result.is_in_group and proof.is_in_group):
        return False
    parameters = (u64.encode(iterations), byte_vector.encode(signed_bytes(DISCRIMINANT)))
    challenge = hash_to_prime(b"".join((source.encode(), result.encode(), *parameters)))
    # 2^iterations is quotient · challenge + remainder, and the proof is source · quotient. So proof
    # · challenge + source · remainder is the result. For example, with 10 iterations and the
    # challenge 7, 1 024 = 146 · 7 + 2. Only a prover that does all doublings can compute source ·
    # quotient.
    remainder = pow(2, iterations, challenge)
    return combine(source.reduced(), remainder, proof.reduced(), challenge) == result


def hash_to_prime(seed: bytes) -> int:
    """Hash a seed to a 33-byte prime whose highest bit is set."""
    counter, size = int.from_bytes(seed, "big"), len(seed)
    blocks = -(-_CHALLENGE_LENGTH // hashlib.sha256().digest_size)
    while True:
        data = b""
        for _ in range(blocks):
            counter = (counter + 1) % (1 << 8 * size)
            data += hashlib.sha256(counter.to_bytes(size, "big")).digest()
        number = int.from_bytes(data[:_CHALLENGE_LENGTH], "big")
        number |= 1 | 1 << 8 * _CHALLENGE_LENGTH - 1
        if is_prime(number):
            return number


def hash_to_form(message: bytes) -> QuadraticForm:
    """Hash a message to an element of the group. The result is not reduced.

    The coefficient a is the product of two primes. The discriminant is a square modulo both primes.
    """
    primes = _primes(message)
    first, second = next(primes), next(primes)
    roots = (square_root_modulo(DISCRIMINANT, prime) for prime in (first, second))
    b = _common_root(next(roots), first, next(roots), second)
    a = first * second
    return QuadraticForm.of(a, b if b % 2 else b - a)


def _primes(message: bytes) -> Iterator[int]:
    stream = chacha_stream(hashlib.sha256(message).digest(), rounds=8)
    words = -(-_FACTOR_LENGTH // _WORD_LENGTH)
    last_prime = 0
    while True:
        # The stream yields whole words, so the end of the last word is discarded.
        data = b"".join(next(stream) for _ in range(words))[:_FACTOR_LENGTH]
        number = int.from_bytes(data, "little") | 1
        if number != last_prime and is_square_modulo(DISCRIMINANT, number) and is_prime(number):
            last_prime = number
            yield number


def _common_root(root: int, prime: int, other_root: int, other_prime: int) -> int:
    """Return a number congruent to each root modulo its prime (Chinese remainder theorem).

    The Bézout coefficients have the smallest absolute values. The result is not reduced, because
    the encoding of the form depends on its exact coefficients.
    """
    # For the roots 2 modulo 7 and 3 modulo 11, the result is 58.
    inverse = pow(prime, -1, other_prime)
    x = inverse if 2 * inverse <= other_prime else inverse - other_prime
    y = (1 - x * prime) // other_prime
    number = root * y * other_prime + other_root * x * prime
    return number if number >= 0 else number + prime * other_prime
