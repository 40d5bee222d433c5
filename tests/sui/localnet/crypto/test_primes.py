"""Number theory compared with counting, and the key stream from which primes are generated."""

from itertools import islice

import pytest

from nexus_tools.sui.localnet.crypto.chacha import chacha_stream
from nexus_tools.sui.localnet.crypto.primes import (
    is_prime,
    is_square_modulo,
    square_root_modulo,
)

# One prime for each remainder modulo 8.
PRIMES = (257, 163, 197, 127)


def test_odd_primes_are_recognized():
    primes = [
        number
        for number in range(3, 2_000, 2)
        if all(number % divisor for divisor in range(3, number, 2))
    ]
    assert [number for number in range(3, 2_000, 2) if is_prime(number)] == primes


def test_large_mersenne_primes_are_recognized():
    assert is_prime(2**127 - 1)
    assert is_prime(2**521 - 1)
    assert not is_prime(2**523 - 1)


def test_pseudoprimes_for_many_bases_are_rejected():
    assert not is_prime(3_215_031_751)  # strong to the bases 2, 3, 5 and 7
    assert not is_prime(341_550_071_728_321)  # to those up to 17
    assert not is_prime((2**61 - 1) * (2**89 - 1))


@pytest.mark.parametrize("prime", PRIMES)
def test_squares_have_roots(prime):
    squares = {number * number % prime for number in range(1, prime)}
    for number in range(1, prime):
        assert is_square_modulo(number, prime) == (number in squares)
        if number in squares:
            assert square_root_modulo(number, prime) ** 2 % prime == number


@pytest.mark.parametrize(
    ("number", "modulus", "is_square"),
    [(1, 3, True), (2, 3, False), (30, 59, False), (89, 59, False), (-19, 59, False)],
)
def test_jacobi_symbols(number, modulus, is_square):
    assert is_square_modulo(number, modulus) is is_square


def test_key_stream_of_eight_rounds():
    # draft-strombergson-chacha-test-vectors-01, TC1 with 256 bits and 8 rounds.
    stream = b"".join(islice(chacha_stream(bytes(32), rounds=8), 32))
    assert stream.hex() == (
        "3e00ef2f895f40d67f5bb8e81f09a5a12c840ec3ce9a7f3b181be188ef711a1e"
        "984ce172b9216f419f445367456d5619314a42a3da86b001387bfdb80e0cfe42"
        "d2aefa0deaa5c151bf0adb6c01f2a5adc0fd581259f9a2aadcf20f8fd566a26b"
        "5032ec38bbc5da98ee0c6f568b872a65a08abf251deb21bb4b56e5d8821e68aa"
    )
