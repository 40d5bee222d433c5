"""Against the examples of RFC 9421 (appendix B) and RFC 9530 (appendix B)."""

import hmac
from base64 import b64decode, urlsafe_b64decode
from contextlib import suppress
from hashlib import sha256

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from nexus_tools.sui.support.ed25519 import verify_ed25519
from nexus_tools.tool.signing.http_signatures import (
    MalformedError,
    content_digest,
    matches_digest,
    read_input,
    read_signature,
    signature_member,
)

SHA_512 = (
    "sha-512=:WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX+TaPm+Ab"
    "wAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew==:"
)
# B.2: `test-request`.
REQUEST = {
    "@method": "POST",
    "@path": "/foo",
    "@query": "?param=Value&Pet=dog",
    "@authority": "example.com",
    "host": "example.com",
    "date": "Tue, 20 Apr 2021 02:07:55 GMT",
    "content-type": "application/json",
    "content-digest": SHA_512,
    "content-length": "18",
}
B26 = (
    'sig-b26=("date" "@method" "@path" "@authority" "content-type" "content-length")'
    ';created=1618884473;keyid="test-key-ed25519"'
)
B26_SIGNATURE = (
    "sig-b26=:wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1"
    "u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==:"
)
# B.1.4, as JWK has its `d` and `x`.
SECRET = urlsafe_b64decode("n4Ni-HpISpVObnQMW0wOhCKROaIKqKtW_2ZYb2p9KcU=")
PUBLIC = urlsafe_b64decode("JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs=")


def base_of(field, label, values=REQUEST):
    return read_input(field, label).base(lambda each: values[each.name])


def test_b_2_6_has_the_signature_base_of_the_rfc():
    assert base_of(B26, "sig-b26").decode() == (
        '"date": Tue, 20 Apr 2021 02:07:55 GMT\n'
        '"@method": POST\n'
        '"@path": /foo\n'
        '"@authority": example.com\n'
        '"content-type": application/json\n'
        '"content-length": 18\n'
        '"@signature-params": ("date" "@method" "@path" "@authority" "content-type"'
        ' "content-length");created=1618884473;keyid="test-key-ed25519"'
    )


def test_b_2_6_is_verified_and_signed_to_the_byte():
    signature = read_signature(B26_SIGNATURE, "sig-b26")
    assert verify_ed25519(PUBLIC, signature, base_of(B26, "sig-b26"))
    assert Ed25519PrivateKey.from_private_bytes(SECRET).sign(base_of(B26, "sig-b26")) == signature


def test_b_2_5_has_the_base_whose_hmac_the_rfc_gives():
    field = (
        'sig-b25=("date" "@authority" "content-type");created=1618884473;keyid="test-shared-secret"'
    )
    secret = b64decode(
        "uzvJfB4u3N0Jy4T7NZ75MDVcr8zSTInedJtkgcu46YW4XByzNJjxBdtjUkdJPBtbmHhIDi6pcl8jsasjlTMtDQ=="
    )
    made = hmac.new(secret, base_of(field, "sig-b25"), sha256).digest()
    assert made == b64decode("pxcQw6G3AjtMBQjwo8XzkZf/bws5LelbaMk5rGIGtE8=")


def test_b_2_1_covers_nothing_and_has_a_nonce():
    field = 'sig-b21=();created=1618884473;keyid="test-key-rsa-pss";nonce="b3k2pp5k7z-50gnwp.yemd"'
    found = read_input(field, "sig-b21")
    assert found.components == ()
    assert found.parameters == {
        "created": 1618884473,
        "keyid": "test-key-rsa-pss",
        "nonce": "b3k2pp5k7z-50gnwp.yemd",
    }


def test_b_2_2_covers_a_parameter_of_the_query():
    field = (
        'sig-b22=("@authority" "content-digest" "@query-param";name="Pet")'
        ';created=1618884473;keyid="test-key-rsa-pss";tag="header-example"'
    )
    found = read_input(field, "sig-b22")
    assert [each.identifier for each in found.components] == [
        '"@authority"',
        '"content-digest"',
        '"@query-param";name="Pet"',
    ]
    assert found.components[2].parameters == {"name": "Pet"}
    assert found.parameters["tag"] == "header-example"


