"""The slopes, patience and counts behind recorded values and dimensions."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, replace
from typing import Any

from dsebo.config import RunConfig
from dsebo.events import Converged, Expanded
from dsebo.expansion import Progress, Strategy, after_evaluation, next_step, slopes, start

_NEVER = sys.maxsize  # a patience that only counts


@dataclass
class Evaluations:
    """What the files do not say, an entry an evaluation, and the events between them."""

    patience: list[int] = field(default_factory=list)
    since_gain: list[int] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)
    d: int = 0


def reconstruct(config: RunConfig, values: list[float], dims: list[int]) -> Evaluations:
    """Follow the recorded dimensions, and take everything else from the strategy's own rules.

    Args:
        config: A config of DSEBO.
        values: (n,) y of each evaluation.
        dims: (n,) the dimension that each was chosen in.
    """
    method: Any = config.optimizer
    strategy = Strategy(
        d_l=method.d_l,
        d_h=method.d_h,
        beta=method.beta,
        budget=config.budget,
        alpha=method.alpha,
        alpha_mode=method.alpha_mode,
        variant=method.variant,
        min_step=method.min_step,
    )
    told, now = Evaluations(), start(strategy)
    for t, y in enumerate(values, 1):
        before = now
        then = dims[min(t, len(dims) - 1)]  # after the last one: nothing that is not on record
        now, event = _one(strategy, before, t, y, then)
        told.patience.append(before.T)
        told.since_gain.append(now.count if event is None else before.count + 1)
        if event is not None:
            told.events.append({**event.to_json(), "reconstructed": True})
    told.d = now.d
    return told


def _one(strategy: Strategy, now: Progress, t: int, y: float, then: int) -> tuple[Progress, Converged | None]:
    """What followed evaluation t, given the dimension `then` of the next one."""
    ruled, event = after_evaluation(strategy, now, t, y)
    if ruled.d == then:
        return ruled, event
    counted, _ = after_evaluation(strategy, replace(now, T=_NEVER), t, y)
    counted = replace(counted, T=now.T)
    if then == now.d:  # the rules would have expanded, the run did not
        return counted, None
    return _recorded_expansion(strategy, counted, t, then)


def _recorded_expansion(strategy: Strategy, now: Progress, t: int, d_to: int) -> tuple[Progress, Converged]:
    """An expansion that is in the files though the rules give another, or none."""
    dims, bests = (*now.dims, now.d), (*now.bests, now.best)
    s = slopes(dims, bests)
    k, _ = next_step(strategy, now.delta, s)
    delta, T = d_to - now.d, strategy.next_patience(d_left=now.d, d_entered=d_to)
    event = Expanded(
        t=t,
        d_from=now.d,
        d_to=d_to,
        dims=dims,
        bests=bests,
        slopes=s,
        s_min=min(s, default=None),
        s_max=max(s, default=None),
        k=k,
        delta_before=now.delta,
        delta_after=delta,
        T_before=now.T,
        T_after=T,
        text=f"Evaluation {t}: from d = {now.d} to d = {d_to}, as the imported files have it; "
        f"slopes and patience {T} are reconstructed.",
    )
    entered = {"b_ref": now.best} if strategy.variant == "paper" else {}
    after = replace(now, d=d_to, T=T, count=0, delta=delta, dims=dims, bests=bests, **entered)
    return after, event
