"""The parts of the pages of many runs."""
