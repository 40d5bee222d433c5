"""A Move package of on-chain tools in a folder, with definition files next to `Move.toml`."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast

from nexus_tools.contracts import Deployment, Publisher
from nexus_tools.errors import NotFoundError, ValidationError
from nexus_tools.nexus import Nexus
from nexus_tools.registry import Registration, ToolRegistry, place_function
from nexus_tools.sui.client import Executed
from nexus_tools.sui.keystore import KeyPair
from nexus_tools.sui.support.text_file import without_byte_order_mark
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import Answer, ToolDefinition, ToolFqn, parse_json

if TYPE_CHECKING:
    from nexus_tools.sui.client import SuiClient
    from nexus_tools.sui.localnet.compiler import Bundle, MoveBuilder

Run = Callable[[Coroutine[Any, Any, Any]], Any]

MANIFEST = "Move.toml"

NO_CHECKOUTS: Mapping[str, Path] = {}


def is_move_project(folder: Path) -> bool:
    """Return whether a folder contains a Move package."""
    return (folder / MANIFEST).is_file()


def build_and_link(
    builder: "MoveBuilder",
    folder: Path,
    deployment: Deployment | None,
    *,
    checkouts: Mapping[str, Path] = NO_CHECKOUTS,
    bundle: "Bundle | None" = None,
) -> tuple[Sequence[bytes], tuple[Address, ...]]:
    """Compile the package in a folder, and link it to our published packages.

    Return its modules and the packages that it depends on. The compiler uses the dependencies in
    the manifests. In the modules, the nexus-tools packages have the IDs of their first versions.
    The returned dependencies have the IDs of the newest versions. Raises the errors of
    `build_to_publish`.
    """
    from nexus_tools.sui.localnet.compiler import build_to_publish

    packages = {} if deployment is None else deployment.by_name()
    published = {name: bytes(package.original_id) for name, package in packages.items()}
    built = build_to_publish(
        builder, folder, checkouts=checkouts, bundle=bundle, published=published
    )
    newest = {package.original_id: package.id for package in packages.values()}
    dependencies = map(Address, built.dependencies)
    return built.modules, tuple(newest.get(dependency, dependency) for dependency in dependencies)


@dataclass(frozen=True, slots=True)
class MoveProject:
    """A project folder and the definitions of its on-chain tools, by file name."""

    folder: Path
    documents: Mapping[str, Mapping[str, Any]]

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read the definitions from all `*.json` files with a `function`, sorted by file name.

        Raises `definition_missing` if no file has a `function`, or `definition_invalid`.
        """
        found = {}
        for path in sorted(folder.glob("*.json")):
            document = _document(path)
            if isinstance(document, Mapping) and "function" in document:
                found[path.name] = document
        if not found:
            raise NotFoundError(
                "definition_missing",
                f"no *.json file in {folder} defines an on-chain tool",
                hint=f"Add a definition with a `function` next to {MANIFEST}.",
            )
        return cls(folder, found)

    async def publish(
        self, client: "SuiClient", deployment: Deployment, builder: "MoveBuilder"
    ) -> Address:
        """Publish the package with the client's key and return its ID.

        Raises the errors of `build_and_link` and `Publisher.publish_other`.
        """
        modules, needed = await asyncio.to_thread(build_and_link, builder, self.folder, deployment)
        sent = await Publisher(client).publish_other(modules, needed)
        assert isinstance(sent, Executed)  # only dry runs return a simulation
        return sent.published()

    async def definition(self, client: "SuiClient", package: Address, file: str) -> ToolDefinition:
        """Return the definition in a file, with the ID of the published package filled in.

        Raises `definition_invalid` or `function_unknown`.
        """
        return ToolDefinition.parse(await place_function(client, package, self.documents[file]))

    async def register(
        self, client: "SuiClient", deployment: Deployment, package: Address
    ) -> tuple[ToolDefinition, ...]:
        """Register the tools with the client's key, which must have published the package.

        Raises the errors of `definition` and `ToolRegistry.register`.
        """
        definitions = [
            await self.definition(client, package, document) for document in self.documents
        ]
        await ToolRegistry(client, deployment).register(*map(Registration, definitions))
        return tuple(definitions)


class InvocableTools:
    """The tools of a project on a test network, called by a Leader.

    The constructor publishes and registers the tools with the key of `nexus`. `run` runs a
    coroutine and returns its result. Raises the errors of `MoveProject.publish` and `register`.
    """

    def __init__(
        self, project: MoveProject, nexus: Nexus, builder: "MoveBuilder", run: Run
    ) -> None:
        self._nexus = nexus
        self._run = run
        self._leader_key = KeyPair.new()
        self.package = run(self._publish(project, builder))

    def invoke(self, fqn: ToolFqn | str, inputs: Mapping[str, Any]) -> Answer:
        """Invoke a tool and return its answer.

        Raises `InvocationFailedError` with the reason, and the errors of `Nexus.invoke`.
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
        return parse_json(without_byte_order_mark(path.read_bytes()))
    except (OSError, ValidationError) as error:
        raise ValidationError("definition_invalid", f"{path} is not valid JSON: {error}") from None
