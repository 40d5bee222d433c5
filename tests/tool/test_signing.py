"""Signed tool calls: what is signed, and that nothing of it can be another thing."""

from base64 import b64decode, b64encode, urlsafe_b64decode
from datetime import UTC, datetime, timedelta
from time import time
from types import SimpleNamespace

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from http_message_signatures import (
    HTTPMessageSigner,
    HTTPMessageVerifier,
    HTTPSignatureKeyResolver,
    algorithms,
)
from hypothesis import given
from hypothesis import strategies as st

from nexus_tools.sui.support.ed25519 import verify_ed25519
from nexus_tools.tool import (
    Identity,
    KnownKeys,
    Problem,
    SignatureRejectedError,
    SigningKey,
    check_body,
    check_request,
    check_response,
    covered_fields,
    key_id,
    sign_request,
    sign_response,
)
from nexus_tools.tool.signing.http_signatures import content_digest, read_input
from nexus_tools.tool.signing.request_components import request_value
from nexus_tools.tool.signing.signing import (
    COVERED,
    MAX_LIFETIME_S,
    is_signed,
    target_uri,
)

KEY = SigningKey.of_private(Ed25519PrivateKey.from_private_bytes(b"\x01" * 32))
OTHER = SigningKey.of_private(Ed25519PrivateKey.from_private_bytes(b"\x02" * 32))
TOOL_KEY = SigningKey.of_private(Ed25519PrivateKey.from_private_bytes(b"\x03" * 32))
LEADER = "0x" + "a1" * 32
STRANGER = "0x" + "b2" * 32
TOOL_KEY_ID = key_id("xyz.example.math.add@1", TOOL_KEY.public_key)
LEADERS = KnownKeys({LEADER: [KEY.public_key]})
TOOL = "xyz.example.math.add@1"
URL = f"https://tools.example.com/{TOOL}/invoke"
BODY = b'{"a":1,"b":2}'
NOW = 1_800_000_000.5
HEADERS = {
    "nexus-invocation": "0x" + "c3" * 32,
    "nexus-tool": TOOL,
    "nexus-deadline": "2027-01-15T08:00:30.000Z",
    "nexus-max-outcome-bytes": "4096",
}


def signed_headers(key=KEY, signer=LEADER, now_s=NOW, headers=HEADERS, url=URL):
    return headers | sign_request(Identity(signer, key), url, headers, BODY, now_s)


def check(headers, *, url=URL, method="POST", body=BODY, leaders=LEADERS, now_s=NOW):
    request = check_request(url, method, headers, leaders, now_s)
    check_body(body, headers)
    return request


def refusal(headers, **changes):
    with pytest.raises(SignatureRejectedError) as refused:
        check(headers, **changes)
    return refused.value.problem


def test_signed_request_has_signer_and_nonce_expiry():
    request = check(signed_headers())
    assert request.signer == LEADER
    assert len(request.nonce) >= 22  # 128 bits
    assert request.created_s == int(NOW)
    assert request.nonce_expires_s == int(NOW) + 30 + 30


def test_nonces_of_requests_differ():
    assert len({check(signed_headers()).nonce for _ in range(50)}) == 50


@given(st.sampled_from(COVERED[2:]), st.integers(0, 200), st.integers(1, 94))
def test_changed_covered_header_is_rejected(name, place, shift):
    headers = signed_headers()
    value = headers[name]
    place %= len(value)
    other = chr((ord(value[place]) - 32 + shift) % 95 + 32)
    headers[name] = value[:place] + other + value[place + 1 :]
    if headers[name].strip() != value:
        assert refusal(headers) in (
            Problem.SIGNATURE_INVALID,
            Problem.SIGNATURE_MALFORMED,
            Problem.DIGEST_MISMATCH,
        )


@given(st.integers(0, 400), st.integers(1, 94), st.booleans())
def test_changed_signature_is_rejected(place, shift, of_input):
    headers = signed_headers()
    name = "signature-input" if of_input else "signature"
    value = headers[name]
    place = len("nexus=") + place % (len(value) - len("nexus="))
    other = chr((ord(value[place]) - 32 + shift) % 95 + 32)
    headers[name] = value[:place] + other + value[place + 1 :]
    refusal(headers)


