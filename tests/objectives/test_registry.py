"""The registry: one's own functions, other packages' functions, and names that are wrong."""

from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np
import pytest

from dsebo.config import RunConfig
from dsebo.run import run
from objectives import KINDS, BaseFunction, EmbeddedFunction, get_function, names, register, registry
from objectives.registry import numpy_function


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    names()
    before = dict(registry._functions)
    yield
    registry._functions.clear()
    registry._functions.update(before)


def absolute_sum(v: np.ndarray) -> np.ndarray:
    return np.abs(v).sum(axis=1)


def test_ones_own_function_runs_by_its_name() -> None:
    register(BaseFunction("absolute", -2.0, 2.0, numpy_function(absolute_sum), default_c=0.5))
    f = EmbeddedFunction("absolute", 30, 3)
    assert f.c == 0.5
    assert f.minimum is None
    assert "not known" in f.minimum_note
    config = RunConfig.parse({"objective": {"name": "absolute", "D": 30, "d_e": 3}, "budget": 5})
    assert len([e for e in run(config) if e.kind == "evaluated"]) == 5


def test_a_name_is_taken_once() -> None:
    with pytest.raises(ValueError, match="not registered already"):
        register(BaseFunction("sphere", -1.0, 1.0, numpy_function(absolute_sum)))


def test_a_name_of_another_kind_is_taken_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(KINDS, "bowls", SimpleNamespace(names=lambda: ["bowl"]))
    with pytest.raises(ValueError, match="not registered already"):
        register(BaseFunction("bowl", -1.0, 1.0, numpy_function(absolute_sum)))
    monkeypatch.delitem(KINDS, "bowls")
    assert "bowl" not in names()


def test_entry_points_are_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    offered = BaseFunction("from-elsewhere", -1.0, 1.0, numpy_function(absolute_sum))
    point = SimpleNamespace(name="from-elsewhere", load=lambda: offered)
    monkeypatch.setattr(registry, "entry_points", lambda group: [point])
    monkeypatch.setattr(registry, "_entry_points_loaded", False)
    assert get_function("from-elsewhere") is offered


def test_a_broken_entry_point_is_left_out_with_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise ModuleNotFoundError("No module named 'gone'")

    points = [
        SimpleNamespace(name="broken", load=broken),
        SimpleNamespace(name="no-function", load=lambda: 3),
    ]
    monkeypatch.setattr(registry, "entry_points", lambda group: points)
    monkeypatch.setattr(registry, "_entry_points_loaded", False)
    with pytest.warns(UserWarning, match="is left out") as said:
        assert get_function("sphere").name == "sphere"
    assert "'broken' of dsebo.functions is left out: No module" in str(said[0].message)
    assert "gives no BaseFunction but 3" in str(said[1].message)


def test_an_unknown_name_gets_a_hint() -> None:
    with pytest.raises(KeyError, match="Did you mean 'griewank'"):
        get_function("griewangk")


def test_an_empty_domain_is_refused() -> None:
    with pytest.raises(ValueError, match="lower must be less than upper = 1"):
        BaseFunction("x", 1.0, 1.0, numpy_function(absolute_sum))
