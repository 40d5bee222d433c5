"""Each attack on the proof of a domain is named by what somebody hoped for."""

import gzip
import json
import socket

import pytest

from nexus_tools.registry import domain_proof
from nexus_tools.registry.domain_proof import Proof, ProofState, asking_domains

CHAIN = "4btiuiMPvEENsttpZC7CZ53DruC3MAgfznDbASZ7DR6S"
OTHER_CHAIN = "69WiPg3DAQiwdxfncX6wYQ2siKwAe6L9BZthQea3JNMD"
REGISTRY = "0x" + "ab" * 32
OWNER = "0x" + "01" * 32
STRANGER = "0x" + "66" * 32
LLM = "xyz.taluslabs.llm"


def listing(*owners, chain=CHAIN, registry=REGISTRY):
    return {"registries": [{"chain": chain, "registry": registry, "owners": list(owners)}]}


@pytest.fixture
def ask(internet, tmp_path):
    """Asks about a domain as a client does that keeps what it hears."""

    async def ask(domain=LLM, owner=OWNER, chain=CHAIN, registry=REGISTRY, at_s=0.0, **options):
        async with internet.asking(tmp_path / "kept", now=lambda: at_s) as proofs:
            return await proofs.prove(domain, owner, chain, registry, **options)

    return ask


# --- Who decides


async def test_a_host_that_lists_the_owner_proves_it(internet, ask):
    internet.publish("llm.taluslabs.xyz", listing(STRANGER, OWNER))
    proof = await ask()
    assert proof.state is ProofState.PROVED
    assert (proof.host, proof.owners) == ("llm.taluslabs.xyz", (STRANGER, OWNER))
    assert not proof.is_denied


async def test_the_parent_decides_where_no_such_host_is(internet, ask):
    internet.publish("taluslabs.xyz", listing(OWNER))
    proof = await ask()
    assert (proof.state, proof.host) == (ProofState.PROVED, "taluslabs.xyz")


@pytest.mark.parametrize("status", [404, 410])
async def test_the_parent_decides_where_the_host_says_that_it_has_nothing(internet, ask, status):
    internet.publish("llm.taluslabs.xyz", b"", status)
    internet.publish("taluslabs.xyz", listing(OWNER))
    assert (await ask()).host == "taluslabs.xyz"
    assert internet.asked == ["llm.taluslabs.xyz", "taluslabs.xyz"]


async def test_nobody_speaks_against_a_tool_where_nothing_is_published(internet, ask):
    proof = await ask()
    assert proof.state is ProofState.NOT_PROVED
    assert not proof.is_denied
    assert "https://taluslabs.xyz/.well-known/nexus-tools.json" in proof.reason


async def test_an_owner_at_the_parent_does_not_speak_for_a_child_that_has_a_word(internet, ask):
    internet.publish("llm.taluslabs.xyz", listing(OWNER))
    internet.publish("taluslabs.xyz", listing(STRANGER))
    proof = await ask(owner=STRANGER)
    assert proof.is_denied
    assert internet.asked == ["llm.taluslabs.xyz"]


async def test_an_empty_list_at_the_child_keeps_the_parents_owners_out(internet, ask):
    internet.publish("llm.taluslabs.xyz", {"registries": []})
    internet.publish("taluslabs.xyz", listing(OWNER))
    assert (await ask()).is_denied


@pytest.mark.parametrize("status", [408, 429, 500, 503])
async def test_whoever_overloads_the_child_does_not_let_the_parent_speak(internet, ask, status):
    internet.publish("llm.taluslabs.xyz", b"", status)
    internet.publish("taluslabs.xyz", listing(STRANGER))
    proof = await ask(owner=STRANGER)
    assert (proof.state, proof.host) == (ProofState.UNREACHABLE, "llm.taluslabs.xyz")
    assert internet.asked == ["llm.taluslabs.xyz"]


async def test_a_resolver_that_is_kept_silent_does_not_let_the_parent_speak(internet, ask):
    internet.addresses["llm.taluslabs.xyz"] = socket.gaierror(socket.EAI_AGAIN, "try again")
    internet.publish("taluslabs.xyz", listing(OWNER))
    assert (await ask()).state is ProofState.UNREACHABLE
    assert internet.asked == []