@given(st.binary(max_size=40).filter(lambda body: body != BODY))
def test_changed_body_is_rejected(body):
    assert refusal(signed_headers(), body=body) is Problem.DIGEST_MISMATCH


@pytest.mark.parametrize(
    "url",
    [
        URL.replace("https", "http"),
        URL.replace("tools.", "other."),
        URL.replace(".com", ".com:8443"),
        URL.replace("@1", "@2"),
        f"{URL}?x=1",
        f"{URL}/",
    ],
)
def test_changed_url_is_rejected(url):
    assert refusal(signed_headers(), url=url) is Problem.SIGNATURE_INVALID


def test_changed_method_is_rejected():
    assert refusal(signed_headers(), method="PUT") is Problem.SIGNATURE_INVALID


@pytest.mark.parametrize("name", COVERED[2:])
def test_missing_covered_header_is_rejected(name):
    headers = signed_headers()
    del headers[name]
    assert refusal(headers) is Problem.SIGNATURE_MALFORMED


@pytest.mark.parametrize("name", COVERED)
def test_signature_that_covers_less_is_rejected(name):
    headers = signed_headers()
    headers["signature-input"] = headers["signature-input"].replace(f'"{name}"', '"date"')
    assert refusal(headers | {"date": "x"}) is Problem.SIGNATURE_MALFORMED


@pytest.mark.parametrize(
    ("seconds", "problem"),
    [
        (60, Problem.SIGNATURE_EXPIRED),
        (3_600, Problem.SIGNATURE_EXPIRED),
        (-31, Problem.SIGNATURE_FROM_FUTURE),
        (59, None),
        (-30, None),
    ],
)
def test_request_is_valid_within_lifetime_and_clock_skew(seconds, problem):
    now_s = int(NOW) + seconds
    if problem is None:
        assert check(signed_headers(), now_s=now_s)
    else:
        assert refusal(signed_headers(), now_s=now_s) is problem


@pytest.mark.parametrize("expires", [0, MAX_LIFETIME_S + 1, -5])
def test_lifetime_is_bounded(expires):
    headers = signed_headers()
    headers["signature-input"] = headers["signature-input"].replace(
        f"expires={int(NOW) + 30}", f"expires={int(NOW) + expires}"
    )
    assert refusal(headers) is Problem.SIGNATURE_MALFORMED


@pytest.mark.parametrize("gone", ["signature", "signature-input"])
def test_half_stripped_request_counts_as_signed(gone):
    headers = signed_headers()
    del headers[gone]
    assert refusal(headers) is Problem.SIGNATURE_MISSING
    assert is_signed(headers)
    assert not is_signed({"signature": "xnexus=:AA==:", "signature-input": 'proxy=("@method")'})


def test_unlisted_signer_is_rejected_before_verification():
    forged = signed_headers(OTHER, STRANGER) | {"signature": "nexus=:AAAA:"}
    assert refusal(forged) is Problem.LEADER_NOT_ACCEPTED


def test_removed_key_is_rejected():
    assert refusal(signed_headers(OTHER)) is Problem.KEY_UNKNOWN
    assert refusal(signed_headers(), leaders=KnownKeys({LEADER: []})) is Problem.KEY_UNKNOWN


def test_key_of_another_leader_is_rejected():
    headers = signed_headers(OTHER)
    theirs, own = key_id(LEADER, OTHER.public_key), key_id(LEADER, KEY.public_key)
    headers["signature-input"] = headers["signature-input"].replace(theirs, own)
    assert refusal(headers) is Problem.SIGNATURE_INVALID


@pytest.mark.parametrize("alg", ["rsa-v1_5-sha256", "hmac-sha256", "none"])
def test_sender_cannot_choose_the_algorithm(alg):
    headers = signed_headers()
    headers["signature-input"] += f';alg="{alg}"'
    assert refusal(headers) is Problem.SIGNATURE_MALFORMED


