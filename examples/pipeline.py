"""Tuning a scikit-learn pipeline: a weight for each of 60 features, and how smooth the classifier is.

    dsebo app examples/pipeline.py:problem
    dsebo run --function examples/pipeline.py:problem --budget 100 --workers 1 --timeout 30

Most weights hardly matter. The value is the error of 3-fold cross-validation on digits that are known.
"""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from dsebo import Problem, minimize

X, y = load_digits(return_X_y=True)
SEEN = X.std(axis=0) > 0.5  # a pixel that is always blank has nothing to weigh
X, y = X[:400, SEEN], y[:400]


def error(x: np.ndarray) -> float:
    """The share of wrong answers; x: the logarithm of each pixel's weight, then that of the neighbours."""
    weights, neighbours = np.exp(x[:-1]), round(np.exp(x[-1]))
    scale = FunctionTransformer(lambda rows: rows * weights)
    model = make_pipeline(StandardScaler(), scale, KNeighborsClassifier(neighbours))
    return 1.0 - float(cross_val_score(model, X, y, cv=3).mean())


PIXELS = np.flatnonzero(SEEN)
problem = Problem(
    error,
    bounds=[(-2.0, 2.0)] * len(PIXELS) + [(0.0, np.log(30.0))],
    names=[*(f"weight of pixel {i}" for i in PIXELS), "neighbours"],
    minimum=None,
)

if __name__ == "__main__":
    found = minimize(problem, budget=40, seed=1)
    print(
        f"{found.fun:.3f} of the answers are wrong after {found.nfev} evaluations; "
        f"with equal weights and 5 neighbours {error(np.r_[np.zeros(len(PIXELS)), np.log(5)]):.3f}"
    )
