"""Server reflection: a client without prior knowledge learns the whole interface."""

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool

VERSIONS = ["grpc.reflection.v1", "grpc.reflection.v1alpha"]


@pytest.fixture(params=VERSIONS)
def ask(request, client):
    """Return a function that asks questions in one conversation."""
    path = f"/{request.param}.ServerReflection/ServerReflectionInfo"
    procedure = client.messages.procedures[path]
    stub = client.channel.stream_stream(
        path,
        request_serializer=procedure.request.SerializeToString,
        response_deserializer=procedure.response.FromString,
    )
    return lambda *questions: list(
        stub(iter([procedure.request(**question) for question in questions]), timeout=20)
    )


def test_services_are_listed(ask):
    (answer,) = ask({"list_services": "", "host": "here"})
    names = {service.name for service in answer.list_services_response.service}
    assert {
        "sui.rpc.v2.LedgerService",
        "sui.rpc.v2.StateService",
        "sui.rpc.v2.MovePackageService",
        "sui.rpc.v2.TransactionExecutionService",
        "sui.rpc.v2.SubscriptionService",
        "sui.rpc.v2.SignatureVerificationService",
        "sui.rpc.v2.NameService",
        "grpc.health.v1.Health",
        *(f"{version}.ServerReflection" for version in VERSIONS),
    } <= names
    assert answer.valid_host == answer.original_request.host == "here"


def test_messages_can_be_created_from_the_descriptors(ask):
    pool, wanted = DescriptorPool(), set()
    (answer,) = ask({"file_containing_symbol": "sui.rpc.v2.LedgerService.GetObject"})
    add(ask, pool, wanted, answer)
    service = pool.FindServiceByName("sui.rpc.v2.LedgerService")
    response = service.methods_by_name["GetObject"].output_type
    assert response.fields_by_name["object"].message_type.fields_by_name["version"].number == 3


def add(ask, pool, known, answer):
    """Add the file of an answer after its dependencies."""
    (data,) = answer.file_descriptor_response.file_descriptor_proto
    file = FileDescriptorProto.FromString(data)
    for name in file.dependency:
        if name not in known:
            known.add(name)
            add(ask, pool, known, ask({"file_by_filename": name})[0])
    pool.Add(file)


def test_enum_values_have_the_names_of_the_reference_node(ask):
    """Source: `owner.proto` and `query_options.proto` of github.com/MystenLabs/sui-apis."""
    pool = DescriptorPool()
    (answer,) = ask({"file_containing_symbol": "sui.rpc.v2.Owner.OwnerKind"})
    add(ask, pool, set(), answer)
    kinds = pool.FindEnumTypeByName("sui.rpc.v2.Owner.OwnerKind").values_by_number
    assert (kinds[0].name, kinds[1].name) == ("OWNER_KIND_UNKNOWN", "ADDRESS")
    reasons = pool.FindEnumTypeByName("sui.rpc.v2.QueryEndReason").values_by_number
    assert reasons[1].name == "QUERY_END_REASON_ITEM_LIMIT"


def test_unknown_name_ends_only_the_question(ask):
    unknown, nothing, known = ask(
        {"file_by_filename": "no/such.proto"}, {}, {"file_containing_symbol": "google.rpc.Status"}
    )
    assert unknown.error_response.error_code == 5
    assert nothing.error_response.error_code == 3
    assert known.file_descriptor_response.file_descriptor_proto