def test_small_order_key_is_rejected():
    identity = (1).to_bytes(32, "little")
    headers = signed_headers()
    headers["signature-input"] = headers["signature-input"].replace(
        key_id(LEADER, KEY.public_key), key_id(LEADER, identity)
    )
    headers["signature"] = "nexus=:AQ" + "A" * 84 + "==:"
    leaders = KnownKeys({LEADER: [identity]})
    assert refusal(headers, leaders=leaders) is Problem.SIGNATURE_INVALID


def test_additional_proxy_signature_is_ignored():
    headers = signed_headers()
    headers["signature-input"] = f'proxy=("@method");created=1, {headers["signature-input"]}'
    headers["signature"] += ", proxy=:AAAA:"
    assert check(headers).signer == LEADER


def test_duplicate_signature_label_is_rejected():
    headers = signed_headers()
    headers["signature-input"] += f", {headers['signature-input']}"
    assert refusal(headers) is Problem.SIGNATURE_MALFORMED


@pytest.mark.parametrize(
    ("url", "signed_as"),
    [
        ("HTTPS://Tools.Example.COM:443/Add", "https://tools.example.com/Add"),
        ("http://127.0.0.1:80", "http://127.0.0.1/"),
        ("https://[2001:DB8::1]:8443/a", "https://[2001:db8::1]:8443/a"),
        ("http://a.test:443/x?y=1", "http://a.test:443/x?y=1"),
    ],
)
def test_url_is_normalized_before_signing(url, signed_as):
    assert target_uri(url) == signed_as


# --- Responses

RESULT = b'{"ok":{"result":3}}'


def respond(request, key=TOOL_KEY, signer=TOOL, now_s=NOW):
    return sign_response(Identity(signer, key), 200, RESULT, request, asked=BODY, now_s=now_s)


def response_refusal(request, headers, status=200, body=RESULT, keys=(TOOL_KEY.public_key,)):
    with pytest.raises(SignatureRejectedError) as refused:
        check_response(status, body, headers, request, keys)
    return refused.value.problem


def test_signed_response_verifies():
    request = signed_headers()
    check_response(200, RESULT, respond(request), request, {TOOL_KEY.public_key})


def test_response_is_invalid_for_another_request():
    first, second = signed_headers(), signed_headers()
    assert response_refusal(second, respond(first)) is Problem.SIGNATURE_INVALID


SIGNED_HEADERS = ["signature", "signature-input", "content-digest", "nexus-outcome-signature"]


@given(st.sampled_from(SIGNED_HEADERS), st.data())
def test_changed_header_of_a_signed_response_is_rejected(name, data):
    request = signed_headers()
    headers = respond(request)
    place = data.draw(st.integers(0, len(headers[name]) - 1))
    char = data.draw(st.characters(min_codepoint=33, max_codepoint=126))
    changed = headers[name][:place] + char + headers[name][place + 1 :]
    if changed != headers[name]:
        response_refusal(request, headers | {name: changed})


def test_outcome_signature_cannot_be_removed_or_added():
    request = signed_headers()
    headers = respond(request)
    left_out = {key: headers[key] for key in headers if key != "nexus-outcome-signature"}
    assert response_refusal(request, left_out) is Problem.SIGNATURE_MALFORMED
    problem = sign_response(Identity(TOOL, TOOL_KEY), 422, RESULT, request, asked=BODY, now_s=NOW)
    added = problem | {"nexus-outcome-signature": headers["nexus-outcome-signature"]}
    assert response_refusal(request, added, status=422) is Problem.SIGNATURE_MALFORMED


def test_changed_status_or_body_of_a_response_is_rejected():
    request = signed_headers()
    headers = respond(request)
    assert response_refusal(request, headers, status=500) is Problem.SIGNATURE_INVALID
    assert response_refusal(request, headers, body=b"{}") is Problem.DIGEST_MISMATCH


