"""zkLogin addresses, with the values of `fastcrypto` and of the framework's own tests."""

import pytest

from nexus_tools.sui.localnet.crypto.poseidon import BN254_ORDER, poseidon
from nexus_tools.sui.localnet.crypto.zklogin import zklogin_address, zklogin_address_seed

ADDRESS = bytes.fromhex("1c6b623a2f2c91333df730c98d220f11484953b391a3818680f922c264cc0c6b")
GOOGLE = b"https://accounts.google.com"
AUDIENCE = b"575519204237-msop9ep45u2uo98hapqmngv8d84qdc8k.apps.googleusercontent.com"
SUBJECT = b"106294049240999307923"
SALT_HASH = 15232766888716517538274372547598053531354666056102343895255590477425668733026
SEED = 3006596378422062745101035755700472756930796952630484939867684134047976874601


@pytest.fixture
def check_id(call, ref):
    def run(name=b"sub", value=SUBJECT, issuer=GOOGLE, audience=AUDIENCE, *, how=call):
        texts = map(ref, (name, value, issuer, audience))
        function = "check_zklogin_id_internal"
        return how("zklogin_verified_id", function, ADDRESS, *texts, SALT_HASH)

    return run


@pytest.fixture
def check_issuer(call, ref):
    def run(address=ADDRESS, seed=SEED, issuer=GOOGLE, *, how=call):
        function = "check_zklogin_issuer_internal"
        return how("zklogin_verified_issuer", function, address, seed, ref(issuer))

    return run


def test_seed_of_a_twitch_user():
    salt_hash = poseidon([248191903847969014646285995941615069143])
    seed = zklogin_address_seed("sub", "904448692", "rs1bh065i9ya4ydvifixl4kss0uhpt", salt_hash)
    assert seed == 16657007263003735230240998439420301694514420923267872433517882233836276100450


def test_seed_and_address_of_a_google_user():
    seed = zklogin_address_seed("sub", SUBJECT.decode(), AUDIENCE.decode(), SALT_HASH)
    assert seed == SEED
    assert zklogin_address(seed, GOOGLE.decode()) == ADDRESS


def test_address_belongs_to_its_claim(check_id):
    assert check_id() is True
    assert check_id(name=b"email") is False
    assert check_id(value=b"1") is False
    assert check_id(issuer=b"https://some.other.issuer.com") is False
    assert check_id(audience=b"") is False


def test_too_long_or_invalid_claims_abort(call, check_id):
    for given in (
        {"name": b"n" * 33},
        {"value": b"v" * 116},
        {"audience": b"a" * 146},
        {"name": b"\xff"},
        {"issuer": b"\xff"},
        {"value": "€".encode()},
    ):
        assert check_id(**given, how=call.aborts) == 0


def test_claims_may_have_maximum_length(check_id):
    for given in ({"name": b"n" * 32}, {"value": b"v" * 115}, {"audience": b"a" * 145}):
        assert check_id(**given) is False


def test_length_limit_counts_characters(check_id):
    assert check_id(name="é".encode() * 32) is False


def test_address_belongs_to_its_issuer_and_seed(check_issuer):
    assert check_issuer() is True
    assert check_issuer(address=bytes(1) + ADDRESS[1:]) is False
    assert check_issuer(seed=1234) is False
    assert check_issuer(issuer=b"https://other.issuer.com") is False


def test_seeds_are_reduced_modulo_field_order(check_issuer):
    assert check_issuer(seed=SEED + BN254_ORDER) is True


def test_invalid_issuer_text_aborts(call, check_issuer):
    assert check_issuer(issuer=b"\xff", how=call.aborts) == 0


def test_framework_no_longer_checks_claims(call, ref):
    texts = [ref(text) for text in (b"sub", SUBJECT, GOOGLE, AUDIENCE)]
    assert call.aborts("zklogin_verified_id", "check_zklogin_id", ADDRESS, *texts, SALT_HASH) == 0


def test_costs_match_the_protocol(call, check_id, check_issuer):
    check_id()
    assert call.runtime.gas.used == 200
    check_issuer()
    assert call.runtime.gas.used == 400
