"""zkLogin by a fixture of MystenLabs/sui-rust-sdk."""

import base64

import pytest

from nexus_tools.errors import NotAllowedError
from nexus_tools.sui.signature import SignatureScheme, UserSignature

GENUINE = (
    "BQNMNjI3Mzk5Mjk0NDI4MjY1NjI0MTY0MzI0OTk2NzU0NjQzNjQxNTY4MzUzODMzMDA3MzMwOTAzODI5NTA5MDAyMDQz"
    "NzAzMjczNDQxN00xMzkyNTEzMTkxNTM4Mzg0MzA5OTM4NTU1NTYyNjI3MjAzMjk2MTkyMzcyNjU4MDIyNjY5NzAxNTMx"
    "OTE5NzEzMjE4OTExODYwNTI1NwExAwJMNzcwNDAwNzYxNDEyMDI0NDQyODIwMzIzNDAzMjc3NDY4OTA4MTA3ODYzODg2"
    "OTMxNzI0MzU1MTI1MzAxMDcyNjMzODUxMDQzNjEyN0w0NzMzNjkxNTY2MDA4MTkxMjA0MDEyNzA1Nzk5MDYyMjc1OTYy"
    "NjQ3MzAxNTI0NTcwMjEyMzQzNzMyNzUxMTcxNDIyNjYzMTM1NzUyAkw5NjMyMTE2NTM3NDExNDcyOTgxNDY0MTQ3NjQw"
    "MzkzOTE3NDE4NDIwMjg3ODA5NTE4NjIxOTk5MzQyMjA2NzY4ODMyODQ3Njk1ODk2TDg0MzYyODcxNTAzMjEyMTY1NTA5"
    "MjE1NDg4ODQyMjYwMzgyNzMxOTQyMDI0NDA1NzQ3MjkwMzgxOTY0MDE0MDMwMjQzODQxMTM4OTgCATEBMANMNTE3MjE4"
    "NDIwNTQ4OTE0ODgzMTA1ODE4OTE0MjA2Mjc2NzU1MzcyMzEwOTM3MjIwOTg3MjQ0MDEzMDUxODQzNjM4NDE3NTEyNjUy"
    "NEw1MTUxNDMyMDY2MTM4NzQ3MjA5MTIwNjg3NTIyMjA4NTU0MDQxNTY0ODI3MDgwNzk3MDUwNzE2OTI3NzY5NjQzNDQ3"
    "NDIyMTIzMjcwATExd2lhWE56SWpvaWFIUjBjSE02THk5cFpDNTBkMmwwWTJndWRIWXZiMkYxZEdneUlpdwIyZXlKaGJH"
    "Y2lPaUpTVXpJMU5pSXNJblI1Y0NJNklrcFhWQ0lzSW10cFpDSTZJakVpZlFNMjA2ODc2NDI1MTc2MzA3MzMyNzM2ODc3"
    "OTU0NzYyNDc0Mzc3NDM4MzQ2MDExMDE1NjY2ODQ5Njc5Njc3MDU4MDk5ODUyNDEwNjU1MzkKAAAAAAAAAGEAZ9b+se0Q"
    "/RMmormy0PKkJCUjSNjK9RhR12cjlCfngqYRZMI2CgaOOEzAG68neNOQWPjB2ExS2Tg9OlE8nCh4CrnG7hYw7z5xEUSm"
    "SNsGu7IoT3J0z77lP/zuUDzBpJIA"
)


def test_genuine_signature_is_parsed_and_rejected_with_a_clear_message():
    signature = UserSignature.parse(base64.b64decode(GENUINE))
    assert signature.scheme is SignatureScheme.ZK_LOGIN
    assert signature.authenticator.max_epoch == 10
    for ask in (signature.address, lambda: signature.verify(b"a message")):
        with pytest.raises(NotAllowedError, match="zkLogin is not supported on this network"):
            ask()


@pytest.mark.parametrize("place", [1, 100, 500, -1])
def test_truncated_signature_is_malformed(place):
    with pytest.raises(NotAllowedError) as caught:
        UserSignature.parse(base64.b64decode(GENUINE)[:place])
    assert caught.value.code == "signature_malformed"
