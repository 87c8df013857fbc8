"""What trials give at the paper's inputs, against numbers worked out by hand."""

from __future__ import annotations

import pytest

from reproductions.paro.predictions.experiment import (
    HPZ,
    Inputs,
    Question,
    Setting,
)
from reproductions.paro.predictions.trial import (
    compute_rows,
    predicted_rows,
    predictions_of,
)

INTER = 3 / 4 * 14e9 / 8 / 10e9


@pytest.mark.parametrize(
    ("model", "trainable", "seconds"),
    [
        ("LLaMA-7B", "1", {"NII": 2.64, "NIG": 2.90, "ING": 3.39, "IIG": 3.57}),
        ("LLaMA-65B", "1/16", {"ING": 10.50, "IIG": 10.60, "III": 10.60}),
    ],
)
def test_with_a_shared_link_what_goes_between_groups_takes_m_times_as_long(
    model: str, trainable: str, seconds: dict[str, float]
) -> None:
    rows = predicted_rows(Question(about="guideline"), None)  # type: ignore[arg-type]
    reading = (model, trainable, "flat", "shared")
    found = {
        row["strategy"]: row["comm_s"]
        for row in rows
        if (row["model"], row["trainable"], row["world"], row["nic"]) == reading
    }
    assert {name: found[name] for name in seconds} == pytest.approx(seconds, abs=0.005)
    # IIG: the rest within groups, and 2 X between them, 8 transfers on one link.
    alone = predictions_of(["IIG"], Setting(model=model, trainable=trainable), Inputs(), "flat")
    share = 1.0 if trainable == "1" else 1 / 16
    between = 2 * INTER * share * (65 / 7 if model == "LLaMA-65B" else 1)
    assert found["IIG"] == pytest.approx(alone["IIG"].time.comm + 7 * between)


def test_ranks_are_of_those_that_fit() -> None:
    rows = predicted_rows(Question(about="guideline"), None)  # type: ignore[arg-type]
    own = {
        row["strategy"]: row
        for row in rows
        if (row["model"], row["trainable"], row["world"], row["nic"])
        == ("LLaMA-65B", "1", "flat", "rail")
    }
    assert {name: row["rank"] for name, row in own.items() if row["rank"]} == {
        "IIG": 1, "IGG": 2, "GGG": 3,
    }  # fmt: skip
    assert own["III"]["steps_per_s"] is None and own["III"]["gain_over_zero3"] is None
    assert own[HPZ]["fits"] and own[HPZ]["rank"] is None
    # ZeRO-2 does not fit, so that nothing gains over it.
    assert own["IIG"]["gain_over_zero2"] is None and own["IIG"]["gain_over_zero3"] > 0


def test_computation_times_of_the_headline() -> None:
    found = {
        (row["reading"], row["assembly"]): row["compute_s"]
        for row in compute_rows(Inputs(), None)  # type: ignore[arg-type]
        if (row["strategy"], row["trainable"], row["world"]) == ("IIG", "1/16", "flat")
    }
    # 259.75 s of ZeRO-3 and 9.54 s of IIG, by hand.
    assert found["more", "max"] == pytest.approx(259.746 / 3.66, rel=1e-4)
    assert found["times", "max"] == pytest.approx(259.746 / 2.66, rel=1e-4)
    assert found["more", "sum"] == pytest.approx((259.746 - 3.66 * 9.5367) / 2.66, rel=1e-4)
    assert found["times", "sum"] == pytest.approx((259.746 - 2.66 * 9.5367) / 1.66, rel=1e-4)
