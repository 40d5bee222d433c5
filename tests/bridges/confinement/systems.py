"""The conversion of a function to a tool of each system, in the way of the system's authors."""

import inspect
import json
from textwrap import dedent

from nexus_tools.bridges import HyperpocketBridge, McpBridge, NoraBridge, SosBridge, UnstractBridge


def _file(path, *parts):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(dedent(part) for part in parts))


def nora(folder, functions):
    """Write a folder with a `tool.json` and a script for each function."""
    for function in functions:
        manifest = {
            "name": function.__name__,
            "description": function.__doc__,
            "entrypoint": "main.py",
            "parameters": {
                "type": "object",
                "properties": {
                    "places": {
                        "type": "object",
                        "description": "Where things are.",
                        "required": True,
                    }
                },
            },
        }
        place = folder / function.__name__
        _file(place / "tool.json", json.dumps(manifest))
        run = f"""
        def run(params):
            return {function.__name__}(params["places"])
        """
        _file(place / "main.py", inspect.getsource(function), run)


def sos(folder, functions):
    """Write a namespace with a decorated function for each function."""
    tools = [
        f"""
        @sos_tool
        def run_{function.__name__}(
            places: Annotated[Dict[str, Any], Field(description="Where things are.")],
        ):
            '''{function.__doc__}'''
            return {function.__name__}(places)
        """
        for function in functions
    ]
    head = """
    from typing import Annotated, Any, Dict
    from pydantic import Field
    from sos_toolkit.meta import sos_tool
    """
    _file(folder / "files" / "tools.py", head, *map(inspect.getsource, functions), *tools)


def hyperpocket(folder, functions):
    """Write a module with a function tool for each function."""
    tools = [
        f"""
        @function_tool
        def run_{function.__name__}(places: dict):
            '''{function.__doc__}'''
            return {function.__name__}(places)
        """
        for function in functions
    ]
    head = "from hyperpocket.tool import function_tool\n"
    _file(folder / "files.py", head, *map(inspect.getsource, functions), *tools)


def unstract(folder, functions):
    """Write a folder with a `config` for each function; its program reads its input file."""
    for function in functions:
        name, place = function.__name__, folder / function.__name__
        properties = {
            "display_name": name,
            "function_name": name,
            "description": function.__doc__,
            "input_type": "file",
            "output_type": "file",
        }
        _file(place / "config" / "properties.json", json.dumps(properties))
        for empty in ("spec.json", "runtime_variables.json"):
            _file(place / "config" / empty, "{}")
        _file(place / "config" / "icon.svg", "<svg/>")
        run = f"""
        import json, os
        with open(os.environ["TOOL_DATA_DIR"] + "/INFILE") as file:
            places = json.load(file)
        output = {name}(places)
        print(json.dumps({{"type": "RESULT", "result": {{"output": output}}}}))
        """
        _file(place / "main.py", inspect.getsource(function), run)


def mcp(folder, functions):
    """Write one stdio server with a tool for each function and its own protocol code."""
    names = ", ".join(function.__name__ for function in functions)
    serve = f"""
    import json, sys
    TOOLS = {{each.__name__: each for each in [{names}]}}
    def answer(method, params):
        if method == "initialize":
            return {{
                "protocolVersion": params["protocolVersion"],
                "capabilities": {{"tools": {{}}}},
                "serverInfo": {{"name": "files", "version": "1"}},
            }}
        if method == "tools/list":
            schema = {{"type": "object", "properties": {{"places": {{"type": "object"}}}}}}
            return {{"tools": [{{"name": name, "inputSchema": schema}} for name in TOOLS]}}
        if method == "tools/call":
            text = json.dumps(TOOLS[params["name"]](**params["arguments"]))
            return {{"content": [{{"type": "text", "text": text}}]}}
        return None
    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request:
            continue
        result = answer(request["method"], request.get("params"))
        reply = {{"result": result}} if result is not None else {{
            "error": {{"code": -32601, "message": "there is no such method"}}
        }}
        print(json.dumps({{"jsonrpc": "2.0", "id": request["id"]}} | reply), flush=True)
    """
    _file(folder / "server.py", *map(inspect.getsource, functions), serve)
    server = {"command": "python", "args": [str(folder / "server.py")]}
    _file(folder / "mcp.json", json.dumps({"mcpServers": {"files": server}}))


def _ports(places):
    return {"places": places}


def _input_file(places):
    return {"file": {"name": "places.json", "text": json.dumps(places)}}


SYSTEMS = {
    "nora": (nora, NoraBridge, _ports, lambda ports: ports["result"]),
    "sos": (sos, SosBridge, _ports, lambda ports: ports["result"]["result"]),
    "hyperpocket": (hyperpocket, HyperpocketBridge, _ports, lambda ports: ports["result"]),
    "unstract": (
        unstract,
        lambda: UnstractBridge(storage="local"),
        _input_file,
        lambda ports: ports["output"],
    ),
    "mcp": (mcp, McpBridge, _ports, lambda ports: json.loads(ports["text"])),
}
"""By its word: what writes its tools, its bridge, the ports of a call, and its result."""
