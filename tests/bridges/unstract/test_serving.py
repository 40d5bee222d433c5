from nexus_tools.tool_server import ToolServer
from nexus_tools.tool_server.testing import client

ANSWER = """#!/bin/sh
echo '{"type": "RESULT", "result": {"output": "yes"}}'
"""
FILE = {"name": "a.txt", "text": "hello"}


async def test_tool_is_invoked_over_http(serve):
    async with client(ToolServer([await serve(ANSWER)])) as http:
        response = await http.post("/invoke", json={"file": FILE})
    assert response.status_code == 200
    assert response.json()["ok"]["output"] == "yes"


async def test_unaccepted_file_is_unprocessable(serve, properties):
    properties["restrictions"] = {"allowedFileTypes": ["pdf"]}
    tool = await serve(ANSWER, properties=properties)
    async with client(ToolServer([tool])) as http:
        response = await http.post("/invoke", json={"file": FILE})
    assert response.status_code == 422
    assert response.json()["errors"][0]["pointer"] == "#/file"


async def test_tool_without_its_variables_is_not_ready(serve):
    tool = await serve(ANSWER, config={"runtime_variables.json": {"required": ["KEY"]}})
    async with client(ToolServer([tool])) as http:
        health = await http.get("/health")
        response = await http.post("/invoke", json={"file": FILE})
    assert health.status_code == 503
    assert health.json()["checks"]["KEY"] is False
    assert (response.status_code, response.json()["code"]) == (503, "not_ready")
    assert "KEY" in response.json()["detail"]
