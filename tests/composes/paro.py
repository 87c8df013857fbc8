"""What PaRO composes with: training ends where DDP's ends, or the set-up is refused."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import cache, partial
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel
from torch.utils.checkpoint import checkpoint
from transformers.modeling_outputs import CausalLMOutput

from reproductions.paro import Paro, mesh_of_groups
from reproductions.paro.method.engine.fsdp2 import use_two_layers
from tests.composes.cells import Cell, refused, works
from tests.reproductions.lisa.small import gpt2

STRATEGIES = ("NNG", "GGG")
"""All parameters on each rank, and no more than a part."""
STEPS = 2
ADAMW = partial(torch.optim.AdamW, lr=1e-2)
half = partial(torch.autocast, "cpu", torch.bfloat16)
Weights = dict[str, Tensor]


def net() -> Any:
    """Return a model of transformers, in float64: sums in another order agree to 1e-12."""
    return gpt2().double()


class Small(nn.Module):
    """Two blocks with the face of a language model: a compiler is done with it in a second."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.embed = nn.Embedding(48, 4)
        self.blocks = nn.ModuleList(nn.Linear(4, 4) for _ in range(2))
        self.double()

    def forward(self, input_ids: Tensor, labels: Tensor, use_cache: bool) -> CausalLMOutput:
        hidden = self.embed(input_ids)
        for block in self.blocks:
            hidden = hidden + torch.tanh(block(hidden))
        return CausalLMOutput(loss=hidden.square().mean())


def ids(step: int) -> Tensor:
    """Return this rank's tokens, (2, 9)."""
    generator = torch.Generator().manual_seed(10 * step + dist.get_rank())
    return torch.randint(48, (2, 9), generator=generator)


def loss_of(model: nn.Module, step: int, within: Callable[[], Any] = nullcontext) -> Tensor:
    with within():
        loss: Tensor = model(input_ids=ids(step), labels=ids(step), use_cache=False).loss
    return loss


def unwrapped(weights: Weights) -> Weights:
    """Return weights by the names that they have in the net itself."""
    prefixes = ("_orig_mod.", "module.")
    return {name.removeprefix(prefixes[0]).removeprefix(prefixes[1]): value.detach()
            for name, value in weights.items()}  # fmt: skip


def by_ddp(make: Callable[[], nn.Module] = net, **settings: Any) -> Weights:
    model = make()
    wrapped, optimizer = DistributedDataParallel(model), ADAMW(model.parameters())
    for step in range(STEPS):
        loss_of(wrapped, step, **settings).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        optimizer.zero_grad()
    return unwrapped(model.state_dict())


@cache
def ddps_end() -> Weights:
    """Return where DDP ends with the net as it is; every rank asks for it at the same place."""
    return by_ddp()


def by_paro(
    letters: str, model: nn.Module, optimizer: Any = ADAMW, **settings: Any
) -> Weights:  # fmt: skip
    engine = Paro(model, mesh_of_groups(1), letters, optimizer=optimizer)
    for step in range(STEPS):
        engine.backward(loss_of(model, step, **settings))
        engine.step()
    return unwrapped(engine.state_dict())


def assert_as_ddp(found: Weights, wanted: Weights, tolerance: float = 1e-11) -> None:
    assert found.keys() == wanted.keys()
    for name, value in wanted.items():
        torch.testing.assert_close(found[name], value, rtol=0.0, atol=tolerance, msg=name)


def one_each(strategies: tuple[str, ...] = STRATEGIES) -> Iterator[tuple[str, Any]]:
    yield from ((letters, net()) for letters in strategies)


def compiled() -> Cell:
    from torch._dynamo.utils import counters

    wanted = by_ddp(Small)
    for letters in STRATEGIES:
        before = counters["stats"]["unique_graphs"]
        model: Any = torch.compile(Small(), backend="aot_eager")
        assert_as_ddp(by_paro(letters, model), wanted)
        assert counters["stats"]["unique_graphs"] > before
    return works("compiled before it is wrapped; graphs break where units are gathered")


def amp() -> Cell:
    wanted = by_ddp(lambda: net().float(), within=half)
    for letters, model in one_each():
        found = by_paro(letters, model.float(), within=half)
        # Sums of two ranks' gradients are the same numbers in either order.
        assert_as_ddp(found, wanted, 1e-6)
    return works(
        "autocast in bfloat16; a `GradScaler` cannot step an engine, for which torch stops:"
        f" *{stopped_by_torch()}*"
    )


def stopped_by_torch() -> str:
    scaler, model = torch.amp.GradScaler("cpu"), net()
    engine = Paro(model, mesh_of_groups(1), "NNG", optimizer=ADAMW)
    engine.backward(scaler.scale(loss_of(model, 0)))
    try:
        scaler.step(engine.optimizer)
    except AssertionError as error:
        return str(error)
    raise AssertionError("scaled gradients were stepped along")


