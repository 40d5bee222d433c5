"""The reference has every setting, every metric and every event of the log."""

import re
from pathlib import Path

import pytest

import leader_settings
from nexus_tools.leader import LeaderConfig, LeaderMetrics

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "leader.md").read_text()
SOURCES = [*(ROOT / "nexus_tools" / "leader").rglob("*.py"), ROOT / "nexus_tools/cli/leader/run.py"]


def rows(heading):
    """The first cells of the table under a heading, of which one may have several names."""
    text = re.search(rf"^## {heading}$(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)[1]
    cells = re.findall(r"^\| (`.*?) \|", text, re.MULTILINE)
    return [name for cell in cells for name in re.findall(r"`([a-z_]+)`", cell)]


def test_the_table_of_settings_is_made_from_the_settings():
    assert leader_settings.with_table(PAGE) == PAGE, "run scripts/leader_settings.py"


@pytest.mark.parametrize("name", LeaderConfig.model_fields)
def test_every_setting_says_what_it_sets(name):
    assert LeaderConfig.model_fields[name].description.endswith(".")
    assert f"\n| `{name.upper()}` |" in PAGE


def test_every_metric_stands_in_the_reference_and_no_other():
    names = [metric.name for metric in LeaderMetrics().registry.collect()]
    assert sorted(rows("Metrics")) == sorted(names)


def test_every_event_of_the_log_stands_in_the_reference_and_no_other():
    logged = r'_log\.(?:debug|info|warning|error|exception)\(\s*"(\w+)"'
    events = {event for source in SOURCES for event in re.findall(logged, source.read_text())}
    assert set(rows("The log")) == events
