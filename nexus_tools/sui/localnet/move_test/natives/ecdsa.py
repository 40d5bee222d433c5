"""The test-only native functions of `sui::ecdsa_k1`, which generate keys and sign.

Source: `sui-move-natives`, `crypto/ecdsa_k1.rs`. Test-only functions do not charge gas.
"""

from nexus_tools.sui.localnet.crypto.chacha import chacha_stream
from nexus_tools.sui.localnet.crypto.ecdsa import ECDSA_K1, HASHES, InvalidSecret
from nexus_tools.sui.localnet.natives import natives_of
from nexus_tools.sui.localnet.vm import Context, NativeAbort, Reference, TypeArguments, Value
from nexus_tools.sui.types.address import SUI_FRAMEWORK

_INVALID_SECRET, _INVALID_HASH_FUNCTION, _INVALID_SEED = 3, 4, 5
_SEED_LENGTH = 32
# The generator `StdRng` of Rust is ChaCha with twelve rounds.
_ROUNDS, _WORDS_PER_SECRET = 12, 8


def sign(
    _context: Context,
    _types: TypeArguments,
    private_key: Reference,
    message: Reference,
    hash_function: int,
    recoverable: bool,
) -> bytearray:
    """Return the signature r || s of a message, followed by the recovery id if `recoverable`.

    Abort if the private key or the number of the hash function is invalid.
    """
    secret = bytes(private_key.read())
    try:
        ECDSA_K1.public_key(secret)
    except InvalidSecret:
        raise NativeAbort(_INVALID_SECRET) from None
    if hash_function not in HASHES:
        raise NativeAbort(_INVALID_HASH_FUNCTION)
    digest = HASHES[hash_function](bytes(message.read()))
    sign_digest = ECDSA_K1.sign_recoverable if recoverable else ECDSA_K1.sign
    return bytearray(sign_digest(secret, digest))


def keypair_from_seed(_context: Context, _types: TypeArguments, seed: Reference) -> Value:
    """Return the private and public key that a seed of 32 bytes determines.

    Abort if the seed does not have 32 bytes.
    """
    data = bytes(seed.read())
    if len(data) != _SEED_LENGTH:
        raise NativeAbort(_INVALID_SEED)
    words = chacha_stream(data, rounds=_ROUNDS)
    while True:  # use the next 32 bytes if these are not a secret key (1 in 2^128 seeds)
        secret = b"".join(next(words) for _ in range(_WORDS_PER_SECRET))
        try:
            return [bytearray(secret), bytearray(ECDSA_K1.public_key(secret))]
        except InvalidSecret:
            continue


NATIVES = natives_of(
    SUI_FRAMEWORK, "ecdsa_k1", secp256k1_sign=sign, secp256k1_keypair_from_seed=keypair_from_seed
)