def test_2_4_covers_parts_of_the_request_in_its_response():
    field = (
        'reqres=("@status" "content-digest" "content-type" "@authority";req "@method";req'
        ' "@path";req "content-digest";req);created=1618884479;keyid="test-key-ecc-p256"'
    )
    of_request = [each.name for each in read_input(field, "reqres").components if each.of_request]
    assert of_request == ["@authority", "@method", "@path", "content-digest"]


def test_4_3_several_signatures_are_told_apart_by_their_labels():
    inputs = (
        'sig1=("@method" "@authority" "@path");created=1618884475;keyid="test-key-ecc-p256", '
        'proxy_sig=("@method" "signature";key="sig1");created=1618884480;expires=1618884540'
        ';keyid="test-key-rsa";alg="rsa-v1_5-sha256"'
    )
    assert read_input(inputs, "proxy_sig").parameters["alg"] == "rsa-v1_5-sha256"
    assert read_input(inputs, "sig2") is None
    signatures = "sig1=:AAEC:, proxy_sig=:AwQF:"
    assert read_signature(signatures, "proxy_sig") == b"\x03\x04\x05"
    assert signature_member(signatures, "sig1") == ":AAEC:"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (b'{"hello": "world"}\n', "sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:"),
        (b"", "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:"),
        (b'{"hello": "world"}', "sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:"),
    ],
)
def test_digests_are_those_of_the_rfcs(body, field):
    assert content_digest(body) == field
    assert matches_digest(body, field)
    assert not matches_digest(body + b" ", field)


def test_all_known_digests_must_match():
    body = b'{"hello": "world"}'
    right = content_digest(body)
    assert matches_digest(body, SHA_512)
    assert matches_digest(body, f"{right}, {SHA_512}, unixsum=:AAAA:")
    assert not matches_digest(body, f"{content_digest(b'')}, {SHA_512}")
    with pytest.raises(MalformedError):
        matches_digest(body, "unixsum=:AAAA:")


@pytest.mark.parametrize(
    "field",
    [
        'a=("x") , a=("y")',
        'a=("x" "x")',
        'a=("x";req;key="k" "x";key="k";req)',
        'a=("X")',
        'a=("x" ;key="k")',
        'a=("x"\t"y")',
        'a=("x"  "x")',
        'a=("x");created=1;created=2',
        'a=("x"),',
        'a=("x")b=("y")',
        "a=x",
        'a=("x"',
        'A=("x")',
        'a=("\x7f")',
        'a=("x");created="1' + "x" * 8_192 + '"',
    ],
)
def test_ambiguous_field_is_rejected(field):
    with pytest.raises(MalformedError):
        read_input(field, "a")


@pytest.mark.parametrize(
    ("field", "text"),
    [
        # RFC 8941, section 3.1.1: SP around the items of an inner list; 3.1.2: SP behind ";".
        ('a=( "x")', '("x")'),
        ('a=("x" )', '("x")'),
        ('a=(  "x"   "y"  )', '("x" "y")'),
        ("a=(  )", "()"),
        ('a=("x"; req "y");  created=1; nonce="n n"', '("x";req "y");created=1;nonce="n n"'),
        # RFC 8941, sections 4.1.1.2 and 4.1.5 to 4.1.9.
        ('a=("x";req=?1);created=007;off=?0;on=?1', '("x";req);created=7;off=?0;on'),
        ('a=("x");d=01.50;e=-0.100;f=2.0;g=-0', '("x");d=1.5;e=-0.1;f=2.0;g=0'),
        ('a=("x");b=:AQ==:;t=a/b', '("x");b=:AQ==:;t=a/b'),
    ],
)
def test_read_input_serializes_what_rfc_8941_allows(field, text):
    given = read_input(field, "a")
    assert given.text == text
    assert read_input(f"a={text}", "a") == given
    assert given.base(lambda _: "v").endswith(f'"@signature-params": {text}'.encode())


@pytest.mark.parametrize("value", ['a\n"@method": GET', "a\rb", "ä", "\x00"])
def test_value_cannot_forge_the_line_of_another_component(value):
    with pytest.raises(MalformedError):
        read_input('a=("x")', "a").base(lambda _: value)


@given(st.text(st.characters(max_codepoint=255), max_size=60))
def test_any_text_is_read_or_refused(text):
    for read in (read_input, read_signature):
        with suppress(MalformedError):
            read(f"a{text}", "a")
