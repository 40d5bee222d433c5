"""The fixtures for users, as pytest runs them in projects of their own."""

import importlib.metadata
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from textwrap import dedent

import pytest

from nexus_tools.sui.localnet import ThreadedLocalnet
from nexus_tools.sui.localnet.framework import embedded_release, write_release

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "testing"
NAME = "nexus_tools"
PLUGIN = "nexus_tools.testing.plugin"

BOB = """
from nexus_tools.sui.types.address import Address
BOB = Address.of(0xB0B)
"""


@pytest.fixture
def run(pytester, monkeypatch):
    """Runs pytest in a project that has the plugin."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT), prepend=os.pathsep)
    found = importlib.metadata.entry_points(group="pytest11", name=NAME)
    named = () if found else ("-p", PLUGIN)

    def run(*arguments, asyncio=("-p", "no:asyncio")):
        options = (*named, *asyncio, "-Werror", "-rs")
        return pytester.runpytest_subprocess(*options, *arguments, timeout=100)

    return run


@pytest.fixture
def project(pytester):
    """Makes a project with these tests."""
    return lambda text: pytester.makepyfile(BOB + dedent(text))


# --- Being there, and not being in the way


def test_pytest_finds_the_plugin_when_nexus_tools_is_installed():
    document = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert document["project"]["entry-points"]["pytest11"] == {NAME: PLUGIN}


def test_plugin_imports_nothing_of_the_network_until_it_is_used():
    program = (
        "import pytest, sys; before = set(sys.modules); import nexus_tools.testing.plugin;"
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    imported = [name for name in done.stdout.split() if name.startswith("nexus_tools")]
    assert imported == [
        "nexus_tools",
        "nexus_tools.settings",
        "nexus_tools.settings.directories",
        "nexus_tools.sui",
        "nexus_tools.sui.errors",
        "nexus_tools.sui.support",
        "nexus_tools.sui.support.units",
        "nexus_tools.testing",
        "nexus_tools.testing.fixtures",
        "nexus_tools.testing.plugin",
        "nexus_tools.testing.session",
    ]


def test_command_tool_validate_does_not_need_pytest():
    program = "import nexus_tools.testing.move_project, sys; print('pytest' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"


@pytest.mark.long
def test_localnet_starts_with_the_first_test_that_uses_it(run, project):
    project("""
        import sys

        def test_without():
            assert "nexus_tools.sui.localnet.localnet" not in sys.modules

        def test_with(localnet):
            assert localnet.is_own
    """)
    run().assert_outcomes(passed=2)


@pytest.mark.long
def test_project_fixture_overrides_the_plugin_fixture(run, project):
    project("""
        import pytest

        @pytest.fixture
        def wallet():
            return "mine"

        def test_it(wallet):
            assert wallet == "mine"
    """)
    run().assert_outcomes(passed=1)


# --- Fresh states


@pytest.mark.long
def test_state_is_reverted_for_each_test_even_after_a_failure(run, project):
    project("""
        import pytest

        URLS = set()

        def balance(localnet, sui_client):
            URLS.add(localnet.url)
            return localnet.run(sui_client.balance(BOB))

        @pytest.mark.parametrize("fails", [True, False, True])
        def test_balance_is_zero_at_the_start(localnet, sui_client, fails):
            assert balance(localnet, sui_client) == 0
            localnet.fund(BOB, 5, 6)
            assert balance(localnet, sui_client) == 11
            assert not fails

        def test_one_network_was_used():
            assert len(URLS) == 1
    """)
    run().assert_outcomes(passed=2, failed=2)


@pytest.mark.long
def test_clock_is_reverted_with_the_state(run, project):
    project("""
        import time
        import pytest

        DAY_MS = 86_400_000

        @pytest.mark.parametrize("day", range(2))
        def test_clock_is_current(localnet, sui_client, day):
            assert localnet.run(sui_client.now_ms()) < time.time() * 1000 + DAY_MS
            assert localnet.advance_clock(2 * DAY_MS) > time.time() * 1000 + DAY_MS
            assert localnet.run(sui_client.now_ms()) > time.time() * 1000 + DAY_MS
    """)
    run().assert_outcomes(passed=2)


@pytest.mark.long
def test_epoch_is_reverted_with_the_state(run, project):
    project("""
        import pytest

        @pytest.mark.parametrize("time", range(2))
        def test_epoch_starts_at_0(localnet, time):
            localnet.seed_randomness(b"seed")
            assert localnet.advance_epoch() == 1
    """)
    run().assert_outcomes(passed=2)


@pytest.mark.long
def test_client_continues_after_a_revert_within_a_test(run, project):
    project("""
        from nexus_tools.sui.transaction_builder import TransactionBuilder

        def send(amount):
            builder = TransactionBuilder()
            coin = builder.split_coins(builder.gas, [amount])
            builder.transfer_objects([coin[0]], BOB)
            return builder

        def test_it(localnet, sui_client):
            snapshot = localnet.snapshot()
            for amount in (1, 2, 3):
                localnet.run(sui_client.execute(send(amount)))
                assert localnet.run(sui_client.balance(BOB)) == amount
                localnet.revert(snapshot)
    """)
    run().assert_outcomes(passed=1)


@pytest.mark.long
def test_state_of_a_module_fixture_remains_for_later_tests(run, project):
    project("""
        import pytest

        @pytest.fixture(scope="module")
        def rich_bob(session_localnet):
            session_localnet.fund(BOB, 7)

        @pytest.mark.parametrize("day", range(2))
        def test_bob_is_rich(localnet, rich_bob, sui_client, day):
            assert localnet.run(sui_client.balance(BOB)) == 7
            localnet.fund(BOB, 1)
    """)
    run().assert_outcomes(passed=2)


# --- Wallets and clients


@pytest.mark.long
def test_wallets_have_sui_and_the_same_keys_in_each_test(run, project):
    project("""
        import pytest

        SEEN = []

        @pytest.mark.parametrize("day", range(2))
        def test_they(localnet, wallet, sui_client, day):
            other = wallet.another()
            third = other.another()
            assert sui_client is wallet.client
            for each in (wallet, other, third):
                balance = localnet.run(sui_client.balance(each.address))
                assert balance == 1_000 * 1_000_000_000
                assert each.client.address == each.address
            SEEN.append((wallet.address, other.address, third.address))
            assert len(set(SEEN[0])) == 3
            assert set(SEEN) == {SEEN[0]}
    """)
    run().assert_outcomes(passed=2)


TRANSFER = """
    async def transfer(wallet):
        other = wallet.another()
        builder = TransactionBuilder()
        (coin,) = [builder.split_coins(builder.gas, [5])[0]]
        builder.transfer_objects([coin], BOB)
        await asyncio.gather(wallet.client.execute(builder), other.client.balance(BOB))
        assert await other.client.balance(BOB) == 5
