"""Calls in gRPC-web, byte for byte as in its protocol document (PROTOCOL-WEB.md)."""

import asyncio
from base64 import b64decode, b64encode
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nexus_tools.sui.localnet import ThreadedLocalnet
from nexus_tools.sui.localnet.http import Body
from nexus_tools.sui.localnet.rpc import Limits
from nexus_tools.sui.localnet.rpc.interface import Code, RpcError
from nexus_tools.sui.localnet.rpc.server.grpc import Form, GrpcRequest, status_trailers

LEDGER = "/sui.rpc.v2.LedgerService"
INFO = f"{LEDGER}/GetServiceInfo"
EMPTY = b"\0\0\0\0\0"  # no flags, four bytes of size, nothing
CLOCK = b"\0\0\0\0\x05\x0a\x030x6"  # GetObjectRequest.object_id, field 1, of 3 bytes
TEXT = "application/grpc-web-text"
FORMS = st.sampled_from([Form.WEB, Form.WEB_TEXT])


def trailers(block):
    assert block.endswith(b"\r\n")
    return dict(line.split(":", 1) for line in block.decode().split("\r\n")[:-1])


def test_response_has_a_message_frame_and_a_trailers_frame(web):
    answer = web.post(INFO, EMPTY)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/grpc-web+proto"
    (flags, message), (last, block) = web.frames(answer.content)
    assert (flags, last) == (0x00, 0x80)
    response = web.messages.procedures[INFO].response.FromString(message)
    assert response.chain_id == answer.headers["x-sui-chain-id"]
    assert block == b"grpc-status:0\r\n"


@pytest.mark.parametrize(
    "content_type", ["application/grpc-web", "application/grpc-web+proto; charset=utf-8"]
)
def test_message_format_is_proto_with_or_without_suffix(web, content_type):
    answer = web.post(INFO, EMPTY, content_type)
    assert answer.headers["content-type"] == "application/grpc-web+proto"
    assert [flags for flags, _ in web.frames(answer.content)] == [0x00, 0x80]


@pytest.mark.parametrize("content_type", [TEXT, f"{TEXT}+proto"])
def test_text_is_base64_of_the_same_frames(web, content_type):
    answer = web.post(f"{LEDGER}/GetObject", b64encode(CLOCK), content_type, accept=content_type)
    assert answer.headers["content-type"] == "application/grpc-web-text+proto"
    binary = web.post(f"{LEDGER}/GetObject", CLOCK)
    # Each frame is padded separately, so a decoder must continue after the padding.
    size = 5 + int.from_bytes(binary.content[1:5], "big")
    assert answer.content == b64encode(binary.content[:size]) + b64encode(binary.content[size:])


def test_accept_header_selects_the_form_of_the_response(web):
    text = web.post(INFO, EMPTY, accept=TEXT)
    assert text.headers["content-type"] == "application/grpc-web-text+proto"
    assert b64decode(text.content[:8])[0] == 0
    binary = web.post(INFO, b64encode(EMPTY), TEXT)
    assert binary.headers["content-type"] == "application/grpc-web+proto"
    assert [flags for flags, _ in web.frames(binary.content)] == [0x00, 0x80]


def test_text_may_be_padded_in_the_middle(web):
    body = b"".join(b64encode(CLOCK[start : start + 4]) for start in range(0, len(CLOCK), 4))
    assert body.count(b"=") > 2
    answer = web.post(f"{LEDGER}/GetObject", body, TEXT)
    assert [flags for flags, _ in web.frames(answer.content)] == [0x00, 0x80]


@pytest.mark.parametrize(
    "body", [b"AAAAAAA", b"====", b"A", b"AAAA AAAA", b"AA\r\nAAAAAA", b"\xff"]
)
def test_text_that_is_not_base64_is_refused(web, body):
    assert web.post(INFO, body, TEXT).headers["grpc-status"] == "3"


def test_error_before_any_message_is_only_in_the_headers(web):
    answer = web.post(f"{LEDGER}/GetObject", b"\0\0\0\0\x05\x0a\x030xg")
    assert answer.status_code == 200
    assert answer.content == b""
    assert answer.headers["grpc-status"] == "3"
    assert answer.headers["grpc-message"] == "invalid object_id: '0xg' is not a valid address"
    assert answer.headers["content-type"] == "application/grpc-web+proto"
    assert "x-sui-chain-id" in answer.headers


def test_non_ascii_message_is_percent_encoded(web):
    name = "ä%\n".encode()
    body = b"\0\0\0\0" + bytes([len(name) + 2]) + b"\x0a" + bytes([len(name)]) + name
    answer = web.post(f"{LEDGER}/GetObject", body)
    assert answer.headers["grpc-status"] == "3"
    assert "%C3%A4%25" in answer.headers["grpc-message"]


def test_message_that_ends_in_a_space_is_a_valid_header(web):
    mask = b"\x12\x02\x0a\x00"  # one empty path
    answer = web.post(f"{LEDGER}/BatchGetObjects", b"\0\0\0\0\x04" + mask)
    assert answer.headers["grpc-status"] == "3"
    assert answer.headers["grpc-message"] == "invalid read_mask path:%20"


