"""The figures behind the promises of `dsebo.runs`: `python -m benchmarks.runs_proof [PART...]`."""
