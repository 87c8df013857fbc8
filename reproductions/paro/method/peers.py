"""Which strategy the settings of known systems are, and what a user writes to get them.

In what is written `<n>`, `<m>` and `<g>` stand for GPUs in all, GPUs per group and groups, `last`
for whether a micro-batch is the last of its step.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from itertools import product
from math import inf
from typing import Literal

from harness.errors import SpecError, nearest
from reproductions.paro.method.cluster import Cluster, Workload
from reproductions.paro.method.guideline import Prediction
from reproductions.paro.method.memory import memory_of
from reproductions.paro.method.step_time import FLAT, TimeModel, step_time
from reproductions.paro.method.strategy import (
    EFFECTIVE,
    Granularity,
    Strategy,
    effective_of,
    strategy_of,
)

Evidence = Literal["paper", "code", "sourced", "derived", "counted"]
"""paper: it says so. code: the authors' release. sourced: documentation or a thread of the system.
derived: from the rule that such a source states. counted: tensors, in the study `held`."""


@dataclass(frozen=True)
class Setting:
    """A way to run a known system."""

    name: str
    system: str
    label: str
    """What stands beside a strategy in a table."""
    letters: str
    """What is held and sent, but for `between`."""
    evidence: Evidence
    written: str
    """What a user writes."""
    _: KW_ONLY
    between: Granularity | None = None
    """As of a strategy: where parameters rest between the passes, if coarser than otherwise."""
    near: str = ""
    """The letters of one of the 14 that it comes nearest to, where they are others."""
    differs: str = ""
    """In what it is not just that one, where it is not."""
    keeps_part: Granularity | None = None
    """Where parameters stay whole for all micro-batches, and the part that was gathered from is
    kept beside them: how that part is split."""
    sync_every_micro_batch: bool = False
    """Whether gradients go to the optimizer states' granularity in every micro-batch."""

    @cached_property
    def strategy(self) -> Strategy:
        """What is held and sent."""
        return replace(strategy_of(self.letters), between=self.between)

    @property
    def nearest(self) -> str:
        """The letters of one of the 14 that it is, or comes nearest to."""
        return self.near or self.letters

    @property
    def is_exact(self) -> bool:
        """Whether it holds and sends just what its strategy does."""
        return not self.differs

    def trains(self, workload: Workload) -> Workload:
        """Return a workload as the system has it."""
        return replace(workload, gathers_frozen=self.keeps_part is not None)

    def written_for(self, cluster: Cluster) -> str:
        """Return what a user of a cluster writes."""
        sizes = {"<n>": cluster.num_gpus, "<m>": cluster.group_size, "<g>": cluster.num_groups}
        text = self.written
        if cluster.num_groups == 1:
            # Megatron-FSDP has no outer axis then, and fails where one is to be split.
            text = re.sub(rf" {OUTER} \w+", "", text)
        for word, size in sizes.items():
            text = text.replace(word, str(size))
        return text


TWICE = "keeps a second part of the parameters, 1/m, for the backward pass"
EACH_FORWARD = "gathers parameters before every forward pass and keeps their part beside the whole"
ONCE = "gathers frozen parameters too, once per step, and keeps their part beside the whole"
EVERY = "all-reduces gradients between groups in every micro-batch"
ONE_D = "fully_shard(unit"
MESH = 'init_device_mesh("cuda", (<g>, <m>), mesh_dim_names=("between", "within"))'
"""FSDP2 asks for the names of a mesh of two dimensions."""
TWO_D = f"{ONE_D}, mesh={MESH}"
REPLICATED = TWO_D.replace("(<g>, <m>)", "(<n>, 1)")
STAY = "set_reshard_after_backward(last)"
WAIT = "set_requires_gradient_sync(last)"
WAIT_BETWEEN = "set_requires_all_reduce(last)"


