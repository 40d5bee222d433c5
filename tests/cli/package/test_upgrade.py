"""Upgrading the package while it is free. A test calls `release` to go on with a newer release."""

import pytest

from nexus_tools.contracts import load_package

MIST_PER_SUI = 1_000_000_000


@pytest.fixture
def admin(home, chain):
    """A user who has published the package of today, and can replace it at any moment."""
    home.configure(network="test", networks={"test": {"url": chain.url}})
    account, _ = home.wallet.new("admin")
    chain.fund(account.address, 50 * MIST_PER_SUI)
    home.json("package", "publish", "--free", "--yes")
    return home


@pytest.fixture
def colleague(admin, chain, new_home):
    """Another user, with SUI, who knows the same package."""
    user = new_home("colleague", admin)
    chain.fund(user.wallet.signer().address, 20 * MIST_PER_SUI)
    return user


def test_upgrade_migrates_registries_and_saves_the_new_package(admin, release):
    before = admin.json("package", "show")
    release()
    done = admin.json("package", "upgrade", "execute", "--yes")
    assert (done["dry_run"], done["package_version"]) == (False, 2)
    assert done["migration"]["events"] == ["RegistryMigrated", "RegistryMigrated"]
    assert done["migration"]["digest"] != done["digest"]
    after = admin.json("package", "show")
    assert after["package_id"] == done["package_id"] != before["package_id"]
    assert after["version"] > before["version"]
    kept = ("original_id", "tool_registry", "leader_registry", "admin", "upgrade_cap")
    assert [after[key] for key in kept] == [before[key] for key in kept]


def test_upgrade_reports_both_steps_and_the_cost(admin, release):
    release()
    result = admin.run("package", "upgrade", "execute", "--yes")
    assert result.code == 0
    assert "upgraded the package on test to version 2" in result.stderr
    assert "migrated the registries" in result.stderr
    assert "SUI" in result.stdout


def test_upgrade_asks_for_confirmation(admin, release):
    release()
    known = admin.settings
    result = admin.run("package", "upgrade", "execute", "--json")
    assert (result.code, result.error["code"]) == (2, "usage")
    assert "Upgrade the package on test to version 2 for" in result.error["message"]
    assert admin.settings == known


def test_dry_run_upgrades_nothing(admin, release):
    release()
    settings, balance = admin.settings, admin.json("wallet", "show")
    document = admin.json("package", "upgrade", "execute", "--dry-run")
    assert (document["dry_run"], document["digest"]) == (True, None)
    assert document["package_version"] == 2
    assert document["cost_mist"] > 0
    assert admin.settings == settings
    assert admin.json("wallet", "show") == balance


def test_upgrade_does_nothing_when_the_package_is_current(admin, colleague):
    balance = admin.json("wallet", "show")
    for user in (admin, colleague):
        document = user.json("package", "upgrade", "execute", "--yes")
        assert (document["digest"], document["cost_mist"], document["migration"]) == (None, 0, None)
        assert document["package_version"] == 1
    result = admin.run("package", "upgrade", "execute")
    assert result.code == 0
    assert "version 1 on test is up to date: nothing to do" in result.stderr
    assert admin.json("wallet", "show") == balance


def test_upgrade_requires_the_upgrade_cap(colleague, release):
    release()
    result = colleague.run("package", "upgrade", "execute", "--yes", "--json")
    assert (result.code, result.error["code"]) == (8, "cap_not_yours")
    assert "UpgradeCap" in result.error["message"]


def test_upgrade_rejects_unpublished_package(admin):
    admin.configure(network="test", networks=admin.settings["networks"])
    assert admin.fails("package", "upgrade", "execute", "--yes") == (3, "package_not_published")


def test_upgrade_completes_an_interrupted_migration(admin, release, monkeypatch):
    release()

    async def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("nexus_tools.contracts.Publisher.migrate", interrupted)
        assert admin.run("package", "upgrade", "execute", "--yes").code == 130
    rehearsed = admin.json("package", "upgrade", "execute", "--dry-run")
    assert (rehearsed["dry_run"], rehearsed["events"]) == (True, ["RegistryMigrated"] * 2)
    done = admin.json("package", "upgrade", "execute", "--yes")
    assert (done["package_version"], done["events"]) == (2, ["RegistryMigrated"] * 2)
    assert admin.json("package", "upgrade", "execute", "--yes")["digest"] is None


def test_older_release_does_not_undo_an_upgrade(admin, release):
    today = load_package()
    release()
    admin.json("package", "upgrade", "execute", "--yes")
    release(today)
    assert admin.fails("package", "upgrade", "execute", "--yes") == (4, "package_outdated")


def test_outdated_package_error_leads_to_the_new_version(
    admin, colleague, release, meta_file, definition
):
    release()
    upgraded = admin.json("package", "upgrade", "execute", "--yes")
    register = ("tool", "register", "--from-meta", meta_file(definition), "--yes")
    result = colleague.run(*register, "--json")
    assert (result.code, result.error["code"]) == (2, "wrong_version")
    assert "The package was upgraded" in result.error["message"]
    used = colleague.json("package", "use", upgraded["original_id"])
    assert used["package_id"] == upgraded["package_id"]
    assert colleague.json(*register)["tools"][0]["registered"]
