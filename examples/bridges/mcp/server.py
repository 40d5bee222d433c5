"""A small MCP server: conversion of temperatures, and a word count."""

from typing import Annotated, Literal

from mcp.server.mcpserver import MCPServer
from pydantic import BaseModel, Field

Unit = Literal["celsius", "fahrenheit", "kelvin"]

server = MCPServer("units")

# The offset and the factor of the conversion to kelvin.
_TO_KELVIN = {"celsius": (273.15, 1.0), "fahrenheit": (459.67, 5 / 9), "kelvin": (0.0, 1.0)}


class Temperature(BaseModel):
    """A temperature in a unit."""

    degrees: float
    unit: Unit


@server.tool()
def convert(
    degrees: Annotated[float, Field(description="The temperature.")],
    from_unit: Annotated[Unit, Field(description="The unit of the temperature.")],
    to_unit: Annotated[Unit, Field(description="The unit of the result.")],
) -> Temperature:
    """Convert a temperature from one unit to another."""
    offset, factor = _TO_KELVIN[from_unit]
    kelvin = (degrees + offset) * factor
    if kelvin < 0:
        raise ValueError(f"{degrees} {from_unit} is below absolute zero")
    offset, factor = _TO_KELVIN[to_unit]
    return Temperature(degrees=round(kelvin / factor - offset, 2), unit=to_unit)


@server.tool(structured_output=False)
def words(text: Annotated[str, Field(description="Any text.")]) -> str:
    """Return the number of words in a text."""
    return f"{len(text.split())} words"


if __name__ == "__main__":
    server.run()
