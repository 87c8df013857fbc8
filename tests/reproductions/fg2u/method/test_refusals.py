"""What cannot be differentiated is refused in one sentence that names it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from harness.errors import HarnessError, RunError, SpecError
from reproductions.fg2u import Adam, Problem, Sgd, from_loss, hypergradient
from tests.reproductions.fg2u.small import drawn, quadratic

Weights = dict[str, Tensor]
WEIGHTS = 0.3 * drawn(3, 3, seed=1)
FG2U = ("fg2u", {"num_directions": 2, "chunk": 2})
ZO = ("fg2u-zo", {"num_directions": 2, "chunk": 1})
TRGU = ("trgu", {"keep": 1})
OWN_STEP = [("rgu", {}), FG2U, ZO]
SHARED = 0.3 * drawn(3, 3, seed=1)
EVERY = [("rgu", {}), ("rgu-mixflow", {}), ("neumann", {"terms": 1}), FG2U]


class OneWay(torch.autograd.Function):
    """A square without a forward-mode rule."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor) -> Tensor:
        return x * x

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(inputs[0])

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:  # type: ignore[override]
        return 2 * ctx.saved_tensors[0] * grad


def inner(loss: Callable[[Tensor], Tensor], *, lr: float = 0.1, num_steps: int = 3) -> Problem:
    """Return a problem whose inner loss is a function of phi times the weights."""
    return from_loss(
        start=lambda phi, batch: WEIGHTS,
        loss=lambda weights, phi, batch, number: loss(phi @ weights),
        outer_loss=lambda weights, phi, batch: weights.square().sum(),
        optimizer=Sgd(lr=lr),
        num_steps=num_steps,
    )


def own(step: Callable[[Tensor, Tensor], Any], **parts: Callable[..., Any]) -> Problem:
    """Return a problem with a step of its own, which may start or be judged otherwise."""
    return Problem(
        start=parts.get("start", lambda phi, batch: WEIGHTS),
        step=lambda state, phi, batch, number: step(state, phi),
        outer_loss=parts.get("outer", lambda state, phi, batch: state.square().sum()),
        num_steps=3,
    )


def half(state: Tensor, phi: Tensor) -> Tensor:
    return 0.5 * state + phi.mean()


def constant(phi: Tensor) -> Tensor:
    with torch.no_grad():
        return phi[:3].clone()


def partly_frozen(product: Tensor) -> Tensor:
    with torch.no_grad():
        frozen = product.clone()
    return (product * frozen).sum()


def frozen(product: Tensor) -> Tensor:
    with torch.no_grad():
        return product.square().sum()


NORM = torch.nn.BatchNorm1d(3, dtype=torch.float64)
REFUSED = {
    "dropout": (inner(lambda x: F.dropout(x, 0.5).square().sum()), EVERY, "another result each"),
    "batch norm": (inner(lambda x: NORM(x).pow(4).sum()), EVERY, "tensor in place.*running stat"),
    "no_grad in part": (inner(partly_frozen), EVERY, "differ.*torch.no_grad"),
    "no_grad": (inner(frozen), EVERY, "detaches what it computes"),
    "no second derivative": (inner(lambda x: torch.cdist(x, x).sum()), EVERY, "_cdist_backward"),
    "one way": (inner(lambda x: OneWay.apply(x).sum()), [FG2U, EVERY[1]], "no forward-mode rule"),
    "detached state": (
        own(lambda state, phi: state.detach() - phi.sum(0)), [EVERY[0], FG2U], "detaches its state"
    ),
    "in place": (own(lambda state, phi: state.sub_(phi.sum(0))), [EVERY[0], FG2U], "in place"),
    "numpy": (
        own(lambda state, phi: torch.from_numpy(state.numpy()) - phi.sum(0)), [EVERY[0], FG2U],
        "leaves torch",
    ),
    "no influence": (
        own(lambda state, phi: 0.5 * state), [EVERY[0], FG2U, TRGU], "phi has no influence"
    ),
    "an outer loss that draws": (
        own(half, outer=lambda state, phi, batch: (state * torch.randn(3, 3)).sum()),
        OWN_STEP, "another result each",
    ),
    "no_grad in start": (
        own(half, start=lambda phi, batch: constant(phi)), OWN_STEP[:2], "start or outer_loss diff"
    ),
    "no_grad in the outer loss": (
        own(half, outer=lambda state, phi, batch: (state * constant(phi)).sum()),
        OWN_STEP[:2], "start or outer_loss differ",
    ),
    "in place, for differences": (
        own(lambda state, phi: state.add_(phi.sum(0)), start=lambda phi, batch: SHARED), [ZO],
        "another result each.*in place",
    ),
    "loss of several numbers": (inner(lambda x: x.sum(0)), [*EVERY, ZO], "must return one number"),
    "an outer loss that counts": (
        own(half, outer=lambda state, phi, batch: (state > 0).sum()), OWN_STEP, "torch.int64"
    ),
    "a weight of whole numbers": (
        from_loss(
            start=lambda phi, batch: {"w": WEIGHTS, "n": torch.tensor(1)},
            loss=lambda weights, phi, batch, number: (phi @ weights["w"]).square().sum(),
            outer_loss=lambda weights, phi, batch: weights["w"].square().sum(),
            optimizer=Adam(lr=0.1),
            num_steps=3,
        ),
        EVERY, "start returned a weight of whole numbers",
    ),
    "no state": (own(lambda state, phi: None), OWN_STEP[:2], "step 0 returned NoneType in its sta"),
    "a number as state": (
        own(half, start=lambda phi, batch: 1.0), OWN_STEP, "start returned float in its state"
    ),
}  # fmt: skip


