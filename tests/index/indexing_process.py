"""A process that indexes a chain in small steps, and is killed anywhere in its work."""

import asyncio
import os
import signal
from contextlib import closing, suppress
from multiprocessing import get_context

from nexus_tools.index import (
    IndexIdentity,
    IndexPipeline,
    IndexWriter,
    SearchUpdate,
    VectorUpdate,
    open_writer,
    update_vectors,
)
from nexus_tools.index import pipeline as pipeline_module
from nexus_tools.index import writer as writer_module
from nexus_tools.sui.client import SuiClient
from tests.index.intent_models import SlowModel
from tests.retry_policies import QUICK

_ITEMS_AT_ONCE = 3
_DEFINITIONS_AT_ONCE = 2
_EVENTS_BETWEEN_RANKINGS = 7


def index_until_killed(network, deployment, path, *, steps=None, statements=None):
    """Index a chain in another process, and kill it. Return whether it was still working.

    The process is killed after a number of `steps`, wherever it then is, or before one of the
    SQL `statements` that it executes.
    """
    # The server has imported this module and has no threads, so a process starts in milliseconds.
    context = get_context("forkserver")
    context.set_forkserver_preload([__name__])
    receiver, sender = context.Pipe(duplex=False)
    arguments = (sender, network, deployment, path, statements)
    process = context.Process(target=_run, args=arguments)
    process.start()
    sender.close()
    with closing(receiver), suppress(EOFError):
        while steps is None or steps > 0:
            receiver.recv()
            steps = None if steps is None else steps - 1
        process.kill()
    process.join()
    return process.exitcode == -signal.SIGKILL


def _run(reports, network, deployment, path, statements):
    pipeline_module.EVENTS_AT_ONCE = _ITEMS_AT_ONCE
    pipeline_module._DEFINITIONS_AT_ONCE = _DEFINITIONS_AT_ONCE
    writer_module._EVENTS_BETWEEN_RANKINGS = _EVENTS_BETWEEN_RANKINGS
    asyncio.run(_index(reports, network, deployment, path, statements))


async def _index(reports, network, deployment, path, statements):
    index = open_writer(path, IndexIdentity.of(deployment))
    if statements is not None:
        index.connection.set_trace_callback(_Killing(statements))

    class ReportedUpdate(SearchUpdate):
        def run(self):
            reports.send(None)
            return super().run()

    class ReportedVectors(VectorUpdate):
        def run_part(self):
            reports.send(None)
            return super().run_part()

    with (
        closing(index),
        closing(ReportedUpdate(index)) as search,
        closing(ReportedVectors(index, SlowModel())) as vectors,
    ):
        async with SuiClient(network, retry_policy=QUICK) as client:
            pipeline = IndexPipeline(
                client,
                deployment,
                IndexWriter(index, deployment),
                search=search,
                report=lambda _: reports.send(None),
            )
            await pipeline.catch_up()
            await update_vectors(vectors)


class _Killing:
    """The end of this process before one of its statements."""

    def __init__(self, statements):
        self._statements = statements

    def __call__(self, _statement):
        self._statements -= 1
        if not self._statements:
            os.kill(os.getpid(), signal.SIGKILL)
