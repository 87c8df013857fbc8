"""One training of a pilot, measured on images that are neither trained nor tested on."""

from __future__ import annotations

from dataclasses import replace

from harness.declare import Outcome, Row, RunContext, Status
from reproductions.asymvalley.method.curve import point_of
from reproductions.asymvalley.method.data import ValleyData
from reproductions.asymvalley.models.images import images_of
from reproductions.asymvalley.models.kept_nets import generator_of, staged_net, start_of
from reproductions.asymvalley.models.training import train
from reproductions.asymvalley.pilots.experiment import PilotNet

VALUES = ("train_error", "validation_error", "validation_ce")


def net_rows(params: PilotNet, ctx: RunContext) -> Outcome:
    """Train one network; one row with its errors on training and validation images.

    Pixels are normalised by both together.
    """
    count, held = params.num_train, params.num_validation
    images = images_of(replace(params, num_train=count + held), ctx)
    head = generator_of(ctx.seed("init"))
    model = (
        staged_net(params, params.weights, ctx, generator=head)
        if params.weights
        else start_of(params, ctx)
    )
    finite = train(
        model,
        images.train_x[:count],
        images.train_y[:count],
        params,
        generator=generator_of(ctx.seed("batches")),
        checkpoint=ctx.checkpoint_path(),
    )
    if not finite:
        row: Row = dict.fromkeys(VALUES)
        return Outcome(rows=[row], status=Status.DIVERGED, note="the loss is not finite")
    first, behind = slice(params.num_statistics), slice(count, count + held)
    trained, validation = (
        point_of(
            model,
            ValleyData(test_images=images.train_x[part], test_labels=images.train_y[part]),
        )
        for part in (first, behind)
    )
    values = (trained.error, validation.error, validation.ce)
    return Outcome(rows=[dict(zip(VALUES, values, strict=True))])
