"""The verbs of the admin."""

import re

import pytest

DAY_MS = 86_400_000


@pytest.fixture
def leader(author):
    return author.json("leader", "register", "--inactive", "--yes")["leader"]


def show(user, fqn):
    return user.json("tool", "show", fqn)


@pytest.fixture
def evidence(tmp_path):
    file = tmp_path / "evidence.txt"
    file.write_bytes(b"abc")
    return str(file)


@pytest.fixture
def slash(evidence):
    def slash(user, verb, whose, *amount):
        why = ("--reason", "lied", "--evidence", evidence) if verb == "propose" else ()
        return user.json("admin", "slash", verb, whose, *amount, *why, "--yes")

    return slash


def test_slashed_tool_is_topped_up(publisher, author, registered_fqn, slash):
    document = slash(publisher, "propose", registered_fqn, "0.4")
    assert document["amount_mist"] == 400_000_000
    assert document["expires_at_ms"] - document["executable_at_ms"] == DAY_MS
    # FIPS 180-2, appendix B.1
    digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert document["evidence_sha256"] == digest
    shown = show(author, registered_fqn)
    assert (shown["state"], shown["pending_slash"]["evidence_sha256"]) == ("active", digest)
    assert "0.4 SUI from" in author.run("tool", "show", registered_fqn).stdout
    [row] = author.json("status")["tools"]
    assert row["pending_slash"]["executable_at_ms"] == document["executable_at_ms"]
    assert publisher.fails("admin", "slash", "execute", registered_fqn, "--yes") == (
        4,
        "slash_not_due",
    )
    publisher.json("localnet", "advance-clock", "3d")
    document = slash(publisher, "execute", registered_fqn)
    assert (document["amount_mist"], document["remaining_mist"]) == (400_000_000, 600_000_000)
    shown = show(author, registered_fqn)
    assert (shown["state"], shown["pending_slash"]) == ("suspended", None)
    lacking = f"0.4 SUI: `nexus-tools tool top-up {registered_fqn}`"
    shown = author.run("tool", "show", registered_fqn).stdout
    assert lacking in shown
    assert re.search(r"slashed for +lied\n", shown)
    said = (
        f"{registered_fqn} is suspended after a slash: 0.4 SUI of its required collateral is"
        " missing (reason: 'lied')"
    )
    remedy = f"nexus-tools tool top-up {registered_fqn}"
    assert f"! {said}. Run `{remedy}` to restore it\n" in author.run("status").stderr
    found = author.run("doctor", "--json").document["findings"]
    assert ("problem", said, remedy) in [
        (each["status"], each["message"], each["remedy"]) for each in found
    ]
    assert author.json("tool", "top-up", registered_fqn, "--yes")["amount_mist"] == 400_000_000


def test_slashed_leader_is_topped_up(publisher, author, leader, slash):
    slash(publisher, "propose", leader, "3")
    for [row] in (author.json("leader", "status"), author.json("status")["leaders"]):
        assert (row["state"], row["pending_slash"]["amount_mist"]) == ("inactive", 3_000_000_000)
    publisher.json("localnet", "advance-clock", "3d")
    slash(publisher, "execute", leader)
    [row] = author.json("leader", "status")
    assert (row["state"], row["collateral_mist"]) == ("suspended", 7_000_000_000)
    said = (
        "leader author is suspended after a slash: 3 SUI of its required collateral is missing"
        " (reason: 'lied')"
    )
    remedy = f"nexus-tools leader top-up --leader {leader}"
    for noun in (("leader", "status"), ("status",)):
        assert f"! {said}. Run `{remedy}` to restore it\n" in author.run(*noun).stderr
    assert f"{remedy} --wallet author" in author.run("doctor", "-w", "author").stdout
    assert author.fails("leader", "activate", "--yes") == (4, "collateral_inactive")
    assert author.json("leader", "top-up", "--yes")["amount_mist"] == 3_000_000_000
    [row] = author.json("leader", "status")
    assert (row["state"], row["collateral_mist"]) == ("inactive", 10_000_000_000)


def test_claim_reports_collateral_locked_for_a_slash(publisher, author, registered_fqn, slash):
    author.json("tool", "unregister", registered_fqn, "--yes")
    publisher.json("localnet", "advance-clock", "6d")
    slash(publisher, "propose", registered_fqn, "0.4")
    publisher.json("localnet", "advance-clock", "1d")
    result = author.run("tool", "claim", registered_fqn, "--yes")
    assert (
        f"claimed 0.6 SUI from {registered_fqn}. For a pending slash, 0.4 SUI stay locked"
        in result.stderr
    )
    slash(publisher, "cancel", registered_fqn)
    assert author.json("tool", "claim", registered_fqn, "--yes")["amount_mist"] == 400_000_000


def test_excessive_slash_error_names_the_maximum(publisher, author, registered_fqn, evidence):
    why = ("--reason", "lied", "--evidence", evidence, "--yes", "--json")
    result = publisher.run("admin", "slash", "propose", registered_fqn, "0.6", *why)
    assert (result.code, result.error["code"]) == (7, "slash_too_large")
    assert result.error["hint"] == "Slash at most 0.5 SUI."
    assert publisher.fails("admin", "slash", "propose", registered_fqn, "2", *why[:-1])[1] == (
        "invalid_slash_amount"
    )


