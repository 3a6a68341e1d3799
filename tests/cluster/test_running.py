"""What the judges of whole crawls allow for."""

import time

import pytest

from tests.cluster.running import Clock


@pytest.mark.parametrize(("moved", "counted"), [(4.3, 4.3), (-4.3, 0.0), (0.02, 0.0)])
def test_only_a_clock_that_is_set_forward_excuses(monkeypatch, moved, counted):
    clock, real = Clock(), time.time
    monkeypatch.setattr(time, "time", lambda: real() + moved)
    assert clock.set_forward() == pytest.approx(counted, abs=0.01)
