"""The coordinate check on language models: sound ones pass, SP and muP fail under sparsity."""

from __future__ import annotations

from reproductions.supar import coordinate_check
from tests.reproductions.supar.checked_nets import checked_gpt2, checked_llama


def test_llama_of_transformers_passes_under_supar_and_fails_under_mup() -> None:
    report = coordinate_check(checked_llama("supar"), (64, 256), (1, 1 / 2), num_steps=2)
    assert report.passed, str(report)
    wrong = coordinate_check(checked_llama("mup"), (128,), (1, 1 / 4), num_steps=1, num_seeds=3)
    # Not somewhere: the output of every masked layer shrinks before training.
    failed = {
        row.layer
        for row in wrong.slopes
        if row.verdict == "fail" and (row.size, row.phase) == ("mean_abs_activation", "start")
    }
    assert failed == set(wrong.grid.layers) - {"lm_head"}, str(wrong)


def test_gpt_2_of_transformers_passes_over_width_under_mup_and_fails_under_sp() -> None:
    report = coordinate_check(checked_gpt2("mup"), (64, 256), (1,), num_steps=2)
    names = ("attn.c_attn", "attn.c_proj", "mlp.c_fc", "mlp.c_proj")
    assert report.grid.layers == tuple(f"transformer.h.0.{name}" for name in names)
    assert report.passed, str(report)
    wrong = coordinate_check(checked_gpt2("sp"), (64, 256), (1,), num_steps=1, num_seeds=3)
    assert wrong.verdict == "fail"
