"""The filter for the events that an index contains."""

from nexus_tools.contracts import Deployment, event_filter
from nexus_tools.sui.client import EventFilter, SuiClient


async def read_event_filter(client: SuiClient, deployment: Deployment) -> EventFilter:
    """Return a filter for all events of all versions of the packages.

    A new version may define new types, whose names contain the ID of that version.
    """
    result = event_filter(deployment)
    for _, package in deployment.packages:
        for version in await client.package_versions(package.original_id):
            if version != package.original_id:
                result |= EventFilter(version)
    return result
