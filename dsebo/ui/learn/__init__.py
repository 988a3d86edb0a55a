"""The parts of the lessons and of section 5."""
