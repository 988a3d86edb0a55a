"""DSEBO: Bayesian optimization in a shared random subspace that grows when progress stalls."""