DDP, DEEPSPEED, FSDP, FSDP2 = "PyTorch DDP", "DeepSpeed", "PyTorch FSDP", "PyTorch FSDP2"
MEGATRON, RELEASE = "Megatron-FSDP", "PaRO's release"
PYTORCH = {DDP, FSDP, FSDP2}
TORCH = (
    Setting("ddp", DDP, "DDP", "NNN", "counted",
            "DistributedDataParallel(model); no_sync() but for the last"),
    Setting("fsdp-no-shard", FSDP, "FSDP NO_SHARD", "NNN", "sourced",
            "ShardingStrategy.NO_SHARD; no_sync() but for the last"),
    Setting("fsdp", FSDP, "FSDP", "GGG", "paper", "ShardingStrategy.FULL_SHARD"),
    Setting("fsdp-no-sync", FSDP, "FSDP no_sync", "GNG", "sourced",
            "ShardingStrategy.FULL_SHARD; no_sync() but for the last"),
    Setting("fsdp-grad-op", FSDP, "FSDP SHARD_GRAD_OP", "GGG", "sourced",
            "ShardingStrategy.SHARD_GRAD_OP", between="N", near="NGG", differs=EACH_FORWARD),
    # Inside no_sync() parameters stay whole after the backward pass: ShardingStrategy's page.
    Setting("fsdp-grad-op-no-sync", FSDP, "FSDP SHARD_GRAD_OP no_sync", "NNG", "sourced",
            "ShardingStrategy.SHARD_GRAD_OP; no_sync() but for the last", keeps_part="G",
            differs=ONCE),
    Setting("fsdp-hs", FSDP, "FSDP HYBRID_SHARD", "III", "paper",
            "ShardingStrategy.HYBRID_SHARD", differs=EVERY, sync_every_micro_batch=True),
    Setting("fsdp-hs-no-sync", FSDP, "FSDP HYBRID_SHARD no_sync", "INI", "sourced",
            "ShardingStrategy.HYBRID_SHARD; no_sync() but for the last"),
    Setting("fsdp-hsz", FSDP, "FSDP-hsz", "III", "paper",
            "ShardingStrategy._HYBRID_SHARD_ZERO2", between="N", near="NII",
            differs=f"{EACH_FORWARD}; {EVERY}", sync_every_micro_batch=True),
    Setting("fsdp-hsz-no-sync", FSDP, "FSDP-hsz no_sync", "NNI", "sourced",
            "ShardingStrategy._HYBRID_SHARD_ZERO2; no_sync() but for the last", keeps_part="I",
            differs=ONCE),
    Setting("fsdp2", FSDP2, "FSDP2", "GGG", "counted", f"{ONE_D})"),
    Setting("fsdp2-late", FSDP2, "FSDP2 no-sync", "GNG", "counted", f"{ONE_D}); {WAIT}"),
    Setting("fsdp2-int", FSDP2, "FSDP2 int", "GGG", "counted",
            f"{ONE_D}, reshard_after_forward=<m>)", between="I", differs=TWICE),
    Setting("fsdp2-whole", FSDP2, "FSDP2 whole", "GGG", "counted",
            f"{ONE_D}, reshard_after_forward=False)", between="N", near="NGG",
            differs=EACH_FORWARD),
    Setting("fsdp2-zero-2", FSDP2, "FSDP2 as ZeRO-2", "NGG", "counted",
            f"{ONE_D}, reshard_after_forward=False); {STAY}", keeps_part="G", differs=ONCE),
    Setting("fsdp2-zero-1", FSDP2, "FSDP2 as ZeRO-1", "NNG", "counted",
            f"{ONE_D}, reshard_after_forward=False); {STAY}; {WAIT}", keeps_part="G", differs=ONCE),
    Setting("fsdp2-ddp", FSDP2, "FSDP2 as DDP", "NNN", "counted", f"{REPLICATED}); {WAIT}"),
    Setting("fsdp2-hs", FSDP2, "FSDP2 HSDP", "III", "counted", f"{TWO_D}); {WAIT_BETWEEN}"),
    Setting("fsdp2-hs-every", FSDP2, "FSDP2 HSDP every", "III", "counted", f"{TWO_D})",
            differs=EVERY, sync_every_micro_batch=True),
    Setting("fsdp2-hs-late", FSDP2, "FSDP2 HSDP no-sync", "INI", "counted", f"{TWO_D}); {WAIT}"),
    Setting("fsdp2-hsz", FSDP2, "FSDP2 HSDP whole", "III", "counted",
            f"{TWO_D}, reshard_after_forward=False); {WAIT_BETWEEN}", between="N", near="NII",
            differs=EACH_FORWARD),
    Setting("fsdp2-nii", FSDP2, "FSDP2 as NII", "NII", "counted",
            f"{TWO_D}, reshard_after_forward=False); {STAY}; {WAIT_BETWEEN}", keeps_part="I",
            differs=ONCE),
    Setting("fsdp2-nni", FSDP2, "FSDP2 as NNI", "NNI", "counted",
            f"{TWO_D}, reshard_after_forward=False); {STAY}; {WAIT}", keeps_part="I", differs=ONCE),
)  # fmt: skip
OF_DEEPSPEED = (
    Setting("zero-0", DEEPSPEED, "ZeRO-0", "NNN", "sourced", '"zero_optimization": {"stage": 0}'),
    Setting("zero-1", DEEPSPEED, "ZeRO-1", "NNG", "paper", '"zero_optimization": {"stage": 1}'),
    Setting("zero-2", DEEPSPEED, "ZeRO-2", "NGG", "paper", '"zero_optimization": {"stage": 2}'),
    Setting("zero-3", DEEPSPEED, "ZeRO-3", "GGG", "paper", '"zero_optimization": {"stage": 3}'),
    Setting("mics", DEEPSPEED, "MiCS", "III", "paper",
             '"zero_optimization": {"stage": 3, "mics_shard_size": <m>}; deepspeed.zero.MiCS_Init'),
    Setting("hpz", DEEPSPEED, "hpZ", "GGG", "paper",
             '"zero_optimization": {"stage": 3, "zero_hpz_partition_size": <m>}', between="I",
            differs=TWICE),
)  # fmt: skip
RELEASED = ("NNG", "NGG", "GGG", "NII", "NIG", "IIG", "IGG")
"""Its engine takes ING too, and runs the class of IGG for it."""
OF_RELEASE = tuple(
    Setting(f"paro-{letters.lower()}", RELEASE, "PaRO", letters, "code",
            f"strategy {letters} in ds_config.json of DeepSpeed pull request 5588")
    for letters in RELEASED
)  # fmt: skip
STAGES = ("no_shard", "optim", "optim_grads", "optim_grads_params")
"""What Megatron-FSDP splits along an axis of GPUs: of the states the last, the last two, all."""


