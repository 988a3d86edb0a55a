"""The parts of the Paper page."""
