"""Number theory: primality tests, and squares and square roots modulo primes.

Source: Crandall and Pomerance, "Prime Numbers: A Computational Perspective", algorithms 2.3.5,
2.3.8 and 3.5.2.
"""

_BASES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83)


def is_prime(number: int) -> bool:
    """Return whether an odd number is prime, by the Miller-Rabin test.

    A composite number passes the test only if it is constructed on purpose. The tested numbers are
    hashes, so no one can construct them.
    """
    if any(number % base == 0 for base in _BASES):
        return number in _BASES
    twos, odd = _split(number - 1)
    return all(_is_probable_prime(number, base, odd, twos) for base in _BASES)


def _is_probable_prime(number: int, base: int, odd: int, twos: int) -> bool:
    power = pow(base, odd, number)
    if power in (1, number - 1):
        return True
    for _ in range(twos - 1):
        power = power * power % number
        if power == number - 1:
            return True
    return False


def is_square_modulo(number: int, modulus: int) -> bool:
    """Return whether the Jacobi symbol of a number and an odd modulus is 1.

    Modulo a prime that does not divide the number, the symbol is 1 if and only if the number is a
    square. For example, 2 is a square modulo 17, but 3 is not. Modulo a composite number, the
    symbol may be 1 even if the number is not a square, for example for 2 modulo 15.
    """
    number %= modulus
    symbol = 1
    while number:
        twos, number = _split(number)
        if twos % 2 and modulus % 8 in (3, 5):
            symbol = -symbol
        if number % 4 == modulus % 4 == 3:
            symbol = -symbol
        number, modulus = modulus % number, number
    return modulus == 1 and symbol == 1


def square_root_modulo(number: int, prime: int) -> int:
    """Return the square root modulo an odd prime that algorithm 2.3.8 finds.

    For example, the result for 2 modulo 17 is 6, although 11 is also a root. The choice matters,
    because different roots give different quadratic forms.
    """
    number %= prime
    if prime % 4 == 3:
        return pow(number, (prime + 1) // 4, prime)
    if prime % 8 == 5:
        root = pow(number, (prime + 3) // 8, prime)
        if root * root % prime != number:
            root = root * pow(2, (prime - 1) // 4, prime) % prime
        return root
    return _square_root_by_tonelli(number, prime)


def _square_root_by_tonelli(number: int, prime: int) -> int:
    non_square = next(base for base in range(2, prime) if not is_square_modulo(base, prime))
    twos, odd = _split(prime - 1)
    power, generator = pow(number, odd, prime), pow(non_square, odd, prime)
    exponent = 0
    for step in range(twos):
        value = power * pow(generator, exponent, prime) % prime
        if pow(value, 1 << twos - 1 - step, prime) == prime - 1:
            exponent += 1 << step
    return pow(number, (odd + 1) // 2, prime) * pow(generator, exponent // 2, prime) % prime


def _split(number: int) -> tuple[int, int]:
    """Return the exponent of 2 in a number, and its odd factor."""
    twos = (number & -number).bit_length() - 1
    return twos, number >> twos