"""


@pytest.mark.long
def test_async_tests_use_clients_in_their_own_loop_under_anyio(run, project):
    project(f"""
    import asyncio
    import pytest
    from nexus_tools.sui.transaction_builder import TransactionBuilder
    {TRANSFER}
    pytestmark = pytest.mark.anyio

    @pytest.fixture
    def anyio_backend():
        return "asyncio"

    @pytest.fixture
    async def prepared(wallet):
        await transfer(wallet)
        yield wallet
        await wallet.client.balance(BOB)

    async def test_in_the_test(wallet):
        await transfer(wallet)

    async def test_in_a_fixture(prepared):
        assert await prepared.client.balance(BOB) == 5
    """)
    run().assert_outcomes(passed=2)


@pytest.mark.long
@pytest.mark.parametrize("mode", ["auto", "strict"])
def test_async_tests_use_clients_in_their_own_loop_under_pytest_asyncio(run, project, mode):
    project(f"""
    import asyncio
    import pytest
    import pytest_asyncio
    from nexus_tools.sui.transaction_builder import TransactionBuilder
    {TRANSFER}
    pytestmark = pytest.mark.asyncio

    @pytest_asyncio.fixture
    async def prepared(wallet):
        await transfer(wallet)
        yield wallet
        await wallet.client.balance(BOB)

    async def test_in_the_test(wallet):
        await transfer(wallet)

    async def test_in_a_fixture(prepared):
        assert await prepared.client.balance(BOB) == 5
    """)
    options = (f"--asyncio-mode={mode}", "-o", "asyncio_default_fixture_loop_scope=function")
    run(asyncio=options).assert_outcomes(passed=2)


@pytest.mark.long
def test_localnet_run_raises_the_exception_of_the_coroutine(run, project):
    project("""
        import pytest
        from nexus_tools.errors import NexusError

        async def fail():
            raise NexusError("broken", "it is broken")

        def test_it(localnet):
            with pytest.raises(NexusError, match="it is broken"):
                localnet.run(fail())
    """)
    run().assert_outcomes(passed=1)


# --- Packages


MOVE = "module sample::main;\n\npublic fun answer(): u64 {{ {} }}\n"


@pytest.fixture
def sample(pytester):
    """Makes a package beside the tests; its one function gives what is said."""
    manifest = '[package]\nname = "sample"\nedition = "2024"\n\n[addresses]\nsample = "0x0"\n'

    def sample(value):
        sources = pytester.path / "sample" / "sources"
        sources.mkdir(parents=True)
        (sources.parent / "Move.toml").write_text(manifest)
        (sources / "main.move").write_text(MOVE.format(value))

    return sample


@pytest.mark.long
def test_publish_compiles_unchanged_sources_once(run, project, sample, compiler_cache):
    sample(42)
    project("""
        from collections import Counter
        from pathlib import Path
        import pytest
        from nexus_tools.sui.localnet.compiler import MoveBuilder
        from nexus_tools.sui.bcs import u64
        from nexus_tools.sui.transaction_builder import TransactionBuilder

        BUILT = Counter()

        @pytest.fixture
        def count(monkeypatch):
            build = MoveBuilder.build

            def counting(self, sources, *others, **options):
                BUILT[sources["sources/main.move"]] += 1
                return build(self, sources, *others, **options)

            monkeypatch.setattr(MoveBuilder, "build", counting)

        def answer(localnet, client, package):
            builder = TransactionBuilder()
            builder.move_call(package.id, "main", "answer")
            ((value,),) = localnet.run(client.inspect(builder)).results
            return u64.decode(value)

        @pytest.mark.parametrize("day", range(2))
        def test_it(localnet, sui_client, publish, count, day):
            assert answer(localnet, sui_client, publish("sample")) == 42
            assert answer(localnet, sui_client, publish(Path(__file__).parent / "sample")) == 42
            assert list(BUILT.values()) == [1]

        def test_other_sources_are_compiled(localnet, sui_client, publish, count):
            path = Path(__file__).parent / "sample/sources/main.move"
            path.write_text(path.read_text().replace("42", "43"))
            assert answer(localnet, sui_client, publish("sample")) == 43
            assert len(BUILT) == 2
    """)
    run().assert_outcomes(passed=3)


@pytest.mark.long
def test_publish_shows_compiler_errors(run, project, sample, compiler_cache):
    sample("no_such_thing")
    project("""
        def test_it(publish):
            publish("sample")
    """)
    result = run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*Unbound variable 'no_such_thing'*"])


@pytest.mark.long
def test_compiled_modules_are_published_and_their_objects_found(run, project):
    project("""
        from nexus_tools.contracts import (load_package)

        def test_it(localnet, wallet, publish):
            package = publish(load_package().modules)
            registry = package.created("tool_registry", "ToolRegistry")
            value = localnet.run(wallet.client.object(registry))
            assert value.data.type == package.type("tool_registry", "ToolRegistry")
            cap = localnet.run(wallet.client.object(package.upgrade_cap))
            assert cap.owner.address == wallet.address
    """)
    run().assert_outcomes(passed=1)


REGISTER = """
    from nexus_tools.registry import (Registration)
    from nexus_tools.tool import ToolDefinition

    NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    OK = {"type": "object", "properties": {"ok": NUMBER}, "required": ["ok"]}
    DEFINITION = ToolDefinition.parse({
        "fqn": "xyz.example.math.next@1",
        "type": "offchain",
        "url": "https://tools.example.com/next",
        "description": "Adds one.",
        "timeout": 5_000,
        "input_schema": NUMBER,
        "output_schema": {"type": "object", "oneOf": [OK]},
    })