@pytest.mark.parametrize(("problem", "methods", "said"), REFUSED.values(), ids=REFUSED)
def test_it_is_refused(problem: Problem, methods: list[Any], said: str) -> None:
    for name, options in methods:
        with pytest.raises(SpecError, match=said) as caught:
            hypergradient(name, **options)(problem, drawn(4, 3))
        assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize("name", ["one way", "no second derivative", "numpy"])
def test_differences_take_any_step(name: str) -> None:
    meta = hypergradient(ZO[0], **ZO[1])(REFUSED[name][0], drawn(4, 3))
    assert meta.grad.isfinite().all()
    assert name != "one way" or hypergradient("rgu")(REFUSED[name][0], drawn(4, 3)).grad.any()


@pytest.mark.filterwarnings("ignore:a tangent grew")
@pytest.mark.parametrize(("name", "options"), OWN_STEP[:2], ids=lambda value: str(value))
@pytest.mark.parametrize(
    ("step", "said"),
    [
        (lambda state, phi: 1e90 * state, "inner step 3 ends in a value"),
        # sin 0 is 0, whatever the tangent.
        (lambda state, phi: torch.sin(1e90 * state), "inner step 3 ends in a tangent"),
    ],
    ids=["value", "tangent"],
)
def test_the_step_that_an_overflow_names_is_the_first(
    step: Callable[[Tensor, Tensor], Tensor], said: str, name: str, options: dict[str, int]
) -> None:
    """1e90 to the fourth is beyond float64."""
    parts = {"start": lambda phi, batch: phi, "outer": lambda state, phi, batch: state.sum()}
    problem = replace(own(step, **parts), num_steps=6)
    phi = torch.ones(3).double() if "value" in said else torch.zeros(3).double()
    with pytest.raises(RunError, match=said):
        hypergradient(name, **options)(problem, phi)


@pytest.mark.parametrize(
    ("name", "options"),
    [("rgu", {}), ("rgu-checkpoint", {}), ("fgu", {}), ("trgu", {"keep": 3}), FG2U, ZO],
    ids=lambda value: str(value),
)
def test_a_state_may_count_steps_and_be_complex(name: str, options: dict[str, Any]) -> None:
    problem = own(
        lambda state, phi: {"z": state["z"] * torch.exp(1j * phi), "n": state["n"] + 1},
        start=lambda phi, batch: {"z": torch.ones(2) * (1 + 0j), "n": torch.tensor(0)},
        outer=lambda state, phi, batch: state["z"].real.sum() * state["n"],
    )
    phi = drawn(2)
    if "num_directions" in options:
        options = {**options, "directions": "coordinate"}
    found = hypergradient(name, **options)(problem, phi).grad
    assert torch.allclose(found, -9 * torch.sin(3 * phi), rtol=1e-5)


def test_attention_is_differentiated_by_every_method() -> None:
    def attention(product: Tensor) -> Tensor:
        heads = product.view(1, 1, 4, 3)
        return F.scaled_dot_product_attention(heads, heads, heads).square().sum()

    problem, phi = inner(attention), drawn(4, 3)
    exact = hypergradient("rgu")(problem, phi).grad
    every = hypergradient("fg2u", num_directions=12, chunk=4, directions="coordinate")
    assert torch.allclose(every(problem, phi).grad, exact, rtol=1e-10)
    assert torch.allclose(hypergradient("rgu-mixflow")(problem, phi).grad, exact, rtol=1e-10)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: hypergradient("fg2v"), "no method 'fg2v'.*did you mean 'fg2u'"),
        (lambda: hypergradient("fg2u"), "num_directions"),
        (lambda: hypergradient("rgu", chunk=3), "chunk"),
        (lambda: hypergradient("fg2u", num_directions=0), "=0: need a whole number of 1"),
        (lambda: hypergradient("fg2u", num_directions=2, chunk=1.5), "chunk=1.5: need a whole"),
        (lambda: hypergradient("fg2u-zo", num_directions=1, mu=0.0), "mu > 0"),
        (lambda: hypergradient("fg2u-zo", num_directions=1, scheme="backward"), "forward, central"),
        (lambda: Sgd(lr=-0.1), "finite step size above 0"),
        (lambda: hypergradient("neumann", terms=-1), "terms=-1: .* of 0 or more"),
        (lambda: hypergradient("hessian-free", alpha=-1.0), "alpha > 0"),
        (lambda: quadratic(num_steps=0), "num_steps=0: .* of 1 or more"),
        (lambda: hypergradient("trgu", keep=6)(*quadratic(num_steps=5)), "only 5 steps"),
        (lambda: hypergradient("rgu")(quadratic(num_steps=5)[0], torch.ones(2).long()), "floating"),
        (lambda: hypergradient("rgu")(quadratic(num_steps=5)[0], {}), "phi must be a tensor"),
        (lambda: hypergradient("rgu")(quadratic(num_steps=5)[0], drawn(5) / 0), "not finite"),
    ],
)
def test_settings_out_of_range_are_refused(make: Callable[[], object], said: str) -> None:
    with pytest.raises(HarnessError, match=said):
        make()


