"""DSEBO as a sampler of Optuna.

What it has learnt stands in the study's storage, beside each trial, so that a study goes on in another
process as if it had not stopped.
"""

from __future__ import annotations

import hashlib
import json
import math
import threading
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dsebo.methods.base import Array, Candidate, Optimizer
from dsebo.minimize import checked_settings
from dsebo.threads import one_thread

try:
    from optuna.distributions import BaseDistribution, FloatDistribution, IntDistribution
    from optuna.samplers import BaseSampler, RandomSampler
    from optuna.search_space import IntersectionSearchSpace
    from optuna.study import Study, StudyDirection
    from optuna.trial import FrozenTrial, TrialState
except ModuleNotFoundError:
    raise ModuleNotFoundError("DseboSampler needs Optuna: pip install 'dsebo[optuna]'.") from None

KEY = "dsebo"  # of a trial's system attributes
_ASKING = threading.Lock()  # threads of one study: each sees the points of those before it
Numeric = FloatDistribution | IntDistribution
Space = dict[str, BaseDistribution]


class DseboSampler(BaseSampler):
    """Float and int parameters by DSEBO; categorical ones, and those that not every trial has, at random.

    The first trial of a study is random too, unless `search_space` is given. A failed or pruned trial counts
    as the worst value so far. A trial whose parameters were set by somebody else teaches nothing.

    Args:
        budget: How many trials are planned; the schedule of DSEBO depends on it. More can follow.
        seed: Same seed, same trials.
        search_space: The parameters, where they are known before the first trial.
        independent_sampler: For all other parameters; None: random, and the same after a resumption.
        **settings: Any field of DSEBO's config, such as `d_h=60`; `variant="adaptive"` unless given.
    """

    def __init__(
        self,
        budget: int = 500,
        *,
        seed: int = 1,
        search_space: Mapping[str, BaseDistribution] | None = None,
        independent_sampler: BaseSampler | None = None,
        **settings: Any,
    ) -> None:
        self._budget, self._seed, _ = checked_settings("dsebo", 1000, budget, seed, settings)
        self._settings, self._given = settings, search_space
        self._independent = independent_sampler
        self._intersection = IntersectionSearchSpace()

    def reseed_rng(self) -> None:
        """Of the sampler of the other parameters; DSEBO's numbers follow from seed and trial."""
        if self._independent is not None:
            self._independent.reseed_rng()

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> Space:
        """The float and int parameters that all trials have."""
        known = self._intersection.calculate(study) if self._given is None else self._given
        return {n: param for n, param in known.items() if isinstance(param, Numeric) and not param.single()}

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        """A value drawn from seed, trial and name, or by the sampler that was given."""
        self._raise_error_if_multi_objective(study)
        sampler = self._independent
        if sampler is None:
            own = np.random.SeedSequence((self._seed, trial.number, zlib.crc32(param_name.encode())))
            sampler = RandomSampler(seed=int(own.generate_state(1)[0]))
        return sampler.sample_independent(study, trial, param_name, param_distribution)

    def sample_relative(self, study: Study, trial: FrozenTrial, search_space: Space) -> dict[str, Any]:
        """The next point of DSEBO, from what the storage holds."""
        with _ASKING:
            return self._sample(study, trial, search_space)

    def _sample(self, study: Study, trial: FrozenTrial, search_space: Space) -> dict[str, Any]:
        self._raise_error_if_multi_objective(study)
        space = {name: param for name, param in search_space.items() if isinstance(param, Numeric)}
        if not space:
            return {}
        _, _, config = checked_settings("dsebo", len(space), self._budget, self._seed, self._settings)
        shape = [(name, repr(param)) for name, param in space.items()]
        about = json.dumps([shape, config.model_dump(mode="json"), self._budget, self._seed])
        task = hashlib.sha256(about.encode()).hexdigest()[:16]
        with one_thread():
            optimizer = config.build(len(space), self._budget, self._seed)
            known = {
                earlier.number: earlier
                for earlier in study.get_trials(deepcopy=False)
                if earlier.system_attrs.get(KEY, {}).get("task") == task and earlier.number != trial.number
            }
            told, new = _restore(optimizer, known, space, study.direction)
            state = optimizer.own_state()
            pending = [earlier for earlier in known.values() if earlier.state == TrialState.RUNNING]
            worst = float(np.nanmax(optimizer.observed.values)) if optimizer.observed.any_finite else math.nan
            for earlier in pending:  # as if they had been no good, so that the next point is another one
                _tell(optimizer, earlier, worst)
            candidate = optimizer.ask()
        if not pending:
            state = optimizer.own_state()  # with what was fitted
        kept = {"task": task, "z": candidate.z.tolist(), "state": state, "after": told, "told": new}
        study._storage.set_trial_system_attr(trial._trial_id, KEY, kept)
        return _parameters(space, candidate.x)


