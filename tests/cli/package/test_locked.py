"""Our package as it is published: locked. A test calls `release` to go on with a newer release."""

import json
import re
import signal

import pytest

from nexus_tools.contracts import load_package
from nexus_tools.contracts.upgrade_lock.move_bindings import upgrade_lock

MIST_PER_SUI = 1_000_000_000
DAY_MS = 86_400_000
SOURCES = "https://code.example.com/v2"
PROPOSE = ("package", "upgrade", "propose", "--sources", SOURCES)
EXECUTE = ("package", "upgrade", "execute")


@pytest.fixture
def admin(home, chain):
    """A user who has published the package of today."""
    home.configure(network="test", networks={"test": {"url": chain.url}})
    account, _ = home.wallet.new("admin")
    chain.fund(account.address, 50 * MIST_PER_SUI)
    home.json("package", "publish", "--yes")
    return home


@pytest.fixture
def colleague(admin, chain, new_home):
    """Another user, with SUI, who knows the same package."""
    user = new_home("colleague", admin)
    chain.fund(user.wallet.signer().address, 20 * MIST_PER_SUI)
    return user


def test_publish_locks_our_package_in_the_same_transaction(home, chain):
    home.configure(network="test", networks={"test": {"url": chain.url}})
    account, _ = home.wallet.new("admin")
    chain.fund(account.address, 50 * MIST_PER_SUI)
    rehearsed = home.json("package", "publish", "--dry-run")
    assert rehearsed["dry_run"] is True
    published = home.json("package", "publish", "--yes")
    locks, tools, workflows, registry = published["transactions"]
    assert locks["events"] == []
    assert tools["events"] == workflows["events"] == ["PackageLocked"]
    assert registry["events"] == ["PermitGranted", "DagRegistryCreated"]
    assert published["package_id"] in tools["effects"]["created"]
    assert published["workflows_id"] in workflows["effects"]["created"]
    assert published["dag_registry"] in registry["effects"]["created"]
    assert published["upgrade_cap"] is published["workflows_upgrade_cap"] is None
    # The next one on this network needs no other `upgrade_lock`.
    again = home.json("package", "publish", "--republish", "--yes")
    assert len(again["transactions"]) == 3


def test_locked_package_is_shown_as_locked(admin):
    document = admin.json("package", "show")
    address = str(admin.wallet.signer().address)
    assert (document["upgrades"], document["upgrades_owner"]) == ("locked", address)
    assert "locked" in admin.run("package", "show").stdout
    rows = {row["name"]: row["status"] for row in admin.json("doctor")["findings"]}
    assert rows["upgrades"] == "ok"


def test_free_package_is_shown_as_free_and_can_be_locked(home, chain):
    home.configure(network="test", networks={"test": {"url": chain.url}})
    account, _ = home.wallet.new("admin")
    chain.fund(account.address, 50 * MIST_PER_SUI)
    published = home.json("package", "publish", "--free", "--yes")
    package, cap = published["package_id"], published["upgrade_cap"]
    assert home.json("package", "show")["upgrades"] == "free"
    (row,) = [row for row in home.json("doctor")["findings"] if row["name"] == "upgrades"]
    assert (row["status"], row["remedy"]) == ("warning", "nexus-tools package lock")
    assert home.fails("package", "lock", package, "--yes") == (7, "upgrade_cap_invalid")
    rehearsed = home.json("package", "lock", "--dry-run")
    assert (rehearsed["dry_run"], rehearsed["upgrade_cap"]) == (True, cap)
    locked = home.json("package", "lock", "--yes")
    assert locked["events"] == ["PackageLocked"]
    assert locked["lock"] in locked["effects"]["created"]
    assert home.json("package", "show")["upgrades"] == "locked"
    assert home.fails("package", "lock", "--yes") == (4, "package_locked")


@pytest.mark.long
def test_proposed_upgrade_is_executed_by_anyone_after_the_notice(admin, colleague, chain, release):
    before = admin.json("package", "show")
    release()
    proposed = admin.json(*PROPOSE, "--yes")
    assert proposed["events"] == ["UpgradeProposed"]
    shown = colleague.json("package", "upgrade", "show")
    assert (shown["proposed_sources"], shown["is_what_ships"]) == (SOURCES, True)
    assert shown["executable_at_ms"] - shown["proposed_at_ms"] == 14 * DAY_MS
    assert shown["expires_at_ms"] - shown["executable_at_ms"] == 7 * DAY_MS
    assert colleague.fails(*EXECUTE, "--yes") == (4, "too_early")
    chain.advance_clock(14 * DAY_MS)
    executed = colleague.run(*EXECUTE, "--yes", "--json")
    assert executed.code == 0, executed.stderr
    assert (executed.document["package_version"], executed.document["migration"]) == (2, None)
    assert "the admin must run the same command to migrate the registries" in executed.stderr
    migrated = admin.json(*EXECUTE, "--yes")
    assert migrated["events"] == ["RegistryMigrated"] * 2
    after = admin.json("package", "show")
    assert after["package_id"] == executed.document["package_id"] != before["package_id"]
    assert "proposed_digest" not in after


