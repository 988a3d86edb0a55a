"""Starting designs."""

import numpy as np

from dsebo.gp.designs import latin_hypercube


def test_latin_hypercube_has_one_point_a_stratum() -> None:
    points = latin_hypercube(8, 5, np.random.default_rng(0))
    assert np.array_equal(np.sort((points * 8).astype(int), axis=0), np.tile(np.arange(8), (5, 1)).T)
