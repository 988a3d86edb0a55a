"""Objectives to minimise on the box [-1, 1]^D. Importing this package does not import torch."""

from objectives.base import Objective
from objectives.embedded import EmbeddedFunction
from objectives.registry import BaseFunction, get_function, names, register

__all__ = ["BaseFunction", "EmbeddedFunction", "Objective", "get_function", "names", "register"]
