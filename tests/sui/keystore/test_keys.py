"""Vectors: Mysten's TypeScript SDK, `packages/sui/test/unit/cryptography/*-keypair.test.ts`."""

import pytest

from nexus_tools.errors import ValidationError
from nexus_tools.sui.keystore import KeyPair
from nexus_tools.sui.keystore.keys import new_mnemonic
from nexus_tools.sui.signature import (
    TRANSACTION_INTENT,
    SignatureScheme,
    UserSignature,
)

ED25519_VECTORS = [
    (
        (
            "film crazy soon outside stand loop subway crumble thrive popular green nuclear"
            " struggle pistol arm wife phrase warfare march wheat nephew ask sunny firm"
        ),
        "suiprivkey1qrwsjvr6gwaxmsvxk4cfun99ra8uwxg3c9pl0nhle7xxpe4s80y05ctazer",
        "0xa2d14fad60c56049ecf75246a481934691214ce413e6a8ae2fe6834c173a6133",
    ),
    (
        (
            "require decline left thought grid priority false tiny gasp angle royal system attack"
            " beef setup reward aunt skill wasp tray vital bounce inflict level"
        ),
        "suiprivkey1qzdvpa77ct272ultqcy20dkw78dysnfyg90fhcxkdm60el0qht9mvzlsh4j",
        "0x1ada6e6f3f3e4055096f606c746690f1108fcc2ca479055cc434a3e1d3f758aa",
    ),
    (
        (
            "organ crash swim stick traffic remember army arctic mesh slice swear summer police"
            " vast chaos cradle squirrel hood useless evidence pet hub soap lake"
        ),
        "suiprivkey1qqqscjyyr64jea849dfv9cukurqj2swx0m3rr4hr7sw955jy07tzgcde5ut",
        "0xe69e896ca10f5a77732769803cc2b5707f0ab9d4407afb5e4b4464b89769af14",
    ),
]
SECP256K1_VECTORS = [
    (
        ED25519_VECTORS[0][0],
        "suiprivkey1qyqr6yvxdqkh32ep4pk9caqvphmk9epn6rhkczcrhaeermsyvwsg783y9am",
        "0x9e8f732575cc5386f8df3c784cd3ed1b53ce538da79926b2ad54dcc1197d2532",
    ),
]
SECP256R1_VECTORS = [
    (
        "act wing dilemma glory episode region allow mad tourist humble muffin oblige",
        "suiprivkey1qgj6vet4rstf2p00j860xctkg4fyqqq5hxgu4mm0eg60fq787ujnqs5wc8q",
        "0x4a822457f1970468d38dae8e63fb60eefdaa497d74d781f581ea2d137ec36f3a",
    ),
    (
        "flag rebel cabbage captain minimum purpose long already valley horn enrich salt",
        "suiprivkey1qgmgr6dza8slgxn0rcxcy47xeas9l565cc5q440ngdzr575rc2356gzlq7a",
        "0xcd43ecb9dd32249ff5748f5e4d51855b01c9b1b8bbe7f8638bb8ab4cb463b920",
    ),
]
ALL_VECTORS = [
    *((SignatureScheme.ED25519, *vector) for vector in ED25519_VECTORS),
    *((SignatureScheme.SECP256K1, *vector) for vector in SECP256K1_VECTORS),
    *((SignatureScheme.SECP256R1, *vector) for vector in SECP256R1_VECTORS),
]
ALL_KEYS = [(scheme, bech32, address) for scheme, _, bech32, address in ALL_VECTORS]


@pytest.mark.parametrize(("scheme", "words", "bech32", "address"), ALL_VECTORS)
def test_mnemonic_derives_the_key_and_address_of_sui_wallets(scheme, words, bech32, address):
    key = KeyPair.from_mnemonic(words, scheme)
    assert str(key.address) == address
    assert key.to_bech32() == bech32


@pytest.mark.parametrize(("scheme", "bech32", "address"), ALL_KEYS)
def test_suiprivkey_round_trips_with_its_scheme(scheme, bech32, address):
    key = KeyPair.parse(bech32)
    assert (key.scheme, str(key.address)) == (scheme, address)


def test_keystore_entry_is_the_flag_and_the_secret():
    # SLIP-0010 test vector 1 for ed25519, chain m: the private key.
    secret = bytes.fromhex("2b4be7f19ee27bbf30c667b642d5f4aa69fd169872f8fc3059c08ebae2eb19e7")
    key = KeyPair.from_bytes(b"\0" + secret)
    assert key.public_key.hex() == (
        "a4b2856bfec510abab89753fac1ac0e1112364e7d250545963f135f2a33188ed"
    )
    assert key.to_keystore() == "ACtL5/Ge4nu/MMZntkLV9Kpp/RaYcvj8MFnAjrri6xnn"
    assert KeyPair.parse(key.to_keystore()).address == key.address


@pytest.mark.parametrize(("scheme", "bech32", "address"), ALL_KEYS)
def test_signature_is_valid_only_for_its_transaction(scheme, bech32, address):
    key = KeyPair.from_bech32(bech32)
    signature = UserSignature.parse(key.sign(b"transaction bytes"))
    signature.verify(TRANSACTION_INTENT + b"transaction bytes")
    assert (signature.scheme, str(signature.address())) == (scheme, address)


def test_mnemonic_allows_any_spacing_and_case():
    words, _, address = ED25519_VECTORS[0]
    assert str(KeyPair.parse("  " + words.upper().replace(" ", "  ")).address) == address


@pytest.mark.parametrize(
    "text",
    [
        "",
        "suiprivkey1qrwsjvr6gwaxmsvxk4cfun99ra8uwxg3c9pl0nhle7xxpe4s80y05ctazes",
        "film crazy soon",
        "not base64!",
        "AAAA",
        "CStL5/Ge4nu/MMZntkLV9Kpp/RaYcvj8MFnAjrri6xnn",  # an unknown flag
        "AytL5/Ge4nu/MMZntkLV9Kpp/RaYcvj8MFnAjrri6xnn",  # the flag of multisig
        "AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",  # zero is not a secret of secp256k1
    ],
)
def test_parse_refuses_invalid_keys_without_repeating_them(text):
    with pytest.raises(ValidationError) as caught:
        KeyPair.parse(text)
    assert caught.value.code == "key_invalid"
    assert not text or text not in str(caught.value)


def test_key_representation_hides_the_secret():
    key = KeyPair.from_bech32(ED25519_VECTORS[0][1])
    printed = f"{key!r} {key}"
    assert key.secret.hex() not in printed
    assert repr(key.secret) not in printed


def test_new_mnemonics_differ_and_have_twelve_words():
    first, second = new_mnemonic(), new_mnemonic()
    assert first != second
    assert len(first.split()) == len(second.split()) == 12