def test_offer_rejects_the_current_admin(publisher):
    assert publisher.fails("admin", "offer", "admin", "--yes") == (2, "offer_to_owner")


def test_slash_requires_the_admin(author, registered_fqn, evidence):
    why = ("--reason", "envy", "--evidence", evidence, "--yes")
    code, _ = author.fails("admin", "slash", "propose", registered_fqn, "0.1", *why)
    assert code == 8


def test_accepting_setting_stops_and_resumes_registrations(publisher, author, registered_fqn):
    document = publisher.json("admin", "configure", "tools", "accepting=false", "--yes")
    assert document["accepting"] is False
    assert author.json("package", "show")["accepts_tools"] is False
    author.json("tool", "unregister", registered_fqn, "--yes")
    publisher.json("localnet", "advance-clock", "7d")
    author.json("tool", "claim", registered_fqn, "--yes")
    assert author.fails("tool", "re-register", registered_fqn, "--yes") == (4, "not_accepting")
    publisher.json("admin", "configure", "tools", "accepting=true", "--yes")
    author.json("tool", "re-register", registered_fqn, "--yes")


def test_settings_are_changed_one_by_one(publisher):
    for number in (6_000, 1_500):
        document = publisher.json(
            "admin", "configure", "tools", f"min_timeout_ms={number}", "--yes"
        )
        assert document["min_timeout_ms"] == number
        assert "ToolSettingsChanged" in document["events"]
    document = publisher.json("admin", "configure", "leaders", "grace_ms=15000", "--dry-run")
    assert "LeaderSettingsChanged" in document["events"]


@pytest.mark.parametrize(
    "change", ["colateral_mist=1", "collateral_mist", "collateral_mist=-1", "accepting=1"]
)
def test_configure_rejects_unknown_setting(publisher, change):
    result = publisher.run("admin", "configure", "tools", change, "--yes", "--json")
    assert (result.code, result.error["code"]) == (2, "setting_unknown")
    assert "collateral_mist" in result.error["hint"]


def test_show_prints_settings_and_invocation_cost(publisher, author):
    document = author.json("admin", "show")
    assert document["owner"] == publisher.json("wallet", "show")["address"]
    assert document["pending_owner"] is None
    assert document["tools"]["collateral_mist"] == 1_000_000_000
    # A failure costs 1 000 units at 1 000 MIST, 520 000 of storage, and 100 bytes of inputs at 100.
    # Settling adds the margin of 2 000 000, and 1 000 bytes of outcome at 7 600.
    assert document["cost"]["failed_mist"] == 1_530_000
    assert document["cost"]["settled_mist"] == 11_130_000
    shown = author.run("admin", "show")
    assert "0.01113 SUI" in shown.stderr
    assert re.search(r"^  collateral +1 SUI$", shown.stdout, re.MULTILINE)
    assert "mist" not in shown.stdout


def test_configure_reports_new_invocation_cost_before_the_change(publisher):
    result = publisher.run("admin", "configure", "leaders", "fee_gas_units=2000", "--dry-run")
    assert "Today: at a gas price" in result.stderr
    assert "costs 0.00153 SUI" in result.stderr
    assert "costs 0.00253 SUI" in result.stderr


def test_slash_finds_leader_by_name(publisher, author, evidence):
    author.json("leader", "register", "--name", "only one", "--yes")
    why = ("--reason", "lied", "--evidence", evidence, "--yes")
    publisher.json("admin", "slash", "propose", "only one", "1", *why)
    [row] = author.json("leader", "status")
    assert row["pending_slash"]["amount_mist"] == 1_000_000_000
    refused = publisher.run("admin", "slash", "propose", "nobody", "1", *why, "--json")
    assert (refused.code, refused.error["code"]) == (3, "leader_unknown")


def test_administration_is_offered_and_accepted(publisher, stranger):
    address = str(stranger.wallet.signer().address)
    assert stranger.fails("admin", "accept", "--yes")[0] == 8
    assert stranger.fails("admin", "offer", f"0x{0xABC:064x}", "--yes") == (8, "not_admin")
    assert publisher.json("admin", "offer", address, "--yes")["pending_owner"] == address
    offers = stranger.json("status")["offers"]
    assert [(one["kind"], one["accept"]) for one in offers] == [
        ("administration", "nexus-tools admin accept")
    ]
    assert stranger.json("admin", "accept", "--yes")["owner"] == address
    assert stranger.json("status")["offers"] == []
    assert publisher.fails("admin", "configure", "tools", "accepting=true", "--yes") == (
        8,
        "not_admin",
    )
    back = publisher.json("wallet", "show")["address"]
    stranger.json("admin", "offer", back, "--yes")
    publisher.json("admin", "accept", "--yes")


def test_offer_of_the_administration_can_be_cancelled(publisher, stranger):
    publisher.json("admin", "offer", stranger.wallet.signer().address, "--yes")
    assert publisher.json("admin", "offer", "--cancel", "--yes")["pending_owner"] is None
    assert stranger.fails("admin", "accept", "--yes") == (8, "not_offered")
    assert publisher.fails("admin", "offer", "--yes") == (2, "offer_recipient_missing")
