module sui::ecdsa_k1;

public struct KeyPair has drop { private_key: vector<u8>, public_key: vector<u8> }

public fun private_key(self: &KeyPair): &vector<u8> { &self.private_key }
public fun public_key(self: &KeyPair): &vector<u8> { &self.public_key }

public native fun secp256k1_sign(
    private_key: &vector<u8>,
    msg: &vector<u8>,
    hash: u8,
    recoverable: bool,
): vector<u8>;
public native fun secp256k1_keypair_from_seed(seed: &vector<u8>): KeyPair;
