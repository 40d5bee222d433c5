"""The rendered parts of a signature. The bytes are a fixture of MystenLabs/sui-rust-sdk."""

import base64

import pytest

from nexus_tools.sui.localnet.rpc.rendering.signature import render_signature
from nexus_tools.sui.rpc import load_messages

# Members of all five schemes, of which the passkey signed.
WITH_PASSKEY = (
    "AwEEjwIGJVgOZ6c6epL62GbPmblKtmdZopdktXGCH6uuLosdezbkHQAAAACDAXsidHlwZSI6IndlYmF1dGhuLmdldCIs"
    "ImNoYWxsZW5nZSI6InhLaEhoVFNaOE1SUzYwLS02TW4wa3gtb0ltUVlLNUYzRTJrc0JvYkZJNzgiLCJvcmlnaW4iOiJo"
    "dHRwczovL3d3dy5zdWkuaW8iLCJjcm9zc09yaWdpbiI6ZmFsc2V9YgI+nDmTYA+27lSJ8v5kFb9ILfO4BKaP1eshbrBR"
    "3NBA9FwXQVyETvHA3KCgzj3iqTTsMjJ+CbwsIf2wPWdu7wXCA+BVWNrj4Nb016Ck6u+K1UtLmlM2n6p+XplyRH6c6faL"
    "EAAFAA19qzWMja2qTvoASadbB0NlVbEKNoIZu2gPcFcTSdd1AQECDhfNWTnkaxlmQZaM11mRC6JXfif6c/3jh225vsW8"
    "6ysBAgNH+68j8DirxMMIonEReipM/67dvF/4HHUXvGx0p+20MAEDPBtodHRwczovL2lkLnR3aXRjaC50di9vYXV0aDIF"
    "bgL0iaLwntIYaep+3AX3A3dtHe0YYZDg2DKi6qjCAwEEA+BVWNrj4Nb016Ck6u+K1UtLmlM2n6p+XplyRH6c6faLAQEA"
)
SEED = 0x056E02F489A2F09ED21869EA7EDC05F703776D1DED186190E0D832A2EAA8C203


@pytest.fixture(scope="module")
def message():
    return load_messages().message("sui.rpc.v2.UserSignature")


def render(message, data, *parts):
    target = message()
    render_signature(target, data, dict.fromkeys(parts))
    return target


def test_multisig_is_rendered_with_members_of_every_scheme(message):
    multisig = render(message, base64.b64decode(WITH_PASSKEY), "scheme", "multisig").multisig
    members = multisig.committee.members
    assert [member.public_key.scheme for member in members] == [0, 1, 2, 5, 6]
    assert [len(member.public_key.public_key) for member in members] == [32, 33, 33, 0, 33]
    assert members[3].public_key.zklogin.iss == "https://id.twitch.tv/oauth2"
    assert members[3].public_key.zklogin.address_seed == str(SEED)
    (part,) = multisig.signatures
    assert part.scheme == 6
    assert part.passkey.client_data_json.startswith('{"type":"webauthn.get","challenge":"xKhHhTSZ8')
    assert part.passkey.signature.public_key == members[4].public_key.public_key


def test_unrequested_parts_are_not_rendered(message):
    whole = render(message, base64.b64decode(WITH_PASSKEY), "scheme")
    assert whole.scheme == 3
    assert whole.WhichOneof("signature") is None


def test_member_with_a_malformed_zklogin_key_is_rendered_without_it(message):
    # One signature of zeros by the first member, whose key is a thousand times 0xff.
    key = b"\3" + bytes([0xE8, 0x07]) + b"\xff" * 1000 + b"\1"
    data = b"\3\1\0" + bytes(64) + b"\1\0" + b"\1" + key + b"\1\0"
    (member,) = render(message, data, "multisig").multisig.committee.members
    assert member.public_key.scheme == 5
    assert not member.public_key.HasField("zklogin")
