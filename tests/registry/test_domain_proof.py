"""Proofs of domains, including attacks by hosts, resolvers and former owners."""

import gzip
import json
import socket

import pytest

from nexus_tools.registry import domain_proof
from nexus_tools.registry.domain_proof import DomainProof, ProofState, open_domain_prover

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
    """Return a function that queries a domain with a client that caches responses."""

    async def ask(domain=LLM, owner=OWNER, chain=CHAIN, registry=REGISTRY, at_s=0.0, **options):
        async with internet.asking(tmp_path / "kept", now=lambda: at_s) as proofs:
            return await proofs.prove(domain, owner, chain, registry, **options)

    return ask


# --- The deciding host


async def test_host_that_lists_the_owner_proves_it(internet, ask):
    internet.publish("llm.taluslabs.xyz", listing(STRANGER, OWNER))
    proof = await ask()
    assert proof.state is ProofState.PROVED
    assert (proof.host, proof.owners) == ("llm.taluslabs.xyz", (STRANGER, OWNER))
    assert not proof.is_denied


async def test_parent_decides_if_host_does_not_exist(internet, ask):
    internet.publish("taluslabs.xyz", listing(OWNER))
    proof = await ask()
    assert (proof.state, proof.host) == (ProofState.PROVED, "taluslabs.xyz")


@pytest.mark.parametrize("status", [404, 410])
async def test_parent_decides_if_host_has_no_document(internet, ask, status):
    internet.publish("llm.taluslabs.xyz", b"", status)
    internet.publish("taluslabs.xyz", listing(OWNER))
    assert (await ask()).host == "taluslabs.xyz"
    assert internet.asked == ["llm.taluslabs.xyz", "taluslabs.xyz"]


async def test_missing_documents_do_not_deny_the_owner(internet, ask):
    proof = await ask()
    assert proof.state is ProofState.NOT_PROVED
    assert not proof.is_denied
    assert "https://taluslabs.xyz/.well-known/nexus-tools.json" in proof.reason


async def test_document_of_child_overrides_parent(internet, ask):
    internet.publish("llm.taluslabs.xyz", listing(OWNER))
    internet.publish("taluslabs.xyz", listing(STRANGER))
    proof = await ask(owner=STRANGER)
    assert proof.is_denied
    assert internet.asked == ["llm.taluslabs.xyz"]


async def test_empty_list_of_child_overrides_parent(internet, ask):
    internet.publish("llm.taluslabs.xyz", {"registries": []})
    internet.publish("taluslabs.xyz", listing(OWNER))
    assert (await ask()).is_denied


@pytest.mark.parametrize("status", [408, 429, 500, 503])
async def test_overloaded_child_does_not_let_parent_decide(internet, ask, status):
    internet.publish("llm.taluslabs.xyz", b"", status)
    internet.publish("taluslabs.xyz", listing(STRANGER))
    proof = await ask(owner=STRANGER)
    assert (proof.state, proof.host) == (ProofState.UNREACHABLE, "llm.taluslabs.xyz")
    assert internet.asked == ["llm.taluslabs.xyz"]


async def test_silent_resolver_does_not_let_parent_decide(internet, ask):
    internet.addresses["llm.taluslabs.xyz"] = socket.gaierror(socket.EAI_AGAIN, "try again")
    internet.publish("taluslabs.xyz", listing(OWNER))
    assert (await ask()).state is ProofState.UNREACHABLE
    assert internet.asked == []


async def test_silent_child_does_not_let_parent_decide(internet, ask, monkeypatch):
    monkeypatch.setattr(domain_proof, "DEADLINE_S", 0.2)
    internet.publish("llm.taluslabs.xyz", listing(OWNER))
    internet.is_silent = True
    internet.publish("taluslabs.xyz", listing(OWNER))
    proof = await ask()
    assert (proof.state, proof.host) == (ProofState.UNREACHABLE, "llm.taluslabs.xyz")


async def test_public_suffix_proves_nothing(ask):
    """Nothing responds at `co.uk`. A suffix with one label, such as `uk`, is never queried."""
    proof = await ask("uk.co.alice")
    assert proof.state is ProofState.NOT_PROVED
    assert "https://alice.co.uk/" in proof.reason
    assert "https://co.uk/" in proof.reason
    assert "https://uk/" not in proof.reason


# --- Untrusted hosts


async def test_redirect_is_not_followed(internet, ask):
    internet.publish("llm.taluslabs.xyz", b"", 301, ["Location: https://taluslabs.xyz/"])
    internet.publish("taluslabs.xyz", listing(OWNER))
    proof = await ask()
    assert proof.state is ProofState.NOT_PROVED
    assert not proof.is_denied
    assert internet.asked == ["llm.taluslabs.xyz"]


@pytest.mark.parametrize(
    "document", [b"<html>", b" " * 70_000, {"registries": [{}]}, {"owners": [OWNER]}]
)
async def test_catch_all_page_is_not_a_document(internet, ask, document):
    internet.publish("llm.taluslabs.xyz", document)
    internet.publish("taluslabs.xyz", listing(OWNER))
    proof = await ask()
    assert proof.state is ProofState.NOT_PROVED
    assert (proof.host, proof.owners) == ("llm.taluslabs.xyz", None)


async def test_endless_response_is_read_up_to_the_limit(internet, ask):
    head = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
    internet.pages["llm.taluslabs.xyz"] = head + b" " * 1_000_000
    proof = await ask()
    assert proof.reason == "the response of llm.taluslabs.xyz has more than 65536 bytes"


