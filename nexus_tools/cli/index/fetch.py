"""The command `nexus-tools index fetch`."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from nexus_tools.cli.framework import Session, plain, query_command
from nexus_tools.cli.index.note_pace import NotePace

if TYPE_CHECKING:
    from nexus_tools.index import WritableIndex

_GIGABYTE = 1_000_000_000


@click.command()
@click.argument("url")
@click.option(
    "--max-size",
    type=click.FloatRange(min=0, min_open=True),
    default=20.0,
    show_default=True,
    metavar="GB",
    help="Maximum size of the snapshot, before and after decompression, in gigabytes.",
)
@click.option(
    "--allow-unverified",
    is_flag=True,
    help="Also accept a snapshot of which the node can check only a part.",
)
@query_command
async def command(session: Session, url: str, *, max_size: float, allow_unverified: bool) -> None:
    """Replace the local index with a published snapshot, which is faster than reading all events.

    URL is the folder that contains `snapshot.json`, such as the URL of `nexus-tools index serve`.
    The command compares the first rows, the last 1,000 rows, and 100 random rows with the node. It
    derives records and totals itself, and reads the texts of tools from the chain. A publisher who
    changed a few old rows may not be detected, so use a publisher that you know.

    If the download is interrupted, run the command again to continue. Afterwards,
    `nexus-tools index run` continues from the checkpoint of the snapshot. Stop this command during
    the fetch, because only one process can write.

    Exit code 4: the local index is newer, or the node cannot check the snapshot. Exit code 7: the
    snapshot is invalid, or differs from the chain.
    """
    from nexus_tools.cli.index.opening import writable_index
    from nexus_tools.index.snapshots import install_snapshot

    output = session.output
    async with session.nexus(signing=False) as nexus, writable_index(session, nexus) as index:
        with _discarded_on_failure(index), output.progress("fetching the snapshot"):
            installed = await install_snapshot(
                nexus.client,
                nexus.deployment,
                index,
                url,
                max_bytes=round(max_size * _GIGABYTE),
                allows_unverified=allow_unverified,
                report=_DownloadNotes(session),
            )
    manifest, verification = installed.manifest, installed.verification
    if verification.unverified:
        output.warn(plain(f"{verification.unverified} samples not checked: {verification.problem}"))
    output.done(f"installed {installed.rows} events up to checkpoint {manifest.checkpoint}")
    output.note("run `nexus-tools index run` to continue with the newest events")
    if output.as_json:
        output.document(
            {
                "checkpoint": manifest.checkpoint,
                "complete_since": manifest.complete_since,
                "events": installed.rows,
                "unverified": verification.unverified,
                "path": str(index.path),
            }
        )


@contextmanager
def _discarded_on_failure(index: "WritableIndex") -> Iterator[None]:
    """Delete a new index if the block fails, because its emptiness would look like the chain's."""
    try:
        yield
    except BaseException:
        if index.is_new:
            index.discard()
        raise


class _DownloadNotes:
    """The messages about the download, at most one every five seconds."""

    def __init__(self, session: Session) -> None:
        self._output = session.output
        self._pace = NotePace()

    def __call__(self, done_bytes: int, total_bytes: int) -> None:
        """Note the number of downloaded bytes."""
        if not self._pace.is_due():
            return
        done_mb, total_mb = (round(number / 1_000_000) for number in (done_bytes, total_bytes))
        self._output.note(f"downloaded {done_mb} of {total_mb} MB")
