"""Write the Grafana dashboard of Leaders: `python scripts/grafana_dashboard.py`."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DASHBOARD = Path(__file__).parents[1] / "deploy/monitoring/grafana/dashboards/leader.json"

_DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}
_ALL_COLUMNS = 24
_PROCESSES = 'job="nexus-leader", instance=~"$instance"'
_SUI = "suffix: SUI"
_PER_SECOND = "suffix: /s"


@dataclass(frozen=True)
class Panel:
    """A panel with its queries, which map legends to PromQL.

    A query names a metric without the prefix `nexus_leader_` as `<name>`. The selection of
    processes is added to it.
    """

    title: str
    text: str
    queries: dict[str, str]
    unit: str = "none"
    kind: str = "timeseries"
    width: int = 8
    red_below: float | None = None
    red_from: float | None = None

    @property
    def height(self) -> int:
        """The number of rows in the grid."""
        return 4 if self.kind == "stat" else 8


def _number(title: str, text: str, query: str, **options: Any) -> Panel:
    return Panel(title, text, {"": query}, kind="stat", width=4, **options)


def _quantiles(name: str) -> dict[str, str]:
    rates = f"sum by (le) (rate(<{name}_bucket>[$__rate_interval]))"
    return {f"p{q}": f"histogram_quantile(0.{q}, {rates})" for q in (50, 95, 99)}


def _rate(by: str, name: str) -> dict[str, str]:
    return {f"{{{{{by}}}}}": f"sum by ({by}) (rate(<{name}>[$__rate_interval]))"}


ROWS = {
    "Health": (
        _number("Node", "1 if all nodes respond.", "min(<node_up>)", red_below=1),
        _number("Active", "1 if new invocations can list the leader.", "min(<active>)"),
        _number(
            "Missed in 1 h",
            "Invocations that no leader closed in time.",
            'sum(increase(<invocations_closed_total>{how="missed"}[1h]))',
            red_from=1,
        ),
        _number(
            "Missing funds",
            "Amount that the workers lack for the next hour.",
            "max(<shortfall_mist>) / 1e9",
            unit=_SUI,
            red_from=1e-9,
        ),
        _number("Open invocations", "Pending invocations.", "sum(<invocations_open>)"),
        _number("Tools down", "Tools that do not respond.", "max(<tools_down>)"),
    ),
    "Invocations": (
        Panel("Closed", "By result.", _rate("how", "invocations_closed_total"), _PER_SECOND),
        Panel(
            "Assigned",
            "By the position of the leader in the list of the requester.",
            _rate("place", "invocations_assigned_total"),
            _PER_SECOND,
        ),
        Panel("Failed", "By reason.", _rate("reason", "invocations_failed_total"), _PER_SECOND),
        Panel(
            "Work in progress",
            "Open invocations, tool calls, and closing transactions.",
            {
                "open invocations": "sum(<invocations_open>)",
                "tool calls": "sum(<tool_calls_running>)",
                "closing transactions": "sum(<closing_transactions>)",
            },
        ),
        Panel("Duration of tool calls", "Quantiles.", _quantiles("tool_call_seconds"), "s"),
        Panel("Duration of closings", "Quantiles.", _quantiles("closing_seconds"), "s"),
        Panel(
            "Invocations per closing transaction",
            "The mean. More invocations per transaction cost less gas.",
            {
                "mean": "sum(rate(<closing_size_sum>[$__rate_interval]))"
                " / sum(rate(<closing_size_count>[$__rate_interval]))"
            },
        ),
        Panel(
            "Event lag",
            "Age of the last event when it was read.",
            {"{{instance}}": "<event_lag_seconds>"},
            "s",
        ),
        Panel(
            "Errors", "Errors of the Leader itself.", _rate("where", "errors_total"), _PER_SECOND
        ),
    ),
    "Money": (
        Panel(
            "Earned per hour",
            "Fees minus gas in the last hour.",
            {"{{instance}}": "<earned_mist_per_hour> / 1e9"},
            _SUI,
        ),
        Panel(
            "Fees and gas",
            "Totals since the start.",
            {"fees": "sum(<fees_mist_total>) / 1e9", "gas": "sum(<gas_mist>) / 1e9"},
            _SUI,
        ),
        Panel(
            "Balance and collateral",
            "SUI of the workers, and collateral of the leader.",
            {"balance": "sum(<balance_mist>) / 1e9", "collateral": "max(<collateral_mist>) / 1e9"},
            _SUI,
        ),
    ),
    "Tools": (
        Panel(
            "Calls",
            "The ten tools with the most calls.",
            {"{{tool}}": "topk(10, sum by (tool) (rate(<tool_calls_total>[$__rate_interval])))"},
            _PER_SECOND,
        ),
        Panel(
            "Mean duration of calls",
            "The ten slowest tools.",
            {
                "{{tool}}": "topk(10, sum by (tool) (rate(<tool_calls_seconds_total>"
                "[$__rate_interval])) / sum by (tool) (rate(<tool_calls_total>[$__rate_interval])))"
            },
            "s",
        ),
        Panel(
            "Failures",
            "The ten tools with the most failures.",
            {
                "{{tool}}: {{outcome}}": "topk(10, sum by (tool, outcome) (rate("
                '<tool_invocations_closed_total>{outcome!="settled"}[$__rate_interval])))'
            },
            _PER_SECOND,
        ),
    ),
    "Executions": (
        Panel(
            "Executions",
            "Executions that name this leader and have not ended.",
            {"executions": "max(<executions>)"},
        ),
        Panel("Ended", "By status.", _rate("status", "executions_ended_total"), _PER_SECOND),
        Panel("Steps", "By kind.", _rate("step", "steps_total"), _PER_SECOND),
    ),
    "Fleet": (
        Panel(
            "Processes",
            "Processes that share the journal, and the number of holders.",
            {"processes": "max(<fleet_processes>)", "holders": "sum(<fleet_holder>)"},
        ),
        Panel(
            "Invocations",
            "Open invocations of each process, and poisonous invocations.",
            {
                "{{instance}}": "<fleet_invocations_owned>",
                "poisonous": "max(<fleet_invocations_poisonous>)",
            },
        ),
        Panel(
            "Age of the lease",
            "After 4 seconds, a process starts no calls.",
            {"{{instance}}": "<fleet_beat_age_seconds>"},
            "s",
            red_from=4,
        ),
    ),
}


def dashboard() -> dict[str, Any]:
    """Return the dashboard in Grafana's JSON format."""
    panels = list(_panels())
    for number, panel in enumerate(panels, start=1):
        panel["id"] = number
    return {
        "uid": "nexus-leader",
        "title": "Leaders of nexus-tools",
        "schemaVersion": 39,
        "editable": True,
        "graphTooltip": 1,
        "refresh": "30s",
        "time": {"from": "now-6h", "to": "now"},
        "templating": {"list": [_datasource_variable(), _instance_variable()]},
        "panels": panels,
    }


