"""A tool that implements the protocol of Unstract with only the standard library."""

import argparse
import json
import os
import re
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any


def emit(kind: str, **fields: Any) -> None:
    """Write one message: a line of JSON on standard output."""
    now = datetime.now(UTC).isoformat()
    print(json.dumps({"type": kind, **fields, "emitted_at": now}), flush=True)  # noqa: T201


def declare(command: str) -> None:
    """Answer a command that queries the tool's definition."""
    name = {"VARIABLES": "runtime_variables.json", "ICON": "icon.svg"}.get(
        command, f"{command.lower()}.json"
    )
    text = (Path("config") / name).read_text()
    emit(command, **{command.lower(): text if command == "ICON" else json.loads(text)})


def run(settings: dict[str, Any]) -> None:
    """Count the words of the input file."""
    started = time.monotonic()
    data = Path(os.environ["TOOL_DATA_DIR"])
    metadata = json.loads((data / "METADATA.json").read_text())
    words = re.findall(r"\w+", (data / "INFILE").read_text().lower())
    counted = Counter(word for word in words if len(word) >= settings["shortest"])
    emit("LOG", level="INFO", log=f"{len(words)} words in {metadata['source_name']}")
    emit("SINGLE_STEP_MESSAGE", message=f"The most frequent words: {counted.most_common(3)}")
    emit("COST", cost=float(len(words)), cost_units="words")
    (data / "COPY_TO_FOLDER" / "words.json").write_text(json.dumps(counted))
    emit(
        "RESULT",
        result={
            "workflow_id": metadata["workflow_id"],
            "elapsed_time": time.monotonic() - started,
            "output": {"words": sum(counted.values()), "different": len(counted)},
        },
    )


def main() -> None:
    """Execute the command in the arguments."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--command", required=True)
    parser.add_argument("--settings", type=json.loads, default={})
    parser.add_argument("--log-level", default="INFO")
    arguments = parser.parse_args()
    if arguments.command == "RUN":
        run(arguments.settings)
    else:
        declare(arguments.command)


if __name__ == "__main__":
    main()
