"""A loop of one's own, with another model: DSEBO keeps the subspaces, a BoTorch model chooses the points.

    python examples/own_loop.py

`ask` gives a point of the subspace that is searched now. Any other z of it may be told in its place:
DSEBO counts its value, keeps it, and says when the subspace grows.
"""

from dataclasses import replace

import numpy as np
import torch
from botorch.acquisition import LogExpectedImprovement
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.optim import optimize_acqf
from gpytorch.mlls import ExactMarginalLogLikelihood

from dsebo import RunConfig

D, BUDGET, START = 100, 24, 5


def f(x: np.ndarray) -> float:
    """A bowl in the first three of 100 variables of [-1, 1]."""
    return float(np.sum((x[:3] - 0.3) ** 2))


def choose(points: list[np.ndarray], values: list[float], d: int) -> np.ndarray:
    """The z of [-1, 1]^d that BoTorch's model likes best; a shorter, older z is padded with zeros."""
    Z = (torch.tensor(np.array([np.pad(z, (0, d - len(z))) for z in points])) + 1) / 2
    Y = torch.tensor(values, dtype=torch.float64)[:, None]
    model = SingleTaskGP(Z, Y)
    likelihood = ExactMarginalLogLikelihood(model.likelihood, model)
    fit_gpytorch_mll(likelihood, optimizer_kwargs={"options": {"maxiter": 30}})
    gain = LogExpectedImprovement(model, best_f=Y.min(), maximize=False)
    box = torch.tensor([[0.0] * d, [1.0] * d], dtype=torch.float64)
    options = {"maxiter": 30}
    chosen, _ = optimize_acqf(gain, box, q=1, num_restarts=2, raw_samples=32, options=options)
    return 2 * chosen[0].numpy() - 1


def main() -> None:
    """Ask, choose, evaluate, tell."""
    torch.set_num_threads(1)  # a small model is quicker without others
    torch.manual_seed(1)
    growth = {"d_h": 15, "beta": 2, "alpha": 0.01}
    config = RunConfig.parse({"objective": {"D": D, "d_e": 3}, "optimizer": growth, "budget": BUDGET})
    optimizer = config.optimizer.build(D, BUDGET, seed=1)
    points: list[np.ndarray] = []
    values: list[float] = []
    for t in range(1, BUDGET + 1):
        candidate = optimizer.ask()
        if t > START:
            z = choose(points, values, len(candidate.z))
            candidate = replace(candidate, z=z, x=optimizer.lift(z))
        y = f(candidate.x)
        told = optimizer.tell(candidate, y)
        points.append(candidate.z)
        values.append(y)
        for event in told.events:
            print(event.text)
    print(
        f"best {min(values):.4f} after {BUDGET} evaluations; the first {START} had {min(values[:START]):.4f}"
    )


if __name__ == "__main__":
    main()
