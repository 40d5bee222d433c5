"""A scripted MCP server in plain JSON-RPC over stdio, with protocol 2025-06-18.

    plain.py <file>

The file is read again for each request. `tools` is the list, in pages of `page_size`. `results` has
the result of a call for each tool, or the name of one of the functions below.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0"} | message) + "\n")
    sys.stdout.flush()


def text(value):
    return {"content": [{"type": "text", "text": json.dumps(value)}]}


def echo(arguments):
    return text(arguments) | {"structuredContent": arguments}


def surroundings(_):
    return text({"environment": dict(os.environ), "directory": str(Path.cwd()), "pid": os.getpid()})


def end(_):
    sys.stderr.write("there is no way on\n")
    sys.stderr.flush()
    os._exit(3)


def whisper(arguments):
    sys.stderr.write(f"{arguments}\n")
    return text("said")


def say_nothing(_):
    return None


def tell_notifications(_):
    return text(NOTIFICATIONS)


def read_no_more(_):
    time.sleep(1_000)


def start_another(_):
    return text(subprocess.Popen(["sleep", "1000"]).pid)


def flood(_):
    sys.stdout.write("x" * 300_000)
    sys.stdout.flush()


def chatter(_):
    sys.stdout.write('this is no message\n{"neither": "is this"}\n')
    return text("said")


def announce(_):
    send({"method": "notifications/tools/list_changed"})
    return text("announced")


def take_memory(_):
    return text(len(bytearray(400 * 2**20)))


def ask(_):
    """Request user input from the client, and return its response."""
    params = {"message": "?", "requestedSchema": {"type": "object", "properties": {}}}
    send({"id": "ask", "method": "elicitation/create", "params": params})
    return text(json.loads(sys.stdin.readline()))


def initialize(_, __):
    return {
        "protocolVersion": "2025-06-18",
        "capabilities": {"tools": {"listChanged": True}},
        "serverInfo": {"name": "plain", "version": "1"},
    }


def list_tools(told, params):
    size = told.get("page_size", 100)
    start = int(params.get("cursor", 0))
    page = {"tools": told["tools"][start : start + size]}
    if told.get("endless") or start + size < len(told["tools"]):
        page["nextCursor"] = str(0 if told.get("endless") else start + size)
    return page


def call_tool(told, params):
    if params["name"] not in told["results"]:
        raise LookupError(f"Unknown tool: {params['name']}")
    result = told["results"][params["name"]]
    if isinstance(result, str):
        return globals()[result](params.get("arguments", {}))
    return result


NOTIFICATIONS = []
METHODS = {"initialize": initialize, "tools/list": list_tools, "tools/call": call_tool}


def main():
    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request:
            NOTIFICATIONS.append(request["method"])
            continue
        told = json.loads(Path(sys.argv[1]).read_text())
        try:
            result = METHODS[request["method"]](told, request.get("params", {}))
        except LookupError as error:
            code = -32601 if isinstance(error, KeyError) else -32602
            send({"id": request["id"], "error": {"code": code, "message": str(error)}})
            continue
        if result is not None:
            send({"id": request["id"], "result": result})


main()
