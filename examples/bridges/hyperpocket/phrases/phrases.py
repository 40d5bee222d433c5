"""Two tools in Python: a function, and a class that needs an OAuth token."""

from typing import Any

from hyperpocket.auth import AuthProvider
from hyperpocket.tool import Tool, ToolAuth, function_tool


@function_tool
def repeat(phrase: str, times: int = 2) -> str:
    """Repeat a phrase.

    Args:
        phrase (str): what to say
        times (int): how often
    """
    return " ".join([phrase] * times)


class Signature(Tool):
    """A tool that signs a phrase with the length of its token."""

    @classmethod
    def create(cls) -> "Signature":
        """Return the tool, which requires a GitHub token."""
        return cls(
            name="sign",
            description="Signs a phrase.",
            argument_json_schema={
                "type": "object",
                "properties": {"phrase": {"type": "string"}},
                "required": ["phrase"],
            },
            auth=ToolAuth(auth_provider=AuthProvider.GITHUB, scopes=["read:user"]),
        )

    def invoke(self, **kwargs: Any) -> dict[str, Any]:
        """Sign `body.phrase`."""
        token = kwargs["envs"]["GITHUB_TOKEN"]
        return {"phrase": kwargs["body"]["phrase"], "token_length": len(token)}
