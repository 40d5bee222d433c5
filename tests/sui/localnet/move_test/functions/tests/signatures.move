/// Keys and signatures of `sui::ecdsa_k1` that exist in tests alone.
#[test_only]
module functions::signatures;

use sui::ecdsa_k1;

/// The private key 1, whose public key is the generator of the curve (SEC 2, section 2.4.1).
const ONE: vector<u8> = x"0000000000000000000000000000000000000000000000000000000000000001";
const GENERATOR: vector<u8> =
    x"0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798";

#[test]
fun sign_returns_the_deterministic_signature() {
    // A widely used vector of RFC 6979 for secp256k1 with SHA-256.
    let signature = ecdsa_k1::secp256k1_sign(&ONE, &b"Satoshi Nakamoto", 1, false);
    assert!(
        signature ==
        x"934b1ea10a4b3c1757e2b0c017d0b6143ce3c9a7e6a4a49860d7a6ab210ee3d82442ce9d2b916064108014783e923ec36b49743e2ffa1c4496f01a512aafd9e5",
    );
    assert!(ecdsa_k1::secp256k1_verify(&signature, &GENERATOR, &b"Satoshi Nakamoto", 1));
}

#[test]
fun sign_returns_the_recovery_id_when_recoverable() {
    2u8.do!(|hash| {
        let signature = ecdsa_k1::secp256k1_sign(&ONE, &b"message", hash, true);
        assert!(signature.length() == 65);
        assert!(ecdsa_k1::secp256k1_ecrecover(&signature, &b"message", hash) == GENERATOR);
    });
}

#[test]
fun keypair_from_seed_takes_the_first_bytes_of_chacha12() {
    // draft-strombergson-chacha-test-vectors-01, TC1 with 256 bits and 12 rounds.
    let seed = x"0000000000000000000000000000000000000000000000000000000000000000";
    let pair = ecdsa_k1::secp256k1_keypair_from_seed(&seed);
    assert!(
        pair.private_key() ==
        x"9bf49a6a0755f953811fce125f2683d50429c3bb49e074147e0089a52eae155f",
    );
    let signature = ecdsa_k1::secp256k1_sign(pair.private_key(), &b"message", 0, false);
    assert!(ecdsa_k1::secp256k1_verify(&signature, pair.public_key(), &b"message", 0));
}

#[test, expected_failure(abort_code = ecdsa_k1::EInvalidSeed)]
fun keypair_from_seed_aborts_when_the_seed_is_short() {
    ecdsa_k1::secp256k1_keypair_from_seed(&b"short");
}

#[test, expected_failure(abort_code = ecdsa_k1::EInvalidPrivKey)]
fun sign_aborts_when_the_private_key_is_zero() {
    let zero = x"0000000000000000000000000000000000000000000000000000000000000000";
    ecdsa_k1::secp256k1_sign(&zero, &b"message", 0, false);
}

#[test, expected_failure(abort_code = ecdsa_k1::EInvalidHashFunction)]
fun sign_aborts_when_the_hash_function_is_unknown() {
    ecdsa_k1::secp256k1_sign(&ONE, &b"message", 2, false);
}
