"""What models, methods and texts are called, by us and by the paper. No torch."""

from __future__ import annotations

from typing import Literal

QUALITY, SMALLEST = "tiny-quality", "tiny-path"
"""The in-house model that quality is measured on, and a smaller one that shows the path."""
IN_HOUSE = (QUALITY, SMALLEST)
STAGED = ("stories260k", "babyllama_tok105")
"""Two small models that others trained."""
GRAMMAR = "grammar-text"
"""Made-up text, which is bundled."""
HowTuned = Literal["full", "lora", "galore", "cyclic", "lisa"]
NO_BLOCKS = "no_blocks"
"""LISA with gamma = 0, in tables that set it beside other methods: embeddings, head, final norm."""
LABELS = {
    "full": "full", "lora": "LoRA", "galore": "GaLore", "cyclic": "BAdam", "lisa": "LISA",
    NO_BLOCKS: "LISA, gamma 0",
}  # fmt: skip
"""Methods in the order of legends."""
TITLES = {
    "gpt2-small": "GPT2-Small",
    "tinyllama": "TinyLlama",
    "mistral-7b": "Mistral-7B",
    "llama-2-7b": "LLaMA-2-7B",
    "llama-2-70b": "LLaMA-2-70B",
    "tiny-deep": "32 small blocks",
    "tiny-smoke": "8 tiny blocks",
}
"""Names of shapes, the paper's as it writes them."""
NAMES = {SMALLEST: "smallest model", QUALITY: "in-house model", **TITLES}
"""Names of all models, ours first."""
THREE, LARGEST = ("tinyllama", "mistral-7b", "llama-2-7b"), "llama-2-70b"
"""The paper's models in Tables 2 and 3; in Tables 5 and 9."""
