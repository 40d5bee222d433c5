"""Poseidon with the values of circomlib, of `fastcrypto` and of the framework's own tests."""

import hashlib
from itertools import chain

import pytest

from nexus_tools.sui.localnet.crypto import poseidon
from nexus_tools.sui.localnet.crypto.poseidon import poseidon_tree

# Hashes of the numbers from 1 on, by their count. The crate `light-poseidon` computed those of up
# to 12 numbers, and `fastcrypto` those of 15 and 16.
HASHES = {
    1: 0x29176100EAA962BDC1FE6C654D6A3C130E96A4D1168B33848B897DC502820133,
    2: 0x115CC0F5E7D690413DF64C6B9662E9CF2A3617F2743245519E19607A4417189A,
    3: 0x0E7732D89E6939C0FF03D5E58DAB6302F3230E269DC5B968F725DF34AB36D732,
    4: 0x299C867DB6C1FDD79DCEFA40E4510B9837E60EBB1CE0663DBAA525DF65250465,
    5: 0x0DAB9449E4A1398A15224C0B15A49D598B2174D305A316C918125F8FEEB123C0,
    6: 0x2D1A03850084442813C8EBF094DEA47538490A68B05F2239134A4CCA2F6302E1,
    7: 0x1C2F3482DBB140C4EBB9ADA49ABDBC374A9A85FCFC6533EC2E9DF45B4921C318,
    8: 0x2921AB9BD0140CBC98E40395C0FEFB40337A4D54FBBECD9A4D43B3D8D0C4D8D1,
    9: 0x1E0B893AA2AD802275E749D260330B7675B22BB3AAA4461D204AF32E60CD9078,
    10: 0x0816126A09C29ECFCC0628461DACFB9459816FC60D6738B78DB9AD07206FDC21,
    11: 0x07E5B070AA2DBA008F30A6B785B6C5AE2429E211F71CACDBDAE0E07FC05B47A8,
    12: 0x058814945232937DB248A01E7CC55B3D681CC08702C8168494E856C1EF7693B5,
    15: 4203130618016961831408770638653325366880478848856764494148034853759773445968,
    16: 9989051620750914585850546081941653841776809718687451684622678807385399211877,
}


@pytest.mark.parametrize("count", HASHES)
def test_numbers_from_1_on(count):
    assert poseidon.poseidon(range(1, count + 1)) == HASHES[count]


def test_parameters_of_all_widths_match_fastcrypto():
    tables = [poseidon.parameters(width) for width in range(2, 18)]
    constants = chain.from_iterable(chain.from_iterable(table.constants) for table in tables)
    matrices = chain.from_iterable(chain.from_iterable(table.matrix) for table in tables)
    # The 12 638 numbers of `constants.rs` of `fastcrypto-zkp`, in decimal, with commas.
    numbers = ",".join(map(str, chain(constants, matrices)))
    assert hashlib.sha256(numbers.encode()).hexdigest() == (
        "3c4cb7b780ba7f089dacd725302fd34ca6dcbcf65d71bc92f71674b56b202cdc"
    )


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        (30, 4123755143677678663754455867798672266093104048057302051129414708339780424023),
        (33, 15368023340287843142129781602124963668572853984788169144128906033251913623349),
    ],
)
def test_more_than_16_numbers_are_hashed_as_a_tree(count, expected):
    assert poseidon_tree(range(count)) == expected


def test_large_numbers():
    numbers = [
        134696963602902907403122104327765350261,
        17932473587154777519561053972421347139,
        10000,
        50683480294434968413708503290439057629605340925620961559740848568164438166,
    ]
    assert poseidon.poseidon(numbers) == (
        2272550810841985018139126931041192927190568084082399473943239080305281957330
    )