def test_upgrade_show_prints_the_remaining_time(admin, release):
    release()
    said = admin.run(*PROPOSE, "--yes").stdout
    assert "proposed" in said
    shown = admin.run("package", "upgrade", "show").stdout
    assert re.search(r"executable .* UTC \(in (14 d|13 d 23 h)\)", shown)
    assert re.search(r"expires .* UTC \(in (21 d|20 d 23 h)\)", shown)
    (row,) = [row for row in admin.json("doctor")["findings"] if row["name"] == "upgrades"]
    assert (row["status"], row["remedy"]) == ("warning", "nexus-tools package upgrade show")
    assert re.search(r"from .* UTC \(in (14 d|13 d 23 h)\)", row["message"])


def test_owner_alone_cancels_a_proposal(admin, colleague, release):
    release()
    admin.json(*PROPOSE, "--yes")
    assert admin.fails(*PROPOSE, "--yes") == (4, "proposal_pending")
    cancel = ("package", "upgrade", "cancel", "--yes")
    assert colleague.fails(*cancel) == (8, "not_owner")
    assert admin.json(*cancel)["events"] == ["UpgradeCancelled"]
    assert admin.fails(*cancel) == (4, "no_proposal")


def test_show_reports_that_another_release_ships_other_modules(admin, colleague, chain, release):
    today = load_package()
    release()
    admin.json(*PROPOSE, "--yes")
    release(today)
    assert colleague.json("package", "upgrade", "show")["is_what_ships"] is False
    chain.advance_clock(14 * DAY_MS)
    document = colleague.json(*EXECUTE, "--yes")
    assert (document["digest"], document["package_version"]) == (None, 1)


def test_lock_is_offered_and_accepted(admin, colleague, release):
    release()
    address = str(colleague.wallet.signer().address)
    admin.json("package", "upgrade", "offer", address, "--yes")
    assert admin.json("package", "show")["upgrades_offered"] == address
    assert colleague.json("package", "upgrade", "accept", "--yes")["events"] == [
        "OwnershipAccepted"
    ]
    assert admin.fails(*PROPOSE, "--yes") == (8, "not_owner")
    assert colleague.json(*PROPOSE, "--yes")["events"] == ["UpgradeProposed"]


def test_immutable_package_is_never_upgraded(admin, release):
    release()
    asked = admin.run("package", "make-immutable", "--json")
    assert (asked.code, asked.error["code"]) == (2, "usage")
    done = admin.json("package", "make-immutable", "--yes")
    assert done["events"] == ["PackageMadeImmutable"]
    assert admin.json("package", "show")["upgrades"] == "immutable"
    assert admin.fails(*PROPOSE, "--yes") == (4, "immutable")


def test_use_finds_the_upgrade_lock_of_the_package(admin, home, new_home, chain):
    user = new_home("user", admin)
    user.configure(network="test", networks=admin.settings["networks"])
    assert user.fails("package", "upgrade", "show") == (3, "upgrade_lock_unknown")
    package = admin.json("package", "show")["package_id"]
    user.json("package", "use", package)
    assert user.settings["upgrade_locks"] == admin.settings["upgrade_locks"]
    assert user.json("package", "show")["upgrades"] == "locked"
    refused = user.fails("package", "use", package, "--upgrade-lock", package)
    assert refused == (8, "lock_not_genuine")


def test_watch_prints_a_proposal_at_once(admin, release, colleague):
    release()
    watching = colleague.daemon("watching", "package", "upgrade", "watch", "--json")
    digest = admin.json(*PROPOSE, "--yes")["proposed_digest"]
    line = json.loads(watching.process.stdout.readline())
    assert (line["event"], line["digest"], line["sources"]) == ("UpgradeProposed", digest, SOURCES)


