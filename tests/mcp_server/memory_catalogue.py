"""A catalogue in memory for tests; as a program it is served over stdio."""

import asyncio

from nexus_tools.errors import ValidationError
from nexus_tools.mcp_server import CataloguePage
from nexus_tools.tool import Answer, Failure, FailureReason, ToolDefinition


def definition(fqn, *, properties, ok, required=(), **more):
    """Return a definition with the variants `ok` and `err`; arguments are schemas of ports."""

    def branch(name, ports):
        variant = {"type": "object", "properties": ports, "required": list(ports)}
        return {"type": "object", "properties": {name: variant}, "required": [name]}

    return ToolDefinition.parse(
        {
            "fqn": fqn,
            "url": "http://127.0.0.1:1",
            "description": f"The tool {fqn}.",
            "timeout": 2_000,
            "input_schema": {
                "type": "object",
                "properties": properties,
                "required": list(required),
                "additionalProperties": False,
            },
            "output_schema": {
                "oneOf": [branch("ok", ok), branch("err", {"reason": {"type": "string"}})]
            },
        }
        | more
    )


NUMBER = {"type": "number"}

DIVIDE = definition(
    "xyz.math.divide@1",
    properties={"a": NUMBER, "b": NUMBER},
    required=("a", "b"),
    ok={"quotient": NUMBER},
)
NOTHING = definition("xyz.math.nothing@3", properties={}, ok={"value": {"type": "null"}})
OVERLOADED = definition("xyz.math.over_loaded@1", properties={}, ok={})
STEPS = definition(
    "xyz.math.steps@1", properties={"count": {"type": "integer"}}, ok={"done": {"type": "integer"}}
)
FOREVER = definition("xyz.math.forever@1", properties={}, ok={})
MEETING = definition("xyz.math.meeting@1", properties={}, ok={})
BROKEN = definition("xyz.math.broken@1", properties={}, ok={})


class MemoryCatalogue:
    """Tools whose answers are methods of this class, by the name in the FQN."""

    def __init__(self, definitions=(DIVIDE, NOTHING, OVERLOADED, STEPS, FOREVER, MEETING, BROKEN)):
        self.definitions = list(definitions)
        self.calls = []
        self.pages = 0
        self.started = asyncio.Event()
        self.cancelled = asyncio.Event()
        self._arrived = 0
        self._all_here = asyncio.Event()

    async def page(self, cursor, limit):
        self.pages += 1
        if cursor is not None and not cursor.isdecimal():
            raise ValidationError("cursor_invalid", f"the cursor {cursor!r} is unknown")
        start = int(cursor or 0)
        page = tuple(self.definitions[start : start + limit])
        has_more = start + limit < len(self.definitions)
        return CataloguePage(page, str(start + limit) if has_more else None)

    async def find(self, fqn):
        return next((candidate for candidate in self.definitions if candidate.fqn == fqn), None)

    async def call(self, definition, ports, progress):
        self.calls.append((str(definition.fqn), ports))
        return await getattr(self, definition.fqn.name)(ports, progress)

    async def divide(self, ports, _):
        if ports["b"] == 0:
            return Answer("err", {"reason": "division by zero"})
        return Answer("ok", {"quotient": ports["a"] / ports["b"]})

    async def nothing(self, _, __):
        return Answer("ok", {"value": None})

    async def over_loaded(self, _, __):
        return Failure(FailureReason.TIMED_OUT, "the tool took longer than 2000 ms")

    async def steps(self, ports, progress):
        for step in range(ports["count"]):
            await progress(f"step {step}")
        return Answer("ok", {"done": ports["count"]})

    async def forever(self, _, __):
        self.started.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.cancelled.set()

    async def meeting(self, _, __):
        """Answer when two calls are pending."""
        self._arrived += 1
        if self._arrived == 2:
            self._all_here.set()
        await self._all_here.wait()
        return Answer("ok", {})

    async def broken(self, _, __):
        raise RuntimeError("secret of the catalogue")


async def main():
    from nexus_tools.mcp_server import mcp_server, serve_stdio

    await serve_stdio(mcp_server(MemoryCatalogue(), name="memory", version="1.2.3", page_size=3))


if __name__ == "__main__":
    asyncio.run(main())
