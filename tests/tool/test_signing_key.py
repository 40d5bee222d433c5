"""Keys in files, and lists of the keys that are known."""

import subprocess

import pytest

from nexus_tools.errors import NexusError
from nexus_tools.tool import (
    KnownKeys,
    KnownKeysFile,
    SigningKey,
    format_public_key,
    parse_public_key,
)

# RFC 8410, section 10.3, and the public half of section 10.1.
PEM = """-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC
-----END PRIVATE KEY-----
"""
PUBLIC = "19bf44096984cdfe8541bac167dc3b96c85086aa30b6b6cb0c5c38ad703166e1"
# RFC 7748, section 4.1: the base point's y is 4/5; 0 and 1 as y are points of small order.
BASE_POINT = "58" + "66" * 31


def code(call):
    with pytest.raises(NexusError) as refused:
        call()
    return refused.value.code


def test_key_is_read_and_written_in_the_format_of_rfc_8410(tmp_path):
    assert SigningKey.from_pem(PEM).public_key.hex() == PUBLIC
    assert SigningKey.from_pem(SigningKey.from_pem(PEM).to_pem()).public_key.hex() == PUBLIC


def test_key_file_is_private_and_not_overwritten(
    tmp_path,
):
    key, file = SigningKey.new(), tmp_path / "key.pem"
    key.save(file)
    assert file.stat().st_mode & 0o777 == 0o600
    assert code(lambda: SigningKey.new().save(file)) == "signing_key_exists"
    assert SigningKey.load(file).public_key == key.public_key


def test_openssl_reads_what_we_write(tmp_path):
    key = SigningKey.new()
    file = tmp_path / "key.pem"
    file.write_text(key.to_pem())
    shown = subprocess.run(
        ["openssl", "pkey", "-in", file, "-noout", "-text_pub"],
        check=True,
        capture_output=True,
        text=True,
    )
    hexadecimal = "".join(shown.stdout.split("pub:")[1].split()).replace(":", "")
    assert hexadecimal == key.public_key.hex()


def test_public_key_has_one_format():
    assert format_public_key(parse_public_key(f"ed25519:{BASE_POINT}")) == f"ed25519:{BASE_POINT}"
    for wrong in (BASE_POINT, f"ed25519:{BASE_POINT.upper()[:-1]}A", "ed25519:", "x" * 500):
        assert code(lambda text=wrong: parse_public_key(text)) == "public_key_invalid"


@pytest.mark.parametrize("point", ["01" + "00" * 31, "00" * 32, "ec" + "ff" * 30 + "7f"])
def test_small_order_point_is_not_a_key(point):
    assert code(lambda: parse_public_key(f"ed25519:{point}")) == "public_key_invalid"


def test_key_list_has_signers_with_any_number_of_keys():
    one, two = (format_public_key(SigningKey.new().public_key) for _ in range(2))
    known = KnownKeys.parse(f"# mine\n\n0xa {one}  # now\n0xa {two}\n0xb\n")
    assert {format_public_key(key) for key in known("0xa")} == {one, two}
    assert (known("0xb"), known("0xc")) == (frozenset(), None)


def test_invalid_key_list_error_names_the_line():
    with pytest.raises(NexusError) as refused:
        KnownKeys.parse("0xa\n0xb ed25519:zz\n")
    assert refused.value.code == "known_keys_invalid"
    assert "line 2" in refused.value.message


def test_key_list_file_is_reloaded_after_a_change(tmp_path, log_entries):
    file, now = tmp_path / "keys", [0.0]
    line = f"0xa {format_public_key(SigningKey.new().public_key)}\n"
    file.write_text(line)
    known = KnownKeysFile(file, now=lambda: now[0])
    assert len(known("0xa")) == 1
    file.write_text("0xb\n")
    assert known("0xa") is not None  # it is not looked at for each call
    now[0] = 1.0
    assert (known("0xa"), known("0xb")) == (None, frozenset())


@pytest.mark.parametrize("broken", ["0xa nonsense\n", None])
def test_invalid_list_keeps_previous_keys_and_is_logged(tmp_path, log_entries, broken):
    file, now = tmp_path / "keys", [0.0]
    file.write_text("0xa\n")
    known = KnownKeysFile(file, now=lambda: now[0])
    file.unlink() if broken is None else file.write_text(broken)
    now[0] = 1.0
    assert known("0xa") == frozenset()
    assert [entry["event"] for entry in log_entries] == ["known_keys_unreadable"]
    assert code(lambda: KnownKeysFile(file)) == "known_keys_invalid"


@pytest.fixture
def log_entries():
    import structlog

    with structlog.testing.capture_logs() as entries:
        yield entries
