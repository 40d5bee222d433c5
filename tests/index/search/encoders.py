"""A small BERT model whose weights are a formula, so that another program can compute them too.

`EXPECTED` are the states of `BertModel` of transformers 5 with torch 2.13 for these weights.
"""

import json
from pathlib import Path

import numpy as np
from safetensors import numpy as safetensors

VOCABULARY = [
    *("[PAD]", "[UNK]", "[CLS]", "[SEP]"),
    *("weather", "rain", "umbrella", "image", "photo", "money", "currency", "convert"),
]
CONFIG = {
    "model_type": "bert",
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 96,
    "vocab_size": len(VOCABULARY),
    "max_position_embeddings": 80,
    "type_vocab_size": 2,
    "hidden_act": "gelu",
    "layer_norm_eps": 1e-12,
    "position_embedding_type": "absolute",
}


def shapes(config=CONFIG):
    """Return the shapes of all tensors by name, in the order of their numbers."""
    size, inner = config["hidden_size"], config["intermediate_size"]
    tensors = {
        "embeddings.word_embeddings.weight": (config["vocab_size"], size),
        "embeddings.position_embeddings.weight": (config["max_position_embeddings"], size),
        "embeddings.token_type_embeddings.weight": (config["type_vocab_size"], size),
        "embeddings.LayerNorm.weight": (size,),
        "embeddings.LayerNorm.bias": (size,),
    }
    for number in range(config["num_hidden_layers"]):
        layer = f"encoder.layer.{number}"
        parts = {
            "attention.self.query": (size, size),
            "attention.self.key": (size, size),
            "attention.self.value": (size, size),
            "attention.output.dense": (size, size),
            "attention.output.LayerNorm": (size,),
            "intermediate.dense": (inner, size),
            "output.dense": (size, inner),
            "output.LayerNorm": (size,),
        }
        for name, shape in parts.items():
            tensors[f"{layer}.{name}.weight"] = shape
            tensors[f"{layer}.{name}.bias"] = shape[:1]
    return tensors


def weights(config=CONFIG):
    """Return tensors whose values are sines. Weights of normalizations are near 1."""
    tensors = {}
    for number, (name, shape) in enumerate(shapes(config).items(), 1):
        places = np.arange(1, np.prod(shape) + 1, dtype=np.float64)
        values = np.sin(places * (0.7 + 0.01 * number)) * 0.2
        if name.endswith("LayerNorm.weight"):
            values += 1
        tensors[name] = values.reshape(shape).astype(np.float32)
    return tensors


def tokenizer():
    special = {token: VOCABULARY.index(token) for token in ("[CLS]", "[SEP]")}
    return {
        "version": "1.0",
        "truncation": {
            "direction": "Right",
            "max_length": 128,
            "strategy": "LongestFirst",
            "stride": 0,
        },
        "padding": {
            "strategy": {"Fixed": 128},
            "direction": "Right",
            "pad_to_multiple_of": None,
            "pad_id": 0,
            "pad_type_id": 0,
            "pad_token": "[PAD]",
        },
        "added_tokens": [
            {
                "id": number,
                "content": token,
                "single_word": False,
                "lstrip": False,
                "rstrip": False,
                "normalized": False,
                "special": True,
            }
            for number, token in enumerate(VOCABULARY[:4])
        ],
        "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [
                {"SpecialToken": {"id": "[CLS]", "type_id": 0}},
                {"Sequence": {"id": "A", "type_id": 0}},
                {"SpecialToken": {"id": "[SEP]", "type_id": 0}},
            ],
            "pair": [],
            "special_tokens": {
                token: {"id": token, "ids": [number], "tokens": [token]}
                for token, number in special.items()
            },
        },
        "decoder": None,
        "model": {
            "type": "WordLevel",
            "vocab": {word: number for number, word in enumerate(VOCABULARY)},
            "unk_token": "[UNK]",
        },
    }


def write_encoder(folder: Path, tensors=None, **settings) -> Path:
    """Write a model in the form of sentence-transformers. `settings` change the configuration."""
    folder.mkdir(exist_ok=True)
    config = CONFIG | settings
    safetensors.save_file(
        weights(config) if tensors is None else tensors, folder / "model.safetensors"
    )
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer()))
    return folder


EXPECTED = {
    "rain": {
        "places": [(0, 0), (0, 63), (1, 1), (1, 17), (2, 5), (2, 40)],
        "values": [2.509358, 1.428856, 2.825516, -0.35326, -0.091402, -1.190108],
    },
    "rain photo money": {
        "places": [(0, 0), (0, 63), (2, 1), (2, 17), (4, 5), (4, 40)],
        "values": [2.50733, 1.1791, 1.358453, -0.122743, -0.651213, -1.241721],
    },
    "weather rain umbrella image photo money currency convert": {
        "places": [(0, 0), (0, 63), (5, 1), (5, 17), (9, 5), (9, 40)],
        "values": [2.514917, 1.267368, 1.68843, -0.301851, -0.270404, -1.491722],
    },
    " ".join(["rain", "money", "photo", "convert"] * 15): {
        "places": [(0, 0), (0, 63), (31, 1), (31, 17), (61, 5), (61, 40)],
        "values": [2.471798, 1.281694, 2.61087, -0.452674, -0.80441, -1.017005],
    },
}
EXPECTED_TANH = [2.517821, 2.527757, 1.759289, -0.682022]
"""The first values of the first state of "rain photo" with the activation `gelu_new`."""