@pytest.mark.long
def test_watch_continues_after_rollback(admin, release, colleague, chain):
    release()
    snapshot = chain.snapshot()
    watching = colleague.daemon("watching", "package", "upgrade", "watch", "--json")

    def seen(event):
        """Wait until the event is reported."""
        while json.loads(watching.process.stdout.readline())["event"] != event:
            pass

    admin.json(*PROPOSE, "--yes")
    seen("UpgradeProposed")
    admin.json("package", "upgrade", "cancel", "--yes")
    seen("UpgradeCancelled")
    chain.revert(snapshot)
    for number in range(3):  # others than before: what is the same went on
        sources = f"https://code.example.com/another{number}"
        admin.json("package", "upgrade", "propose", "--sources", sources, "--yes")
        admin.json("package", "upgrade", "cancel", "--yes")
    admin.json("package", "make-immutable", "--yes")
    seen("PackageMadeImmutable")
    assert "was rolled back" in watching.end(signal.SIGINT).stderr


# --- A user's own package

_SOURCE = "module own::own;\npublic fun number(): u64 {{ {} }}\n"


@pytest.fixture
def write_own_package(tmp_path):
    """Writes a package in a version, with one more module: its folder."""

    def own(number, more=""):
        folder = tmp_path / f"own{number}{'more' if more else ''}"
        (folder / "sources").mkdir(parents=True)
        manifest = '[package]\nname = "own"\nedition = "2024"\n\n[addresses]\nown = "0x0"\n'
        (folder / "Move.toml").write_text(manifest)
        (folder / "sources" / "own.move").write_text(_SOURCE.format(number))
        if more:
            (folder / "sources" / "more.move").write_text(more)
        return folder

    return own


@pytest.fixture
def compilers(admin, colleague, lend_compiler):
    """Both users have the Move compiler."""
    for user in (admin, colleague):
        lend_compiler(user.cache)


@pytest.fixture
def package(admin, write_own_package, compilers):
    """The first version, locked."""
    published = admin.json("package", "publish", write_own_package(1), "--lock", "--yes")
    assert published["events"] == ["PackageLocked"]
    return published["package_id"]


def test_user_package_is_locked_and_upgraded(admin, colleague, chain, write_own_package, package):
    second, third = map(write_own_package, (2, 3))
    propose = ("package", "upgrade", "propose", package, "--sources", SOURCES, "--yes")
    assert admin.fails(*propose) == (2, "folder_missing")
    admin.json(*propose, "--folder", second)
    show = ("package", "upgrade", "show", package)
    shown = colleague.json(*show, "--folder", second)
    assert (shown["folder_is_proposed"], shown["compatible"]) == (True, True)
    assert (shown["modules_changed"], shown["modules_added"]) == (["own"], [])
    assert colleague.fails(*show, "--folder", third) == (7, "sources_mismatch")
    chain.advance_clock(14 * DAY_MS)
    assert colleague.fails(*EXECUTE, package, "--folder", third, "--yes") == (7, "not_proposed")
    done = colleague.json(*EXECUTE, package, "--folder", second, "--yes")
    assert done["package_version"] == 2
    assert done["package_id"] != package


def test_show_warns_of_a_proposed_module_with_init(
    admin, colleague, write_own_package, package, monkeypatch
):
    async def unchecked(locks, package_id, upgraded, sources):
        return await locks._call(package_id, upgrade_lock.propose, upgraded.digest, sources)

    more = write_own_package(2, "module own::more;\nfun init(_: &mut TxContext) {}\n")
    propose = ("package", "upgrade", "propose", package, "--sources", SOURCES, "--yes")
    assert admin.fails(*propose, "--folder", more) == (7, "init_in_upgrade")
    show = ("package", "upgrade", "show", package, "--folder", more)
    assert colleague.fails(*show) == (4, "no_proposal")
    monkeypatch.setattr("nexus_tools.contracts.UpgradeLocks.propose", unchecked)
    admin.json(*propose, "--folder", more)
    shown = colleague.run(*show, "--json")
    assert shown.document["modules_added_with_init"] == ["more"]
    assert "runs with the rights of the account that executes the upgrade" in shown.stderr


def test_propose_rejects_upgrade_that_the_chain_rejects(admin, write_own_package, package):
    folder = write_own_package(2)
    source = folder / "sources" / "own.move"
    source.write_text(source.read_text().replace("u64", "u8"))
    propose = ("package", "upgrade", "propose", package, "--sources", SOURCES, "--yes")
    assert admin.fails(*propose, "--folder", folder) == (7, "upgrade_incompatible")
    source.write_text("module own::own;\npublic native fun number(): u64;\n")
    assert admin.fails(*propose, "--folder", folder) == (7, "module_refused")


@pytest.mark.parametrize("verb", [("upgrade", "show"), ("make-immutable", "--yes")])
def test_upgrade_rejects_id_that_is_not_a_package(admin, verb):
    nobody = f"0x{'ab' * 32}"
    assert admin.fails("package", *verb, nobody) == (3, "package_unknown")
    assert admin.fails("package", *verb, "0x6") == (3, "package_unknown")  # the clock