def ddp() -> Cell:
    wanted = ddps_end()
    for letters, model in one_each():
        assert_as_ddp(by_paro(letters, model), wanted)
    return refused(lambda: by_paro("NNG", DistributedDataParallel(net())))


def fsdp2() -> Cell:
    ends = []
    for two_layers in (False, True):
        model = net()
        fully_shard(model, mesh=init_device_mesh("cpu", (2,)))
        sent = use_two_layers(model, mesh_of_groups(1)).wire.sent_bytes if two_layers else None
        optimizer = ADAMW(model.parameters())
        for step in range(STEPS):
            loss_of(model, step).backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            optimizer.zero_grad()
        assert sent is None or sent.total() > 0
        ends.append({name: value.full_tensor() for name, value in model.state_dict().items()})
    assert_as_ddp(ends[1], ends[0])
    assert_as_ddp(ends[0], ddps_end())
    return works("`use_two_layers(model, mesh)` has its collectives done by PaRO-CC").but(
        "An engine round a model that is split", lambda: by_paro("NNG", model)
    )


def with_adapters() -> Any:
    from peft import LoraConfig, get_peft_model

    with torch.random.fork_rng():
        torch.manual_seed(2)
        return get_peft_model(gpt2(), LoraConfig(r=2, target_modules=["c_attn"])).double()


def peft() -> Cell:
    wanted = by_ddp(with_adapters)
    start = unwrapped(with_adapters().state_dict())
    moved = {name for name in wanted if not torch.equal(wanted[name], start[name])}
    assert moved == {name for name in wanted if "lora" in name}
    for letters in STRATEGIES:
        assert_as_ddp(by_paro(letters, with_adapters()), wanted)
    return works("adapters are trained, the frozen base is split as the first letter says")


@contextmanager
def as_torchrun() -> Iterator[None]:
    """Tell accelerate of ranks that were not started by torchrun."""
    told = {"RANK": str(dist.get_rank()), "LOCAL_RANK": str(dist.get_rank()),
            "WORLD_SIZE": str(dist.get_world_size()), "MASTER_ADDR": "localhost",
            "MASTER_PORT": "0"}  # fmt: skip
    os.environ |= told
    try:
        yield
    finally:
        for name in told:
            del os.environ[name]


def accelerate() -> Cell:
    from accelerate import Accelerator

    with as_torchrun():
        accelerator = Accelerator(cpu=True)
        assert accelerator.num_processes == 2
        loader = accelerator.prepare(torch.utils.data.DataLoader(torch.arange(2 * STEPS)))
        for letters, model in one_each():
            engine = Paro(model, mesh_of_groups(1), letters, optimizer=ADAMW)
            for step, rows in enumerate(loader):
                assert int(rows) % 2 == dist.get_rank()
                accelerator.backward(loss_of(model, step))
                engine.step()
            assert_as_ddp(unwrapped(engine.state_dict()), ddps_end())
        prepared = accelerator.prepare(net())
    cell = works("its loaders and its `backward`; the model is the engine's alone")
    return cell.but("A model that it prepared", lambda: by_paro("NNG", prepared))


def trainer() -> Cell:
    from transformers import Trainer, TrainingArguments

    from reproductions.paro.method.engine.trainer import ParoTrainer

    rows = torch.randint(48, (16, 9), generator=torch.Generator().manual_seed(0))
    data = [{"input_ids": row, "labels": row} for row in rows]

    def trained(kind: Any, folder: str, **more: Any) -> Weights:
        args = TrainingArguments(
            folder, use_cpu=True, ddp_backend="gloo", report_to=[], save_strategy="no",
            max_steps=2, per_device_train_batch_size=2, gradient_accumulation_steps=2,
            learning_rate=1e-2, max_grad_norm=0.01, disable_tqdm=True,
        )  # fmt: skip
        made = kind(model=net(), args=args, train_dataset=data, **more)
        made.train()
        state = made.engine.state_dict() if more else made.model.state_dict()
        return unwrapped(state)

    with as_torchrun(), tempfile.TemporaryDirectory() as folder:
        wanted = trained(Trainer, folder)
        for letters in STRATEGIES:
            engine = partial(Paro, strategy=letters)
            found = trained(ParoTrainer, folder, engine=engine, group_size=1)
            assert_as_ddp(found, wanted, 1e-9)
    return works(
        "`ParoTrainer` (`method/engine/trainer.py`): accumulation, clipping, decay and schedule are"
        " the arguments'"
    )


