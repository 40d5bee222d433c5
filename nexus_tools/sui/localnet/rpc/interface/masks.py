"""Read masks, which list the message fields that a client requests.

A path is a field's name, or the names of nested fields, separated by dots. A path may also name
fields of the messages in a list. A path includes all nested fields of its field. A mask can have
several paths. Source: `sui_rpc::field::{FieldMaskTree, FieldMaskUtil}` and
`sui-rpc-api/src/read_mask_defaults.rs`.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from google.protobuf.descriptor import Descriptor

from nexus_tools.sui.localnet.rpc.interface.status import invalid
from nexus_tools.sui.rpc import Message

TRANSACTION_FIELDS = "digest"
CHECKPOINT_FIELDS = "sequence_number,digest"
EVENT_FIELDS = "event_type"
EPOCH_FIELDS = (
    "epoch,first_checkpoint,last_checkpoint,start,end,reference_gas_price,"
    "protocol_config.protocol_version"
)
OBJECT_FIELDS = "object_id,version,digest"
OWNED_OBJECT_FIELDS = "object_id,version,object_type"
DYNAMIC_FIELD_FIELDS = "parent,field_id"
EXECUTION_FIELDS = "effects"
SIMULATION_FIELDS = "*"

MAX_PATHS = 1000
"""The maximum number of paths in a mask, which is more than the fields of any message."""


class Mask(dict[str, "Mask"]):
    """The requested fields by name, each with the mask of its nested fields.

    `"digest" in mask` is true if the field `digest` is requested. `mask.get("effects")` returns the
    mask of the nested message `effects`, or None if it is not requested.
    """


class _Everything(Mask):
    """The mask of all fields, with all their nested fields."""

    def __contains__(self, name: object) -> bool:
        return True

    def get(self, name: str, default: Any = None) -> Mask:  # noqa: ARG002 - as in `dict`
        return self


EVERYTHING: Mask = _Everything()


def prune(message: Message, mask: Mask) -> None:
    """Remove from a message the fields that the mask does not request.

    Rendering functions skip only expensive fields. This function removes the other fields.
    """
    if mask is EVERYTHING:
        return
    for field, value in message.ListFields():
        inner = mask.get(field.name)
        if inner is None:
            message.ClearField(field.name)
        elif inner is not EVERYTHING:
            for part in value if field.is_repeated else (value,):
                prune(part, inner)


def requested_mask(request: Message, message_type: Descriptor, default: str) -> Mask:
    """Return the read mask of a request for a message type, or the mask for the paths `default`.

    Raises:
        RpcError: INVALID_ARGUMENT if a path does not lead to a field.
    """
    if not request.HasField("read_mask"):
        return compile_mask(tuple(default.split(",")), message_type)
    paths = request.read_mask.paths
    if len(paths) > MAX_PATHS:
        raise invalid(
            f"invalid read_mask: expected at most {MAX_PATHS} paths, got {len(paths)}",
            "read_mask",
        )
    return compile_mask(tuple(paths), message_type)


@lru_cache(maxsize=256)
def compile_mask(paths: tuple[str, ...], message_type: Descriptor) -> Mask:
    """Check paths against a message type and combine them into a tree.

    For example, `digest` and `effects.status` become `{digest: EVERYTHING, effects: {status:
    EVERYTHING}}`. If `effects` is also a path, the result requests all of `effects`.
    """
    for path in paths:
        if path != "*" and not _exists(path.split("."), message_type):
            raise invalid(f"invalid read_mask path: {path[:200]}", "read_mask")
    if "*" in paths:
        return EVERYTHING
    return _join(path.split(".") for path in paths)


def _exists(names: Iterable[str], message: Descriptor | None) -> bool:
    for name in names:
        field = None if message is None else message.fields_by_name.get(name)
        if field is None:
            return False
        message = field.message_type
        if message is not None and _is_opaque(message):
            message = None
    return True


def _is_opaque(message: Descriptor) -> bool:
    """Return whether a message's fields cannot be requested separately, such as maps and times."""
    return bool(message.GetOptions().map_entry) or message.full_name.startswith("google.")


def _join(paths: Iterable[list[str]]) -> Mask:
    root = Mask()
    for path in paths:
        mask = root
        for name in path[:-1]:
            mask = mask.setdefault(name, Mask())
            if mask is EVERYTHING:
                break
        else:
            mask[path[-1]] = EVERYTHING
    return root
