"""`make bench`: the benchmarks that take minutes. The long ones are named at the end."""

from __future__ import annotations

import subprocess
import sys

QUICK = ["startup", "promises", "speed", "scaling", "quality", "dashboard"]


def main() -> None:
    for name in sys.argv[1:] or QUICK:
        print(f"\n== {name} ==", flush=True)
        subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=True)
    if not sys.argv[1:]:
        print("\nLonger ones, each by itself: benchmarks/README.md has their commands.")


if __name__ == "__main__":
    main()
