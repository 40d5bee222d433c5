"""The shipped definitions equal those of the classes of the installed pysui.

The classes do not show which enums the `.proto` files nest; that is as in
github.com/MystenLabs/sui-apis.
"""

import dataclasses
import subprocess
import sys

import betterproto2
import pytest
from google.protobuf.descriptor import FieldDescriptor
from pysui.sui.sui_grpc.suimsgs.sui.rpc import v2

from nexus_tools.sui.rpc import load_messages
from pysui_definitions import shipped_definitions

NESTED_ENUMS = {
    "AccumulatorWrite": {"AccumulatorOperation", "AccumulatorValue"},
    "Argument": {"ArgumentKind"},
    "ChangedObject": {"IdOperation", "InputObjectState", "OutputObjectState"},
    "CheckpointCommitment": {"CheckpointCommitmentKind"},
    "CoinMetadata": {"MetadataCapState"},
    "CoinTreasury": {"SupplyState"},
    "CommandArgumentError": {"CommandArgumentErrorKind"},
    "DatatypeDescriptor": {"DatatypeKind"},
    "DynamicField": {"DynamicFieldKind"},
    "EndOfEpochTransactionKind": {"Kind"},
    "ExecutionError": {"ExecutionErrorKind"},
    "ExecutionTimeObservation": {"ExecutionTimeObservationKind"},
    "FunctionDescriptor": {"Visibility"},
    "FundsWithdrawal": {"Source"},
    "Input": {"InputKind", "Mutability"},
    "OpenSignature": {"Reference"},
    "OpenSignatureBody": {"Type"},
    "Owner": {"OwnerKind"},
    "PackageUpgradeError": {"PackageUpgradeErrorKind"},
    "RegulatedCoinMetadata": {"CoinRegulatedState"},
    "SimulateTransactionRequest": {"TransactionChecks"},
    "TransactionExpiration": {"TransactionExpirationKind"},
    "TransactionKind": {"Kind"},
    "TypeArgumentError": {"TypeArgumentErrorKind"},
    "UnchangedConsensusObject": {"UnchangedConsensusObjectKind"},
}
ENUMS_OF_THEIR_OWN = {"Ability", "ErrorReason", "Ordering", "QueryEndReason", "SignatureScheme"}


@pytest.fixture(scope="module")
def messages():
    return load_messages()


def message_classes():
    return sorted(
        name
        for name, cls in vars(v2).items()
        if isinstance(cls, type)
        and issubclass(cls, betterproto2.Message)
        and cls.__module__ == v2.__name__
    )


def enum_classes():
    return sorted(
        name
        for name, cls in vars(v2).items()
        if isinstance(cls, type)
        and issubclass(cls, betterproto2.Enum)
        and cls.__module__ == v2.__name__
    )


def type_name(field):
    """Return betterproto2's name of a type: the name in a .proto file, in lower case."""
    names = {
        getattr(FieldDescriptor, name): name.removeprefix("TYPE_").lower()
        for name in dir(FieldDescriptor)
        if name.startswith("TYPE_")
    }
    is_map = field.message_type is not None and field.message_type.GetOptions().map_entry
    return "map" if is_map else names[field.type]


@pytest.mark.parametrize("name", message_classes())
def test_message_has_the_fields_of_its_class(messages, name):
    expected = {}
    for field in dataclasses.fields(getattr(v2, name)):
        meta = field.metadata["betterproto"]
        kind = str(getattr(meta.proto_type, "value", meta.proto_type))
        many = meta.repeated or kind == "map"
        expected[field.name.rstrip("_")] = (meta.number, kind, bool(many), meta.group)
    found = {
        field.name: (
            field.number,
            type_name(field),
            field.is_repeated,
            field.containing_oneof.name
            if field.containing_oneof and not field.containing_oneof.name.startswith("_")
            else None,
        )
        for field in messages.descriptor(f"sui.rpc.v2.{name}").fields
    }
    assert found == expected


def enum_class(enum):
    """Return the class of an enum; its name follows that of the enclosing message."""
    inside = enum.containing_type
    return getattr(v2, enum.name if inside is None else f"{inside.name}{enum.name}")


def all_enums(messages):
    file = messages.pool.FindFileByName("sui/rpc/v2.proto")
    yield from file.enum_types_by_name.values()
    for message in file.message_types_by_name.values():
        yield from message.enum_types


def test_enums_have_the_names_and_numbers_of_their_classes(messages):
    found = {enum_class(enum).__name__: enum for enum in all_enums(messages)}
    assert found.keys() == set(enum_classes())
    for name, enum in found.items():
        expected = {member.proto_name or member.name: member.value for member in getattr(v2, name)}
        assert {value.name: value.number for value in enum.values} == expected


def test_enums_are_nested_as_in_the_proto_files(messages):
    file = messages.pool.FindFileByName("sui/rpc/v2.proto")
    nested = {
        name: set(message.enum_types_by_name)
        for name, message in file.message_types_by_name.items()
        if message.enum_types
    }
    assert nested == NESTED_ENUMS
    assert set(file.enum_types_by_name) == ENUMS_OF_THEIR_OWN


def test_encoded_messages_are_compatible_with_pysui(messages):
    theirs = v2.Object(
        object_id="0x6",
        version=2**63,
        owner=v2.Owner(kind=v2.OwnerOwnerKind.SHARED, version=1),
        contents=v2.Bcs(name="x", value=b"\0\1"),
        has_public_transfer=False,
    )
    ours = messages.message("sui.rpc.v2.Object").FromString(bytes(theirs))
    assert (ours.object_id, ours.version, ours.contents.value) == ("0x6", 2**63, b"\0\1")
    assert (ours.owner.kind, ours.owner.version) == (3, 1)
    assert ours.HasField("has_public_transfer")
    assert not ours.HasField("digest")
    assert v2.Object.parse(ours.SerializeToString()) == theirs


def test_procedures_are_those_of_sui_with_their_streaming(messages):
    sui = {
        path: procedure
        for path, procedure in messages.procedures.items()
        if path.startswith("/sui.")
    }
    streaming = {path for path, procedure in sui.items() if procedure.streaming}
    assert len(sui) == 27 + 3
    assert {path.rpartition("/")[2] for path in streaming} == {
        "ListCheckpoints",
        "ListTransactions",
        "ListEvents",
        "SubscribeCheckpoints",
        "SubscribeTransactions",
        "SubscribeEvents",
    }


def test_shipped_definitions_are_those_of_the_installed_pysui():
    for path, content in shipped_definitions().items():
        assert path.read_bytes() == content, "run scripts/pysui_definitions.py"


def test_loading_imports_nothing_of_pysui():
    program = "import sys; from nexus_tools.sui.rpc import load_messages; load_messages()"
    check = "assert not {'pysui', 'betterproto2'} & {*sys.modules}"
    subprocess.run([sys.executable, "-c", f"{program}; {check}"], check=True)
