"""A plain function of 200 variables, of which five matter.

dsebo app examples/plain_function.py:f --bounds=-5,10 --D 200
dsebo run --function examples/plain_function.py:f --bounds=-5,10 --D 200 --budget 200
python examples/plain_function.py
"""

import numpy as np

from dsebo import minimize

MATTER = [3, 42, 77, 120, 199]


def f(x: np.ndarray) -> float:
    """A bowl around 2 in the variables that matter; the others add a little."""
    return float(np.sum((x[MATTER] - 2.0) ** 2) + 1e-4 * np.sum(x**2))


if __name__ == "__main__":
    found = minimize(f, [(-5.0, 10.0)] * 200, budget=60)
    print(found.message)
    print(f"f = {found.fun:.4g} after {found.nfev} evaluations; the centre has {f(np.full(200, 2.5)):.4g}")
