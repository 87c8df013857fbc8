"""What valleys and FedSign compose with: a curve is the plain model's, the penalty is applied."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.checkpoint import checkpoint

from reproductions.asymvalley import (
    ValleyCurve,
    ValleyData,
    draw_noise,
    layout_of,
    parameters_vector,
    sign_consistent,
    valley_curve,
)
from reproductions.asymvalley.federated import (
    ClientData,
    FedAvg,
    FedSign,
    FlatNet,
    LocalSettings,
    train_client,
)
from tests.composes.cells import Cell, not_applicable, refused, works

PLACES = (-1.0, 0.0, 1.0)
half = partial(torch.autocast, "cpu", torch.bfloat16)
SIGNS = FedSign(gamma=0.05)
LOCAL = LocalSettings(
    epochs=1, batch_size=8, min_steps=0, lr=0.1, momentum=0.9, weight_decay=0.0, clip_norm=100.0
)


class Net(nn.Module):
    """A small net with batch norm, as valleys and clients take it."""

    def __init__(self) -> None:
        super().__init__()
        with torch.random.fork_rng():
            torch.manual_seed(0)
            self.conv, self.norm = nn.Conv2d(1, 3, 3), nn.BatchNorm2d(3)
            self.classifier = nn.Linear(3, 4)
        self.checkpoints = False

    def features(self, images: Tensor) -> Tensor:
        if self.checkpoints:
            found: Tensor = checkpoint(self.pooled, images, use_reentrant=False)
            return found
        return self.pooled(images)

    def pooled(self, images: Tensor) -> Tensor:
        return torch.relu(self.norm(self.conv(images))).mean((2, 3))

    def forward(self, images: Tensor) -> Tensor:
        scores: Tensor = self.classifier(self.features(images))
        return scores


def images(count: int = 24, channels: int = 1) -> Tensor:
    return torch.randn(count, channels, 6, 6, generator=torch.Generator().manual_seed(1))


def labels(count: int = 24) -> Tensor:
    return torch.arange(count) % 4


def data(channels: int = 1) -> ValleyData:
    return ValleyData(
        test_images=images(24, channels), test_labels=labels(),
        statistics_images=images(24, channels), batch_size=8,
    )  # fmt: skip


def direction(model: nn.Module) -> Tensor:
    noise = draw_noise("gaussian", layout_of(model).size, seed=0, draw=0)
    return sign_consistent(noise, parameters_vector(model))


def curve(model: nn.Module, along: Tensor | None = None, channels: int = 1) -> ValleyCurve:
    return valley_curve(
        model, direction(model) if along is None else along, PLACES, scale=2.0, norm="raw",
        bn_stats="recalibrate", data=data(channels),
    )  # fmt: skip


def assert_same(found: ValleyCurve, wanted: ValleyCurve, rtol: float = 1e-5) -> None:
    """Compare curves; one that does not move with lambda is none."""
    assert len({point.ce for point in wanted.points}) == len(PLACES)
    for one, other in zip(found.points, wanted.points, strict=True):
        torch.testing.assert_close(one.ce, other.ce, rtol=rtol, atol=0.0)
        assert rtol > 1e-3 or one.error == other.error


def client(module: Any, algorithm: FedAvg = SIGNS) -> tuple[dict[str, Tensor], float]:
    """Return a client's state after its round, and the mean of the penalty."""
    net = FlatNet(module)
    mine = ClientData(images().permute(0, 2, 3, 1).contiguous(), labels())
    done = train_client(
        net, net.state(), mine, {}, algorithm=algorithm, settings=LOCAL, seed=0
    )  # fmt: skip
    return {name.removeprefix("_orig_mod."): value for name, value in done.state.items()}, (
        done.extra_loss
    )


def assert_penalised(module: Any, rtol: float = 1e-5) -> None:
    """Assert that a client ends where that of the plain net ends, and not where FedAvg's does."""
    (found, penalty), (wanted, plain_penalty) = client(module), client(Net())
    assert penalty < 0.0
    torch.testing.assert_close(penalty, plain_penalty, rtol=rtol, atol=0.0)
    without, _ = client(Net(), FedAvg())
    for name, value in wanted.items():
        if value.is_floating_point():
            gap = float((found[name] - value).norm())
            assert gap <= rtol * float(value.norm()) + 1e-6, name
    assert float((wanted["classifier.weight"] - without["classifier.weight"]).norm()) > 0.01


def compiled() -> Cell:
    assert_same(curve(torch.compile(Net(), backend="aot_eager")), curve(Net()))  # type: ignore[arg-type]
    assert_penalised(torch.compile(Net(), backend="aot_eager"))
    return works(
        "the curve of the plain model; a client calls `features` and `classifier`, which run as"
        " they are unless they are compiled themselves"
    )


def amp() -> Cell:
    # Three layers in bfloat16, each rounded to eight bits.
    tolerance = 3 * 2**-8
    with half():
        rounded = curve(Net())
        assert_penalised(Net(), rtol=0.05)
    assert_same(rounded, curve(Net()), rtol=tolerance)
    assert rounded.points != curve(Net()).points
    with half():
        (_, penalty), (_, again) = client(Net()), client(Net())
    assert penalty == again < 0.0
    return works(
        "autocast round `valley_curve` and `train_client`, to its rounding; the penalty is of"
        " float32 weights. Clients step by themselves, so a `GradScaler` has nothing to scale"
    )


