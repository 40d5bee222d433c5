"""Prometheus with the files of `deploy/` scrapes a Leader and answers all queries."""

import json
import shutil
import subprocess
import time
from http import HTTPStatus
from pathlib import Path

import httpx
import pytest
import yaml

import grafana_dashboard
from documents.walk import reserve_port

DEPLOY = Path(__file__).parents[3] / "deploy"

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(
        shutil.which("prometheus") is None, reason="the package `prometheus` is not installed"
    ),
]


@pytest.fixture(scope="module")
def health(operator):
    """Return the host and port at which a Leader serves its metrics."""
    daemon = operator.daemon('"works"', "leader", "run", "--health-port", "0")
    yield json.loads(daemon.line)["health"].removeprefix("http://")
    daemon.end()


@pytest.fixture(scope="module")
def prometheus(health, tmp_path_factory):
    """Run Prometheus with our files. Only targets and intervals differ. Return its API."""
    folder = tmp_path_factory.mktemp("prometheus")
    config = yaml.safe_load((DEPLOY / "monitoring" / "prometheus.yaml").read_text())
    config["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
    [scrape] = config["scrape_configs"]
    del scrape["dns_sd_configs"]
    scrape["static_configs"] = [{"targets": [health]}]
    file = folder / "monitoring" / "prometheus.yaml"
    file.parent.mkdir()
    file.write_text(yaml.safe_dump(config))
    shutil.copy(DEPLOY / "prometheus-rules.yaml", folder)
    with reserve_port() as reserved:
        address = f"127.0.0.1:{reserved.getsockname()[1]}"
        command = (
            *("prometheus", f"--config.file={file}"),
            *(f"--storage.tsdb.path={folder}/data", f"--web.listen-address={address}"),
        )
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as server:
            with httpx.Client(base_url=f"http://{address}/api/v1") as api:
                yield api
            server.terminate()


def wait_for(read):
    """Return the first true value that `read` returns. The test's time limit ends the wait."""
    while not (value := read()):
        time.sleep(0.05)
    return value


def read(api, path, **parameters):
    """Return the data of a response, or None if Prometheus has not started yet."""
    try:
        response = api.get(path, params=parameters)
    except httpx.TransportError:
        return None
    if response.status_code == HTTPStatus.SERVICE_UNAVAILABLE:
        return None
    document = response.json()
    assert document["status"] == "success", document
    return document["data"]


def query(api, expression):
    data = read(api, "/query", query=expression)
    return None if data is None else data["result"]


def test_prometheus_scrapes_a_leader_and_answers_all_queries(prometheus):
    up = wait_for(lambda: query(prometheus, 'up{job="nexus-leader"} == 1'))
    assert len(up) == 1
    for panel in grafana_dashboard.dashboard()["panels"]:
        for target in panel.get("targets", ()):
            expression = target["expr"].replace("$instance", ".*")
            query(prometheus, expression.replace("$__rate_interval", "1m"))
    [node] = query(prometheus, 'nexus_leader_node_up{job="nexus-leader"}')
    assert node["value"][1] == "1"
    [collateral] = query(prometheus, "nexus_leader_collateral_mist / 1e9")
    assert float(collateral["value"][1]) == 10


def test_prometheus_evaluates_all_alert_rules_without_errors(prometheus):
    def rules():
        data = read(prometheus, "/rules") or {"groups": ()}
        found = [rule for group in data["groups"] for rule in group["rules"]]
        return found if found and all(rule["health"] != "unknown" for rule in found) else None

    states = {rule["name"]: (rule["health"], rule["state"]) for rule in wait_for(rules)}
    assert len(states) == 8
    assert {health for health, _ in states.values()} == {"ok"}
