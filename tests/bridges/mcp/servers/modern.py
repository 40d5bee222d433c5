"""A server of the SDK, of both generations, with a tool that asks and one that changes."""

import anyio
import mcp_types as types
from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged

ANY = {"type": "object"}


class Bus(InMemorySubscriptionBus):
    """A bus that signals when a client subscribes."""

    def __init__(self):
        super().__init__()
        self.has_listener = anyio.Event()

    def subscribe(self, listener):
        self.has_listener.set()
        return super().subscribe(listener)


def build():
    """Return the server, and the state that a test may change: all clients see `described`."""
    bus = Bus()
    state = {"described": "It adds.", "heard": [], "bus": bus, "more": []}

    async def list_tools(_, __):
        number = {"type": "integer"}
        add = types.Tool(
            name="add",
            description=state["described"],
            input_schema=ANY | {"properties": {"a": number, "b": number}, "required": ["a", "b"]},
            output_schema=ANY | {"properties": {"result": number}, "required": ["result"]},
        )
        names = ("ask", "change", "headers")
        others = [types.Tool(name=name, input_schema=ANY) for name in names]
        return types.ListToolsResult(tools=[add, *others, *state["more"]])

    async def call_tool(context, params):
        arguments = params.arguments or {}
        if params.name == "add":
            total = arguments["a"] + arguments["b"]
            return types.CallToolResult(content=[], structured_content={"result": total})
        if params.name == "ask":
            schema = types.ElicitRequestFormParams(
                message="?", requested_schema=ANY | {"properties": {}}
            )
            return types.InputRequiredResult(
                input_requests={"who": types.ElicitRequest(params=schema)}
            )
        if params.name == "change":
            state["described"] = "It adds, and more."
            await bus.publish(ToolsListChanged())
        if params.name == "headers":
            state["heard"].append(dict(context.request.headers))
        return types.CallToolResult(content=[types.TextContent(type="text", text="done")])

    server = Server(
        "modern",
        version="1",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_subscriptions_listen=ListenHandler(bus),
    )
    return server, state


async def main():
    server, _ = build()
    async with stdio_server() as (reader, writer):
        await server.run(reader, writer, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
