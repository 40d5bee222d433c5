"""A Move package of on-chain tools in a folder, with their definitions beside its `Move.toml`."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast

from nexus_tools.contracts import Deployment, Publisher
from nexus_tools.errors import NotFoundError, ValidationError
from nexus_tools.nexus import Nexus
from nexus_tools.registry import Registration, ToolRegistry, placed
from nexus_tools.sui.client import Executed
from nexus_tools.sui.keystore import KeyPair
from nexus_tools.sui.support.text_file import without_mark
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import Answer, ToolDefinition, ToolFqn, parse_json

if TYPE_CHECKING:
    from nexus_tools.sui.client import SuiClient
    from nexus_tools.sui.localnet.compiler import Bundle, MoveBuilder

Run = Callable[[Coroutine[Any, Any, Any]], Any]

MANIFEST = "Move.toml"

NO_CHECKOUTS: Mapping[str, Path] = {}


def is_move_project(folder: Path) -> bool:
    """Whether there is a Move package in a folder."""
    return (folder / MANIFEST).is_file()


def build_linked(
    builder: "MoveBuilder",
    folder: Path,
    deployment: Deployment | None,
    *,
    checkouts: Mapping[str, Path] = NO_CHECKOUTS,
    bundle: "Bundle | None" = None,
) -> tuple[Sequence[bytes], tuple[Address, ...]]:
    """Compile the package in a folder, and link it to ours where they are published.

    Gives its modules and the packages that it depends on. It is compiled against what manifests
    name; its types are those of the first versions of our packages, its calls go to the newest
    ones. Raises as `build_to_publish`.
    """
    from nexus_tools.sui.localnet.compiler import build_to_publish

    packages = {} if deployment is None else deployment.by_name()
    published = {name: bytes(each.original_id) for name, each in packages.items()}
    built = build_to_publish(
        builder, folder, checkouts=checkouts, bundle=bundle, published=published
    )
    newest = {each.original_id: each.id for each in packages.values()}
    dependencies = map(Address, built.dependencies)
    return built.modules, tuple(newest.get(each, each) for each in dependencies)


@dataclass(frozen=True, slots=True)
class MoveProject:
    """The folder, and the documents of the definitions of its on-chain tools by their files."""

    folder: Path
    documents: Mapping[str, Mapping[str, Any]]

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Find the definitions: files `*.json` with a `function`, in the order of their names.

        Raises `definition_missing` if there are none, and `definition_invalid`.
        """
        found = {}
        for path in sorted(folder.glob("*.json")):
            document = _document(path)
            if isinstance(document, Mapping) and "function" in document:
                found[path.name] = document
        if not found:
            raise NotFoundError(
                "definition_missing",
                f"no file *.json in {folder} has the definition of an on-chain tool",
                hint=f"put one beside {MANIFEST}: it has a `function`",
            )
        return cls(folder, found)

    async def publish(
        self, client: "SuiClient", deployment: Deployment, builder: "MoveBuilder"
    ) -> Address:
        """Publish the package with the client's key; gives its id.

        Raises as `build_linked` and `Publisher.publish_other`.
        """
        modules, needed = await asyncio.to_thread(build_linked, builder, self.folder, deployment)
        sent = await Publisher(client).publish_other(modules, needed)
        assert isinstance(sent, Executed)  # it is no dry run
        return sent.published()

    async def definition(self, client: "SuiClient", package: Address, file: str) -> ToolDefinition:
        """The definition in a file, for the package where it is published.

        Raises `definition_invalid` or `function_unknown`.
        """
        return ToolDefinition.parse(await placed(client, package, self.documents[file]))

    async def register(
        self, client: "SuiClient", deployment: Deployment, package: Address
    ) -> tuple[ToolDefinition, ...]:
        """Register the tools with the client's key, which has published the package.

        Raises as `definition` and `ToolRegistry.register`.
        """
        definitions = [await self.definition(client, package, each) for each in self.documents]
        await ToolRegistry(client, deployment).register(*map(Registration, definitions))
        return tuple(definitions)


class CalledTools:
    """The tools of a project on a network for tests, which a Leader calls.

    They are published and registered with the key of `nexus`; `run` waits for a coroutine. Raises
    as `MoveProject.publish` and `register` do.
    """

    def __init__(
        self, project: MoveProject, nexus: Nexus, builder: "MoveBuilder", run: Run
    ) -> None:
        self._nexus = nexus
        self._run = run
        self._leader_key = KeyPair.new()
        self.package = run(self._publish(project, builder))

    def invoke(self, fqn: ToolFqn | str, inputs: Mapping[str, Any]) -> Answer:
        """Have a tool called, and give its answer.

        Raises `InvocationFailedError` with why there is none, and as `Nexus.invoke`.
        """
        return cast("Answer", self._run(self._invoke(fqn, inputs)))

    async def _publish(self, project: MoveProject, builder: "MoveBuilder") -> Address:
        client, deployment = self._nexus.client, self._nexus.deployment
        package = await project.publish(client, deployment, builder)
        await project.register(client, deployment, package)
        return package

    async def _invoke(self, fqn: ToolFqn | str, inputs: Mapping[str, Any]) -> Answer:
        async with self._nexus.leader("on-chain tools", self._leader_key):
            return await self._nexus.invoke(fqn, inputs)


def _document(path: Path) -> Any:
    try:
        return parse_json(without_mark(path.read_bytes()))
    except (OSError, ValidationError) as error:
        raise ValidationError("definition_invalid", f"{path} is not JSON: {error}") from None
