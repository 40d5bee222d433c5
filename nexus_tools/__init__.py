"""Tools on Sui: a registry on chain, a client, a Leader that carries calls to tools, a localnet."""

__version__ = "0.1.0"