def checkpointing() -> Cell:
    wanted = ddps_end()
    for is_reentrant in (False, True):
        for letters, model in one_each():
            model.train().gradient_checkpointing_enable({"use_reentrant": is_reentrant})
            model.enable_input_require_grads()
            assert_as_ddp(by_paro(letters, model), wanted)

    def round_a_unit() -> None:
        engine = Paro(Small(), mesh_of_groups(1), "GGG", optimizer=ADAMW)
        hidden = torch.ones(1, 4, dtype=torch.float64, requires_grad=True)
        block = engine.model.get_submodule("blocks.0")
        engine.backward(checkpoint(block, hidden, use_reentrant=True).sum())

    cell = works("of transformers, inside its blocks; in your own code with `use_reentrant=False`")
    return cell.but("Otherwise", round_a_unit)


def fused() -> Cell:
    wanted = ddps_end()
    for way in ("fused", "foreach"):
        for letters, model in one_each():
            assert_as_ddp(by_paro(letters, model, partial(ADAMW, **{way: True})), wanted)
    cell = works("they step flat parts, which AdamW, SGD and others do as they do matrices")
    cell = cell.but("Adafactor", lambda: by_paro("NNG", net(), torch.optim.Adafactor))
    return cell.but("Muon", lambda: by_paro("NNG", net(), torch.optim.Muon))


def save_load() -> Cell:
    folder = shared_folder()
    wanted = ddps_end()
    for letters, model in one_each():
        state = by_paro(letters, model)
        if dist.get_rank() == 0:
            model.save_pretrained(folder, state_dict=state)
        dist.barrier()
        again = type(model).from_pretrained(folder).double()
        assert_as_ddp(unwrapped(again.state_dict()), wanted)
        dist.barrier()
    cell = works("`model.save_pretrained(folder, state_dict=engine.state_dict())`, from rank 0")
    return cell.but("Without `state_dict=`, where parameters are split",
                    lambda: model.save_pretrained(folder))  # fmt: skip


def shared_folder() -> str:
    """Return a folder of rank 0's that is gone with the process."""
    told = [tempfile.mkdtemp() if dist.get_rank() == 0 else None]
    dist.broadcast_object_list(told, src=0)
    assert told[0] is not None
    return told[0]


CELLS: dict[str, Callable[[], Cell]] = {}
RANKED = {
    "compile": compiled, "amp": amp, "ddp": ddp, "fsdp2": fsdp2, "peft": peft,
    "accelerate": accelerate, "trainer": trainer, "checkpointing": checkpointing, "fused": fused,
    "save_load": save_load,
}  # fmt: skip


@contextmanager
def alone() -> Iterator[Any]:
    """Yield the mesh of a single rank, which is enough to be refused."""
    with tempfile.TemporaryDirectory() as folder:
        meet = (Path(folder) / "meet").as_uri()
        dist.init_process_group("gloo", init_method=meet, rank=0, world_size=1)
        try:
            yield mesh_of_groups(1)
        finally:
            dist.destroy_process_group()


def on_a_rank(attempt: Callable[[Any], object]) -> Callable[[], object]:
    def tried() -> object:
        with alone() as mesh:
            return attempt(mesh)

    return tried


def engine_of(mesh: Any, letters: str = "GGG", **settings: Any) -> Paro:
    return Paro(net(), mesh, letters, optimizer=ADAMW, **settings)


def eliminated(mesh: Any) -> None:
    engine_of(mesh, "NGI")


def twice(mesh: Any) -> None:
    Paro(engine_of(mesh).model, mesh, "GGG", optimizer=ADAMW)


def shared(mesh: Any) -> None:
    model = net()
    model.transformer.h[1].mlp = model.transformer.h[0].mlp
    Paro(model, mesh, "GGG", optimizer=ADAMW, units=[*model.transformer.h])


def frozen_later(mesh: Any) -> None:
    engine = engine_of(mesh)
    engine.model.get_submodule("transformer.h.0").requires_grad_(False)
    engine.backward(loss_of(engine.model, 0))
    engine.step()


def optimizer_alone(mesh: Any) -> None:
    engine = engine_of(mesh)
    engine.backward(loss_of(engine.model, 0))
    engine.optimizer.step()


def no_backward(mesh: Any) -> None:
    engine_of(mesh).step()


def loaded(mesh: Any) -> None:
    engine_of(mesh).model.load_state_dict(net().state_dict())


def lbfgs(mesh: Any) -> None:
    Paro(net(), mesh, "GGG", optimizer=torch.optim.LBFGS)


REFUSES = {
    what: on_a_rank(attempt)
    for what, attempt in {
        "A strategy that is none of the 14": eliminated,
        "A model that has an engine": twice,
        "A parameter of two units": shared,
        "`requires_grad` changed afterwards": frozen_later,
        "`engine.optimizer.step()`": optimizer_alone,
        "A step without a backward pass": no_backward,
        "`load_state_dict` into a model whose parameters are split": loaded,
        "An optimizer with a closure": lbfgs,
    }.items()
}
