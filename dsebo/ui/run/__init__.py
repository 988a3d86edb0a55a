"""The parts of the page of one run."""