"""


@pytest.mark.long
def test_registry_is_published_once_and_empty_in_each_test(run, project):
    project(f"""
    import pytest
    {REGISTER}
    SEEN = set()

    def test_something_else(localnet):
        localnet.fund(BOB, 5)

    @pytest.mark.parametrize("day", range(2))
    def test_it(localnet, registry, day):
        SEEN.add(registry.deployment)
        assert localnet.run(registry.find(DEFINITION.fqn)) is None
        localnet.run(registry.register(Registration(DEFINITION)))
        assert localnet.run(registry.get(DEFINITION.fqn)).fqn == str(DEFINITION.fqn)
        assert len(SEEN) == 1
    """)
    run().assert_outcomes(passed=3)


@pytest.mark.long
def test_registry_requested_within_a_test_remains_for_later_tests(run, project):
    project("""
        import pytest

        @pytest.mark.parametrize("day", range(2))
        def test_it(localnet, request, day):
            registry = request.getfixturevalue("registry")
            assert localnet.run(registry.state()).fqns.size == 0

        def test_later(localnet, registry):
            assert localnet.run(registry.state()).fqns.size == 0
    """)
    run().assert_outcomes(passed=3)


# --- Other processes


@pytest.mark.long
def test_xdist_workers_have_separate_localnets(run, project, pytester):
    project("""
        import os
        from pathlib import Path
        import pytest

        @pytest.mark.parametrize("day", range(2))
        def test_it(localnet, sui_client, day):
            here = Path(__file__).parent
            assert localnet.run(sui_client.balance(BOB)) == 0
            localnet.fund(BOB, 5)
            (here / f"{os.environ['PYTEST_XDIST_WORKER']}.url").write_text(localnet.url)
    """)
    result = run("-n", "2", "--dist=each")
    result.assert_outcomes(passed=4)
    urls = [path.read_text() for path in pytester.path.glob("*.url")]
    assert len(set(urls)) == len(urls) == 2


def test_localnet_traces_a_transaction(run, project):
    project("""
        from nexus_tools.sui.transaction_builder import TransactionBuilder

        def test_it(localnet, sui_client):
            builder = TransactionBuilder()
            builder.transfer_objects([builder.split_coins(builder.gas, [5])[0]], BOB)
            executed = localnet.run(sui_client.execute(builder))
            split, transfer = localnet.trace(executed.digest).commands
            assert split.results[0]["balance"].content == 5
            assert transfer.arguments[1].value.content == BOB
    """)
    run().assert_outcomes(passed=1)


@pytest.mark.long
def test_external_node_is_used_and_tests_of_its_clock_or_snapshots_are_skipped(run, project):
    project("""
        def test_url_and_money(localnet, wallet, sui_client):
            assert not localnet.is_own
            assert localnet.run(sui_client.balance(wallet.address)) == 1_000 * 1_000_000_000
            localnet.fund(BOB, 5)

        def test_nothing_is_reverted(localnet, sui_client):
            assert localnet.run(sui_client.balance(BOB)) == 5

        def test_clock(localnet):
            localnet.advance_clock(1)

        def test_snapshot(localnet):
            localnet.snapshot()

        def test_trace(localnet):
            localnet.trace(bytes(32))
    """)
    with ThreadedLocalnet() as net:
        result = run("--localnet-url", net.url)
    result.assert_outcomes(passed=2, skipped=3)
    skipped = f"{net.url} belongs to another process, so the test cannot"
    result.stdout.fnmatch_lines(
        [
            f"localnet: {net.url} (shared: changes of tests are not reverted)",
            f"SKIPPED*{skipped} advance its clock",
            f"SKIPPED*{skipped} revert it to a snapshot",
            f"SKIPPED*{skipped} trace its transactions",
        ]
    )


@pytest.mark.long
def test_options_select_framework_and_protocol_version(pytester, run, tmp_path):
    folder = tmp_path / "framework"
    write_release(embedded_release(), folder)
    pytester.makepyfile(
        """
        from nexus_tools.sui.localnet.framework import embedded_release

        def test_network_has_the_selected_versions(localnet):
            own = localnet._own
            assert own.call(lambda net: net.protocol_version) == 139
            assert own.call(lambda net: net.framework) == embedded_release().digests
        """
    )
    options = (f"--localnet-framework-from={folder}", "--localnet-protocol-version=139")
    run(*options).assert_outcomes(passed=1)