def on_two_axes(outer: int, inner: int) -> Strategy | None:
    """Return what splitting along both axes gives; None where it is none of three letters.

    Every axis splits optimizer states first, then gradients, then parameters (Megatron-LM pull
    request 6873). A state that is split between groups alone has no letter.
    """
    letters = ""
    for stage in (3, 2, 1):
        between, within = outer >= stage, inner >= stage
        if between and not within:
            return None
        letters += "G" if between else "I" if within else "N"
    return strategy_of(letters)


V2_ALONE = "is in version 2 alone, which is experimental"
OUTER = "--outer-dp-sharding-strategy"


def megatron(found: Strategy, outer: int, inner: int) -> Setting:
    """Return Megatron-FSDP's setting for stages of both axes.

    With one instance there is no outer axis, and the inner one is all GPUs: so are axes written
    that split equally.
    """
    one_axis = outer == inner
    # Between groups its first version splits optimizer states alone, and those only where gradients
    # are split within (Megatron-LM pull request 6773; before it, only where parameters are too).
    first = one_axis or outer == 0 or (outer == 1 and inner >= 2)
    between = "" if one_axis else f" {OUTER} {STAGES[outer]}"
    return Setting(
        f"megatron-{found.letters.lower()}", MEGATRON, "Megatron" if first else "Megatron v2",
        found.letters, "derived",
        "--use-megatron-fsdp --ckpt-format fsdp_dtensor"
        f" --num-distributed-optimizer-instances {1 if one_axis else '<g>'}"
        f" --data-parallel-sharding-strategy {STAGES[inner]}{between}"
        + ("" if first else " --megatron-fsdp-version 2"),
        differs="" if first else V2_ALONE,
    )  # fmt: skip


