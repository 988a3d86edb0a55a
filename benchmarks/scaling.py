"""Time of a step and peak memory as D grows, at fixed d. Each D in a process of its own."""

from __future__ import annotations

import json
import resource
import subprocess
import sys

D_VALUES = (100, 1_000, 10_000, 100_000, 1_000_000)
D_H, D_L, STEPS = 100, 20, 30
SLACK_MB = 150.0


def peak_mb() -> float:
    """Peak memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(D: int) -> None:
    """Run a few steps at that D and print what they took, as JSON."""
    from dsebo.config import RunConfig
    from dsebo.events import Evaluated
    from dsebo.run import Runner, run

    def config(D: int) -> RunConfig:
        return RunConfig.parse(
            {
                "objective": {"D": D, "d_e": 10},
                "optimizer": {"d_l": D_L, "d_h": min(D, D_H), "beta": 0.5},
                "budget": STEPS,
            }
        )

    list(run(config(100)))  # imports, and what torch and BLAS allocate once
    imports = peak_mb()
    runner = Runner.from_config(config(D))
    runner.started()
    steps: list[Evaluated] = []
    while not runner.done:
        steps += [event for event in runner.step() if isinstance(event, Evaluated)]
    assert {event.d for event in steps} == {D_L}
    mean = {
        part: 1000 * sum(getattr(event, part) for event in steps[5:]) / len(steps[5:])
        for part in ("seconds_fit", "seconds_acq", "seconds_eval", "seconds_other", "seconds")
    }
    size_of_S = D * min(D, D_H) * 8 / 2**20
    print(json.dumps({"D": D, "S": size_of_S, "peak": peak_mb() - imports, **mean}))


def main() -> None:
    if len(sys.argv) > 1:
        measure(int(sys.argv[1]))
        return
    print("      D | step ms |  fit   acq  evaluation  lift and rest | S MB | peak MB | limit MB")
    for D in D_VALUES:
        command = [sys.executable, "-m", "benchmarks.scaling", str(D)]
        shown = subprocess.run(command, capture_output=True, text=True, check=True)
        row = json.loads(shown.stdout)
        limit = 1.2 * row["S"] + SLACK_MB
        print(
            f"{D:8d} {row['seconds']:8.1f} {row['seconds_fit']:8.1f} {row['seconds_acq']:5.1f} "
            f"{row['seconds_eval']:10.2f} {row['seconds_other']:14.2f} {row['S']:9.1f} "
            f"{row['peak']:9.1f} {limit:9.1f}  {'holds' if row['peak'] < limit else 'EXCEEDED'}",
            flush=True,
        )


if __name__ == "__main__":
    main()
