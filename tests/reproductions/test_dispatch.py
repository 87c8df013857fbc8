"""Where a method would be on a GPU its kernels are called, do as torch does, and are named.

There is no GPU here: `choose` is told to answer as on one, and the kernels themselves run, built by
the host's compiler or in Triton's interpreter.
"""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.nn.functional import cross_entropy

from harness.choices import noted
from reproductions.asymvalley.method.federated import algorithms
from reproductions.asymvalley.method.federated.algorithms import FedSign, Received
from reproductions.asymvalley.method.federated.client import ClientResult, train_client
from reproductions.fg2u.method.directions import make_directions
from reproductions.fg2u.method.methods import hypergradient
from reproductions.fg2u.method.optimizers import Sgd
from reproductions.fg2u.method.problem import GradientStep
from reproductions.fg2u.method.tangents import kernel_of
from reproductions.fg2u.models.condensation import example
from reproductions.kernels import backend as backends
from reproductions.kernels.adamw import optimizer as of_adamw
from reproductions.kernels.adamw import plain as plain_adamw
from reproductions.kernels.adamw.optimizer import KernelAdamW
from reproductions.kernels.adamw.plain import AdamW, Weight
from reproductions.kernels.backend import Backend
from reproductions.lisa.models import training as of_lisa
from reproductions.lisa.models.training import Recipe, causal_lm_loss, own_loss
from reproductions.supar import masked_layers, max_abs_masked
from reproductions.supar.models import loss as of_supar
from reproductions.supar.models.loss import gpt_loss
from reproductions.supar.models.training import build_adamw, train
from tests.reproductions.asymvalley.method.federated import small as federated
from tests.reproductions.fg2u.small import quadratic
from tests.reproductions.supar import small


def answer(monkeypatch: pytest.MonkeyPatch, module: Any, backend: Backend) -> None:
    monkeypatch.setattr(module, "choose", lambda device: backend)


def trained() -> tuple[nn.Module, torch.optim.Optimizer]:
    table = small.table()
    model = small.gpt(table)
    optimizer = build_adamw(model, table)
    train(model, optimizer, small.batches(), small.TRAINING)
    return model, optimizer


def test_a_masked_net_trains_alike_by_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    plain, _ = trained()
    answer(monkeypatch, of_adamw, "cuda")
    with noted() as choices:
        ours, optimizer = trained()
    assert isinstance(optimizer, KernelAdamW) and choices == {"kernels/adamw": "cuda"}
    assert masked_layers(ours) and max_abs_masked(ours) == 0.0
    for (name, a), b in zip(ours.named_parameters(), plain.parameters(), strict=True):
        assert torch.allclose(a, b, rtol=1e-3, atol=1e-4), name


@pytest.mark.kernels
def test_a_gpt_takes_its_loss_by_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    (batch,) = small.batches(1)
    net, found = small.gpt(small.table()), []
    for backend in ("plain", "triton"):
        for module in (of_supar, backends):
            answer(monkeypatch, module, backend)
        net.zero_grad()
        with noted() as choices:
            loss = gpt_loss(net, batch.tokens_BT, batch.targets_BT)
        loss.backward()
        found.append([loss.detach(), *[weight.grad for weight in net.parameters()]])
    assert choices == {"kernels/linear_cross_entropy": "triton"}
    for ours, theirs in zip(*found, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-6)


def test_rates_of_a_stack_reach_the_device_of_its_weights() -> None:
    """They are told on a CPU, and plain torch can be asked for on a GPU."""
    rates = torch.tensor([0.1, 0.2])
    value, grad, mean, square = (torch.empty(2, 3, device="meta") for _ in range(4))
    weight = Weight(value=value, grad=grad, mean=mean, square=square, mask=None, lr=rates)
    plain_adamw.step_([weight], AdamW(), 1, norms=False)