async def test_a_child_that_is_kept_silent_does_not_let_the_parent_speak(
    internet, ask, monkeypatch
):
    monkeypatch.setattr(domain_proof, "DEADLINE_S", 0.2)
    internet.publish("llm.taluslabs.xyz", listing(OWNER))
    internet.is_silent = True
    internet.publish("taluslabs.xyz", listing(OWNER))
    proof = await ask()
    assert (proof.state, proof.host) == (ProofState.UNREACHABLE, "llm.taluslabs.xyz")


async def test_a_public_suffix_that_is_no_host_proves_nothing(ask):
    """Nothing responds at `co.uk`; what is one host only, as `uk`, is never asked."""
    proof = await ask("uk.co.alice")
    assert proof.state is ProofState.NOT_PROVED
    assert "https://alice.co.uk/" in proof.reason
    assert "https://co.uk/" in proof.reason
    assert "https://uk/" not in proof.reason


# --- What a host of a stranger can do


async def test_a_redirect_does_not_lead_anywhere(internet, ask):
    internet.publish("llm.taluslabs.xyz", b"", 301, ["Location: https://taluslabs.xyz/"])
    internet.publish("taluslabs.xyz", listing(OWNER))
    proof = await ask()
    assert proof.state is ProofState.NOT_PROVED
    assert not proof.is_denied
    assert internet.asked == ["llm.taluslabs.xyz"]


@pytest.mark.parametrize(
    "document", [b"<html>", b" " * 70_000, {"registries": [{}]}, {"owners": [OWNER]}]
)
async def test_a_page_for_everything_is_no_document(internet, ask, document):
    internet.publish("llm.taluslabs.xyz", document)
    internet.publish("taluslabs.xyz", listing(OWNER))
    proof = await ask()
    assert proof.state is ProofState.NOT_PROVED
    assert (proof.host, proof.owners) == ("llm.taluslabs.xyz", None)


async def test_an_endless_response_is_read_to_a_bound(internet, ask):
    head = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
    internet.pages["llm.taluslabs.xyz"] = head + b" " * 1_000_000
    proof = await ask()
    assert proof.reason == "the document of llm.taluslabs.xyz has more than 65536 bytes"


async def test_a_short_response_does_not_become_a_large_one(internet, ask):
    body = gzip.compress(b" " * 10_000_000)
    internet.publish("llm.taluslabs.xyz", body, 200, ["Content-Encoding: gzip"])
    assert (await ask()).state is ProofState.NOT_PROVED


async def test_a_host_does_not_speak_without_a_certificate_for_its_name(internet, ask):
    internet.publish("evil.xyz", listing(STRANGER))
    proof = await ask("xyz.evil", owner=STRANGER)
    assert proof.state is ProofState.UNREACHABLE
    assert "certificate" in proof.reason
    assert internet.asked == []


@pytest.mark.parametrize("address", ["169.254.169.254", "10.0.0.1", "::1"])
async def test_a_name_does_not_lead_into_the_readers_network(internet, ask, address):
    internet.addresses["llm.taluslabs.xyz"] = address
    internet.publish("taluslabs.xyz", listing(OWNER))
    proof = await ask()
    assert proof.state is ProofState.UNREACHABLE
    assert "is not asked: the address is" in proof.reason
    assert internet.asked == []


async def test_a_search_domain_does_not_speak_and_loopback_is_not_connected_to(monkeypatch):
    looked_up = []

    def getaddrinfo(host, *_, **__):
        looked_up.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 0))]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    async with asking_domains() as proofs:
        proof = await proofs.prove("localhost.printer", OWNER, CHAIN, REGISTRY)
    assert looked_up == ["printer.localhost."]
    assert proof.state is ProofState.UNREACHABLE
    assert "loopback" in proof.reason


async def test_for_a_label_that_no_host_has_nobody_is_asked(internet, ask):
    proof = await ask("xyz.my_company")
    assert proof.state is ProofState.UNPROVABLE
    assert proof.reason
    assert internet.asked == []


