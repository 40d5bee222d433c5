"""Small models of word vectors, in which the words of a group have similar meanings."""

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from safetensors import numpy as safetensors

WORDS = ["[unknown]", "weather", "rain", "umbrella", "image", "photo", "money", "currency"]
# Words of one group have similar vectors.
GROUPS = {"weather": 0, "rain": 0, "umbrella": 0, "image": 1, "photo": 1, "money": 2, "currency": 2}
DIMENSIONS = 128


def matrix(seed: int = 1, dimensions: int = DIMENSIONS):
    random = np.random.default_rng(seed)
    groups = random.normal(size=(3, dimensions))
    noise = random.normal(size=(len(WORDS), dimensions)) * 0.2
    for position, word in enumerate(WORDS):
        if word in GROUPS:
            noise[position] += groups[GROUPS[word]]
    return noise.astype(np.float16)


def write_model(folder: Path, vectors: Mapping[str, object]) -> Path:
    folder.mkdir(exist_ok=True)
    safetensors.save_file(dict(vectors), folder / "model.safetensors")
    tokenizer = {
        "version": "1.0",
        "added_tokens": [],
        "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": None,
        "decoder": None,
        "model": {
            "type": "WordLevel",
            "vocab": {word: number for number, word in enumerate(WORDS)},
            "unk_token": "[unknown]",
        },
    }
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    return folder
