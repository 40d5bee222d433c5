"""Write the table of settings into the Leader's reference: `python scripts/leader_settings.py`."""

from pathlib import Path
from typing import Any

from nexus_tools.leader import LeaderConfig

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "leader.md"
BEGIN, END = "<!-- settings: generated -->\n", "<!-- settings: end -->\n"


def table() -> str:
    """Return a row for each setting: its name without the prefix, default, bounds, meaning."""
    rows = ["| Setting | Default | Bounds | Meaning |", "|---|---|---|---|"]
    for name, info in LeaderConfig.model_fields.items():
        cells = f"`{name.upper()}`", _default(info), _bounds(info), info.description
        rows.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(rows) + "\n"


def _default(info: Any) -> str:
    if info.is_required():
        return "in the data directory"
    if info.default_factory or (not isinstance(info.default, int | str) and not info.default):
        return ""
    if isinstance(info.default, bool):
        return str(info.default).lower()
    return _number(info.default) if isinstance(info.default, int) else str(info.default)


def _bounds(info: Any) -> str:
    """Return the smallest and the largest allowed value."""
    least = [_number(rule.ge) for rule in info.metadata if hasattr(rule, "ge")]
    most = [_number(rule.le) for rule in info.metadata if hasattr(rule, "le")]
    return " … ".join([*least, *(most or [""])]).strip() if least else ""


def _number(number: int) -> str:
    return f"{number:,}".replace(",", " ")


def with_table(page: str) -> str:
    """Return the page with the current table."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{table()}\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
