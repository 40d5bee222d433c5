/// An on-chain tool for tests: it responds with the answer that was set before.
module scripted::scripted;

use nexus_tools::on_chain_call::Call;
use nexus_tools::value::{Self, Ports};
use sui::package;

public struct SCRIPTED has drop {}

public struct Answer has drop {}

public struct Script has key { id: UID, variant: vector<u8>, ports: Ports }

fun init(witness: SCRIPTED, ctx: &mut TxContext) {
    package::claim_and_keep(witness, ctx);
    let ports = value::empty_ports();
    transfer::share_object(Script { id: object::new(ctx), variant: b"ok", ports });
}

public fun set(script: &mut Script, variant: vector<u8>, ports: Ports) {
    script.variant = variant;
    script.ports = ports;
}

public fun answer(call: &mut Call, script: &Script) {
    call.finish(Answer {}, script.variant, script.ports);
}
