from ipaddress import ip_address, ip_network

import pytest

from nexus_tools.http.address_guard import AddressGuard, AddressRefused, special_purpose

GUARD = AddressGuard()


@pytest.mark.parametrize(
    "address",
    [
        "0.0.0.0",
        "0.1.2.3",
        "10.0.0.1",
        "10.255.255.255",
        "100.64.0.1",
        "100.100.100.200",  # metadata of Alibaba Cloud
        "127.0.0.1",
        "127.255.255.254",
        "168.63.129.16",  # Azure's wire server
        "169.254.0.1",
        "169.254.169.254",  # metadata of AWS, GCP, Azure
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.192",  # metadata of Oracle Cloud
        "192.0.2.1",
        "192.88.99.1",
        "192.168.0.1",
        "198.18.0.1",
        "198.19.255.255",
        "198.51.100.7",
        "203.0.113.9",
        "224.0.0.1",
        "239.255.255.255",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::127.0.0.1",
        "::ffff:8.8.8.8",
        "::ffff:127.0.0.1",
        "::ffff:169.254.169.254",
        "64:ff9b::7f00:1",
        "64:ff9b::808:808",
        "64:ff9b:1::1",
        "100::1",
        "2001::1",  # Teredo
        "2001:0:53aa:64c:0:0:80ff:fffe",
        "2001:db8::1",
        "2001:20::1",
        "2002:7f00:1::1",  # 6to4 of 127.0.0.1
        "2002:808:808::1",
        "2620:0:0:0:0:5efe:7f00:1",  # ISATAP
        "3fff::1",
        "5f00::1",
        "fc00::1",
        "fd00:ec2::254",  # metadata of AWS over IPv6
        "fe80::1",
        "fe80::1%eth0",
        "2606:4700::1%eth0",
        "fec0::1",
        "ff02::1",
    ],
)
def test_guard_refuses_special_purpose_addresses(address):
    with pytest.raises(AddressRefused) as caught:
        GUARD.check_address(ip_address(address))
    assert caught.value.code == "address_refused"


@pytest.mark.parametrize(
    "address",
    [
        "1.1.1.1",
        "8.8.8.8",
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "126.255.255.255",
        "128.0.0.1",
        "169.253.255.255",
        "169.255.0.0",
        "172.15.255.255",
        "172.32.0.0",
        "192.167.255.255",
        "192.169.0.0",
        "198.17.255.255",
        "198.20.0.0",
        "223.255.255.255",
        "2001:4860:4860::8888",
        "2606:4700:4700::1111",
        "2a00:1450::1",
    ],
)
def test_guard_allows_public_addresses(address):
    GUARD.check_address(ip_address(address))
    assert special_purpose(ip_address(address)) == ""


@pytest.mark.parametrize(
    "url",
    [
        "http://tools.example.com/add",
        "ftp://tools.example.com/add",
        "file:///etc/passwd",
        "https://user@tools.example.com/",
        "https://user:secret@tools.example.com/",
        "https:///add",
        "https://tools.example.com:99999/",
        "https://tools.example.com:port/",
        "https://[::1/",
        "https://a..example/",
        "https://xn--a.example/",
        f"https://{'a' * 64}.example/",
        "https://127.0.0.1/",
        "https://[::1]/",
        "https://[::ffff:10.0.0.1]/",
        "https://169.254.169.254/latest/meta-data",
        "tools.example.com/add",
    ],
)
def test_guard_refuses_malformed_or_unsafe_urls(url):
    with pytest.raises(AddressRefused):
        GUARD.check_url(url)


def test_guard_allows_a_public_host_name_before_resolution():
    GUARD.check_url("https://tools.example.com:8443/add")


def test_guard_allows_http_only_if_configured():
    AddressGuard(http=True).check_url("http://tools.example.com/")


@pytest.mark.parametrize(
    ("url", "option"),
    [
        ("http://127.0.0.1:8080", "--allow-loopback"),
        ("http://[::1]:8080", "--allow-loopback"),
        ("http://localhost/add", "--allow-loopback"),
        ("https://127.0.0.1", "--allow-loopback"),
        ("http://tools.example.com", "--allow-http"),
        ("https://10.0.0.1", "--allow-network"),
        ("https://169.254.169.254", ""),
        ("https://user@tools.example.com", ""),
    ],
)
def test_refusal_names_the_option_that_allows_the_address(url, option):
    with pytest.raises(AddressRefused) as caught:
        GUARD.check_url(url)
    assert caught.value.option == option
    assert caught.value.hint == (f"Pass {option} to allow it." if option else "")


def test_allowed_network_allows_only_its_own_addresses():
    guard = AddressGuard(networks=(ip_network("127.0.0.0/8"),))
    guard.check_address(ip_address("127.0.0.1"))
    with pytest.raises(AddressRefused):
        guard.check_address(ip_address("::1"))
    with pytest.raises(AddressRefused):
        guard.check_address(ip_address("::ffff:127.0.0.1"))
    with pytest.raises(AddressRefused):
        guard.check_address(ip_address("10.0.0.1"))


@pytest.mark.parametrize(
    ("url", "allowed"),
    [
        ("https://tools.example.com/", True),
        ("https://tools.example.com:443/", True),
        ("https://tools.example.com:8443/", True),
        ("https://tools.example.com:22/", False),
        ("http://tools.example.com/", False),
    ],
)
def test_guard_allows_only_listed_ports(url, allowed):
    guard = AddressGuard(ports=frozenset((443, 8443)), http=True)
    if allowed:
        guard.check_url(url)
    else:
        with pytest.raises(AddressRefused, match="port"):
            guard.check_url(url)


def test_guard_refuses_a_name_with_public_and_private_addresses():
    with pytest.raises(AddressRefused):
        GUARD.check_resolved(["8.8.8.8", "10.0.0.1"])


def test_guard_refuses_a_name_without_addresses():
    with pytest.raises(AddressRefused):
        GUARD.check_resolved([])


def test_refusal_does_not_contain_the_address():
    with pytest.raises(AddressRefused) as caught:
        GUARD.check_address(ip_address("10.20.30.40"))
    assert "10.20.30.40" not in str(caught.value)
