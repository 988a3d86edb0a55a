"""Experiments: many runs over one or two settings and some seeds, on all cores or on a cluster."""