def test_unsigned_or_foreign_response_is_rejected():
    request = signed_headers()
    assert response_refusal(request, {}) is Problem.SIGNATURE_MISSING
    assert response_refusal(request, respond(request, OTHER)) is Problem.KEY_UNKNOWN
    of_other_tool = respond(request, signer="xyz.example.math.mul@1")
    assert response_refusal(request, of_other_tool) is Problem.KEY_UNKNOWN


def test_request_signature_is_invalid_for_response():
    request = signed_headers(TOOL_KEY, TOOL)
    assert response_refusal(request, request) is Problem.SIGNATURE_MALFORMED


def test_check_response_accepts_more_components():
    request, digest = signed_headers(), content_digest(RESULT)
    lines = [
        ('"@status"', "200"),
        ('"content-digest"', digest),
        *((f'"{name}";req', request[name]) for name in ("nexus-invocation", "nexus-tool")),
        ('"content-digest";req', request["content-digest"]),
        ('"signature";key="nexus";req', request["signature"].removeprefix("nexus=")),
        ('"content-type"', "application/json"),
        ('"nexus-deadline";req', request["nexus-deadline"]),
    ]
    text = f'({" ".join(name for name, _ in lines)});created=1;keyid="{TOOL_KEY_ID}"'
    base = "".join(f"{name}: {value}\n" for name, value in lines) + f'"@signature-params": {text}'
    response = {
        "content-digest": digest,
        "content-type": "application/json",
        "signature-input": f"nexus={text}",
        "signature": f"nexus=:{b64encode(TOOL_KEY.private.sign(base.encode())).decode()}:",
    }
    check_response(200, RESULT, response, request, {TOOL_KEY.public_key})
    changed = response | {"content-type": "text/plain"}
    assert response_refusal(request, changed) is Problem.SIGNATURE_INVALID
    without = {name: value for name, value in response.items() if name != "content-type"}
    assert response_refusal(request, without) is Problem.SIGNATURE_MALFORMED


# --- Beside an implementation of the RFC that is not ours


class Resolver(HTTPSignatureKeyResolver):
    def resolve_public_key(self, key_id):
        return self.resolve_private_key(key_id).public_key()

    def resolve_private_key(self, key_id):
        return TOOL_KEY.private if key_id.startswith(TOOL) else KEY.private


PARTIES = {"signature_algorithm": algorithms.ED25519, "key_resolver": Resolver()}


def message(headers, **fields):
    return SimpleNamespace(headers=dict(headers), **fields)


def test_independent_implementation_verifies_our_signatures():
    # It has no other clock than the machine's.
    request = message(signed_headers(now_s=time()), method="POST", url=URL)
    verified = HTTPMessageVerifier(**PARTIES).verify(request)
    assert set(verified[0].covered_components) >= {f'"{name}"' for name in COVERED}
    response = message(
        respond(request.headers, now_s=time()), status_code=200, request=request, url=URL
    )
    assert HTTPMessageVerifier(**PARTIES).verify(response)


def independently_signed(*more, url=URL, fields=()):
    """A request that another implementation signs, with more components than have to be."""
    created = datetime.fromtimestamp(int(NOW), UTC)
    headers = HEADERS | {"content-digest": content_digest(BODY)} | dict(fields)
    request = message(headers, method="POST", url=url)
    HTTPMessageSigner(**PARTIES).sign(
        request,
        key_id=key_id(LEADER, KEY.public_key),
        label="nexus",
        created=created,
        expires=created + timedelta(seconds=30),
        nonce="of another implementation",
        covered_component_ids=[*more, *COVERED],
        use_existing_digest=True,
    )
    return {name.lower(): value for name, value in request.headers.items()}


def test_signature_of_an_independent_implementation_is_accepted():
    assert check(independently_signed()).nonce == "of another implementation"


OF_THE_URL = ("@authority", "@scheme", "@path", "@query", "@request-target")


@pytest.mark.parametrize(
    "url",
    [URL, f"{URL}?a=1&b=%20", "http://127.0.0.1:8080/x"],
)
@pytest.mark.parametrize("components", [*([each] for each in OF_THE_URL), OF_THE_URL])
def test_check_request_verifies_more_components_of_the_url(components, url):
    headers = independently_signed(*components, url=url)
    assert check(headers, url=url).nonce == "of another implementation"
    elsewhere = url.replace("127.0.0.1", "127.0.0.2").replace("ools", "ool")
    assert refusal(headers, url=elsewhere) is Problem.SIGNATURE_INVALID


