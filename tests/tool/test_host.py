import pytest
from hypothesis import given
from hypothesis import strategies as st

from nexus_tools.tool import is_host


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "tools.example.com",
        "tools.example.com.",
        "a_b.example",
        "ab--c.example",
        "a" * 63 + ".example",
        ".".join(["a" * 49] * 5) + ".abc",
        "127.0.0.1",
        "::1",
        "2001:db8::1",
        "xn--bcher-kva.example",
        "XN--BCHER-KVA.example",
        "xn--strae-oqa.example",  # of IDNA 2008 alone
        "xn--ls8h.la",  # of IDNA 2003 alone
    ],
)
def test_addresses_and_names_are_hosts(host):
    assert is_host(host)


@pytest.mark.parametrize(
    "host",
    [
        "",
        ".",
        "..",
        ".example",
        "a..example",
        "a.example..",
        "a" * 64 + ".example",
        ".".join(["a" * 49] * 5) + ".abcd",
        "xn--a.example",
        "xn--",
        "xn--zz--",
        "xn--" + "9" * 59,
        "%41.example",
        "a%00.example",
        "a!b",
        "v1.a:b",
        "a b",
        "b\u00fccher.example",
    ],
)
def test_unresolvable_name_is_not_a_host(host):
    assert not is_host(host)


LABELS = st.text("abcxn-09_", max_size=70)


@given(st.lists(LABELS | LABELS.map("xn--{}".format), max_size=6).map(".".join) | st.text())
def test_accepted_hosts_can_be_encoded_for_the_resolver(host):
    if is_host(host):
        host.encode("idna")