def text() -> str:
    """Return the dashboard as the file contains it."""
    return json.dumps(dashboard(), indent=1) + "\n"


def _panels() -> Iterator[dict[str, Any]]:
    """Yield the panels, placed from left to right and from top to bottom."""
    y = 0
    for title, row in ROWS.items():
        place = {"x": 0, "y": y, "w": _ALL_COLUMNS, "h": 1}
        yield {"type": "row", "title": title, "collapsed": False, "gridPos": place, "panels": []}
        x, y = 0, y + 1
        for panel in row:
            if x + panel.width > _ALL_COLUMNS:
                x, y = 0, y + panel.height
            yield _panel(panel, x, y)
            x += panel.width
        y += row[-1].height


def _panel(panel: Panel, x: int, y: int) -> dict[str, Any]:
    targets = [
        {
            "refId": chr(ord("A") + number),
            "datasource": _DATASOURCE,
            "expr": _expression(query),
            "legendFormat": legend,
        }
        for number, (legend, query) in enumerate(panel.queries.items())
    ]
    defaults: dict[str, Any] = {"unit": panel.unit, "thresholds": _thresholds(panel)}
    if panel.kind == "timeseries":
        defaults["custom"] = {"fillOpacity": 10, "showPoints": "never"}
    return {
        "type": panel.kind,
        "title": panel.title,
        "description": panel.text,
        "datasource": _DATASOURCE,
        "gridPos": {"x": x, "y": y, "w": panel.width, "h": panel.height},
        "targets": targets,
        "fieldConfig": {"defaults": defaults, "overrides": []},
        "options": _OPTIONS[panel.kind],
    }


_OPTIONS: dict[str, dict[str, Any]] = {
    "stat": {"reduceOptions": {"calcs": ["lastNotNull"]}, "colorMode": "value"},
    "timeseries": {
        "legend": {"displayMode": "list", "placement": "bottom"},
        "tooltip": {"mode": "multi", "sort": "desc"},
    },
}


def _expression(query: str) -> str:
    """Return a query with whole names of metrics and the selection of processes."""

    def selected(match: re.Match[str]) -> str:
        labels = f"{_PROCESSES}, {match[2]}" if match[2] else _PROCESSES
        return f"nexus_leader_{match[1]}{{{labels}}}"

    return re.sub(r"<(\w+)>(?:\{([^}]*)\})?", selected, query)


def _thresholds(panel: Panel) -> dict[str, Any]:
    """Return the colors of values. Without a limit, every value is green."""
    if panel.red_below is not None:
        steps = [("red", None), ("green", panel.red_below)]
    elif panel.red_from is not None:
        steps = [("green", None), ("red", panel.red_from)]
    else:
        steps = [("green", None)]
    return {"mode": "absolute", "steps": [{"color": c, "value": value} for c, value in steps]}


def _datasource_variable() -> dict[str, Any]:
    return {
        "name": "datasource",
        "label": "Data source",
        "type": "datasource",
        "query": "prometheus",
    }


def _instance_variable() -> dict[str, Any]:
    query = 'label_values(nexus_leader_node_up{job="nexus-leader"}, instance)'
    return {
        "name": "instance",
        "label": "Process",
        "type": "query",
        "datasource": _DATASOURCE,
        "query": {"query": query, "refId": "instance"},
        "definition": query,
        "refresh": 2,
        "sort": 1,
        "multi": True,
        "includeAll": True,
        "allValue": ".*",
        "current": {"text": "All", "value": "$__all"},
    }


if __name__ == "__main__":
    DASHBOARD.write_text(text(), encoding="utf-8")
