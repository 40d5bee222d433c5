"""The choice of a text search engine, and the optional search by intent."""

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from nexus_tools.index.search.errors import extra_missing
from nexus_tools.index.search.fts_index import FtsIndex
from nexus_tools.index.search.text_index import TextIndex

if TYPE_CHECKING:
    from nexus_tools.index.search.intent_model import IntentModel

Engine = Literal["tantivy", "fts5"]

WORDLLAMA = "wordllama"
"""The name of the default model of the search by intent."""
_WORD_VECTORS = "model2vec"
"""The `model_type` of published word vectors. Some folders of word vectors have no type."""


def text_folder(index: Path) -> Path:
    """Return the folder of the text index that belongs to an index file."""
    return index.with_suffix(".search")


def open_text_index(
    folder: Path, source: str, *, is_writer: bool, engine: Engine | None = None
) -> TextIndex:
    """Open the text index in a folder. By default, use Tantivy if it is installed, or else FTS5.

    `source` identifies the file that the texts are read from. A text index of another source is
    obsolete. Only the process that holds the lock of the source may be the writer.

    Raises:
        UsageError: `extra_not_installed` if `engine` is "tantivy", and Tantivy is not installed.
            `text_index_locked` if another process writes the index.
        WrongStateError: `text_index_unusable` if a reader finds no usable index.
    """
    has_tantivy = find_spec("tantivy") is not None
    if engine == "fts5" or (engine is None and not has_tantivy):
        return FtsIndex(folder / "text.sqlite", source, is_writer=is_writer)
    if not has_tantivy:
        raise extra_missing("index", "tantivy")
    from nexus_tools.index.search.tantivy_index import TantivyIndex  # noqa: PLC0415 - an extra

    return TantivyIndex(folder / "tantivy", source, is_writer=is_writer)


def load_intent_model(model: str | Path = WORDLLAMA) -> "IntentModel":
    """Load the model in a folder, or the model that the wheel of `wordllama` contains.

    A folder with a `config.json` whose `model_type` is bert contains a sentence encoder. Other
    folders contain word vectors.

    Raises:
        UsageError: `extra_not_installed` if the extra `intent` is not installed.
        ValidationError: `intent_model_invalid` if the folder does not contain a model.
    """
    for module in ("numpy", "safetensors", "tokenizers"):
        if find_spec(module) is None:
            raise extra_missing("intent", module)
    # The modules of an extra are imported when they are needed.
    from nexus_tools.index.search.model_files import CONFIG, invalid_model, read_json  # noqa: PLC0415
    from nexus_tools.index.search.word_vectors import WordVectors  # noqa: PLC0415

    if model == WORDLLAMA:
        return WordVectors()
    folder = Path(model)
    config = read_json(folder / CONFIG)
    kind = config.get("model_type") if isinstance(config, dict) else None
    if kind == "bert":
        from nexus_tools.index.search.sentence_encoder import SentenceEncoder  # noqa: PLC0415

        return SentenceEncoder(folder)
    if kind not in (None, _WORD_VECTORS):
        raise invalid_model(
            folder / CONFIG, f"expected the `model_type` bert or {_WORD_VECTORS}, got {kind!r}"
        )
    return WordVectors(folder)
