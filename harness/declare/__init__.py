"""What a paper declares: parameters, experiments, tables, claims, tasks, and its own reference.

Nothing here imports torch or pandas: declarations are data, and every reading verb loads them.
"""

from harness.declare.claims import Claim, claims
from harness.declare.criterion import (
    Criterion,
    at_least,
    at_most,
    equal,
    less_than,
    monotone,
    more_than,
    ordering,
    ratio,
    within,
)
from harness.declare.experiment import (
    DryRun,
    Estimate,
    Experiment,
    Needs,
    Outcome,
    Row,
    RunContext,
    Status,
    Together,
    Use,
)
from harness.declare.layout import Cell, Layout, Line
from harness.declare.named import bind
from harness.declare.params import Params, Scalar, doc, seed
from harness.declare.profiles import CPU, CPU_UP, GPU_UP, PAPER, SMOKE_AND_CPU, Profile
from harness.declare.scope import CHECK, SMALL_CHECK, Scope, by_theory, ours
from harness.declare.seeds import FRESH_SEED, PILOT_SEEDS, seeds_of
from harness.declare.statistics import InvalidQuantity, MissingRows
from harness.declare.table import (
    Column,
    Frame,
    Series,
    Table,
    Tables,
    artifact,
    columns_of,
    measured,
    param,
    pick,
    seed_column,
    value,
)
from harness.declare.task import Task
