"""Why there is no answer (`google.rpc.Status`), with the field to blame, if it is one."""

from nexus_tools.localnet.rpc.messages import Message, Messages
from nexus_tools.localnet.rpc.status import RpcError


def render_status(message: Message, error: RpcError, messages: Messages) -> None:
    """Code, message, and a `google.rpc.BadRequest` if a field is wrong."""
    message.code = int(error.code)
    message.message = error.message
    if error.violation is None:
        return
    request = messages.message("google.rpc.BadRequest")()
    request.field_violations.add(
        field=error.violation.field, description=error.message, reason=error.violation.reason
    )
    message.details.add().Pack(request)
