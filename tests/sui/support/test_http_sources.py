"""The hosts and web page origins that a local server accepts."""

import pytest

from nexus_tools.sui.support.allowed_sources import AllowedSources, is_loopback

HERE = "127.0.0.1:9000"


@pytest.mark.parametrize(
    "host",
    [HERE, "127.9.9.9", "localhost", "LOCALHOST:80", "a.localhost", "[::1]:9", "10.0.0.7:80"],
)
def test_loopback_names_and_addresses_are_allowed_hosts(host):
    assert AllowedSources().refusal(host, None) is None


@pytest.mark.parametrize(
    "host",
    [
        *(None, "", ":80", "evil.example", "localhost.evil.example", "localhost:80@evil.example"),
        *("evil.example/localhost", "localhost:x", "localhost:99999", "127.0.0.1.evil", "[::1"),
        *("2130706433", "0x7f.1", "localhost\\.evil.example", "localhost?x", "localhost#x"),
    ],
)
def test_other_hosts_are_refused(host):
    assert "--allow-host" in AllowedSources().refusal(host, None)


@pytest.mark.parametrize(
    "origin", ["http://localhost", "https://localhost:3000", "http://127.0.0.1:1", "http://[::1]:5"]
)
def test_pages_of_loopback_origins_are_allowed(origin):
    assert AllowedSources().refusal(HERE, origin) is None


@pytest.mark.parametrize(
    "origin",
    [
        *("null", "", "https://evil.example", "http://10.0.0.7", "http://localhost.evil.example"),
        *("http://localhost@evil.example", "file://", "http://evil.example/http://localhost"),
    ],
)
def test_pages_of_other_origins_are_refused(origin):
    assert "--allow-origin" in AllowedSources().refusal(HERE, origin)


def test_named_hosts_and_origins_replace_the_defaults():
    sources = AllowedSources.of(
        ["Net.example", "b.example:81", "c.example:*"], ["https://D.example/"]
    )
    assert sources.refusal("net.example:9000", "https://d.example") is None
    assert sources.refusal("b.example:81", None) is None
    assert sources.refusal("c.example:5", None) is None
    for host, origin in (
        ("b.example:82", None),
        ("a.net.example", None),
        (HERE, "http://d.example"),
        (HERE, "https://d.example:444"),
    ):
        assert sources.refusal(host, origin) is not None


def test_is_loopback_knows_names_and_addresses():
    assert [*map(is_loopback, ("localhost", "::1", "127.1.2.3", "10.0.0.1", "a.example"))] == [
        *(True, True, True, False, False)
    ]
