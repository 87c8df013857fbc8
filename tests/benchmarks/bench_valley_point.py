"""A point of a valley curve may cost 1.1 times what its two passes through the bare model cost."""

from __future__ import annotations

import statistics
import time

import torch
from torch import Tensor, nn

from reproductions.asymvalley.method.curve import Walk
from reproductions.asymvalley.method.data import ValleyData
from reproductions.asymvalley.method.noise import draw_noise
from reproductions.nets.vgg import VGG, VGGConfig
from tests.benchmarks.conftest import GoalFixture

NUM_IMAGES, BATCH_SIZE = 1000, 250
"""Images of the statistics and of the test, as at `cpu`."""
NUM_REPEATS = 9


def test_point_of_a_curve_costs_little_more_than_its_passes(goal: GoalFixture) -> None:
    """Both ways in turn, on the network of Figure 3 at `cpu`; one thread."""
    num_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        model, data = _model(), _data()
        walk = Walk(model, data, bn_stats="recalibrate")
        step_P = walk.step(
            draw_noise("gaussian", walk.layout.size, seed=0, draw=0), scale=1.0, norm="ns"
        )
        ratios, points_s = [], []
        for repeat in range(goal.size(NUM_REPEATS) + 1):
            # The bare passes before and after the point: a drift of the machine cancels.
            before_s = _bare_s(model, data)
            start_s = time.perf_counter()
            walk.curve(step_P, [0.1 + repeat / 100])
            points_s.append(time.perf_counter() - start_s)
            ratios.append(2 * points_s[-1] / (before_s + _bare_s(model, data)))
    finally:
        torch.set_num_threads(num_threads)
    goal("valley_point", limit=1.1, unit="ratio", direction="at_most")(
        statistics.median(ratios[1:]),
        samples=ratios[1:],
        seconds=points_s[1:],
        note=f"a point of a curve over a pass in training mode and one in evaluation mode of the"
        f" bare model; VGG16 with BN of width 8, {NUM_IMAGES} images of 32 x 32 each, batches of"
        f" {BATCH_SIZE}, channels last, one thread",
    )


def _model() -> nn.Module:
    config = VGGConfig(
        num_classes=10, in_channels=3, image_size=32, depth=16, width=8, batch_norm=True
    )
    model = VGG(config, generator=torch.Generator().manual_seed(0))
    return model.to(memory_format=torch.channels_last).eval()


def _data() -> ValleyData:
    generator = torch.Generator().manual_seed(1)

    def draw() -> Tensor:
        images = torch.randn(NUM_IMAGES, 3, 32, 32, generator=generator)
        return images.contiguous(memory_format=torch.channels_last)

    labels = torch.randint(10, (NUM_IMAGES,), generator=generator)
    return ValleyData(
        test_images=draw(), test_labels=labels, statistics_images=draw(), batch_size=BATCH_SIZE
    )


@torch.inference_mode()
def _bare_s(model: nn.Module, data: ValleyData) -> float:
    """Return the wall time of one pass of the statistics and one of the test images."""
    assert data.statistics_images is not None
    start_s = time.perf_counter()
    model.train()
    for images in data.statistics_images.split(BATCH_SIZE):
        model(images)
    model.eval()
    for images in data.test_images.split(BATCH_SIZE):
        model(images)
    return time.perf_counter() - start_s
