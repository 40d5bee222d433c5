"""Read masks: which fields of a message the client wants, so that nothing else is rendered.

A path names a field and, behind dots, fields of the messages in it; it goes through lists. A path
includes all that is below it, and paths add up. Source: `sui_rpc::field::{FieldMaskTree,
FieldMaskUtil}` and `sui-rpc-api/src/read_mask_defaults.rs`.
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
"""More paths than any message has fields are refused."""


class Mask(dict[str, "Mask"]):
    """The wanted fields by name, each with the mask of what is in it.

    `"digest" in mask` says whether a field is wanted, `mask.get("effects")` gives the mask of a
    wanted message and None for one that is not wanted.
    """


class _Everything(Mask):
    """The mask of all fields, and of all that is in them."""

    def __contains__(self, name: object) -> bool:
        return True

    def get(self, name: str, default: Any = None) -> Mask:  # noqa: ARG002 - as in `dict`
        return self


EVERYTHING: Mask = _Everything()


def prune(message: Message, mask: Mask) -> None:
    """Take out of a message what the mask does not want.

    What is costly is not even rendered; this takes care of the rest.
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


def requested_mask(request: Message, wanted: Descriptor, default: str) -> Mask:
    """The mask of a request, over the message `wanted`; `default` if it has none.

    Raises `RpcError` (INVALID_ARGUMENT) for a path that leads to no field.
    """
    if not request.HasField("read_mask"):
        return compile_mask(tuple(default.split(",")), wanted)
    paths = request.read_mask.paths
    if len(paths) > MAX_PATHS:
        raise invalid(
            f"invalid read_mask: it has {len(paths)} paths; at most {MAX_PATHS} are read",
            "read_mask",
        )
    return compile_mask(tuple(paths), wanted)


@lru_cache(maxsize=256)
def compile_mask(paths: tuple[str, ...], wanted: Descriptor) -> Mask:
    """Check paths against a message type and join them to a tree.

    `digest` and `effects.status` are `{digest: EVERYTHING, effects: {status: EVERYTHING}}`; with
    `effects` besides, whichever comes first, all of the effects are wanted.
    """
    for path in paths:
        if path != "*" and not _exists(path.split("."), wanted):
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
    """Whether fields of a message cannot be asked for one by one: maps, times and JSON."""
    return bool(message.GetOptions().map_entry) or message.full_name.startswith("google.")


def _join(paths: Iterable[list[str]]) -> Mask:
    root = Mask()
    for names in paths:
        mask = root
        for name in names[:-1]:
            mask = mask.setdefault(name, Mask())
            if mask is EVERYTHING:
                break
        else:
            mask[names[-1]] = EVERYTHING
    return root
