"""The rules of protocol versions, as `sui-protocol-config` has them for mainnet."""

import pytest

from nexus_tools.errors import UsageError
from nexus_tools.sui.localnet.execution import protocol_rules
from nexus_tools.sui.localnet.execution.gas.status import GasStatus, sender_rebate
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.transaction import GasData


@pytest.mark.parametrize(
    ("version", "rate", "per_kb"),
    [(105, 9_900, None), (137, 9_900, None), (138, 9_999, None), (139, 9_999, 150)],
)
def test_version_has_its_own_changes_and_earlier_values(version, rate, per_kb):
    rules = protocol_rules(version)
    assert rules.version == version
    assert rules.storage_rebate_rate == rate
    assert rules.obj_access_cost_read_per_package_kb == per_kb


@pytest.mark.parametrize("version", [0, 104, 141, 1_000])
def test_unknown_version_is_refused_with_the_known_range(version):
    with pytest.raises(UsageError, match="expected 105 to 140") as caught:
        protocol_rules(version)
    assert caught.value.code == "protocol_version_unknown"


def test_version_138_keeps_a_ten_thousandth_of_a_rebate():
    # A coin costs 988 000 MIST, of which 98.8 MIST are not refunded.
    assert sender_rebate(988_000, protocol_rules(138).storage_rebate_rate) == 987_901


def package_read_cost(size, version):
    gas = GasStatus(GasData((), Address.of(1), 1_000, 50_000_000), protocol_rules(version))
    gas.charge_package_read(size)
    return gas.meter.spent


# The sizes and charges are those of Sui's own test of `package_read_internal_gas`.
@pytest.mark.parametrize(
    ("size", "units"),
    [
        (0, 0),
        (1, 1),
        (6, 1),
        (7, 2),
        (999, 150),
        (1_000, 150),
        (1_001, 151),
        (89_315, 13_398),
        (102_400, 15_360),
    ],
)
def test_version_139_charges_a_hundredth_for_package_reads_rounded_up(size, units):
    assert package_read_cost(size, 139) == units
    assert package_read_cost(size, 138) == size * 15