def peft() -> Cell:
    from peft import LoraConfig, get_peft_model

    def adapted() -> nn.Module:
        config = LoraConfig(r=2, target_modules=["classifier"])
        found: nn.Module = get_peft_model(Net(), config)
        return found

    plain = layout_of(Net()).split(direction(Net()))
    along = torch.cat([
        torch.zeros_like(value).flatten() if "lora" in name
        else plain[bare(name)].flatten()
        for name, value in adapted().named_parameters()
    ])  # fmt: skip
    assert_same(curve(adapted(), along), curve(Net()))
    start = {name: value.clone() for name, value in adapted().state_dict().items()}
    end, penalty = client(adapted())
    moved = {name for name in start if not torch.equal(start[name], end[name])}
    assert penalty < 0.0
    assert any("lora" in name for name in moved)
    assert not any("lora" not in name and "norm" not in name for name in moved), moved
    return works(
        "a curve moves base and adapters alike, unless the direction is zero in one of them;"
        " clients train what peft leaves to train"
    )


def bare(name: str) -> str:
    """Return a parameter's name in the net that peft wrapped."""
    return name.removeprefix("base_model.model.").replace(".base_layer", "")


def accelerate() -> Cell:
    from accelerate import Accelerator

    accelerator = Accelerator(cpu=True)
    assert_same(curve(accelerator.prepare(Net())), curve(Net()))
    assert_penalised(accelerator.prepare(Net()))
    return works("a prepared model in one process; in several that is DDP, for which see there")


def classifier() -> Any:
    """Return an image classifier of transformers, with batch norm."""
    from transformers import ResNetConfig, ResNetForImageClassification

    config = ResNetConfig(
        num_channels=3, embedding_size=4, hidden_sizes=[4], depths=[1], layer_type="basic",
        num_labels=4,
    )  # fmt: skip
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return ResNetForImageClassification(config)


def trainer() -> Cell:
    from transformers import Trainer, TrainingArguments

    rows = [{"pixel_values": image, "labels": label}
            for image, label in zip(images(24, 3), labels(), strict=True)]  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        args = TrainingArguments(
            folder, use_cpu=True, report_to=[], save_strategy="no", max_steps=2,
            learning_rate=1e-2, disable_tqdm=True,
        )  # fmt: skip
        made = Trainer(model=classifier(), args=args, train_dataset=rows)
        made.train()
    again = classifier()
    again.load_state_dict(made.model.state_dict())
    assert_same(curve(made.model, channels=3), curve(again, channels=3), rtol=1e-6)
    return works(
        "a curve through `trainer.model`, as the Trainer leaves it. FedSign has a loop of its own,"
        " `train_client`: put its penalty into a `compute_loss` to train by a Trainer"
    )


def checkpointing() -> Cell:
    net = Net()
    net.checkpoints = True
    assert_same(curve(net), curve(Net()))
    trained = Net()
    trained.checkpoints = True
    # A checkpoint runs batch norm twice, and its running statistics with it.
    trained.norm.track_running_stats = False
    assert client(trained)[1] < 0.0
    return works("a curve has no graph to save")


def fused() -> Cell:
    return not_applicable(
        "a curve has no optimizer, and clients step one vector of all weights by themselves (SGD"
        " with momentum), which is what fusing is for"
    )


def save_load() -> Cell:
    model = classifier()
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        again = type(model).from_pretrained(folder)
    assert curve(again, channels=3) == curve(model, channels=3)
    return works("the same curve to the bit")


def ddp() -> Cell:
    wrapped = DistributedDataParallel(Net())
    # Each rank walks a line of its own.
    along = direction(Net()) * (1 + dist.get_rank())
    assert_same(curve(wrapped.module, along), curve(Net(), along))
    cell = works("of `model.module`: ranks may share the lines or the clients among them")
    cell = cell.but("A curve of the wrapped model", lambda: curve(wrapped))
    return cell.but("A client's net that is wrapped", lambda: FlatNet(wrapped))


def fsdp2() -> Cell:
    from torch.distributed.fsdp import fully_shard

    split = Net()
    fully_shard(split)
    cell = refused(lambda: curve(split, direction(Net())))
    return cell.but("A client's net", lambda: FlatNet(split))


CELLS = {
    "compile": compiled, "amp": amp, "peft": peft, "accelerate": accelerate, "trainer": trainer,
    "checkpointing": checkpointing, "fused": fused, "save_load": save_load,
}  # fmt: skip
RANKED = {"ddp": ddp, "fsdp2": fsdp2}


def without_statistics() -> None:
    valley_curve(
        Net(), direction(Net()), PLACES, scale=1.0, norm="raw", bn_stats="none", data=data()
    )


def of_another_size() -> None:
    curve(Net(), torch.ones(3))


def in_two_types() -> None:
    net = Net()
    net.classifier.half()
    curve(net)


def with_too_many_classes() -> None:
    wide = ValleyData(test_images=images(), test_labels=labels() + 1, statistics_images=images())
    valley_curve(
        Net(), direction(Net()), PLACES, scale=1.0, norm="raw", bn_stats="recalibrate", data=wide
    )


def with_labels_that_are_none() -> None:
    ValleyData(test_images=images(), test_labels=torch.rand(24))


def without_features() -> None:
    FlatNet(nn.Sequential(nn.Flatten(), nn.Linear(36, 4)))


def client_in_half() -> None:
    client(Net().bfloat16())


def empty_client() -> None:
    ClientData(images(0).permute(0, 2, 3, 1), labels(0))


REFUSES: dict[str, Callable[[], object]] = {
    "`bn_stats` that does not fit the model": without_statistics,
    "A direction of another size": of_another_size,
    "A model in two types of numbers": in_two_types,
    "Labels beyond the model's classes": with_too_many_classes,
    "Labels that are no classes": with_labels_that_are_none,
    "A client's net without `features` and `classifier`": without_features,
    "Images of another type than the net": client_in_half,
    "A client without data": empty_client,
}
