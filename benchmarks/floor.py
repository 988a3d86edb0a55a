"""Seconds that the floors of one run's dimensions take, for each function, on one core.

Processor time, so that other work on the machine does not count.
"""

from __future__ import annotations

import argparse
from time import process_time

from dsebo.analysis.floor import floors_of_config
from dsebo.config import parse_flat
from dsebo.objectives import EmbeddedConfig

DIMS = (5, 12, 19, 22, 26, 29, 33, 50, 100)  # as a run with the paper's setting visits them
LIMITS = {1000: 2.0, 10_000: 20.0}  # seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--D", type=int, nargs="*", default=list(LIMITS))
    for D in parser.parse_args().D:
        limit = LIMITS.get(D)
        print(f"D = {D}, {len(DIMS)} dimensions" + (f"; at most {limit:g} s" if limit else ""))
        for function in EmbeddedConfig.names():
            config = parse_flat({"function": function, "D": D, "d_e": 30})
            began = process_time()
            found = floors_of_config(config, DIMS)
            seconds = process_time() - began
            shown = "  ".join(f"{floor.d}: {floor.floor:.4g}" for floor in found)
            print(f"  {function:12s} {seconds:5.2f} s   {shown}", flush=True)


if __name__ == "__main__":
    main()
