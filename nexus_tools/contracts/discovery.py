"""Lookup of newer package versions and of the package of workflows on a chain."""

from nexus_tools.contracts.deployment import Deployment, PackageKind
from nexus_tools.contracts.events import event_filter
from nexus_tools.contracts.move_bindings.permit import PermitGranted
from nexus_tools.contracts.move_bindings.workflows.dag_registry import DagRegistryCreated
from nexus_tools.sui.client import SuiClient, past_events


async def newest(client: SuiClient, deployment: Deployment) -> Deployment:
    """Return the deployment with the newest published versions of its packages."""
    for part in PackageKind:
        if part is PackageKind.TOOLS or deployment.workflows_id is not None:
            versions = await client.package_versions(deployment.package_of_kind(part).original_id)
            deployment = deployment.with_newest(versions[-1], part)
    return deployment


async def with_workflows_package(client: SuiClient, deployment: Deployment) -> Deployment:
    """Return the deployment with the package of workflows that the admin permitted last.

    If the admin has not permitted any package, the deployment is returned unchanged. Raises the
    errors of `past_events`.
    """
    kinds = event_filter(deployment, PermitGranted)
    async for record in past_events(client, kinds):
        created = await client.transaction(record.transaction_digest)
        for event in created.events if created else ():
            if event.type.name != DagRegistryCreated.__name__:
                continue
            value = await client.object(event.type.address)
            published = value and await client.transaction(value.previous_transaction)
            if created is not None and published:
                deployment = deployment.with_workflows(published, created)
    return deployment
