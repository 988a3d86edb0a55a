"""Bandit strategies that choose among subspaces of different dimension."""
