"""How a Leader signs its tool calls, and believes the responses of tools."""

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
    public_key_text,
    sign_request,
)

_log = get_logger("nexus_tools.leader")


@dataclass(frozen=True, slots=True)
class SignedTraffic:
    """What a Leader signs with, if it does.

    `clock` gives seconds since 1970: what servers compare is their own clock.
    """

    identity: Identity | None = None
    clock: Callable[[], float] = time

    @classmethod
    def load(cls, config: LeaderConfig, leader: Address) -> "SignedTraffic":
        """What the configuration says.

        Raises `signing_key_missing`, `signing_key_exposed` or `signing_key_invalid`.
        """
        if config.signing_key is None:
            return cls()
        return cls(Identity(str(leader), SigningKey.load(config.signing_key)))

    def tell_keys(self, keys: Collection[bytes]) -> None:
        """Log it if what the leader has on chain, `keys`, does not fit what it signs with."""
        if self.identity is None:
            if keys:
                hint = f"name the file of one in {LEADER_PREFIX}SIGNING_KEY"
                _log.warning("not_signing", hint=hint)
        elif self.identity.key.public_key not in keys:
            key = public_key_text(self.identity.key.public_key)
            hint = "`nexus-tools leader key add FILE` adds it; or sign with one that is there"
            _log.warning("key_not_on_chain", key=key, hint=hint)

    def sign(self, url: str, headers: Mapping[str, str], body: bytes) -> dict[str, str]:
        """The headers of a tool call, in lower case, with a signature that nobody has seen."""
        lowered = {name.lower(): value for name, value in headers.items()}
        if self.identity is None:
            return lowered
        return lowered | sign_request(self.identity, url, lowered, body, self.clock())

    def check(
        self, request: Mapping[str, str], response: Response, keys: Collection[bytes]
    ) -> None:
        """Raise `RefusedSignatureError` if a response cannot be taken as the tool's.

        An answer of a tool that has `keys` on chain has to be signed with one of them. What says
        that there is none may come from a proxy, which has no key and could be silent as well.
        """
        if keys and response.status == 200:
            check_response(response.status, response.body, response.signed, request, keys)


def with_signature(
    answer: Answer,
    request: Mapping[str, str],
    response: Response,
    signers: Collection[bytes],
    asked: bytes,
) -> Answer:
    """An answer with the tool's signature of it, if there are `signers`: one of them has to sign.

    `asked` is the body of the request. Raises `RefusedSignatureError` if the response has none.
    """
    if not signers:
        return answer
    signature = check_answer(answer, response.signed, request, signers, asked=asked)
    return replace(answer, signature=signature)
