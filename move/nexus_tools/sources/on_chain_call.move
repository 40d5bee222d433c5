/// A call of an on-chain tool, which first holds the inputs and then also the answer.
///
/// One transaction opens a call, passes it to the tool's function, and closes the invocation with
/// the call:
///
///     let mut call = on_chain_call::open(invocation, tool);
///     mint::mint(&mut call, collection);    // reads its ports, and calls `finish`
///     call.close(invocation, leader, clock, ctx);
///
/// A `Call` must be consumed by closing the invocation, and only the tool's own module can finish
/// it. So if the function is executed, its answer settles the invocation exactly once. Otherwise
/// the whole transaction fails.
module nexus_tools::on_chain_call;

use nexus_tools::invocation::Invocation;
use nexus_tools::json;
use nexus_tools::leader::Leader;
use nexus_tools::tool::Tool;
use nexus_tools::value::{Ports, Value};
use std::ascii;
use std::string::String;
use std::type_name::{Self, TypeName};
use sui::clock::Clock;

// === Errors ===

/// The tool is not the tool of the invocation.
const EWrongTool: u64 = 0;
/// The tool is not a Move function.
const ENotOnChain: u64 = 1;
/// The invocation is an attempt of a run: open it with `nexus_workflows::inputs`.
const EIsAttempt: u64 = 2;
/// The type of the witness is not the type of the tool's witness.
const EWrongWitness: u64 = 3;
/// The call already has an answer.
const EAlreadyFinished: u64 = 4;
/// The function has not finished the call.
const ENotFinished: u64 = 5;
/// The call belongs to another invocation.
const EWrongInvocation: u64 = 6;
/// The invocation is already closed: settled, failed or expired.
const EAlreadyClosed: u64 = 7;

// === Structs ===

/// A call that was opened and is not yet consumed.
public struct Call {
    invocation: ID,
    requester: address,
    requested_at_ms: u64,
    expires_at_ms: u64,
    witness: TypeName,
    inputs: Ports,
    /// The bytes that were read for the inputs of an attempt.
    read_bytes: u64,
    answer: Option<Answer>,
}

/// The answer of the tool.
public struct Answer has drop {
    variant: ascii::String,
    ports: Ports,
}

// === Public functions: leaders ===

/// Open an invocation. Aborts with `EIsAttempt`, `EAlreadyClosed`, `EWrongTool` or `ENotOnChain`.
public fun open(invocation: &Invocation, tool: &Tool): Call {
    assert!(invocation.attempt().is_none(), EIsAttempt);
    new(invocation, *invocation.inputs(), 0, tool)
}

/// Open an attempt with inputs for which the execution read `read_bytes`.
///
/// The `UID` proves which execution is the caller. Aborts with `invocation::EWrongExecution`,
/// `EAlreadyClosed`, `EWrongTool` or `ENotOnChain`.
public fun open_attempt(
    invocation: &Invocation,
    execution: &UID,
    inputs: Ports,
    read_bytes: u64,
    tool: &Tool,
): Call {
    invocation.check_execution(execution);
    new(invocation, inputs, read_bytes, tool)
}

/// Settle the invocation with the answer, and pay the tool and the sender.
///
/// The sender must be a worker of the leader. Aborts with `EWrongInvocation`, `ENotFinished`,
/// `invocation::EAlreadyClosed`, and as `invocation::settle` does.
public fun close(
    self: Call,
    invocation: &mut Invocation,
    leader: &Leader,
    clock: &Clock,
    ctx: &TxContext,
) {
    let read_bytes = self.read_bytes;
    let Answer { variant, ports } = self.into_answer(invocation);
    invocation.settle_call(leader, variant, ports, read_bytes, clock, ctx);
}

/// Settle an invocation that anyone may settle, and pay the tool and the sender. Aborts with
/// `EWrongInvocation`, `ENotFinished`, `invocation::ELeadersOnly`, `invocation::EAlreadyClosed` or
/// `invocation::EOutcomeTooLarge`.
public fun close_by_anyone(
    self: Call,
    invocation: &mut Invocation,
    clock: &Clock,
    ctx: &TxContext,
) {
    let read_bytes = self.read_bytes;
    let Answer { variant, ports } = self.into_answer(invocation);
    invocation.settle_call_by_anyone(variant, ports, read_bytes, clock, ctx);
}

// === Public functions: tools ===