def keys_of_attention(w: Weights, x: Tensor) -> Tensor:
    """A bias of keys adds one number to all scores of a query, which softmax does not see."""
    tokens = x.view(-1, 4, 6)
    keys = tokens @ w["first"] + w["idle"]
    return torch.softmax(tokens @ keys.transpose(1, 2), dim=2).flatten(1)


def with_idle_bias(*, broken: bool = False) -> tuple[Problem, Tensor]:
    """Return Adam in float32, which divides that rounding by its own root, and phi."""
    x, y = drawn(16, 24, seed=2).float(), torch.arange(16) % 3
    shapes = {"first": (6, 6), "idle": (6,), "last": (3, 16)}
    start = {name: 0.5 * drawn(*size, seed=3).float() for name, size in shapes.items()}

    def scores(w: Weights, x: Tensor) -> Tensor:
        return F.linear(keys_of_attention(w, x), w["last"])

    def loss(w: Weights, phi: Tensor, batch: Any, number: int) -> Tensor:
        nll = F.cross_entropy(scores(w, x), y, reduction="none")
        return partly_frozen(nll * phi.exp()) if broken else (nll * phi.exp()).mean()

    problem = from_loss(
        start=lambda phi, batch: start,
        loss=loss,
        outer_loss=lambda w, phi, batch: F.cross_entropy(scores(w, x.flip(0)), y),
        optimizer=Adam(lr=0.01, eps_root=1e-12),
        num_steps=3,
    )
    return problem, torch.zeros(16)


@pytest.mark.parametrize(("name", "options"), [EVERY[0], FG2U])
def test_a_gradient_that_is_rounding_alone_is_no_fault(name: str, options: dict[str, Any]) -> None:
    """Adam's root multiplies it by 1e4 or more, and no two ways of computing it agree."""
    problem, phi = with_idle_bias()
    assert hypergradient(name, **options)(problem, phi).grad.isfinite().all()


def test_a_real_fault_beside_such_rounding_is_refused() -> None:
    problem, phi = with_idle_bias(broken=True)
    with pytest.raises(SpecError, match=r"differ.*torch\.no_grad"):
        hypergradient("rgu")(problem, phi)


def acting(first: int) -> Problem:
    """Return a problem whose phi["late"] acts from a step on; nothing depends on the others."""

    def loss(weights: Tensor, phi: dict[str, Any], batch: Any, number: int) -> Tensor:
        rest = (weights * phi["late"]).sum() if number >= first else 0.0
        return (weights - phi["used"]).square().sum() + rest

    return from_loss(
        start=lambda phi, batch: torch.zeros(3),
        loss=loss,
        outer_loss=lambda weights, phi, batch: (weights - 1.0).square().sum(),
        optimizer=Sgd(lr=0.1),
        num_steps=4,
    )


@pytest.mark.parametrize(("name", "options"), [EVERY[0], FG2U], ids=lambda value: str(value))
def test_leaves_of_phi_that_nothing_depends_on_are_named(
    name: str, options: dict[str, Any]
) -> None:
    """Directions give each of them a gradient of noise, which is 0 in the mean."""
    phi = {"used": torch.ones(3), "late": torch.ones(()), "idle": [torch.ones(2), torch.ones(1)]}
    said = r"nothing depends on phi\['idle'\]\[0\], phi\['idle'\]\[1\]: its gradient is 0"
    with pytest.warns(RuntimeWarning, match=said):
        hypergradient(name, **options)(acting(0), phi)


@pytest.mark.parametrize(("name", "options"), [EVERY[0], FG2U], ids=lambda value: str(value))
def test_a_leaf_that_acts_late_is_not(name: str, options: dict[str, Any]) -> None:
    """It has no part in the two steps that are looked at."""
    phi = {"used": torch.ones(3), "late": torch.ones(())}
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        assert hypergradient(name, **options)(acting(3), phi).grad["late"] != 0.0
