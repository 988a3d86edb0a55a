"""Runs that live in the background, are never lost, and can be paused, resumed and shared."""
