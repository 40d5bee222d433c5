"""The files of Prometheus and Grafana in `deploy/` agree with each other and with our metrics."""

import json
import re
import shutil
import subprocess
from itertools import combinations
from os.path import normpath
from pathlib import Path

import pytest
import yaml

import grafana_dashboard
from nexus_tools.leader import LeaderMetrics

DEPLOY = Path(__file__).parent.parent / "deploy"
MONITORING = DEPLOY / "monitoring"
GRAFANA = MONITORING / "grafana"
OVERLAY = yaml.safe_load((DEPLOY / "monitoring.compose.yaml").read_text())["services"]
[SCRAPE] = yaml.safe_load((MONITORING / "prometheus.yaml").read_text())["scrape_configs"]
DASHBOARD = json.loads(grafana_dashboard.DASHBOARD.read_text())
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
EXPRESSIONS = [target["expr"] for panel in PANELS for target in panel["targets"]]


def test_dashboard_is_generated_from_its_script():
    assert grafana_dashboard.DASHBOARD.read_text() == grafana_dashboard.text(), (
        "run scripts/grafana_dashboard.py"
    )


def sample_names():
    """Return the names of all samples that a Leader exports."""
    names = set()
    for metric in LeaderMetrics().registry.collect():
        names |= {sample.name for sample in metric.samples}
        suffixes = {"counter": ["_total"], "histogram": ["_bucket", "_sum", "_count"]}
        names |= {metric.name + suffix for suffix in suffixes.get(metric.type, [""])}
    return names


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_dashboard_uses_existing_metrics_of_the_selected_processes(expression):
    metrics = re.findall(r"nexus_leader_\w+", expression)
    assert metrics
    assert set(metrics) <= sample_names()
    selections = re.findall(r'\{job="nexus-leader", instance=~"\$instance"', expression)
    assert len(selections) == len(metrics)


def test_dashboard_shows_every_metric():
    shown = set(re.findall(r"nexus_leader_\w+", " ".join(EXPRESSIONS)))
    missing = {
        metric.name
        for metric in LeaderMetrics().registry.collect()
        if not any(name.startswith(metric.name) for name in shown)
    }
    # The position of the node has no meaning alone, and the others are for fast questions.
    assert missing == {
        f"nexus_leader_{name}"
        for name in ("node_checkpoint", "step_transactions", "values_fetched", "workers")
    }


def cells(panel):
    place = panel["gridPos"]
    columns = range(place["x"], place["x"] + place["w"])
    rows = range(place["y"], place["y"] + place["h"])
    return {(x, y) for x in columns for y in rows}


def test_panels_have_different_ids_and_places():
    ids = [panel["id"] for panel in DASHBOARD["panels"]]
    assert len(ids) == len(set(ids))
    for one, other in combinations(DASHBOARD["panels"], 2):
        assert not cells(one) & cells(other), (one["title"], other["title"])
    assert all(x < 24 for panel in PANELS for x, _ in cells(panel))


def test_dashboard_selects_the_job_that_prometheus_scrapes():
    assert {SCRAPE["job_name"]} == set(re.findall(r'job="([^"]+)"', " ".join(EXPRESSIONS)))


def test_prometheus_finds_the_containers_of_leaders():
    [discovery] = SCRAPE["dns_sd_configs"]
    [name] = discovery["names"]
    services = {}
    for file in ("compose.yaml", "fleet.compose.yaml"):
        services |= yaml.safe_load((DEPLOY / file).read_text())["services"]
    leaders = [services[name] for name in ("leader", "leader-a", "leader-b")]
    for leader in leaders:
        assert leader["networks"]["default"]["aliases"] == [name]
        assert leader["ports"][0].endswith(f":{discovery['port']}")


def test_mounted_files_exist_where_the_configuration_expects_them():
    mounts = {}
    for service in OVERLAY.values():
        for volume in service["volumes"]:
            source, target, *mode = volume.split(":")
            if source.startswith("./"):
                assert (DEPLOY / source).exists(), source
                assert mode == ["ro"]
                mounts[target] = DEPLOY / source
    [rules] = yaml.safe_load((MONITORING / "prometheus.yaml").read_text())["rule_files"]
    assert (MONITORING / rules).samefile(DEPLOY / "prometheus-rules.yaml")
    assert mounts[normpath(f"/etc/prometheus/{rules}")] == DEPLOY / "prometheus-rules.yaml"
    assert f"--config.file={next(iter(mounts))}" in OVERLAY["prometheus"]["command"]
    provisioning = mounts["/etc/grafana/provisioning"]
    [dashboards] = yaml.safe_load((provisioning / "dashboards/nexus-tools.yaml").read_text())[
        "providers"
    ]
    folder = mounts[dashboards["options"]["path"]]
    assert folder / "leader.json" == grafana_dashboard.DASHBOARD
    [source] = yaml.safe_load((provisioning / "datasources/prometheus.yaml").read_text())[
        "datasources"
    ]
    assert source["type"] == DASHBOARD["templating"]["list"][0]["query"]
    assert source["url"] == "http://prometheus:9090"


@pytest.mark.parametrize("service", OVERLAY.values(), ids=OVERLAY)
def test_monitoring_has_no_privileges_and_listens_on_the_loopback_only(service):
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in service["security_opt"]
    assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ()))
    assert re.fullmatch(r"[\w/]+:v?\d+\.\d+\.\d+", service["image"])


ALERT_TESTS = Path(__file__).parent / "alert-rules.yaml"


def test_every_alert_has_a_unit_test_in_which_it_fires():
    rules = yaml.safe_load((DEPLOY / "prometheus-rules.yaml").read_text())["groups"]
    alerts = {rule["alert"] for group in rules for rule in group["rules"]}
    tests = yaml.safe_load(ALERT_TESTS.read_text())["tests"]
    fired = {
        case["alertname"]
        for test in tests
        for case in test["alert_rule_test"]
        if case["exp_alerts"]
    }
    assert fired == alerts


@pytest.mark.skipif(
    shutil.which("promtool") is None, reason="the package `prometheus` is not installed"
)
def test_alerts_fire_as_their_unit_tests_say():
    command = ["promtool", "test", "rules", ALERT_TESTS]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_grafana_has_no_default_password():
    assert OVERLAY["grafana"]["environment"]["GF_SECURITY_ADMIN_PASSWORD"] == (
        "${GRAFANA_PASSWORD:?}"
    )
