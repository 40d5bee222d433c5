module sui::authenticator_state;

public native fun create_active_jwk(
    iss: std::string::String,
    kid: std::string::String,
    kty: std::string::String,
    epoch: u64,
): sui::authenticator_state::ActiveJwk;
public native fun create_for_testing(ctx: &TxContext);
public native fun update_authenticator_state_for_testing(
    state: &mut sui::authenticator_state::AuthenticatorState,
    jwks: vector<sui::authenticator_state::ActiveJwk>,
    ctx: &TxContext,
);
public native fun expire_jwks_for_testing(
    state: &mut sui::authenticator_state::AuthenticatorState,
    min_epoch: u64,
    ctx: &TxContext,
);
public native fun get_active_jwks_for_testing(
    state: &sui::authenticator_state::AuthenticatorState,
    ctx: &TxContext,
): vector<sui::authenticator_state::ActiveJwk>;
