"""DSEBO: Bayesian optimization in a shared random subspace that grows when progress stalls.

from dsebo import Problem, RunConfig, conclude, minimize, run
"""

__version__ = "0.2.0"

# Functions of the same name as their modules: bound here, after the modules have been imported,
# so that `dsebo.run` and `dsebo.minimize` are the functions. None of this imports torch.
from dsebo.analysis.conclusions import conclude
from dsebo.config import RunConfig
from dsebo.methods.dsebo import DSEBO
from dsebo.minimize import Result, minimize
from dsebo.run import run
from objectives.own import Problem

__all__ = ["DSEBO", "Problem", "Result", "RunConfig", "__version__", "conclude", "minimize", "run"]
