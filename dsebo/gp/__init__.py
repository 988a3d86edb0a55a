"""Gaussian processes in closed form: priors, posterior, acquisition, Thompson samples."""
