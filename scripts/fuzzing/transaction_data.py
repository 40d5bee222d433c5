"""Random transactions of the network's accounts."""

from hypothesis import strategies as st

from fuzzing.commands import programmable
from fuzzing.mutation import weighted
from fuzzing.network import NOTHING, START_MS, SUI, Network, network
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.expiration import EpochExpiration, Expiration, NoExpiration, ValidDuring
from nexus_tools.sui.types.transaction import GasData, TransactionData
from nexus_tools.sui.types.type_tag import GAS_COIN


def transactions() -> st.SearchStrategy[TransactionData]:
    """Return transactions of known and unknown accounts. Most transactions have sufficient gas."""
    net = network()
    kinds = programmable(net)
    alice, bob = (account.address for account in net.accounts)
    by = {
        address: st.builds(
            TransactionData, kinds, st.just(address), _gas(net, address), _expirations(net)
        )
        for address in (alice, bob, Address.of(7))
    }
    return weighted((18, by[alice]), (1, by[bob]), (1, by[Address.of(7)]))


def _gas(net: Network, sender: Address) -> st.SearchStrategy[GasData]:
    return weighted((9, _gas_of(net, sender)), (1, _gas_of(net, net.accounts[1].address)))


def _gas_of(net: Network, owner: Address) -> st.SearchStrategy[GasData]:
    coins = [coin.reference() for coin in net.node.ledger.owned_by(owner, GAS_COIN)]
    usual = st.just(tuple(coins[:1]))
    some = st.lists(st.sampled_from([*coins, NOTHING]), max_size=3).map(tuple)
    price = st.sampled_from([*[1000] * 20, 1001, 0, 999, 2**64 - 1])
    budget = st.sampled_from([*[SUI] * 20, 2_000_000, 1_000_000, 0, 50 * SUI, 2**64 - 1])
    return st.builds(GasData, weighted((9, usual), (1, some)), st.just(owner), price, budget)


def _expirations(net: Network) -> st.SearchStrategy[Expiration]:
    during = st.builds(
        ValidDuring,
        st.none() | st.just(0),
        st.none() | st.just(0),
        st.none(),
        st.none() | st.just(START_MS),
        st.sampled_from([net.node.chain_id, Digest(bytes(32))]),
        st.integers(0, 9),
    )
    usual = st.just(NoExpiration())
    epochs = st.integers(0, 2).map(EpochExpiration)
    return weighted((18, usual), (1, epochs), (1, during))