def _restore(
    optimizer: Optimizer,
    known: Mapping[int, FrozenTrial],
    space: Mapping[str, Numeric],
    direction: StudyDirection,
) -> tuple[int | None, list[int]]:
    """(the trial whose state it went on from, those told since), with the optimizer where these lead."""
    sign = -1.0 if direction == StudyDirection.MAXIMIZE else 1.0
    last = max(known, default=None)
    before: list[int] = []  # the latest first
    at = last
    while at is not None:
        kept = known[at].system_attrs[KEY]
        before += reversed(kept["told"])
        at = kept["after"]
    if last is not None:
        data = [(_z(known[n]), _value(known[n], sign)) for n in reversed(before)]
        optimizer.load_state_dict({**known[last].system_attrs[KEY]["state"], "data": data})
    new = []
    for number in sorted(set(known) - set(before)):
        trial = known[number]
        if trial.state.is_finished() and _as_suggested(trial, _parameters(space, optimizer.lift(_z(trial)))):
            _tell(optimizer, trial, _value(trial, sign))
            new.append(number)
    return last, new


def _z(trial: FrozenTrial) -> Array:
    return np.array(trial.system_attrs[KEY]["z"], dtype=np.float64)


def _value(trial: FrozenTrial, sign: float) -> float:
    """What is minimised; NaN where the trial failed or was pruned."""
    if trial.state != TrialState.COMPLETE or trial.value is None:
        return math.nan
    return sign * trial.value


def _tell(optimizer: Optimizer, trial: FrozenTrial, y: float) -> None:
    z = _z(trial)
    optimizer.tell(Candidate(len(optimizer.observed) + 1, z, optimizer.lift(z), z.size), y)


def _as_suggested(trial: FrozenTrial, suggested: Mapping[str, float]) -> bool:
    """Whether no parameter was set by another: an enqueued trial has values of its own."""
    return all(trial.params.get(name, value) == value for name, value in suggested.items())


def _parameters(space: Mapping[str, Numeric], x: Sequence[float] | Array) -> dict[str, float | int]:
    """The parameters at x in [-1, 1]^D."""
    return {
        name: _parameter(param, (float(u) + 1.0) / 2.0)
        for (name, param), u in zip(space.items(), x, strict=True)
    }


def _parameter(param: Numeric, share: float) -> float | int:
    """The value at that share of the way from low to high; of steps, each has the same part of the way."""
    if param.log:
        half = 0.5 if isinstance(param, IntDistribution) else 0.0
        low, high = math.log(param.low - half), math.log(param.high + half)
        value = math.exp(low + share * (high - low))
        value = round(value) if half else value
    elif param.step is None:
        value = param.low + share * (param.high - param.low)
    else:
        steps = round((param.high - param.low) / param.step)
        value = param.low + param.step * min(int(share * (steps + 1)), steps)
    value = min(max(value, param.low), param.high)
    return int(value) if isinstance(param, IntDistribution) else float(value)
