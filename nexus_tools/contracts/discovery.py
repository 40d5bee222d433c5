"""Lookup of newer package versions and of the package of workflows on a chain."""

from nexus_tools.contracts.deployment import Deployment, PackageKind
from nexus_tools.contracts.events import event_filter
from nexus_tools.contracts.move_bindings.permit import PermitGranted
from nexus_tools.contracts.move_bindings.workflows.dag_registry import DagRegistryCreated
from nexus_tools.sui.client import SuiClient, newest_events

_MAX_PERMITS = 50
_MAX_READ_S = 30.0  # Without an event index, the permit may be in an old checkpoint.


async def newest(client: SuiClient, deployment: Deployment) -> Deployment:
    """Return the deployment with the newest published versions of its packages."""
    for part in PackageKind:
        if part is PackageKind.TOOLS or deployment.workflows_id is not None:
            versions = await client.package_versions(deployment.package_of_kind(part).original_id)
            deployment = deployment.with_newest(versions[-1], part)
    return deployment


async def with_workflows_package(client: SuiClient, deployment: Deployment) -> Deployment:
    """Return the deployment with the package of workflows that the admin permitted last.

    If the admin has not permitted any package, the deployment is returned unchanged. Only the admin
    can grant permits, and the newest `_MAX_PERMITS` permits are considered. Raises the errors of
    `newest_events`.
    """
    kinds = event_filter(deployment, PermitGranted)
    page = await newest_events(client, kinds, _MAX_PERMITS, max_read_s=_MAX_READ_S)
    for record in page.events:
        created = await client.transaction(record.transaction_digest)
        for event in created.events if created else ():
            if event.type.name != DagRegistryCreated.__name__:
                continue
            value = await client.object(event.type.address)
            published = value and await client.transaction(value.previous_transaction)
            if created is not None and published:
                return deployment.with_workflows(published, created)
    return deployment
