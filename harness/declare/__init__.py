"""What a paper declares: parameters, experiments, tables, claims, tasks, and its own reference.

Nothing here imports torch or pandas: declarations are data, and every reading verb loads them.
"""

from harness.declare.claims import (
    Claim as Claim,
)
from harness.declare.claims import (
    claims as claims,
)
from harness.declare.criterion import (
    Criterion as Criterion,
)
from harness.declare.criterion import (
    at_least as at_least,
)
from harness.declare.criterion import (
    at_most as at_most,
)
from harness.declare.criterion import (
    equal as equal,
)
from harness.declare.criterion import (
    less_than as less_than,
)
from harness.declare.criterion import (
    monotone as monotone,
)
from harness.declare.criterion import (
    more_than as more_than,
)
from harness.declare.criterion import (
    ordering as ordering,
)
from harness.declare.criterion import (
    ratio as ratio,
)
from harness.declare.criterion import (
    within as within,
)
from harness.declare.experiment import (
    DryRun as DryRun,
)
from harness.declare.experiment import (
    Estimate as Estimate,
)
from harness.declare.experiment import (
    Experiment as Experiment,
)
from harness.declare.experiment import (
    Needs as Needs,
)
from harness.declare.experiment import (
    Outcome as Outcome,
)
from harness.declare.experiment import (
    Row as Row,
)
from harness.declare.experiment import (
    RunContext as RunContext,
)
from harness.declare.experiment import (
    Status as Status,
)
from harness.declare.experiment import (
    Use as Use,
)
from harness.declare.layout import (
    Cell as Cell,
)
from harness.declare.layout import (
    Layout as Layout,
)
from harness.declare.layout import (
    Line as Line,
)
from harness.declare.named import bind as bind
from harness.declare.params import (
    Params as Params,
)
from harness.declare.params import (
    Scalar as Scalar,
)
from harness.declare.params import (
    doc as doc,
)
from harness.declare.params import (
    seed as seed,
)
from harness.declare.profiles import (
    CPU as CPU,
)
from harness.declare.profiles import (
    CPU_UP as CPU_UP,
)
from harness.declare.profiles import (
    GPU_UP as GPU_UP,
)
from harness.declare.profiles import (
    PAPER as PAPER,
)
from harness.declare.profiles import (
    PROFILES as PROFILES,
)
from harness.declare.profiles import (
    SMOKE_AND_CPU as SMOKE_AND_CPU,
)
from harness.declare.profiles import (
    Profile as Profile,
)
from harness.declare.scope import (
    CHECK as CHECK,
)
from harness.declare.scope import (
    Control as Control,
)
from harness.declare.scope import (
    Scope as Scope,
)
from harness.declare.scope import (
    by_theory as by_theory,
)
from harness.declare.scope import (
    ours as ours,
)
from harness.declare.statistics import (
    InvalidQuantity as InvalidQuantity,
)
from harness.declare.statistics import (
    MissingRows as MissingRows,
)
from harness.declare.table import (
    Column as Column,
)
from harness.declare.table import (
    Table as Table,
)
from harness.declare.table import (
    Tables as Tables,
)
from harness.declare.table import (
    artifact as artifact,
)
from harness.declare.table import (
    columns_of as columns_of,
)
from harness.declare.table import (
    measured as measured,
)
from harness.declare.table import (
    param as param,
)
from harness.declare.table import (
    pick as pick,
)
from harness.declare.table import (
    seed_column as seed_column,
)
from harness.declare.table import (
    value as value,
)
from harness.declare.task import Task as Task