def test_lisa_steps_by_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = Recipe(
        lr=0.1, num_steps=2, warmup_steps=0, last_lr_share=0.0, weight_decay=0.2,
        betas=(0.8, 0.9), clip_norm=1.0,
    )  # fmt: skip
    theirs = recipe.optimizer([nn.Parameter(torch.ones(3))])
    answer(monkeypatch, of_adamw, "cuda")
    ours = recipe.optimizer([nn.Parameter(torch.ones(3))])
    assert isinstance(ours, KernelAdamW) and isinstance(theirs, torch.optim.AdamW)
    assert {name: theirs.defaults[name] for name in ours.defaults} == ours.defaults
    held = [optimizer.param_groups[0]["params"][0] for optimizer in (ours, theirs)]
    for optimizer, param in zip((ours, theirs), held, strict=True):
        param.grad = torch.tensor([1.0, -2.0, 0.5])
        optimizer.step()
    assert torch.allclose(*held, rtol=1e-6)


class SmallCausalLM(nn.Module):
    """As much of a model of transformers as a loss asks for."""

    config = SimpleNamespace(model_type="llama")

    def __init__(self) -> None:
        super().__init__()
        self.model, self.lm_head = nn.Embedding(67, 16), nn.Linear(16, 67, bias=False)

    def get_decoder(self) -> Any:
        return lambda input_ids, use_cache: SimpleNamespace(last_hidden_state=self.model(input_ids))

    def get_output_embeddings(self) -> nn.Linear:
        return self.lm_head

    def forward(self, input_ids: Tensor, labels: Tensor, use_cache: bool) -> Any:
        logits_BTV = self.lm_head(self.model(input_ids))[:, :-1]
        return SimpleNamespace(
            loss=cross_entropy(logits_BTV.flatten(0, 1), labels[:, 1:].flatten())
        )


@pytest.mark.kernels
def test_lisa_takes_its_loss_by_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    model = SmallCausalLM()
    ids_BT = torch.randint(67, (2, 12))
    labels_BT = ids_BT.where(ids_BT % 3 != 0, -100)
    own_loss(model, input_ids=ids_BT, labels=labels_BT).backward()
    wanted = [weight.grad for weight in model.parameters()]
    model.zero_grad()
    for module in (of_lisa, backends):
        answer(monkeypatch, module, "triton")
    with noted() as choices:
        causal_lm_loss(model, input_ids=ids_BT, labels=labels_BT).backward()
    assert choices == {"kernels/linear_cross_entropy": "triton"}
    for weight, theirs in zip(model.parameters(), wanted, strict=True):
        torch.testing.assert_close(weight.grad, theirs, rtol=1e-4, atol=1e-7)


def client_of(algorithm: FedSign) -> ClientResult:
    net = federated.flat()
    state = {name: value.clone() for name, value in federated.SmallNet(1).state_dict().items()}
    return train_client(
        net, state, federated.client(33, 2), {}, algorithm=algorithm, settings=federated.LOCAL,
        seed=5,
    )  # fmt: skip


@pytest.mark.kernels
def test_a_client_of_fedsign_trains_alike_by_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    algorithm = FedSign(gamma=0.05, beta=2.0)
    with noted() as nothing:
        plain = client_of(algorithm)
    answer(monkeypatch, algorithms, "triton")
    answer(monkeypatch, backends, "triton")
    with noted() as choices:
        ours = client_of(algorithm)
    assert (nothing, choices) == ({}, {"kernels/sign_ops": "triton"})
    assert ours.extra_loss == pytest.approx(plain.extra_loss, rel=1e-5) and plain.extra_loss < 0
    assert ours.same_sign_ratio == plain.same_sign_ratio
    for name, value in plain.state.items():
        assert torch.allclose(ours.state[name], value, rtol=1e-4, atol=1e-5), name


def test_the_penalty_of_float64_weights_is_not_rounded(monkeypatch: pytest.MonkeyPatch) -> None:
    algorithm = FedSign(gamma=0.05, beta=2.0)
    theta_N = torch.linspace(-1.0, 1.0, 9, dtype=torch.float64)
    received = Received(theta_N=theta_N.flip(0) + 0.1, sizes=(9,), memory={})
    found = []
    for backend in ("plain", "triton"):
        answer(monkeypatch, algorithms, backend)
        grad_N = torch.zeros_like(theta_N)
        with noted() as choices:
            term = algorithm.add_weight_gradient_(grad_N, theta_N, received)
        found.append((term, grad_N))
        said = {"kernels/sign_ops": "plain (float64)"}
        assert choices == (said if backend == "triton" else {})
    torch.testing.assert_close(found[1], found[0], rtol=0.0, atol=0.0)