async def test_compressed_response_is_rejected(internet, ask):
    body = gzip.compress(b" " * 10_000_000)
    internet.publish("llm.taluslabs.xyz", body, 200, ["Content-Encoding: gzip"])
    assert (await ask()).state is ProofState.NOT_PROVED


async def test_host_needs_a_valid_certificate(internet, ask):
    internet.publish("evil.xyz", listing(STRANGER))
    proof = await ask("xyz.evil", owner=STRANGER)
    assert proof.state is ProofState.UNREACHABLE
    assert "certificate" in proof.reason
    assert internet.asked == []


@pytest.mark.parametrize("address", ["169.254.169.254", "10.0.0.1", "::1"])
async def test_private_addresses_are_not_queried(internet, ask, address):
    internet.addresses["llm.taluslabs.xyz"] = address
    internet.publish("taluslabs.xyz", listing(OWNER))
    proof = await ask()
    assert proof.state is ProofState.UNREACHABLE
    assert "was not queried: the address is" in proof.reason
    assert internet.asked == []


async def test_search_domain_and_loopback_are_not_used(monkeypatch):
    looked_up = []

    def getaddrinfo(host, *_, **__):
        looked_up.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 0))]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    async with open_domain_prover() as proofs:
        proof = await proofs.prove("localhost.printer", OWNER, CHAIN, REGISTRY)
    assert looked_up == ["printer.localhost."]
    assert proof.state is ProofState.UNREACHABLE
    assert "loopback" in proof.reason


async def test_invalid_label_is_not_queried(internet, ask):
    proof = await ask("xyz.my_company")
    assert proof.state is ProofState.UNPROVABLE
    assert proof.reason
    assert internet.asked == []


# --- Cache


async def test_document_is_cached_for_a_day(internet, ask):
    internet.publish("llm.taluslabs.xyz", listing(OWNER))
    for at_s in (0, 1, 86_399):
        assert (await ask(at_s=at_s)).state is ProofState.PROVED
    assert len(internet.asked) == 1
    await ask(at_s=86_400)
    assert len(internet.asked) == 2


async def test_cached_proof_does_not_apply_to_another_registry(internet, ask):
    internet.publish("llm.taluslabs.xyz", listing(OWNER))
    assert (await ask()).state is ProofState.PROVED
    assert (await ask(chain=OTHER_CHAIN)).is_denied
    assert (await ask(registry="0x" + "cd" * 32)).is_denied
    assert len(internet.asked) == 1


async def test_new_owner_does_not_inherit_the_proof(internet, ask):
    internet.publish("llm.taluslabs.xyz", listing(OWNER))
    assert (await ask()).state is ProofState.PROVED
    assert (await ask(owner=STRANGER)).is_denied


async def test_cache_entry_from_the_future_is_ignored(internet, ask):
    internet.publish("llm.taluslabs.xyz", listing(OWNER))
    await ask(at_s=10**9)
    internet.publish("llm.taluslabs.xyz", listing(STRANGER))
    assert (await ask(at_s=0)).is_denied


async def test_absence_is_cached_for_an_hour(internet, ask):
    internet.publish("llm.taluslabs.xyz", b"no", 404)
    internet.publish("taluslabs.xyz", listing(OWNER))
    await ask()
    internet.publish("llm.taluslabs.xyz", listing(STRANGER))
    assert (await ask(at_s=3_599)).state is ProofState.PROVED
    assert (await ask(at_s=3_600)).is_denied


async def test_missing_host_is_not_cached(internet, ask, tmp_path):
    internet.publish("taluslabs.xyz", listing(OWNER))
    assert (await ask()).state is ProofState.PROVED
    assert [entry.name for entry in (tmp_path / "kept").iterdir()] == ["taluslabs.xyz.json"]
    internet.publish("llm.taluslabs.xyz", listing(STRANGER))
    assert (await ask()).is_denied


async def test_unreachable_host_is_not_cached(internet, ask):
    internet.publish("llm.taluslabs.xyz", b"", 503)
    await ask()
    internet.publish("llm.taluslabs.xyz", listing(OWNER))
    assert (await ask()).state is ProofState.PROVED


async def test_fresh_query_replaces_cache_entry(internet, ask):
    internet.publish("llm.taluslabs.xyz", listing(STRANGER))
    await ask()
    internet.publish("llm.taluslabs.xyz", listing(OWNER))
    assert (await ask()).is_denied
    assert (await ask(fresh=True)).state is ProofState.PROVED
    assert (await ask()).state is ProofState.PROVED


@pytest.mark.parametrize("status", ["200", None, 500, []])
async def test_corrupt_cache_entry_is_ignored(internet, ask, tmp_path, status):
    internet.publish("llm.taluslabs.xyz", listing(OWNER))
    await ask()
    [entry] = (tmp_path / "kept").iterdir()
    assert entry.stat().st_mode & 0o777 == 0o600
    entry.write_text(json.dumps(json.loads(entry.read_text()) | {"status": status}))
    assert (await ask()).state is ProofState.PROVED
    assert len(internet.asked) == 2


async def test_read_only_cache_is_ignored(internet, tmp_path):
    internet.publish("llm.taluslabs.xyz", listing(OWNER))
    (tmp_path / "file").write_text("")
    async with internet.asking(tmp_path / "file" / "kept") as proofs:
        proof = await proofs.prove(LLM, OWNER, CHAIN, REGISTRY)
    assert proof == DomainProof(
        ProofState.PROVED, "llm.taluslabs.xyz lists the owner", "llm.taluslabs.xyz", (OWNER,)
    )