@pytest.mark.parametrize(
    ("message", "sent"),
    [
        ("  a b ", "%20%20a b%20"),
        (" ", "%20"),
        ("x" * 5_000, "x" * 3_000),
        ("é" * 3_000, "%C3%A9" * 500),
        ("\n" * 1_001, "%0A" * 1_000),
    ],
)
def test_message_fits_into_a_header(web, message, sent):
    error = RpcError(Code.NOT_FOUND, message)
    assert dict(status_trailers(web.messages, error))["grpc-message"] == sent


def test_error_details_name_the_invalid_field(web):
    answer = web.post(f"{LEDGER}/GetObject", EMPTY)
    padded = answer.headers["grpc-status-details-bin"] + "=="
    status = web.messages.message("google.rpc.Status").FromString(b64decode(padded))
    assert (status.code, status.message) == (3, "missing object_id")
    (detail,) = status.details
    assert detail.type_url == "type.googleapis.com/google.rpc.BadRequest"
    # BadRequest.field_violations (1) with field (1), description (2) and reason (3)
    assert detail.value == (
        b"\x0a\x2d\x0a\x09object_id\x12\x11missing object_id\x1a\x0dFIELD_MISSING"
    )


def test_unknown_procedure_is_not_implemented(web):
    assert web.post("/no.Such/Procedure", EMPTY).headers["grpc-status"] == "12"


def test_compressed_message_is_refused(web):
    answer = web.post(INFO, b"\x01\0\0\0\0")
    assert answer.headers["grpc-status"] == "12"


@pytest.mark.parametrize(
    "body", [b"", b"\0\0\0", b"\0\0\0\0\x01", b"\x80\0\0\0\0", b"\x02\0\0\0\0"]
)
def test_malformed_frames_are_refused(web, body):
    assert web.post(INFO, body).headers["grpc-status"] == "3"


def test_stream_has_a_frame_for_each_message(web):
    found, status = web.call(f"{LEDGER}/ListCheckpoints")
    assert [item.checkpoint.sequence_number for item in found[:2]] == [0, 1]
    assert found[-1].HasField("end")
    assert status == {"grpc-status": "0"}


def test_stream_error_before_the_first_message_is_in_the_headers(web):
    found, headers = web.call(f"{LEDGER}/ListCheckpoints", read_mask={"paths": ["nonsense"]})
    assert found == []
    assert headers["grpc-status"] == "3"


def test_deadline_ends_a_stream_with_trailers(web):
    path = "/sui.rpc.v2.SubscriptionService/SubscribeCheckpoints"
    answer = web.post(path, EMPTY, grpc_timeout="200m")
    *frames, (flags, block) = web.frames(answer.content)
    assert frames
    assert flags == 0x80
    assert trailers(block)["grpc-status"] == "4"


@pytest.mark.parametrize("value", ["", "5", "5x", "-1S", "1000000000S"])
def test_invalid_deadline_is_refused(web, value):
    assert web.post(INFO, EMPTY, grpc_timeout=value).headers["grpc-status"] == "3"


# The unknown field 15, with a length that makes messages of 1000 and 1001 bytes.
@pytest.mark.parametrize(
    ("message", "status"),
    [(b"\x7a\xe5\x07" + bytes(997), "0"), (b"\x7a\xe6\x07" + bytes(998), "8")],
)
@pytest.mark.parametrize(("form", "encode"), [("application/grpc-web", bytes), (TEXT, b64encode)])
def test_message_may_be_as_large_as_the_limit(make_web, form, encode, message, status):
    with ThreadedLocalnet(limits=Limits(request_bytes=1000)) as localnet:
        frame = b"\0" + len(message).to_bytes(4, "big") + message
        answer = make_web(localnet.url).post(INFO, encode(frame), form)
    assert answer.headers.get("grpc-status", "0") == status
    assert answer.content.endswith(b"grpc-status:0\r\n") is (status == "0")


@given(form=FORMS, body=st.binary(max_size=64))
def test_any_bytes_are_messages_or_refused(form, body):
    with suppress(RpcError):
        found = asyncio.run(read_all(form, body, message_bytes=40))
        assert sum(5 + len(message) for message in found) == len(form.decode(body))
        assert all(len(message) <= 40 for message in found)


@given(form=FORMS, messages=st.lists(st.binary(max_size=20), max_size=4))
def test_encoded_frames_are_decoded_to_the_same_messages(form, messages):
    frames = (b"\0" + len(message).to_bytes(4, "big") + message for message in messages)
    body = b"".join(form.encode(frame) for frame in frames)
    assert asyncio.run(read_all(form, body, message_bytes=200)) == messages


async def read_all(form, body, message_bytes):
    sent = Body()
    sent.take(body)
    sent.end()
    request = GrpcRequest(form, sent, Limits(request_bytes=message_bytes))
    found = []
    while (message := await request.receive()) is not None:
        found.append(message)
    return found
