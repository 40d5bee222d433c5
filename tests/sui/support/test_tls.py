import ssl

from nexus_tools.sui.support.tls import shared_tls


def test_clients_share_one_context_that_verifies_servers():
    assert shared_tls() is shared_tls()
    assert shared_tls().verify_mode == ssl.CERT_REQUIRED
    assert shared_tls().check_hostname
    assert len(shared_tls().get_ca_certs()) > 1


def test_context_follows_the_environment(monkeypatch, make_certificate):
    monkeypatch.setenv("SSL_CERT_FILE", str(make_certificate("localhost").certificate))
    [authority] = shared_tls().get_ca_certs()
    assert authority["subject"] == ((("commonName", "localnet"),),)
    monkeypatch.delenv("SSL_CERT_FILE")
    assert authority not in shared_tls().get_ca_certs()
