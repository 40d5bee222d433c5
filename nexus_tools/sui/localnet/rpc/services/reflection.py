"""The service `grpc.reflection.v1.ServerReflection`, which tools such as grpcurl use.

All messages of `sui.rpc.v2` are in one file. The messages are generated from pysui's code, which
does not contain the original files.
"""

from collections.abc import Callable

from google.protobuf.descriptor import FileDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto

from nexus_tools.sui.localnet.rpc.backend import Backend, UnaryHandler
from nexus_tools.sui.localnet.rpc.interface import Code, RpcError, invalid, not_found
from nexus_tools.sui.rpc import Message


def _respond(backend: Backend, request: Message, response: Message) -> None:
    """Respond to one request of a stream. An error ends only that request."""
    response.valid_host = request.host
    response.original_request.CopyFrom(request)
    question = request.WhichOneof("message_request")
    try:
        if question is None:
            raise invalid("the request does not contain a query")
        _QUESTIONS[question](backend, request, response)
    except RpcError as error:
        response.error_response.error_code = error.code
        response.error_response.error_message = error.message


def _file_by_name(backend: Backend, request: Message, response: Message) -> None:
    _append_file(response, backend.messages.pool.FindFileByName, request.file_by_filename)


def _file_with_symbol(backend: Backend, request: Message, response: Message) -> None:
    pool = backend.messages.pool

    def find(symbol: str) -> FileDescriptor:
        try:
            return pool.FindFileContainingSymbol(symbol)
        except KeyError:
            return pool.FindMethodByName(symbol).containing_service.file

    _append_file(response, find, request.file_containing_symbol)


def _append_file(response: Message, find: Callable[[str], FileDescriptor], name: str) -> None:
    """Append a file to the response. Clients request the file's dependencies by name."""
    try:
        file = find(name)
    except KeyError:
        raise not_found(f"{name[:200]!r} does not exist on this server") from None
    message = FileDescriptorProto()
    file.CopyToProto(message)
    response.file_descriptor_response.file_descriptor_proto.append(message.SerializeToString())


def _list_services(backend: Backend, _: Message, response: Message) -> None:
    for name in sorted(backend.messages.services):
        response.list_services_response.service.add(name=name)


def _no_extensions(_: Backend, __: Message, ___: Message) -> None:
    """Refuse a request for extensions, which proto3 messages do not have."""
    raise RpcError(Code.UNIMPLEMENTED, "extensions are not supported")


_QUESTIONS: dict[str, UnaryHandler] = {
    "file_by_filename": _file_by_name,
    "file_containing_symbol": _file_with_symbol,
    "file_containing_extension": _no_extensions,
    "all_extension_numbers_of_type": _no_extensions,
    "list_services": _list_services,
}

UNARY: dict[str, UnaryHandler] = {"ServerReflectionInfo": _respond}
