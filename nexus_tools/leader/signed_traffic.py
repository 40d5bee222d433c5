"""How a Leader signs its tool calls, and by which keys it knows the responses of tools."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import time

from nexus_tools.leader.config import LeaderConfig
from nexus_tools.leader.http_client import Response
from nexus_tools.sui.address import Address
from nexus_tools.tool import (
    Identity,
    Keys,
    KnownKeys,
    KnownKeysFile,
    RefusedSignatureError,
    SigningKey,
    check_response,
    sign_request,
)


@dataclass(frozen=True, slots=True)
class SignedTraffic:
    """What a Leader signs with, if it does, and the keys that tools have now, by FQN.

    `clock` gives seconds since 1970: what servers compare is their own clock.
    """

    identity: Identity | None = None
    tool_keys: Keys = field(default_factory=lambda: KnownKeys({}))
    clock: Callable[[], float] = time

    @classmethod
    def load(cls, config: LeaderConfig, leader: Address) -> "SignedTraffic":
        """What the configuration says.

        Raises `signing_key_missing`, `signing_key_exposed`, `signing_key_invalid` or
        `known_keys_invalid`.
        """
        if config.signing_key is None:
            return cls()
        identity = Identity(str(leader), SigningKey.load(config.signing_key))
        known: Keys = KnownKeysFile(config.tool_keys) if config.tool_keys else KnownKeys({})
        return cls(identity, known)

    def sign(self, url: str, headers: Mapping[str, str], body: bytes) -> dict[str, str]:
        """The headers of a tool call, in lower case, with a signature that nobody has seen."""
        lowered = {name.lower(): value for name, value in headers.items()}
        if self.identity is None:
            return lowered
        return lowered | sign_request(self.identity, url, lowered, body, self.clock())

    def problem(self, fqn: str, request: Mapping[str, str], response: Response) -> str:
        """Why a response cannot be taken as the tool's; empty if it can.

        That of a tool whose keys are known has to be signed if it is an answer. What says that
        there is none may come from a proxy, which has no key and could be silent as well.
        """
        keys = self.tool_keys(fqn) if self.identity else None
        if not keys or response.status != 200:
            return ""
        try:
            check_response(response.status, response.body, response.signed, request, keys)
        except RefusedSignatureError as error:
            return error.detail
        return ""