OF_MEGATRON = tuple(
    megatron(found, outer, inner)
    for outer, inner in product(range(len(STAGES)), repeat=2)
    if (found := on_two_axes(outer, inner)) is not None
)  # fmt: skip
SETTINGS = (*OF_DEEPSPEED, *TORCH, *OF_MEGATRON, *OF_RELEASE)
SYSTEMS = tuple(dict.fromkeys(setting.system for setting in SETTINGS))
BESIDE = ("hpz", "fsdp-hsz")
"""Baselines of the paper that are none of the 14."""
NAMED = {"NNN": "DDP", "NNG": "ZeRO-1", "NGG": "ZeRO-2", "GGG": "ZeRO-3", "III": "MiCS"}
"""What the paper calls strategies; III is "like MiCS"."""
USUAL = {**NAMED, "III": "MiCS, HSDP", "IIG": "HFSDP"}
"""What strategies are usually called."""


def setting_of(name: str) -> Setting:
    """Return a setting by its name. Raises SpecError that names the nearest ones."""
    known = {setting.name: setting for setting in SETTINGS}
    if name.lower() not in known:
        raise SpecError(f"no system's setting {name!r}{nearest(name.lower(), known)}")
    return known[name.lower()]


def own(letters: str) -> Setting:
    """Return a strategy of the 14 as a setting of nobody's. Raises SpecError for any other."""
    return Setting(letters, "", "", effective_of(letters).letters, "paper", "")


ALIASES = {
    "hsdp": "fsdp2-hs", "zero++": "hpz", "hfsdp": "megatron-iig", "full_shard": "fsdp",
    "shard_grad_op": "fsdp-grad-op", "no_shard": "fsdp-no-shard", "hybrid_shard": "fsdp-hs",
    "_hybrid_shard_zero2": "fsdp-hsz",
}  # fmt: skip
"""Other names by which a setting is known: FSDP's ShardingStrategy has the last five. HSDP is the
one that is III, as tables call it; FSDP's own synchronises in every micro-batch."""


def asked(name: str) -> Setting:
    """Return what a user names: a strategy by its letters, or a known system's setting.

    Raises SpecError for a strategy outside the 14, which names the rule, and for what is neither.
    """
    if len(name) == 3 and set(name.upper()) <= set("NIG"):
        return own(name.upper())
    known = [strategy.letters for strategy in EFFECTIVE] + [each.name for each in SETTINGS]
    name = ALIASES.get(name.lower(), name)
    if name.lower() not in known:
        raise SpecError(
            f"no strategy or system {name!r}{nearest(name.lower(), known)}; letters of one of the"
            " 14, or a name that `peers` lists"
        )
    return setting_of(name)


def alike(setting: Setting, *, one_micro_batch: bool = False) -> list[Setting]:
    """Return the settings that hold and send what one does, as often.

    one_micro_batch: of a step of one, where every micro-batch is the last.
    """

    def kept(each: Setting) -> tuple[object, ...]:
        every = each.sync_every_micro_batch and not one_micro_batch
        return each.strategy, each.keeps_part, every

    return [each for each in SETTINGS if kept(each) == kept(setting)]


def predicted(
    settings: Iterable[Setting],
    workload: Workload,
    cluster: Cluster,
    model: TimeModel = FLAT,
    *,
    memory_bytes: float = inf,
    compute_s: float = 0.0,
) -> list[Prediction]:
    """Return what settings take, in the order given: as `predict`, and what they differ in."""
    found = []
    for setting in settings:
        strategy, load = setting.strategy, setting.trains(workload)
        memory = memory_of(strategy, load, cluster)
        if setting.keeps_part:
            whole = workload.param_bytes * workload.num_params
            memory = replace(memory, second_params=whole / cluster.parts(setting.keeps_part))
        time = step_time(
            strategy, load, cluster, model, compute_s=compute_s,
            sync_every_micro_batch=setting.sync_every_micro_batch,
        )  # fmt: skip
        fits = memory.total <= memory_bytes
        found.append(Prediction(strategy=strategy, memory=memory, time=time, fits=fits))
    return found
