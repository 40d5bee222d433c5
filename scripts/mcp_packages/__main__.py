"""Write the MCP bundle, or the entry of the MCP registry."""

import argparse
import hashlib
import json
import sys
from pathlib import Path

from mcp_packages.bundle import bundle
from mcp_packages.metadata import BUNDLE_FILE, ROOT
from mcp_packages.registry import MissingMarkerError, server_json


def main() -> int:
    """Write the file and print its digest. Return the exit code."""
    parser = argparse.ArgumentParser(prog="mcp_packages", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("bundle", help="write the bundle for Claude Desktop")
    entry = commands.add_parser("server-json", help="write the entry of the MCP registry")
    entry.add_argument("name", help="name of the server, for example io.github.owner/nexus-tools")
    entry.add_argument("--bundle-url", help="download URL of the bundle in a GitHub release")
    for command in commands.choices.values():
        command.add_argument("-o", "--output", type=Path, help="path of the file")
    arguments = parser.parse_args()
    if arguments.command == "bundle":
        data, name = bundle(), BUNDLE_FILE
    else:
        try:
            document = server_json(arguments.name, arguments.bundle_url)
        except MissingMarkerError as error:
            print(f"server_json: {error}", file=sys.stderr)
            return 1
        data, name = f"{json.dumps(document, indent=2)}\n".encode(), "server.json"
    output = arguments.output or ROOT / "build" / name
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_bytes(data)
    print(f"{hashlib.sha256(data).hexdigest()}  {output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
