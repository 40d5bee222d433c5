/// Slashing by the admin.
///
/// If a tool or a leader harms others, the admin can burn part of its collateral in two steps. The
/// admin can do this until the unregister delay is over. See `collateral`.
module nexus_tools::slashing;

use nexus_tools::admin::Admin;
use nexus_tools::leader::Leader;
use nexus_tools::leader_registry::LeaderRegistry;
use nexus_tools::tool::Tool;
use nexus_tools::tool_registry::ToolRegistry;
use std::string::String;
use sui::clock::Clock;

// === Public functions: tools ===

/// Propose to burn `amount_mist` of the collateral of a tool. Aborts with `owner::ENotOwner`, and
/// as `collateral::propose_slash` does.
public fun propose_for_tool(
    tool: &mut Tool,
    admin: &Admin,
    registry: &ToolRegistry,
    amount_mist: u64,
    reason: String,
    evidence_digest: vector<u8>,
    clock: &Clock,
    ctx: &TxContext,
) {
    registry.check_version();
    let (id, collateral) = tool.collateral_mut(admin, ctx);
    collateral.propose_slash(id, amount_mist, reason, evidence_digest, clock);
}

/// Execute the proposed slash of a tool. Aborts with `owner::ENotOwner`, and as
/// `collateral::execute_slash` does.
public fun execute_for_tool(
    tool: &mut Tool,
    admin: &Admin,
    registry: &ToolRegistry,
    clock: &Clock,
    ctx: &TxContext,
) {
    registry.check_version();
    let (id, collateral) = tool.collateral_mut(admin, ctx);
    collateral.execute_slash(id, clock);
}

/// Cancel the proposed slash of a tool. Aborts with `owner::ENotOwner` or
/// `collateral::ENoSlashPending`.
public fun cancel_for_tool(tool: &mut Tool, admin: &Admin, clock: &Clock, ctx: &TxContext) {
    let (id, collateral) = tool.collateral_mut(admin, ctx);
    collateral.cancel_slash(id, clock);
}

// === Public functions: leaders ===

/// Propose to burn `amount_mist` of the collateral of a leader. Aborts with `owner::ENotOwner`, and
/// as `collateral::propose_slash` does.
public fun propose_for_leader(
    leader: &mut Leader,
    admin: &Admin,
    registry: &LeaderRegistry,
    amount_mist: u64,
    reason: String,
    evidence_digest: vector<u8>,
    clock: &Clock,
    ctx: &TxContext,
) {
    registry.check_version();
    let (id, collateral) = leader.collateral_mut(admin, ctx);
    collateral.propose_slash(id, amount_mist, reason, evidence_digest, clock);
}

/// Execute the proposed slash of a leader. Aborts with `owner::ENotOwner`, and as
/// `collateral::execute_slash` does.
public fun execute_for_leader(
    leader: &mut Leader,
    admin: &Admin,
    registry: &LeaderRegistry,
    clock: &Clock,
    ctx: &TxContext,
) {
    registry.check_version();
    let (id, collateral) = leader.collateral_mut(admin, ctx);
    collateral.execute_slash(id, clock);
}

/// Cancel the proposed slash of a leader. Aborts with `owner::ENotOwner` or
/// `collateral::ENoSlashPending`.
public fun cancel_for_leader(leader: &mut Leader, admin: &Admin, clock: &Clock, ctx: &TxContext) {
    let (id, collateral) = leader.collateral_mut(admin, ctx);
    collateral.cancel_slash(id, clock);
}
