"""What runs show: curves, facts of a setting, floors, verdicts, section 5 with numbers."""
