"""The signatures of tool calls and the verification of signed responses."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from time import time

from nexus_tools.http.guarded_client import Response
from nexus_tools.leader.config import LeaderConfig
from nexus_tools.settings.environment import LEADER_PREFIX
from nexus_tools.sui.support.logs import get_logger
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import (
    Answer,
    Identity,
    SigningKey,
    check_answer,
    check_response,
    format_public_key,
    sign_request,
)

_log = get_logger("nexus_tools.leader")


@dataclass(frozen=True, slots=True)
class RequestSigning:
    """The optional key with which a Leader signs tool calls.

    `clock` returns seconds since 1970. Servers compare the times in signatures with their own time.
    """

    identity: Identity | None = None
    clock: Callable[[], float] = time

    @classmethod
    def load(cls, config: LeaderConfig, leader: Address) -> "RequestSigning":
        """Load the signing key of the configuration, if it is set.

        Raises:
            UsageError: `signing_key_missing`, `signing_key_exposed` or `signing_key_invalid`.
        """
        if config.signing_key is None:
            return cls()
        return cls(Identity(str(leader), SigningKey.load(config.signing_key)))

    def log_keys(self, keys: Collection[bytes]) -> None:
        """Log a warning if the leader's on-chain `keys` do not include its signing key."""
        if self.identity is None:
            if keys:
                hint = f"Set {LEADER_PREFIX}SIGNING_KEY to the file of a registered key."
                _log.warning("requests_not_signed", hint=hint)
        elif self.identity.key.public_key not in keys:
            key = format_public_key(self.identity.key.public_key)
            hint = "Run `nexus-tools leader key add FILE`, or sign with a registered key."
            _log.warning("key_not_on_chain", key=key, hint=hint)

    def sign(self, url: str, headers: Mapping[str, str], body: bytes) -> dict[str, str]:
        """Return the headers of a tool call with names in lower case and a fresh signature."""
        lowered = {name.lower(): value for name, value in headers.items()}
        if self.identity is None:
            return lowered
        return lowered | sign_request(self.identity, url, lowered, body, self.clock())

    def check(
        self, request: Mapping[str, str], response: Response, keys: Collection[bytes]
    ) -> None:
        """Raise `SignatureRejectedError` if a response does not prove that it is from the tool.

        If a tool has `keys` on chain, one of its keys must sign its answers. An error response
        needs no signature, because a proxy without a key may have sent it. A proxy could also drop
        the response.
        """
        if keys and response.status == 200:
            check_response(response.status, response.body, response.signed, request, keys)


def attach_signature(
    answer: Answer,
    request: Mapping[str, str],
    response: Response,
    signers: Collection[bytes],
    asked: bytes,
) -> Answer:
    """Return an answer with the signature with which the tool signed it.

    One of the keys in `signers` must verify the signature. If `signers` is empty, the answer needs
    no signature. `asked` is the body of the request.

    Raises:
        SignatureRejectedError: The response has no valid signature.
    """
    if not signers:
        return answer
    signature = check_answer(answer, response.signed, request, signers, asked=asked)
    return replace(answer, signature=signature)
