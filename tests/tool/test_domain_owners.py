"""Hosts of FQNs by RFC 1035, section 2.3.1, and documents of domain owners."""

import json

import pytest

from nexus_tools.errors import ValidationError
from nexus_tools.tool import DomainOwners, RegistryOwners, proof_hosts

CHAIN = "4btiuiMPvEENsttpZC7CZ53DruC3MAgfznDbASZ7DR6S"  # of mainnet
REGISTRY = "0x" + "ab" * 32
OWNER = "0x" + "01" * 32
ENTRY = {"chain": CHAIN, "registry": REGISTRY, "owners": [OWNER]}


def parse(*registries, **more):
    return DomainOwners.parse(json.dumps({"registries": registries, **more}).encode())


def code_of(function, *arguments):
    with pytest.raises(ValidationError) as caught:
        function(*arguments)
    return caught.value.code


def test_proof_hosts_start_with_the_most_specific_and_end_with_two_labels():
    assert proof_hosts("xyz.taluslabs") == ("taluslabs.xyz",)
    assert proof_hosts("xyz.taluslabs.llm") == ("llm.taluslabs.xyz", "taluslabs.xyz")


@pytest.mark.parametrize(
    "domain",
    ["xyz.my_company", "xyz.ends-", "xyz.a-.llm", "xyz." + "a" * 64, "com.xn--a", "com.xn--..b"],
)
def test_proof_hosts_rejects_invalid_host_labels(domain):
    assert code_of(proof_hosts, domain) == "domain_unprovable"


def test_number_of_proof_hosts_is_bounded():
    assert len(proof_hosts("com.victim.aa.bb.cc")) == 4
    assert code_of(proof_hosts, "com.victim.aa.bb.cc.dd") == "domain_unprovable"


def test_long_and_punycode_labels_are_unchanged():
    assert proof_hosts("xyz." + "a" * 63) == ("a" * 63 + ".xyz",)
    assert proof_hosts("com.xn--bcher-kva") == ("xn--bcher-kva.com",)


def test_owners_are_filtered_by_registry_and_chain():
    other = "0x" + "02" * 32
    document = parse(ENTRY, ENTRY | {"registry": "0x" + "cd" * 32, "owners": [other]})
    assert document.owners_in(CHAIN, REGISTRY) == (OWNER,)
    assert document.owners_in(CHAIN, "0x" + "cd" * 32) == (other,)
    assert document.owners_in("1" * 32, REGISTRY) == ()
    assert document.owners_in(CHAIN, "0x" + "ef" * 32) == ()


def test_document_is_parsed_as_it_was_written():
    document = DomainOwners((RegistryOwners(CHAIN, REGISTRY, (OWNER,)),))
    assert DomainOwners.parse(document.text().encode()) == document
    assert json.loads(document.text()) == {"registries": [ENTRY]}


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"<!doctype html>",
        b"[]",
        b"{}",
        b'{"registries": {}}',
        b'{"registries": [1]}',
        b'{"registries": [], "registries": []}',
        b'{"registries": [], "more": 1}',
        b"\xff",
        b"[" * 1000,
        b'{"registries": []}' + b" " * 65_536,
    ],
)
def test_ambiguous_document_is_rejected(text):
    assert code_of(DomainOwners.parse, text) == "proof_invalid"


@pytest.mark.parametrize(
    "change",
    [
        {"owners": OWNER},
        {"owners": [OWNER.upper()]},
        {"owners": ["0x1"]},
        {"owners": [OWNER + "\n"]},
        {"owners": [1]},
        {"registry": "0x1"},
        {"chain": "mainnet"},
        {"chain": None},
        {"until": 1},
    ],
)
def test_similar_looking_entry_is_rejected(change):
    assert code_of(parse, ENTRY | change) == "proof_invalid"


def test_duplicate_registry_is_rejected():
    assert code_of(parse, ENTRY, ENTRY | {"owners": ["0x" + "66" * 32]}) == "proof_invalid"
