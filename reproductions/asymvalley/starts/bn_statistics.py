"""The same valley with BN statistics estimated anew at each point, and with frozen ones."""

from functools import partial

from harness.declare import Task, bind, claims, equal
from reproductions.asymvalley.models.controls import ON_A_CPU
from reproductions.asymvalley.models.curves import widest_centre
from reproductions.asymvalley.models.pairs import TWO_TITLES
from reproductions.asymvalley.starts import table
from reproductions.asymvalley.starts.experiment import frozen_statistics

task = Task(
    "asymvalley/bn_statistics",
    own_kind="ablation",
    reads=(frozen_statistics,),
    table=table.statistics(TWO_TITLES),
    claims=claims(
        "Appendix A.3 (statistics are estimated anew); the comparison is ours",
        (
            "one_centre",
            ON_A_CPU,
            equal(partial(widest_centre, by=("pair", "bn_stats")), 0, "error"),
            "All curves of one net and one kind of statistics have the same error at lambda = 0.",
        ),
    ),
    figure=bind("figures:statistics_panels", titles=TWO_TITLES),
    caption="Test error under G(0,1) noise, norm-scaled with s = 1, raw (left) and sign-consistent"
    " (right). BN statistics are estimated anew at each point, as in the paper, or stay those of"
    " training. Lines are means over seeds and draws; bands reach to the extremes. The comparison"
    " is ours.",
    alt="Panels of test error against lambda for two nets, raw and sign-consistent noise, each with"
    " a line for frozen and one for re-estimated BN statistics.",
)
