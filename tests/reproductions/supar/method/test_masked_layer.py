"""No copy, state or call of a masked model computes with its pruned weights, or trains them."""

from __future__ import annotations

import copy
import io
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from harness.errors import SpecError
from reproductions.supar import masked_layers, max_abs_masked, sparsify
from tests.reproductions.supar.masked_nets import (
    adamw,
    inputs_of,
    kept_weights,
    leak,
    loss_of,
    masks_of,
    mlp,
    rigl,
    sparse_mlp,
    train,
)
from tests.reproductions.supar.small import zeros_under


def by_torch_save(model: nn.Module) -> nn.Module:
    file = io.BytesIO()
    torch.save(model, file)
    file.seek(0)
    return torch.load(file, weights_only=False)


def of_a_copy(model: nn.Module) -> nn.Module:
    best = copy.deepcopy(model)
    del model
    return copy.deepcopy(best)


@pytest.mark.parametrize("copied", [of_a_copy, by_torch_save])
def test_a_copy_keeps_its_masks(copied: Callable[[nn.Module], nn.Module]) -> None:
    model = copied(sparse_mlp())
    masks = masks_of(model)
    assert list(masks) == ["0.weight", "2.weight"]
    train(model, adamw(model))
    assert max_abs_masked(model) == 0.0
    assert leak(model, mlp(), inputs_of()) == 0.0
    assert all(torch.equal(masks[name], mask) for name, mask in masks_of(model).items())


@pytest.mark.parametrize("copied", [lambda model: model, of_a_copy])
def test_who_reads_a_weight_without_its_layer_gets_masked_gradients(
    copied: Callable[[nn.Module], nn.Module],
) -> None:
    model = copied(sparse_mlp())
    (mask,) = (layer.weight_mask for name, layer in masked_layers(model).items() if name == "0")
    loss = F.linear(inputs_of(), model[0].weight).square().sum()
    (gradient,) = torch.autograd.grad(loss, [model[0].weight], retain_graph=True)
    loss.backward()
    for found in (gradient, model[0].weight.grad):
        assert zeros_under(found, mask)
        assert bool(found[mask].any())


def test_a_new_parameter_is_under_the_mask() -> None:
    model = sparse_mlp()
    model[0].weight = nn.Parameter(torch.ones_like(model[0].weight))
    F.linear(inputs_of(), model[0].weight).sum().backward()
    assert zeros_under(model[0].weight.grad, model[0].weight_mask)
    assert leak(model, mlp(), inputs_of()) == 0.0


@pytest.mark.parametrize("assign", [False, True])
@pytest.mark.parametrize("with_masks", [False, True])
def test_a_dense_state_is_masked(with_masks: bool, assign: bool) -> None:
    """With masks, it is under those; without, under the model's own."""
    model, state = sparse_mlp(), {**mlp().state_dict()}
    if with_masks:
        other = sparse_mlp(seed=5).state_dict()
        state |= {n: v.half() for n, v in other.items() if n.endswith("weight_mask")}
    wanted = masks_of(sparse_mlp(seed=5) if with_masks else model)
    model.load_state_dict(state, strict=with_masks, assign=assign)
    assert max_abs_masked(model) == 0.0
    assert leak(model, mlp(), inputs_of()) == 0.0
    assert all(torch.equal(masks_of(model)[name], mask) for name, mask in wanted.items())
    train(model, adamw(model))
    assert max_abs_masked(model) == 0.0


def test_a_new_start_is_sparse() -> None:
    model = sparse_mlp()
    model[0].reset_parameters()
    # As models of transformers draw their start: past autograd.
    model[2].weight.data.normal_(std=0.2, generator=torch.Generator().manual_seed(2))
    assert leak(model, mlp(), inputs_of()) == 0.0
    train(model, torch.optim.SGD(model.parameters(), lr=0.05))
    assert leak(model, mlp(), inputs_of()) == 0.0
    assert max_abs_masked(model) == 0.0


def test_a_functional_call_is_of_the_sparse_model() -> None:
    model, twin = sparse_mlp(), mlp()
    dense = {name: torch.randn_like(value) for name, value in model.named_parameters()}
    found = torch.func.functional_call(model, dense, (inputs_of(),))
    masks = masks_of(model)
    sparse = {name: value * masks.get(name, 1.0) for name, value in dense.items()}
    assert torch.equal(found, torch.func.functional_call(twin, sparse, (inputs_of(),)))


def test_functional_gradients_are_masked() -> None:
    model = sparse_mlp()
    weights = {name: value.detach() for name, value in model.named_parameters()}

    def loss(weights: dict[str, Tensor], inputs: Tensor) -> Tensor:
        out = torch.func.functional_call(model, weights, (inputs,))
        return (out - inputs[..., :3]).square().mean()

    found = torch.vmap(torch.func.grad(loss), (None, 0))(weights, inputs_of())
    for name, mask in masks_of(model).items():
        assert zeros_under(found[name].sum(0), mask)
        assert bool(found[name].sum(0)[mask].any())


