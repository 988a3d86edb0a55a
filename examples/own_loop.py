"""A loop of one's own around `DSEBO.ask` and `tell`, as BoTorch users write it, with a look at its own model.

    python examples/own_loop.py

Each step asks for a point, evaluates it, and tells the value. Beside it a BoTorch model of all points so far
is fitted in the subspace, to say how sure one is of the best value.
"""

import numpy as np
import torch
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from gpytorch.mlls import ExactMarginalLogLikelihood

from dsebo import DSEBO, RunConfig

D, BUDGET, LOOK_EVERY = 100, 24, 12


def f(x: np.ndarray) -> float:
    """A bowl in the first three of 100 variables of [-1, 1]."""
    return float(np.sum((x[:3] - 0.3) ** 2))


def main() -> None:
    """Ask, evaluate, tell; now and then, what a model of one's own thinks of the best point."""
    torch.set_num_threads(1)  # a small model is quicker without others
    settings = RunConfig.parse({"objective": {"D": D, "d_e": 3}, "budget": BUDGET}).optimizer
    optimizer = settings.build(D, BUDGET, seed=1)
    assert isinstance(optimizer, DSEBO)
    points: list[np.ndarray] = []
    values: list[float] = []
    for t in range(1, BUDGET + 1):
        candidate = optimizer.ask()
        y = f(candidate.x)
        optimizer.tell(candidate, y)
        points.append(candidate.z)
        values.append(y)
        if t % LOOK_EVERY == 0:
            d = max(map(len, points))
            Z = (torch.tensor(np.array([np.pad(z, (0, d - len(z))) for z in points])) + 1) / 2
            Y = torch.tensor(values, dtype=torch.float64)[:, None]
            model = SingleTaskGP(Z, Y)
            fit_gpytorch_mll(
                ExactMarginalLogLikelihood(model.likelihood, model),
                optimizer_kwargs={"options": {"maxiter": 50}},
            )
            best = int(np.argmin(values))
            with torch.no_grad():
                posterior = model.posterior(Z[best : best + 1])
            deviation = posterior.variance.sqrt().item()
            thought = f"{posterior.mean.item():.4f} ± {deviation:.4f}"
            print(f"{t:3d}  d = {d:2d}  best {values[best]:.4f}  the model thinks {thought}")


if __name__ == "__main__":
    main()
