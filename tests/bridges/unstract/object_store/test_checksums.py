"""Check values of the catalogue of parametrised CRC algorithms, for the digits 1 to 9."""

import base64

import pytest

from nexus_tools.bridges.unstract.object_store.checksums import ALGORITHMS, DeclaredChecksums
from nexus_tools.bridges.unstract.object_store.fault import FaultError


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("x-amz-checksum-crc32", "cbf43926"),
        ("x-amz-checksum-crc32c", "e3069283"),
        ("x-amz-checksum-crc64nvme", "ae8b14860a799888"),
    ],
)
def test_the_check_value_of_each_crc(name, expected):
    checksum = ALGORITHMS[name]()
    checksum.update(b"1234")
    checksum.update(b"56789")
    assert checksum.digest().hex() == expected


def test_a_declared_checksum_of_something_else_is_refused():
    declared = base64.b64encode(bytes.fromhex("cbf43926")).decode()
    checksums = DeclaredChecksums({"x-amz-checksum-crc32": declared})
    checksums.update(b"12345678")
    with pytest.raises(FaultError) as caught:
        checksums.check({})
    assert caught.value.code == "BadDigest"


def test_an_announced_checksum_must_come():
    checksums = DeclaredChecksums({"x-amz-trailer": "x-amz-checksum-crc32"})
    with pytest.raises(FaultError, match="the trailer announced"):
        checksums.check({})


def test_an_unknown_checksum_is_not_passed_over():
    with pytest.raises(FaultError) as caught:
        DeclaredChecksums({"x-amz-checksum-xxhash3": "AAAA"})
    assert caught.value.code == "NotImplemented"
