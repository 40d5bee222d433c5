"""Steering the running localnet through the HTTP side of its port."""

from typing import Any

from nexus_tools.cli.running import RunningLocalnet
from nexus_tools.errors import NotNowError, UnreachableError


async def post(
    running: RunningLocalnet, path: str, document: dict[str, Any], *, refusal: str
) -> dict[str, Any]:
    """Send a JSON object, and give the one that comes back.

    Raises `localnet_unreachable`, and an error with the code `refusal` if it is not accepted.
    """
    import httpx  # noqa: PLC0415 - 60 ms, for few commands

    url = running.url + path
    try:
        async with httpx.AsyncClient() as http:
            answer = await http.post(url, json=document)
    except httpx.HTTPError as error:
        raise UnreachableError("localnet_unreachable", f"{url} does not answer: {error}") from None
    result: dict[str, Any] = answer.json()
    if answer.status_code != httpx.codes.OK:
        raise NotNowError(refusal, str(result.get("error")))
    return result