@pytest.mark.parametrize(
    "backend", [pytest.param("triton", marks=pytest.mark.kernels), "cuda"]
)  # fmt: skip
def test_directions_of_a_counter_are_summed_by_the_kernel(
    monkeypatch: pytest.MonkeyPatch, backend: Backend
) -> None:
    drawn = make_directions("philox", 6, 5000, seed=3)
    weight_C, phi = (
        torch.linspace(-1.0, 1.0, 6),
        {"a": torch.empty(4000), "b": torch.empty(10, 100)},
    )
    plain = drawn.combined(weight_C, range(6), phi)
    answer(monkeypatch, backends, backend)
    with noted() as choices:
        ours = drawn.combined(weight_C, range(6), phi)
    assert choices == {"kernels/rademacher": backend}
    for name, wanted in plain.items():
        assert torch.allclose(ours[name], wanted, rtol=1e-5, atol=1e-6)


def test_directions_that_a_gpu_does_not_make_are_said_there() -> None:
    """Drawn on a CPU for any device, so that none need be there."""
    drawn = make_directions("rademacher", 2, 5, seed=3)
    for device, said in (
        ("cpu", {}),
        ("cuda", {"kernels/rademacher": "torch's sum of directions (signs drawn on a CPU; a GPU"
                                        " makes those of philox)"}),
    ):  # fmt: skip
        with noted() as choices:
            drawn.rows([0, 1], torch.device(device))
        assert choices == said


def test_a_penalty_that_is_no_sum_is_plain_torchs_and_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    theta_N = torch.linspace(-1.0, 1.0, 9)
    received = Received(theta_N=theta_N.flip(0), sizes=(9,), memory={})
    answer(monkeypatch, algorithms, "triton")
    with noted() as choices:
        FedSign(gamma=0.05, beta=2.0, reduction="mean").add_weight_gradient_(
            torch.zeros_like(theta_N), theta_N, received
        )
    assert choices == {"kernels/sign_ops": "plain (entries reduced by mean)"}


def test_a_pass_that_is_not_all_in_float32_is_torch_funcs_and_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem, phi, batch = example(num_steps=3)
    answer(monkeypatch, backends, "triton")
    with noted() as choices:
        assert kernel_of(problem, phi.double(), batch) is None
    assert choices == {"kernels/tangent_step": "torch.func (not all in float32)"}


def test_a_pass_by_steps_that_no_kernel_knows_is_said_on_a_gpu() -> None:
    problem, phi, batch = example(num_steps=3)
    step = GradientStep(loss=problem.gradient_step.loss, optimizer=Sgd(lr=lambda phi, number: 0.1))
    problem = replace(problem, step=step)
    with FakeTensorMode():
        there = torch.empty(phi.shape, device="cuda")
    with noted() as choices:
        assert kernel_of(problem, phi, batch) is None
        assert choices == {}
        assert kernel_of(problem, there, batch) is None
    why = "steps of neither Adam nor SGD with momentum"
    assert choices == {"kernels/tangent_step": f"torch.func ({why})"}


def test_float64_is_summed_in_float64_wherever_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, phi = quadratic(num_steps=3, num_entries=8)
    found = []
    for chunk in (1, 4):
        method = hypergradient("fg2u", num_directions=6, chunk=chunk, directions="philox")
        answer(monkeypatch, backends, "triton")
        with noted() as choices:
            found.append(method(problem, phi, None, torch.Generator().manual_seed(1)).grad)
        assert choices == {"kernels/rademacher": "plain (float64)"}
    assert found[0].dtype == torch.float64
    assert torch.allclose(*found, rtol=1e-13)


@pytest.mark.kernels
@pytest.mark.parametrize("chunk", [1, 2])
def test_a_forward_pass_steps_by_the_kernel(monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    problem, phi, batch = example(num_steps=3)
    method = hypergradient("fg2u", num_directions=2, chunk=chunk)
    plain = method(problem, phi, batch, torch.Generator().manual_seed(1))
    answer(monkeypatch, backends, "triton")
    with noted() as choices:
        ours = method(problem, phi, batch, torch.Generator().manual_seed(1))
    assert choices == {"kernels/tangent_step": "triton"}
    assert torch.allclose(ours.grad, plain.grad, rtol=1e-4, atol=1e-7)
