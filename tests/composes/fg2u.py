"""What (FG)2U composes with: a hypergradient is that of the plain net, or the set-up is refused."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel
from torch.utils.checkpoint import checkpoint

from reproductions.fg2u import (
    MetaGrad,
    Phase,
    Problem,
    Sgd,
    all_workers,
    descend,
    from_loss,
    functional,
    hypergradient,
)
from tests.composes.cells import Cell, refused, works
from tests.reproductions.lisa.small import llama

NUM_STEPS, NUM_IMAGES = 3, 5
METHOD = hypergradient("fg2u", num_directions=4, chunk=2)
OUTER = Phase(method=METHOD, num_steps=3, lr=0.1)
half_forward = partial(torch.autocast, "cpu", torch.bfloat16)
Loss = Callable[[Any, Tensor], Tensor]


def net() -> nn.Sequential:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 3))


def drawn(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(1))


def phi() -> Tensor:
    """Return what weighs the images that a net learns from."""
    return torch.linspace(-1.0, 1.0, NUM_IMAGES)


def problem(module: nn.Module, around: Callable[[Loss], Loss] = lambda loss: loss) -> Problem:
    """Return learned weights of images; around: what is done to the inner loss."""
    call, weights = functional(module)
    images, labels = drawn(2 * NUM_IMAGES, 4), torch.arange(2 * NUM_IMAGES) % 3

    def weighed(theta: Any, phi: Tensor) -> Tensor:
        each = cross_entropy(
            call(theta, images[:NUM_IMAGES]), labels[:NUM_IMAGES], reduction="none"
        )
        return (phi.softmax(0) * each).sum()

    inner = around(weighed)
    return from_loss(
        start=lambda phi, batch: weights,
        loss=lambda theta, phi, batch, number: inner(theta, phi),
        outer_loss=lambda theta, phi, batch: cross_entropy(
            call(theta, images[NUM_IMAGES:]), labels[NUM_IMAGES:]
        ),
        optimizer=Sgd(lr=0.5),
        num_steps=NUM_STEPS,
    )


def estimate(of: Problem, method: Any = METHOD, at: Tensor | None = None) -> MetaGrad:
    """Return a hypergradient; its directions are those of one seed."""
    found: MetaGrad = method(
        of, phi() if at is None else at, None, torch.Generator().manual_seed(0)
    )
    return found


@cache
def plain() -> Tensor:
    return estimate(problem(net())).grad


def assert_plain(of: Problem) -> None:
    torch.testing.assert_close(estimate(of).grad, plain(), rtol=1e-5, atol=1e-7)


def compiled() -> Cell:
    in_place = net()
    in_place.compile(backend="aot_eager")
    assert_plain(problem(in_place))
    cell = refused(lambda: functional(torch.compile(net(), backend="aot_eager")))
    return cell.but(
        "An inner loss that is compiled",
        lambda: estimate(problem(net(), lambda loss: torch.compile(loss, backend="aot_eager"))),
    )


def rounded(loss: Loss) -> Loss:
    def within(theta: Any, phi: Tensor) -> Tensor:
        with half_forward():
            return loss(theta, phi)

    return within


def amp() -> Cell:
    found = estimate(problem(net(), rounded)).grad
    assert not torch.equal(found, plain())
    # Forward, backward and tangents of two layers a step, each to the eight bits of bfloat16.
    assert float((found - plain()).norm()) < NUM_STEPS * 6 * 2**-8 * float(plain().norm())

    def round_all() -> None:
        with half_forward():
            estimate(problem(net()))

    def differences() -> None:
        estimate(problem(net(), rounded), hypergradient("fg2u-zo", num_directions=1))

    cell = works(
        "`torch.autocast` in bfloat16 within the inner loss, to its rounding; no backward pass is"
        " yours, so a `GradScaler` has nothing to scale"
    )
    return cell.but("Round the estimate", round_all).but("With `fg2u-zo`", differences)


def peft() -> Cell:
    from peft import LoraConfig, get_peft_model

    with torch.random.fork_rng():
        torch.manual_seed(2)
        config = LoraConfig(r=2, target_modules=["0"], init_lora_weights=False)
        adapted = get_peft_model(net(), config)
    (down, up) = (
        p.detach() for name, p in adapted.named_parameters() if p.requires_grad and "lora" in name
    )
    scale = config.lora_alpha / config.r

    class ByHand(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.base, self.down, self.up = (
                net().requires_grad_(False),
                *map(nn.Parameter, (down, up)),
            )

        def forward(self, images: Tensor) -> Tensor:
            hidden = self.base[0](images) + scale * images @ self.down.T @ self.up.T
            out: Tensor = self.base[2](torch.tanh(hidden))
            return out

    found, wanted = (estimate(problem(each)).grad for each in (adapted, ByHand()))
    torch.testing.assert_close(found, wanted, rtol=1e-5, atol=1e-7)
    assert float((found - plain()).norm()) > 0.1 * float(plain().norm())
    return works("`functional(get_peft_model(...))`: adapters move, what peft froze is constant")


def accelerate() -> Cell:
    from accelerate import Accelerator

    assert_plain(problem(Accelerator(cpu=True).prepare(net())))
    return works(
        "`functional(accelerator.prepare(model))` in one process; in several that is DDP, for which"
        " see there"
    )


def trainer() -> Cell:
    from transformers import Trainer, TrainingArguments

    class Hyper(Trainer):
        def training_step(self, model: Any, inputs: Any, num_items_in_batch: Any = None) -> Tensor:
            meta = METHOD(of, model.phi, None, generator)
            model.phi.grad = meta.grad
            return meta.outer_value

    of, generator = problem(net()), torch.Generator().manual_seed(0)
    held = nn.Module()
    held.phi = nn.Parameter(phi())
    with tempfile.TemporaryDirectory() as folder:
        args = TrainingArguments(
            folder, use_cpu=True, report_to=[], save_strategy="no", max_steps=OUTER.num_steps,
            learning_rate=OUTER.lr, lr_scheduler_type="constant", max_grad_norm=0.0,
            per_device_train_batch_size=1, disable_tqdm=True,
        )  # fmt: skip
        rows = [{"row": 0}] * OUTER.num_steps
        Hyper(model=held, args=args, train_dataset=rows, data_collator=lambda rows: {}).train()
    torch.testing.assert_close(held.phi.detach(), descended(torch.optim.AdamW, weight_decay=0.0))
    return works(
        "`phi` a parameter of its model, and a `training_step` that puts the estimate into its"
        " `.grad` and returns `outer_value`: the steps of `descend`"
    )


def descended(kind: Any, **settings: Any) -> Tensor:
    """Return phi after some outer steps."""
    moved, generator = phi(), torch.Generator().manual_seed(0)
    make = lambda leaves, lr: kind(leaves, lr=lr, **settings)  # noqa: E731
    steps = descend(
        problem(net()), moved, itertools.repeat(None), [OUTER], generator=generator, optimizer=make
    )
    assert len(list(steps)) == OUTER.num_steps
    return moved


def checkpointing() -> Cell:
    def within(loss: Loss) -> Loss:
        return lambda theta, phi: checkpoint(loss, theta, phi, use_reentrant=False)

    return refused(lambda: estimate(problem(net(), within)))


def fused() -> Cell:
    one_by_one = descended(torch.optim.Adam, foreach=False)
    for way in ("fused", "foreach"):
        torch.testing.assert_close(descended(torch.optim.Adam, **{way: True}), one_by_one)
    return works("as `descend(optimizer=)`").but("For inner steps", inner_of_torch)


def inner_of_torch() -> None:
    step: Any = torch.optim.AdamW(net().parameters(), fused=True)
    loss: Any = lambda *_: phi().sum()  # noqa: E731
    from_loss(start=lambda phi, batch: phi, loss=loss, outer_loss=loss, optimizer=step, num_steps=1)


def save_load() -> Cell:
    model = llama().eval()
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        again = type(model).from_pretrained(folder)
    found, wanted = (tokens_weighed(each) for each in (again, model))
    assert float(wanted.norm()) > 0.0
    assert torch.equal(found, wanted)
    return works("of the net, whose tied weights stay tied: the same hypergradient to the bit")


def tokens_weighed(model: nn.Module) -> Tensor:
    """Return the hypergradient of learned weights of tokens."""
    call, weights = functional(model)
    ids = torch.arange(12).view(2, 6)

    def nll(theta: Any, row: int) -> Tensor:
        scores = call(theta, input_ids=ids[row : row + 1], use_cache=False).logits[0, :-1]
        return cross_entropy(scores, ids[row, 1:], reduction="none")

    return estimate(
        from_loss(
            start=lambda phi, batch: weights,
            loss=lambda theta, phi, batch, number: (phi * nll(theta, 0)).mean(),
            outer_loss=lambda theta, phi, batch: nll(theta, 1).mean(),
            optimizer=Sgd(lr=0.5),
            num_steps=2,
        )
    ).grad


def ddp() -> Cell:
    shared = hypergradient("fg2u", num_directions=4, chunk=2, workers=all_workers())
    torch.testing.assert_close(estimate(problem(net()), shared).grad, plain(), rtol=1e-5, atol=1e-7)
    cell = works("`workers=all_workers()`: ranks share the directions, and get the plain estimate")
    cell = cell.but("A net in DDP", lambda: functional(DistributedDataParallel(net())))
    apart = phi() * (dist.get_rank() + 1)
    return cell.but("Ranks with data of their own", lambda: estimate(problem(net()), shared, apart))


def fsdp2() -> Cell:
    from torch.distributed.fsdp import fully_shard

    split = net()
    fully_shard(split)
    return refused(lambda: functional(split))


CELLS = {
    "compile": compiled, "amp": amp, "peft": peft, "accelerate": accelerate, "trainer": trainer,
    "checkpointing": checkpointing, "fused": fused, "save_load": save_load,
}  # fmt: skip
RANKED = {"ddp": ddp, "fsdp2": fsdp2}


def in_half() -> None:
    estimate(problem(net().bfloat16()))


def with_batch_norm() -> None:
    functional(nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6)))


def with_dropout() -> None:
    functional(nn.Sequential(nn.Linear(4, 6), nn.Dropout(0.1)))


def drawing() -> None:
    estimate(problem(net(), lambda loss: lambda theta, phi: loss(theta, phi * torch.rand(5))))


def in_part_without_history() -> None:
    def within(loss: Loss) -> Loss:
        def part(theta: Any, phi: Tensor) -> Tensor:
            with torch.no_grad():
                factor = loss(theta, phi)
            return factor * loss(theta, phi)

        return part

    estimate(problem(net(), within))


def twice() -> None:
    both = torch.ones(3)
    METHOD(problem(net()), {"in": both, "out": both})


def other_leaves() -> None:
    make = lambda leaves, lr: torch.optim.Adam(net().parameters(), lr=lr)  # noqa: E731
    next(descend(problem(net()), phi(), [None], [OUTER], optimizer=make))


REFUSES = {
    "A net in half precision": in_half,
    "Batch norm that is training": with_batch_norm,
    "Dropout that is on": with_dropout,
    "An inner loss that draws": drawing,
    "`torch.no_grad` in a part of it": in_part_without_history,
    "One tensor in two places of `phi`": twice,
    "An outer optimizer over something else": other_leaves,
}