def test_check_request_verifies_more_fields():
    fields = {"content-type": "application/json", "date": "Fri, 15 Jan 2027 08:00:00 GMT"}
    headers = independently_signed(*fields, fields=fields)
    assert covered_fields(headers) == {*fields}
    assert check(headers).nonce == "of another implementation"
    assert refusal(headers | {"content-type": "text/plain"}) is Problem.SIGNATURE_INVALID
    without = {name: value for name, value in headers.items() if name != "date"}
    assert refusal(without) is Problem.SIGNATURE_MALFORMED


@pytest.mark.parametrize("url", ["https://example.com/foo?param=Value&Pet=dog"])
def test_components_have_the_values_of_the_rfc(url):
    # RFC 9421, B.2.6, signed with the key of B.1.4.
    date = "Tue, 20 Apr 2021 02:07:55 GMT"
    fields = {"date": date, "content-type": "application/json", "content-length": "18"}
    given = read_input(
        'a=("date" "@method" "@path" "@authority" "content-type" "content-length")'
        ';created=1618884473;keyid="test-key-ed25519"',
        "a",
    )
    base = given.base(lambda each: request_value(each, url, "POST", fields))
    public = urlsafe_b64decode("JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs=")
    signature = b64decode(
        "wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw=="
    )
    assert verify_ed25519(public, signature, base)


@pytest.mark.parametrize(
    ("name", "url", "value"),
    [
        # RFC 9421, sections 2.2.2 to 2.2.7.
        ("@target-uri", "https://www.example.com/path?param=value", None),
        ("@authority", "https://www.example.com/path?param=value", "www.example.com"),
        ("@authority", "https://WWW.example.com:8443/", "www.example.com:8443"),
        ("@scheme", "http://www.example.com/path?param=value", "http"),
        ("@request-target", "https://www.example.com/path?param=value", "/path?param=value"),
        ("@path", "https://www.example.com/path?param=value", "/path"),
        ("@path", "https://www.example.com", "/"),
        (
            "@query",
            "https://www.example.com/path?param=value&foo=bar&baz=bat%2Dman",
            "?param=value&foo=bar&baz=bat%2Dman",
        ),
        ("@query", "https://www.example.com/path?queryString", "?queryString"),
        ("@query", "https://www.example.com/path", "?"),
    ],
)
def test_components_of_the_url_have_the_values_of_the_rfc(name, url, value):
    [component] = read_input(f'a=("{name}")', "a").components
    assert request_value(component, url, "POST", {}) == (url if value is None else value)


@pytest.mark.parametrize(
    "component",
    ['"@query-param";name="a"', '"content-digest";sf', '"nexus-tool";bs', '"@path";req', '"@port"'],
)
def test_unsupported_component_is_rejected_by_name(component):
    covered = " ".join(f'"{name}"' for name in COVERED)
    headers = signed_headers()
    fields = headers["signature-input"].replace(f"({covered})", f"({covered} {component})")
    with pytest.raises(SignatureRejectedError) as refused:
        check(headers | {"signature-input": fields})
    assert refused.value.problem is Problem.SIGNATURE_MALFORMED
    assert component in refused.value.detail


@pytest.mark.parametrize("name", COVERED)
def test_required_components_must_be_covered(name):
    headers = independently_signed(*OF_THE_URL)
    fields = headers["signature-input"].replace(f'"{name}" ', "").replace(f' "{name}"', "")
    assert refusal(headers | {"signature-input": fields}) is Problem.SIGNATURE_MALFORMED


def test_spaces_in_the_list_change_nothing_that_is_signed():
    headers = signed_headers()
    spaced = headers["signature-input"].replace('" "', '"   "').replace(");", " );")
    assert check(headers | {"signature-input": spaced.replace(";nonce", "; nonce")})
