"""Claims that ask the same in another form: the list is derived, and takes nothing else."""

from __future__ import annotations

import pytest

from harness.provenance.restated import Asked, Became, Restated, is_the_strict_form, load_restated
from harness.provenance.seals import Band, Seal
from harness.registry import load_registry
from tests.checkout import ROOT
from tools.restate import derive, text_of


def test_the_committed_list_follows_from_declarations_and_export() -> None:
    library = load_registry()
    assert library.broken == {}
    assert (ROOT / "results" / "restated.json").read_text(encoding="utf-8") == text_of(
        derive(library)
    )


def test_one_check_stands_for_the_116_settings_of_table_4() -> None:
    (merged,) = load_restated(ROOT).merged
    assert (merged.claim, len(merged.merges)) == ("supar/tab04:settings_as_published", 116)


@pytest.mark.parametrize(
    ("was", "now"),
    [
        (("at_most", 1.0), ("less_than", 1.1)),  # another threshold
        (("at_most", 1.0), ("less_than", 1.0)),  # the threshold itself did before
        (("at_most", 1 - 1e-9), ("more_than", 1.0)),  # the other side
        (("at_most", 1 - 1e-9), ("at_most", 1.0)),  # not strict
        (("at_least", 0.0), ("more_than", 1e-9)),  # asks for more
        (("ordering", 1e-9), ("strict_ordering", 0.0)),  # allowed a step down before
    ],
)
def test_no_other_change_is_a_strict_form(was: tuple[str, float], now: tuple[str, float]) -> None:
    former, today = (Asked(form=form, threshold=threshold) for form, threshold in (was, now))
    assert not is_the_strict_form(former, today)


def test_a_seal_of_another_band_is_left_as_it_is() -> None:
    listed = Restated(
        became=[
            Became(
                claim="lab/tab01:low",
                was=Asked(form="at_most", threshold=1 - 1e-9),
                now=Asked(form="less_than", threshold=1.0),
                verdict="REPRODUCED",
                samples=[[0.5]],
            )
        ]
    )

    def sealed(threshold: float) -> Seal:
        band = Band(
            form="at_most", threshold=threshold, tolerance=0.0, grade="empirical", profiles=["cpu"]
        )
        return Seal(band=band, keys={}, code="c0de")

    translated = listed.translate("lab/tab01:low@cohort-1", sealed(1 - 1e-9))
    assert translated == listed.translate("lab/tab01:low", sealed(1 - 1e-9))
    assert (translated.band.form, translated.band.threshold) == ("less_than", 1.0)
    assert translated.code != "c0de"  # so that it reads restated, never sealed
    for name, threshold in (("lab/tab01:low", 0.9), ("lab/tab01:other", 1 - 1e-9)):
        assert listed.translate(name, sealed(threshold)) == sealed(threshold)
