import grpc
import pytest

from nexus_tools.sui.types.address import Address

COPY, DROP, STORE, KEY = 1, 2, 3, 4
DATATYPE, BOOL, U64, TYPE_PARAMETER = 10, 2, 6, 11
IMMUTABLE, MUTABLE = 1, 2


def expect_refusal(call, /, *arguments, **fields):
    with pytest.raises(grpc.RpcError) as caught:
        call(*arguments, **fields)
    return caught.value.code(), caught.value.details()


def function(client, package, module, name):
    return client.call(
        "MovePackageService/GetFunction", package_id=package, module_name=module, name=name
    ).function


def test_function_is_described_by_its_signature(client, published):
    found = function(client, str(published.package), "tool_registry", "configure")
    assert (found.name, found.visibility, found.is_entry) == ("configure", 2, False)
    registry, admin, accepting, *numbers, context = found.parameters
    assert registry.reference == MUTABLE
    assert registry.body.type == DATATYPE
    assert registry.body.type_name == f"{published.package}::tool_registry::ToolRegistry"
    assert (admin.reference, context.reference) == (IMMUTABLE, IMMUTABLE)
    assert context.body.type_name.endswith("::tx_context::TxContext")
    assert accepting.body.type == BOOL
    assert [number.body.type for number in numbers] == [U64] * 5
    assert not numbers[0].HasField("reference")
    assert list(found.returns) == []


def test_type_parameters_are_described_by_their_constraints(client):
    found = function(client, "0x2", "dynamic_field", "add")
    assert [list(parameter.constraints) for parameter in found.type_parameters] == [
        [COPY, DROP, STORE],
        [STORE],
    ]
    assert found.parameters[1].body.type == TYPE_PARAMETER
    assert found.parameters[2].body.type_parameter == 1


def test_transaction_context_is_a_parameter(client):
    found = function(client, "0x2", "coin", "zero")
    assert found.parameters[-1].body.type_name == f"{Address.of(2)}::tx_context::TxContext"
    (result,) = found.returns
    assert result.body.type_name == f"{Address.of(2)}::coin::Coin"
    assert result.body.type_parameter_instantiation[0].type == TYPE_PARAMETER


def test_struct_is_described_by_its_fields(client):
    found = client.call(
        "MovePackageService/GetDatatype", package_id="0x2", module_name="coin", name="Coin"
    ).datatype
    assert found.type_name == f"{Address.of(2)}::coin::Coin"
    assert (found.kind, found.defining_id) == (1, str(Address.of(2)))
    assert list(found.abilities) == [STORE, KEY]
    (parameter,) = found.type_parameters
    assert parameter.is_phantom
    assert [(field.name, field.position) for field in found.fields] == [("id", 0), ("balance", 1)]
    assert found.fields[1].type.type_name == f"{Address.of(2)}::balance::Balance"


def test_whole_package_is_described(client, published):
    package = client.call("MovePackageService/GetPackage", package_id=str(published.package))
    modules = {module.name: module for module in package.package.modules}
    assert "ToolSettings" in [datatype.name for datatype in modules["tool_registry"].datatypes]
    names = [entry.name for entry in modules["tool_registry"].functions]
    assert {"init", "configure", "migrate"} <= set(names)
    assert modules["tool"].contents
    assert package.package.version == 1


def test_package_versions_are_listed(client, published):
    response = client.call(
        "MovePackageService/ListPackageVersions", package_id=str(published.package)
    )
    (only,) = response.versions
    assert (only.package_id, only.version) == (str(published.package), 1)
    assert not response.HasField("next_page_token")


@pytest.mark.parametrize(
    ("package", "module", "name", "code"),
    [
        ("0xdead", "coin", "zero", grpc.StatusCode.NOT_FOUND),
        ("0x6", "coin", "zero", grpc.StatusCode.INVALID_ARGUMENT),
        ("0x2", "nothing", "zero", grpc.StatusCode.NOT_FOUND),
        ("0x2", "coin", "nothing", grpc.StatusCode.NOT_FOUND),
        ("two", "coin", "zero", grpc.StatusCode.INVALID_ARGUMENT),
    ],
)
def test_missing_items_are_not_found(client, package, module, name, code):
    for procedure in ("GetFunction", "GetDatatype"):
        found, _ = expect_refusal(
            client.call,
            f"MovePackageService/{procedure}",
            package_id=package,
            module_name=module,
            name=name,
        )
        assert found is code
