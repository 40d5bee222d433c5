import json

import httpx
import pytest

from nexus_tools.errors import UsageError
from nexus_tools.leader.health.health_server import health_app, serve_health
from nexus_tools.leader.metrics import LeaderMetrics


async def ask(port, path):
    async with httpx.AsyncClient() as client:
        return await client.get(f"http://127.0.0.1:{port}{path}")


async def test_leader_without_problems_is_alive_and_ready():
    async with serve_health(health_app(dict, LeaderMetrics()), 0) as port:
        assert (await ask(port, "/healthz")).status_code == 200
        assert (await ask(port, "/readyz")).json() == {"status": "ready", "problems": {}}


async def test_leader_with_problems_is_alive_and_not_ready():
    problems = {"closer": "no gas"}
    async with serve_health(health_app(lambda: problems, LeaderMetrics()), 0) as port:
        assert (await ask(port, "/healthz")).status_code == 200
        response = await ask(port, "/readyz")
        assert response.status_code == 503
        assert json.loads(response.content)["problems"] == problems


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics"])
async def test_health_rejects_foreign_host_names(path):
    async with (
        serve_health(health_app(dict, LeaderMetrics()), 0) as port,
        httpx.AsyncClient() as http,
    ):
        url = f"http://127.0.0.1:{port}{path}"
        refused = await http.get(url, headers={"host": f"evil.example:{port}"})
        assert (refused.status_code, "nexus" in refused.text) == (421, False)
        for host in ("localhost", "127.0.0.1", "[::1]"):
            assert (await http.get(url, headers={"host": f"{host}:{port}"})).status_code == 200


async def test_metrics_have_the_prometheus_text_format():
    metrics = LeaderMetrics()
    metrics.assigned.labels("primary").inc(3)
    async with serve_health(health_app(dict, metrics), 0) as port:
        response = await ask(port, "/metrics")
    assert response.headers["content-type"].startswith("text/plain")
    assert 'nexus_leader_invocations_assigned_total{place="primary"} 3.0' in response.text


async def test_two_leaders_have_separate_metrics():
    first, second = LeaderMetrics(), LeaderMetrics()
    first.open.inc()
    assert b"nexus_leader_invocations_open 0.0" in second.render()[0]


async def test_occupied_port_is_reported(unused_tcp_port):
    with pytest.raises(UsageError) as caught:
        async with serve_health(health_app(dict, LeaderMetrics()), unused_tcp_port):
            pass
    assert caught.value.code == "health_port_taken"