def test_transforms_of_inputs_are_of_the_sparse_model() -> None:
    """They take the module's own parameters, to which nothing may be written meanwhile."""
    model, twin = sparse_mlp(), mlp()
    model[2].weight.data.fill_(1.0)
    twin.load_state_dict(kept_weights(model))
    for transform in (torch.vmap, torch.func.jacrev):
        assert torch.equal(transform(model)(inputs_of()), transform(twin)(inputs_of()))


def test_steps_within_the_backward_pass_are_masked() -> None:
    """The hook was there before the masks, so that it runs before any of theirs that comes late."""
    model = mlp()
    for weight in model.parameters():
        optimizer = torch.optim.SGD([weight], lr=0.05, momentum=0.9)

        def step(weight: Tensor, optimizer: torch.optim.Optimizer = optimizer) -> None:
            optimizer.step()
            optimizer.zero_grad()

        weight.register_post_accumulate_grad_hook(step)
    sparsify(model, layers=["0", "2"], density=0.25, generator=torch.Generator().manual_seed(0))
    for number in range(5):
        loss_of(model, inputs_of(number)).backward()
    assert max_abs_masked(model) == 0.0


def test_an_optimizer_that_mixes_entries_moves_nothing_that_counts() -> None:
    model = sparse_mlp()
    matrices = [weight for weight in model.parameters() if weight.ndim == 2]
    train(model, torch.optim.Muon(matrices, lr=0.05, weight_decay=0.1))
    assert max_abs_masked(model) > 0.0, "written by the last step, and read by nobody"
    assert leak(model, mlp(), inputs_of()) == 0.0
    train(model, torch.optim.Muon(matrices, lr=0.05, weight_decay=0.1), 1)
    saved = model.state_dict()
    assert all(zeros_under(saved[name], mask) for name, mask in masks_of(model).items())


def test_a_compiled_model_is_masked() -> None:
    model, twin = sparse_mlp(), mlp()
    compiled = torch.compile(model, backend="aot_eager", fullgraph=True)
    train(compiled, adamw(model), 2)
    assert max_abs_masked(model) == 0.0
    model[2].weight.data.fill_(1.0)
    twin.load_state_dict(kept_weights(model))
    assert torch.equal(compiled(inputs_of()), twin(inputs_of()))


def test_growth_without_gradients_of_masked_weights_is_refused() -> None:
    """A compiled forward pass masks them unless it, too, is within the context."""
    model = sparse_mlp()
    compiled = torch.compile(model, backend="aot_eager")
    optimizer = adamw(model)
    topology = rigl(model, optimizer)
    loss = loss_of(compiled, inputs_of())
    with topology.backward(4):
        loss.backward()
    with pytest.raises(SpecError, match="put the forward pass, too, within"):
        topology.update(4)
    optimizer.zero_grad()
    with topology.backward(4):
        loss_of(compiled, inputs_of()).backward()
    before = masks_of(model)
    assert not topology.update(4)
    assert not any(torch.equal(before[name], mask) for name, mask in masks_of(model).items())


def test_a_frozen_layer_is_masked_and_stays_so_once_it_trains() -> None:
    model = mlp()
    model[2].weight.requires_grad_(False)
    sparsify(model, layers=["0", "2"], density=0.25, generator=torch.Generator().manual_seed(0))
    assert max_abs_masked(model) == 0.0
    model[2].weight.requires_grad_(True)
    train(model, adamw(model))
    assert max_abs_masked(model) == 0.0
    assert leak(model, mlp(), inputs_of()) == 0.0


class _Transposed(nn.Linear):
    """As FalconLinear of transformers."""

    def forward(self, input: Tensor) -> Tensor:
        return input @ self.weight.T + self.bias


def test_a_linear_layer_with_a_forward_pass_of_its_own_is_masked() -> None:
    model, twin = (nn.Sequential(_Transposed(10, 12), nn.Linear(12, 3)) for _ in range(2))
    sparsify(model, layers=["0"], density=0.25, generator=torch.Generator().manual_seed(0))
    model = by_torch_save(model)
    assert isinstance(model[0], _Transposed)
    model[0].weight.data.fill_(1.0)
    assert leak(model, twin, inputs_of()) == 0.0
    assert type(copy.deepcopy(model[0])) is type(model[0])


def test_a_masked_layer_whose_weight_is_computed_is_refused() -> None:
    model = sparse_mlp()
    nn.utils.parametrizations.weight_norm(model[0])
    with pytest.raises(SpecError, match="remove that parametrization"):
        model(inputs_of())
