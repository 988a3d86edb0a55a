"""A simulator that sometimes fails: a swarm of 40 springs that may fly apart.

    dsebo app examples/simulator.py:problem --workers 1 --timeout 5

Evaluations that raise, return NaN or hang are marked in the chart, and the run goes on.
"""

import numpy as np

from dsebo import Problem, minimize

SPRINGS, STEPS, TIME_STEP = 40, 400, 0.05


def rest_energy(x: np.ndarray) -> float:
    """The energy left after some time; x: the stiffness of each spring, then its damping."""
    stiffness, damping = x[:SPRINGS], x[SPRINGS:]
    place, speed = np.ones(SPRINGS), np.zeros(SPRINGS)
    for _ in range(STEPS):
        neighbours = 0.5 * (np.roll(place, 1) + np.roll(place, -1))
        force = -stiffness * place - damping * speed + 0.2 * (neighbours - place)
        speed = speed + TIME_STEP * force
        place = place + TIME_STEP * speed
        if np.abs(place).max() > 10.0:
            raise FloatingPointError("the swarm flew apart")
    return float(np.sum(speed**2) + np.sum(place**2))


problem = Problem(rest_energy, bounds=[(0.0, 4.0)] * SPRINGS + [(-0.26, 1.0)] * SPRINGS, minimum=0.0)

if __name__ == "__main__":
    found = minimize(problem, budget=60, seed=1)
    print(found.message)
