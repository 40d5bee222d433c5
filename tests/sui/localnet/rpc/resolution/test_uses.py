from nexus_tools.sui.localnet.rpc.resolution.uses import Role, Use, Uses
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.transaction import (
    GasCoin,
    InputArgument,
    MakeMoveVec,
    MergeCoins,
    MoveCall,
    Publish,
    Result,
    SplitCoins,
    TransferObjects,
    Upgrade,
)

IT, OTHER = InputArgument(0), InputArgument(1)


def uses_of(*commands):
    return Uses(commands).of(0)


def test_every_command_determines_the_role_of_an_input():
    call = MoveCall(Address.of(2), "m", "f", (), (GasCoin(), IT))
    transfer = TransferObjects((OTHER, IT), IT)
    split = SplitCoins(IT, (IT, IT))
    merge = MergeCoins(IT, (OTHER, IT))
    vector = MakeMoveVec(None, (IT,))
    upgrade = Upgrade((), (), Address.of(9), IT)
    assert uses_of(call, transfer, split, merge, vector, Publish((), ()), upgrade) == (
        Use(call, Role.PARAMETER, 1),
        Use(transfer, Role.TRANSFERRED, 1),
        Use(transfer, Role.RECIPIENT, 0),
        Use(split, Role.COIN, 0),
        Use(split, Role.AMOUNT, 0),
        Use(split, Role.AMOUNT, 1),
        Use(merge, Role.COIN, 0),
        Use(merge, Role.COIN, 2),
        Use(vector, Role.ELEMENT, 0),
        Use(upgrade, Role.TICKET, 0),
    )


def test_gas_and_results_are_not_uses_of_an_input():
    assert uses_of(MergeCoins(GasCoin(), (Result(0),)), TransferObjects((OTHER,), OTHER)) == ()
