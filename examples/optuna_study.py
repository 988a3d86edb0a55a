"""An Optuna study with DSEBO as its sampler: 60 parameters, of which three matter.

    python examples/optuna_study.py

With `storage="sqlite:///study.db"` and `load_if_exists=True` it goes on where it stopped.
"""

import optuna

from dsebo.integrations.optuna import DseboSampler

TRIALS = 30


def objective(trial: optuna.Trial) -> float:
    """A learning rate, a width, a share, and 57 parameters that hardly matter."""
    rate = trial.suggest_float("rate", 1e-5, 1.0, log=True)
    width = trial.suggest_int("width", 8, 256, step=8)
    share = trial.suggest_float("share", 0.0, 1.0)
    rest = [trial.suggest_float(f"weak_{i}", -1.0, 1.0) for i in range(57)]
    return abs(rate - 0.01) + (width / 256 - 0.5) ** 2 + (share - 0.3) ** 2 + 1e-3 * sum(w * w for w in rest)


def main() -> None:
    """The best of 30 trials."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(sampler=DseboSampler(budget=TRIALS))
    study.optimize(objective, n_trials=TRIALS)
    print(f"best of {len(study.trials)} trials: {study.best_value:.4f}")


if __name__ == "__main__":
    main()
