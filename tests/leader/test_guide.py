"""The reference documents each setting, metric and log event."""

import re
from pathlib import Path

import pytest

import leader_settings
from nexus_tools.leader import LeaderConfig, LeaderMetrics

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "leader.md").read_text()
SOURCES = [*(ROOT / "nexus_tools" / "leader").rglob("*.py"), ROOT / "nexus_tools/cli/leader/run.py"]


def rows(heading):
    """Return the names in the first column of the table under a heading."""
    text = re.search(rf"^## {heading}$(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)[1]
    cells = re.findall(r"^\| (`.*?) \|", text, re.MULTILINE)
    return [name for cell in cells for name in re.findall(r"`([a-z_]+)`", cell)]


def test_settings_table_is_generated_from_the_settings():
    assert leader_settings.with_table(PAGE) == PAGE, "run scripts/leader_settings.py"


@pytest.mark.parametrize("name", LeaderConfig.model_fields)
def test_each_setting_has_a_description(name):
    assert LeaderConfig.model_fields[name].description.endswith(".")
    assert f"\n| `{name.upper()}` |" in PAGE


def test_reference_lists_exactly_the_metrics():
    names = [metric.name for metric in LeaderMetrics().registry.collect()]
    assert sorted(rows("Metrics")) == sorted(names)


def test_reference_lists_exactly_the_log_events():
    logged = r'_log\.(?:debug|info|warning|error|exception)\(\s*"(\w+)"'
    events = {event for source in SOURCES for event in re.findall(logged, source.read_text())}
    assert set(rows("The log")) == events
