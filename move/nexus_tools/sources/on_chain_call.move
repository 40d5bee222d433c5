/// A call of an on-chain tool: its inputs on the way in, its answer on the way out.
///
/// One transaction opens it, gives it to the tool's function, and closes the invocation with it:
///
///     let mut call = on_chain_call::open(invocation, tool);
///     mint::mint(&mut call, collection);    // reads its ports, and finishes
///     call.close(invocation, leader, clock, ctx);
///
/// Nothing but `close` consumes a `Call`, and nothing but the tool's own module finishes it: so if
/// the function did anything, the invocation is settled with its answer, once; or the whole
/// transaction has not happened.
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

/// This is another tool than that of the invocation.
const EWrongTool: u64 = 0;
/// The tool is no Move function.
const ENotOnChain: u64 = 1;
/// The invocation is an attempt to carry a run: `nexus_workflows::inputs` opens it.
const EIsAttempt: u64 = 2;
/// The witness is of another type than that of the tool: it is not the tool that answers.
const EWrongWitness: u64 = 3;
/// The call has its answer already.
const EFinished: u64 = 4;
/// The function has not finished the call.
const ENotFinished: u64 = 5;
/// The call is of another invocation.
const EWrongInvocation: u64 = 6;
/// The invocation is closed already: settled, failed or expired.
const EClosed: u64 = 7;

// === Structs ===

/// A call that is under way.
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

/// What the tool came to.
public struct Answer has drop {
    variant: ascii::String,
    ports: Ports,
}

// === Public functions: leaders ===

/// Opens an invocation. Aborts with `EIsAttempt`, `EClosed`, `EWrongTool` or `ENotOnChain`.
public fun open(invocation: &Invocation, tool: &Tool): Call {
    assert!(invocation.attempt().is_none(), EIsAttempt);
    new(invocation, *invocation.inputs(), 0, tool)
}

/// Opens an attempt, which its execution shows to be its own: it says what its inputs are, and how
/// many bytes were read for them. Aborts with `invocation::EWrongExecution`, `EClosed`,
/// `EWrongTool` or `ENotOnChain`.
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

/// Settles the invocation with the answer, and pays the tool and the sender, who is a worker of the
/// leader. Aborts with `EWrongInvocation`, `ENotFinished`, `invocation::EClosed`, and as
/// `invocation::settle` does.
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

/// Settles an invocation that anyone may settle; the sender is paid. Aborts with
/// `EWrongInvocation`, `ENotFinished`, `invocation::ENotForAnyone`, `invocation::EClosed` or
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

/// Finishes the call with the tool's answer. Aborts with `EWrongWitness` or `EFinished`.
public fun finish<W: drop>(self: &mut Call, _: W, variant: vector<u8>, ports: Ports) {
    assert!(type_name::with_original_ids<W>() == self.witness, EWrongWitness);
    assert!(self.answer.is_none(), EFinished);
    self.answer.fill(Answer { variant: variant.to_ascii_string(), ports });
}

// === Views ===

/// The invocation.
public fun invocation(self: &Call): ID { self.invocation }

/// Who requested it; of an execution, who began that.
public fun requester(self: &Call): address { self.requester }

/// When it was requested.
public fun requested_at_ms(self: &Call): u64 { self.requested_at_ms }

/// Until when it can be closed.
public fun expires_at_ms(self: &Call): u64 { self.expires_at_ms }

/// Whether there is a port of this name.
public fun has(self: &Call, name: vector<u8>): bool { self.inputs.has(&name.to_ascii_string()) }

/// A port as it is. Aborts with `value::EUnknownPort`.
public fun get(self: &Call, name: vector<u8>): Value { self.inputs.port(&name.to_ascii_string()) }

/// How many elements a port has that is a list. Aborts with `value::EUnknownPort` or
/// `value::ENotAList`.
public fun length(self: &Call, name: vector<u8>): u64 { self.get(name).length() }

/// A number, as `json::read_u64` does.
public fun get_u64(self: &Call, name: vector<u8>): u64 { json::read_u64(&self.get(name).json()) }

/// A text, as `json::read_string` does.
public fun get_string(self: &Call, name: vector<u8>): String {
    json::read_string(&self.get(name).json())
}

/// True or false, as `json::read_bool` does.
public fun get_bool(self: &Call, name: vector<u8>): bool { json::read_bool(&self.get(name).json()) }

/// An address, as `json::read_address` does.
public fun get_address(self: &Call, name: vector<u8>): address {
    json::read_address(&self.get(name).json())
}

/// A list of numbers.
public fun get_u64s(self: &Call, name: vector<u8>): vector<u64> {
    self.get(name).elements().map_ref!(|each| json::read_u64(each))
}

/// A list of texts.
public fun get_strings(self: &Call, name: vector<u8>): vector<String> {
    self.get(name).elements().map_ref!(|each| json::read_string(each))
}

/// A list of addresses.
public fun get_addresses(self: &Call, name: vector<u8>): vector<address> {
    self.get(name).elements().map_ref!(|each| json::read_address(each))
}

// === Private functions ===

/// A lost race is known before the function is called: its gas can be a hundred times as much.
fun new(invocation: &Invocation, inputs: Ports, read_bytes: u64, tool: &Tool): Call {
    assert!(!invocation.is_closed(), EClosed);
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

fun into_answer(self: Call, of: &Invocation): Answer {
    let Call { invocation, answer, .. } = self;
    assert!(invocation == object::id(of), EWrongInvocation);
    assert!(answer.is_some(), ENotFinished);
    answer.destroy_some()
}