# --- What is kept


async def test_a_word_is_kept_for_a_day_so_that_a_host_does_not_count_its_readers(internet, ask):
    internet.publish("llm.taluslabs.xyz", listing(OWNER))
    for at_s in (0, 1, 86_399):
        assert (await ask(at_s=at_s)).state is ProofState.PROVED
    assert len(internet.asked) == 1
    await ask(at_s=86_400)
    assert len(internet.asked) == 2


async def test_what_is_kept_of_one_registry_does_not_prove_in_another(internet, ask):
    internet.publish("llm.taluslabs.xyz", listing(OWNER))
    assert (await ask()).state is ProofState.PROVED
    assert (await ask(chain=OTHER_CHAIN)).is_denied
    assert (await ask(registry="0x" + "cd" * 32)).is_denied
    assert len(internet.asked) == 1


async def test_whoever_gets_the_owner_cap_does_not_get_the_proof(internet, ask):
    internet.publish("llm.taluslabs.xyz", listing(OWNER))
    assert (await ask()).state is ProofState.PROVED
    assert (await ask(owner=STRANGER)).is_denied


async def test_a_clock_that_was_wrong_does_not_keep_a_word_for_years(internet, ask):
    internet.publish("llm.taluslabs.xyz", listing(OWNER))
    await ask(at_s=10**9)
    internet.publish("llm.taluslabs.xyz", listing(STRANGER))
    assert (await ask(at_s=0)).is_denied


async def test_that_nothing_is_there_is_kept_for_an_hour(internet, ask):
    internet.publish("llm.taluslabs.xyz", b"no", 404)
    internet.publish("taluslabs.xyz", listing(OWNER))
    await ask()
    internet.publish("llm.taluslabs.xyz", listing(STRANGER))
    assert (await ask(at_s=3_599)).state is ProofState.PROVED
    assert (await ask(at_s=3_600)).is_denied


async def test_a_resolver_that_lied_once_is_asked_again(internet, ask, tmp_path):
    internet.publish("taluslabs.xyz", listing(OWNER))
    assert (await ask()).state is ProofState.PROVED
    assert [kept.name for kept in (tmp_path / "kept").iterdir()] == ["taluslabs.xyz.json"]
    internet.publish("llm.taluslabs.xyz", listing(STRANGER))
    assert (await ask()).is_denied


async def test_a_host_that_could_not_be_asked_is_asked_again(internet, ask):
    internet.publish("llm.taluslabs.xyz", b"", 503)
    await ask()
    internet.publish("llm.taluslabs.xyz", listing(OWNER))
    assert (await ask()).state is ProofState.PROVED


async def test_a_fresh_word_replaces_the_one_that_is_kept(internet, ask):
    internet.publish("llm.taluslabs.xyz", listing(STRANGER))
    await ask()
    internet.publish("llm.taluslabs.xyz", listing(OWNER))
    assert (await ask()).is_denied
    assert (await ask(fresh=True)).state is ProofState.PROVED
    assert (await ask()).state is ProofState.PROVED


@pytest.mark.parametrize("status", ["200", None, 500, []])
async def test_a_file_that_somebody_broke_is_asked_for_again(internet, ask, tmp_path, status):
    internet.publish("llm.taluslabs.xyz", listing(OWNER))
    await ask()
    [kept] = (tmp_path / "kept").iterdir()
    assert kept.stat().st_mode & 0o777 == 0o600
    kept.write_text(json.dumps(json.loads(kept.read_text()) | {"status": status}))
    assert (await ask()).state is ProofState.PROVED
    assert len(internet.asked) == 2


async def test_a_folder_that_takes_nothing_hinders_nobody(internet, tmp_path):
    internet.publish("llm.taluslabs.xyz", listing(OWNER))
    (tmp_path / "file").write_text("")
    async with internet.asking(tmp_path / "file" / "kept") as proofs:
        proof = await proofs.prove(LLM, OWNER, CHAIN, REGISTRY)
    assert proof == Proof(
        ProofState.PROVED, "llm.taluslabs.xyz lists the owner", "llm.taluslabs.xyz", (OWNER,)
    )
