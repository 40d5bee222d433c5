"""The signer of one worker, which may be slow, broken or unreachable."""

import asyncio

from nexus_tools.errors import NexusError, WrongStateError
from nexus_tools.sui.keystore import Signer, sign_transaction
from nexus_tools.sui.support.logs import error_summary, get_logger
from nexus_tools.sui.types.address import Address

_log = get_logger("nexus_tools.leader")

_SLOTS = 4
_FIRST_PAUSE_S = 1.0
_MAX_PAUSE_S = 60.0
_MANY_FAILURES = 3


class SigningFailedError(WrongStateError):
    """The error `signing_failed`: a worker's signer failed, so nothing was sent."""

    def __init__(self, worker: Address, reason: str) -> None:
        super().__init__("signing_failed", f"worker {worker} cannot sign: {reason}")


class WorkerSigner:
    """A signer with a time limit, and with slots for transactions that wait for it.

    While the slots are occupied, or for some time after a failure, other workers should sign. After
    a failure, the signer has one slot until it succeeds.
    """

    timeout_s: float | None = None
    """No limit for the callers, because each signature has its own limit."""

    def __init__(self, signer: Signer, limit_s: float) -> None:
        self.address = signer.address
        self._signer = signer
        self._limit_s = limit_s
        self._slots = asyncio.Semaphore(_SLOTS)
        self._pending = 0
        self._failures = 0
        self._last_failure = ""
        self._paused_until_s = 0.0

    @property
    def is_free(self) -> bool:
        """Whether the signer can start another signature at once."""
        return self._pending < (1 if self._failures else _SLOTS)

    @property
    def is_paused(self) -> bool:
        """Whether the signer failed a short time ago."""
        return asyncio.get_running_loop().time() < self._paused_until_s

    @property
    def is_failing(self) -> bool:
        """Whether the signer failed several times in a row, the last time a short time ago."""
        return self._failures >= _MANY_FAILURES and self.is_paused

    async def sign(self, transaction: bytes) -> bytes:
        """Return the verified signature of a transaction. Raises `SigningFailedError`.

        If the signer fails for another transaction in the meantime, a waiting transaction fails.
        """
        self._pending += 1
        failures = self._failures
        try:
            async with self._slots:
                if self._failures > failures:
                    raise SigningFailedError(self.address, self._last_failure)
                return await self._sign(transaction)
        finally:
            self._pending -= 1

    async def _sign(self, transaction: bytes) -> bytes:
        try:
            signature = await sign_transaction(self._signer, transaction, timeout_s=self._limit_s)
        except Exception as error:
            self._note_failure(error)
            raise SigningFailedError(self.address, self._last_failure) from error
        self._failures, self._paused_until_s = 0, 0.0
        return signature

    def _note_failure(self, error: Exception) -> None:
        code, self._last_failure = "signer_broken", error_summary(error)
        if isinstance(error, NexusError):
            code, self._last_failure = error.code, error.message
        pause_s = min(_FIRST_PAUSE_S * 2 ** min(self._failures, 10), _MAX_PAUSE_S)
        self._failures += 1
        self._paused_until_s = asyncio.get_running_loop().time() + pause_s
        worker = str(self.address)
        _log.warning("signing_failed", worker=worker, code=code, error=self._last_failure)
