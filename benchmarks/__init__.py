"""What is measured, as ratios within one run. Last figures: benchmarks/README.md."""
