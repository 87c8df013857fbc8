"""Figure of every trained net: gradient, error and signs kept."""

from __future__ import annotations

from matplotlib.figure import Figure

from harness.declare.profiles import Profile
from harness.publish.figures import MARKERS, PALETTE, FigureContext, points
from reproductions.asymvalley.models.pairs import Pair, short_name, training_of

MEASURES = {
    "sign_gradient_cosine": "cosine with gradient",
    "test_error": "test error",
    "init_sign_agreement": "signs kept",
}
ROW_IN = 0.115
"""Height of one net's row in inches."""


def net_panels(context: FigureContext) -> Figure:
    """Draw three measures of every trained net as marks, a row per net, a colour per pair."""
    profile = context.profile
    names = ["pair", "recipe", "bn_start"]
    found = [*context.table[names].drop_duplicates().itertuples(index=False, name=None)]
    pairs = list(dict.fromkeys(pair for pair, _, _ in found))
    nets = sorted(found, key=lambda net: pairs.index(net[0]))
    places = {net: -index for index, net in enumerate(nets)}
    panel_in = context.width_in / (2 if context.width == "single" else 3)
    aspect = max(ROW_IN * (len(nets) + 3) / panel_in, 0.3)
    figure, axes = context.subplots(1, len(MEASURES), aspect=aspect, sharey=True)
    for ax, (value, label) in zip(axes, MEASURES.items(), strict=True):
        for net in found:
            rows = context.table[(context.table[names] == list(net)).all(axis=1)]
            look = pairs.index(net[0])
            ax.plot(
                rows[value].to_numpy(dtype="float64"),
                [places[net]] * len(rows),
                color=PALETTE[look % len(PALETTE)],
                # The eighth pair has the first colour again, with another mark.
                marker=MARKERS[(look + look // len(PALETTE)) % len(MARKERS)],
                linestyle="",
            )
        ax.set_xlabel(label)
    axes[0].axvspan(-0.1, 0.1, color="#eeeeee", zorder=0)
    axes[0].set_yticks(list(places.values()), labels=[_net_name(profile, *net) for net in nets])
    axes[0].set_ylim(-len(nets) + 0.4, 0.6)
    if context.width == "single":
        # Names as long as these leave two panels beside each other no width.
        for ax in axes:
            ax.tick_params(axis="y", labelsize=points(6.0))
    return figure


def _net_name(profile: Profile, pair: Pair, recipe: str, bn_start: str) -> str:
    changed, _, side = recipe.partition("_")
    changes = [f"{changed.upper()} {side}"] if recipe != "base" else []
    changes += [f"BN {bn_start}"] if bn_start != "ones" else []
    return ", ".join([short_name(training_of(profile, pair, seed=0)), *changes])
