"""Table 1: rules, identities, what a built net gets, and the method broken on purpose."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
import torch
from torch import nn

from harness.declare.verdict import Word
from harness.errors import SpecError
from reproductions.supar import (
    SCHEMES,
    TABLE_3,
    Parameterization,
    Scheme,
    infer_roles,
    linear_layers,
    param_groups,
    sparsify,
)
from reproductions.supar.method.parameterization import Rule
from reproductions.supar.method.roles import Role
from reproductions.supar.rules import tab01
from reproductions.supar.rules.experiment import identities
from tests.reproductions.supar import small
from tests.verdicts import controlled

# By hand from Table 1: width, density, SmuPar std and LR, muP std and LR; proxy of width 256.
EFFECTIVE = [
    (256, 1.0, 0.086656, 0.0162, 0.086656, 0.0162),
    (1024, 1.0, 0.043328, 0.00405, 0.043328, 0.00405),
    (2048, 2.0**-3, 0.086656, 0.0162, 0.030638, 0.002025),
    (2048, 2.0**-7, 0.34662, 0.2592, 0.030638, 0.002025),
    (4096, 1.0, 0.021664, 0.0010125, 0.021664, 0.0010125),
    (4096, 2.0**-6, 0.17331, 0.0648, 0.021664, 0.0010125),
]


def _of(scheme: Scheme, m_d: float, density: float) -> Parameterization:
    return Parameterization(scheme=scheme, width_multiplier=m_d, density=density, base=TABLE_3)


@pytest.mark.parametrize(("width", "density", "std", "lr", "mup_std", "mup_lr"), EFFECTIVE)
def test_effective_hidden_values(
    width: int, density: float, std: float, lr: float, mup_std: float, mup_lr: float
) -> None:
    supar = _of("supar", width / 256, density).rule("hidden")
    mup = _of("mup", width / 256, density).rule("hidden")
    assert (supar.init_std, supar.lr) == pytest.approx((std, lr), rel=2e-5)
    assert (mup.init_std, mup.lr) == pytest.approx((mup_std, mup_lr), rel=2e-5)


def test_sp_feels_neither() -> None:
    sp = _of("sp", 8.0, 1 / 16)
    assert sp.rule("hidden") == Rule(init_std=TABLE_3.init_std, lr=TABLE_3.lr)
    assert (sp.embedding_multiplier, sp.logit_multiplier, sp.attention_scale(64)) == (1, 1, 1 / 8)


@pytest.mark.parametrize("scheme", [scheme for scheme in SCHEMES if scheme != "sp"])
def test_forward_factors_of_all_but_sp(scheme: Scheme) -> None:
    table = _of(scheme, 8.0, 1 / 16)
    assert table.embedding_multiplier == 9.1705
    assert table.logit_multiplier == 1.0951835 / 8
    assert table.attention_scale(64) == 1 / 64


def test_half_way_ablations_correct_one_half_each_and_dense_ones_are_mup() -> None:
    supar, mup = (_of(scheme, 4.0, 1 / 16).rule("hidden") for scheme in ("supar", "mup"))
    init_only, lr_only = (
        _of(scheme, 4.0, 1 / 16).rule("hidden") for scheme in ("mup_init_only", "mup_lr_only")
    )
    assert init_only == Rule(init_std=supar.init_std, lr=mup.lr)
    assert lr_only == Rule(init_std=mup.init_std, lr=supar.lr)
    dense = {_of(scheme, 4.25, 1.0).rule("hidden") for scheme in SCHEMES if scheme != "sp"}
    assert len(dense) == 1


def test_bad_values_are_refused() -> None:
    for words, make in {
        "need one of": lambda: _of("spp", 4.0, 0.5),  # type: ignore[arg-type]
        "0 < density <= 1": lambda: _of("sp", 4.0, 0.0),
        "positive": lambda: _of("sp", 0.0, 0.5),
        "positive and finite": lambda: replace(TABLE_3, lr=math.nan),
        "no role": lambda: _of("sp", 1.0, 0.5).rule_of("weight", {}),
        "no parameter": lambda: infer_roles(nn.Linear(2, 2), ["missing"]),
    }.items():
        with pytest.raises(SpecError, match=words):
            make()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_kept_weight_has_its_configured_std(scheme: Scheme) -> None:
    # In the authors' code SP leaves sparse QKV and up-projections at PyTorch's default.
    table = small.table(scheme, width=128)
    model = small.gpt(table, width=128)
    for name in linear_layers(model, exclude=()):
        weight = model.get_parameter(f"{name}.weight").detach()
        kept = weight[weight != 0.0].double()
        assert float(kept.std()) == pytest.approx(table.rule("hidden").init_std, rel=0.05), name
        assert float(kept.abs().max()) > 3.0 * table.rule("hidden").init_std, "not normal"


def test_densities_by_layer_give_rules_by_layer() -> None:
    model = nn.Sequential(nn.Linear(64, 64), nn.Linear(64, 64), nn.Linear(64, 64))
    densities = {"0": 1.0, "1": 1 / 4, "2": 1 / 16}
    table = replace(_of("supar", 1.0, 1.0), density=densities)
    roles = infer_roles(model, densities)
    sparsify(model, layers=densities, density=densities, generator=torch.Generator())
    table.initialize(model, roles, torch.Generator())
    groups = param_groups(model, table, roles, weight_decay=0.0, decay="coupled")
    lrs = {id(p): group["lr"] for group in groups for p in group["params"]}
    for layer, density in densities.items():
        weight = model.get_parameter(f"{layer}.weight")
        assert int((weight != 0).sum()) == density * 64 * 64
        assert lrs[id(weight)] == TABLE_3.lr / density
        kept = weight.detach()[weight != 0]
        assert float(kept.std()) == pytest.approx(TABLE_3.init_std / density**0.5, rel=0.2)
    with pytest.raises(SpecError, match="which layer"):
        table.rule("hidden")
    with pytest.raises(SpecError, match="no density for layer '2'"):
        replace(table, density={"0": 1.0, "1": 0.5}).rule_of("2.weight", roles)


def test_param_groups_hold_every_parameter_once() -> None:
    table = small.table()
    model = small.gpt(table)
    roles = infer_roles(model, linear_layers(model, exclude=()))
    groups = param_groups(model, table, roles, weight_decay=0.1, decay="coupled")
    held = [id(p) for group in groups for p in group["params"]]
    assert sorted(held) == sorted(map(id, model.parameters()))
    for group in groups:
        assert group["weight_decay"] == (0.0 if group["role"] == "vector" else 0.1)
        hidden = group["role"] == "hidden"
        assert group["lr"] == (TABLE_3.lr / (2 * 0.25) if hidden else TABLE_3.lr)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_independent_decay_shrinks_all_matrices_alike(scheme: Scheme) -> None:
    table = small.table(scheme, density=1 / 16)
    model = small.gpt(table)
    roles = infer_roles(model, linear_layers(model, exclude=()))
    groups = param_groups(model, table, roles, weight_decay=0.1, decay="independent")
    shrink = {g["lr"] * g["weight_decay"] for g in groups if g["role"] != "vector"}
    assert max(shrink) == pytest.approx(min(shrink), rel=1e-12)
    assert max(shrink) == pytest.approx(0.1 * TABLE_3.lr)
    with pytest.raises(SpecError, match="'coupled' or 'independent'"):
        param_groups(model, table, roles, weight_decay=0.1, decay="none")  # type: ignore[arg-type]


def _failed() -> set[str]:
    """Return the claims of Table 1 that do not hold on the method as it is now."""
    rows: list[dict[str, Any]] = []
    for point in small.points(identities):
        rows += [{**point.to_json(), **row} for row in small.run(identities, point)]
    words = {
        claim.id: controlled(claim, pd.DataFrame(rows), seed=None).word
        for claim in tab01.task.claims
    }
    return {claim for claim, word in words.items() if word is not Word.HOLDS}


def test_supar_without_its_density_rule_breaks_exactly_the_printed_rules(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    true_rule = Parameterization.rule

    def rule_without_density(
        self: Parameterization, role: Role, density: float | None = None
    ) -> Rule:
        return true_rule(self, role, 1.0)

    monkeypatch.setattr(Parameterization, "rule", rule_without_density)
    assert _failed() == {"rules_as_printed"}


def test_a_start_that_is_configured_but_not_applied_breaks_the_claim(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The authors' code does this for SP: it initializes a temporary masked copy.
    true_initialize = Parameterization.initialize

    def initialize_all_but_up(
        self: Parameterization, model: nn.Module, roles: Any, generator: torch.Generator
    ) -> None:
        kept = {n: p.detach().clone() for n, p in model.named_parameters() if "up.weight" in n}
        true_initialize(self, model, roles, generator)
        if self.base.init_std != 1.0:  # not the draws to compare with
            for name, value in kept.items():
                model.get_parameter(name).data.copy_(value)

    monkeypatch.setattr(Parameterization, "initialize", initialize_all_but_up)
    assert "rules_as_printed" in _failed()
