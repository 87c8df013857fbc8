"""Live bytes are counted by storage, and until nothing holds them."""

from __future__ import annotations

import torch

from harness.measure.live_bytes import LiveBytes, peak_of


def test_storages_are_counted_once_and_until_nothing_holds_them() -> None:
    given = torch.zeros(1000)
    with LiveBytes() as live:
        made = given + 1.0
        view = made[:10].view(2, 5)
        del made
        assert live.now_bytes == 4000
        given.add_(1.0)
        both = [given * 2.0, given * 3.0]
        del both[0]
        assert (live.now_bytes, live.peak_bytes) == (8000, 12000)
        del view, both
        assert live.now_bytes == 0
    assert peak_of(lambda: given + 1.0, measured=False, device=given.device)[1] is None
