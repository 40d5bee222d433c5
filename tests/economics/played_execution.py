"""An execution on chain that is played beside the rules, which have to pay the same."""

from nexus_tools.package import PackageClient
from nexus_tools.package.move.workflows import execution as calls
from nexus_tools.registry import add_advance, add_outcome
from nexus_tools.sui.builder import TransactionBuilder
from nexus_tools.tool import Answer
from tests.economics.carried import MIST, CarriedExecution
from tests.economics.execution_stories import PLAIN, SIGNED

TIMEOUT_MS = 5_000
WINDOW_MS = TIMEOUT_MS + 16_000


class PlayedExecution(CarriedExecution):
    """The execution of a story; what it paid is compared after each transaction of its worker."""

    def __init__(self, stage, workflow, story, rules, clock):
        super().__init__(stage, workflow)
        self.story, self.rules, self.clock = story, rules, clock
        self.has_raised = False

    async def begin(self, **terms):
        """Begin it with funds for all that may be under way at once."""
        story = self.story
        terms = {"funds_mist": 60 * MIST, "max_timeout_ms": TIMEOUT_MS} | terms
        await super().begin(story.values, max_steps=story.max_steps, **terms)

    async def close(self, run, outcome, *, goes_on=True):
        """Close a run, and go on in the same transaction or in the next one."""
        is_signed = self.story.signs(run.vertex)
        if goes_on:
            await super().close(run.vertex, outcome, path=run.path, signed=is_signed)
            return
        deployment, attempt = self.stage.deployment, None
        event = self.requests.pop(run)
        if is_signed and isinstance(outcome, Answer):
            outcome, attempt = await self._signed(run, event, outcome)
        builder = TransactionBuilder()
        named = event.invocation, self.stage.leader
        add_outcome(builder, deployment, *named, outcome, attempt=attempt)
        await self.send(builder)
        await self._advance(event)

    async def advance_expired(self, run):
        """Go on with a run that nobody closed in time."""
        await self._advance(self.requests.pop(run))

    async def _advance(self, event):
        builder = TransactionBuilder()
        named = self.id, self.workflow.id, event.invocation
        add_advance(builder, self.stage.deployment, *named)
        await self.send(builder)

    async def stop(self, _status):
        """Cancel it as its owner."""
        builder = TransactionBuilder()
        calls.cancel(builder, self.stage.deployment.workflows, self.id)
        await PackageClient(self.stage.owner, self.stage.deployment).send(builder)

    async def raise_timeouts(self, timeout_ms=TIMEOUT_MS + 1):
        """Raise the timeouts of the tools beyond what the execution consents to."""
        self.has_raised = not self.has_raised
        for fqn in (PLAIN, SIGNED):
            await self.stage.update(fqn, timeout_ms=timeout_ms)

    async def expire_all(self):
        """Let the time of all that is under way pass."""
        self.clock(WINDOW_MS)

    async def send(self, builder):
        await super().send(builder)
        # The rules play first: what they have paid for this transaction is there.
        number = len(self.costs) - 1
        paid_mist = self.gained_mist[-1] + self.costs[-1].net
        assert paid_mist == self.rules.paid[number].mist, f"transaction {number}"