/// Finish the call with the tool's answer. Aborts with `EWrongWitness` or `EAlreadyFinished`.
public fun finish<W: drop>(self: &mut Call, _: W, variant: vector<u8>, ports: Ports) {
    assert!(type_name::with_original_ids<W>() == self.witness, EWrongWitness);
    assert!(self.answer.is_none(), EAlreadyFinished);
    self.answer.fill(Answer { variant: variant.to_ascii_string(), ports });
}

// === Views ===

/// Return the ID of the invocation.
public fun invocation(self: &Call): ID { self.invocation }

/// Return the account that requested the invocation, or that started its execution.
public fun requester(self: &Call): address { self.requester }

/// Return the time of the request, in ms.
public fun requested_at_ms(self: &Call): u64 { self.requested_at_ms }

/// Return the time until which the invocation can be closed, in ms.
public fun expires_at_ms(self: &Call): u64 { self.expires_at_ms }

/// Return whether the inputs have a port with this name.
public fun has(self: &Call, name: vector<u8>): bool { self.inputs.has(&name.to_ascii_string()) }

/// Return the value of a port. Aborts with `value::EUnknownPort`.
public fun get(self: &Call, name: vector<u8>): Value { self.inputs.port(&name.to_ascii_string()) }

/// Return the number of elements of the list at a port. Aborts with `value::EUnknownPort` or
/// `value::ENotAList`.
public fun length(self: &Call, name: vector<u8>): u64 { self.get(name).length() }

/// Return the number at a port. Aborts with `value::EUnknownPort`, and as `json::read_u64` does.
public fun get_u64(self: &Call, name: vector<u8>): u64 { json::read_u64(&self.get(name).json()) }

/// Return the string at a port. Aborts with `value::EUnknownPort`, and as `json::read_string` does.
public fun get_string(self: &Call, name: vector<u8>): String {
    json::read_string(&self.get(name).json())
}

/// Return the boolean at a port. Aborts with `value::EUnknownPort`, and as `json::read_bool` does.
public fun get_bool(self: &Call, name: vector<u8>): bool { json::read_bool(&self.get(name).json()) }

/// Return the address at a port. Aborts with `value::EUnknownPort`, and as `json::read_address`
/// does.
public fun get_address(self: &Call, name: vector<u8>): address {
    json::read_address(&self.get(name).json())
}

/// Return the list of numbers at a port. Aborts with `value::EUnknownPort` or `value::ENotAList`,
/// and as `json::read_u64` does.
public fun get_u64s(self: &Call, name: vector<u8>): vector<u64> {
    self.get(name).elements().map_ref!(|element| json::read_u64(element))
}

/// Return the list of strings at a port. Aborts with `value::EUnknownPort` or `value::ENotAList`,
/// and as `json::read_string` does.
public fun get_strings(self: &Call, name: vector<u8>): vector<String> {
    self.get(name).elements().map_ref!(|element| json::read_string(element))
}

/// Return the list of addresses at a port. Aborts with `value::EUnknownPort` or `value::ENotAList`,
/// and as `json::read_address` does.
public fun get_addresses(self: &Call, name: vector<u8>): vector<address> {
    self.get(name).elements().map_ref!(|element| json::read_address(element))
}

// === Private functions ===

/// Return a new call. The function checks for a closed invocation before the tool's function is
/// called, because the tool's function may need a hundred times as much gas.
fun new(invocation: &Invocation, inputs: Ports, read_bytes: u64, tool: &Tool): Call {
    assert!(!invocation.is_closed(), EAlreadyClosed);
    assert!(object::id(tool) == invocation.tool(), EWrongTool);
    let function = tool.definition().function();
    assert!(function.is_some(), ENotOnChain);
    Call {
        invocation: object::id(invocation),
        requester: invocation.requester(),
        requested_at_ms: invocation.requested_at_ms(),
        expires_at_ms: invocation.expires_at_ms(),
        witness: function.borrow().witness(),
        inputs,
        read_bytes,
        answer: option::none(),
    }
}

/// Return the answer of a finished call. Aborts with `EWrongInvocation` or `ENotFinished`.
fun into_answer(self: Call, of: &Invocation): Answer {
    let Call { invocation, answer, .. } = self;
    assert!(invocation == object::id(of), EWrongInvocation);
    assert!(answer.is_some(), ENotFinished);
    answer.destroy_some()
}
