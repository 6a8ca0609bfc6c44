#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the CPU time of perftape-script with that of perf script, on one recording.

    script_bench.py --bin build/release/bin [--runs 3] [--perf perf] RECORDING...

Neither looks up inlined functions, and perf has no build-id cache. Prints a line for each recording
and list of fields: seconds of CPU of both, and the ratio. Fails if a ratio exceeds --limit."""
import argparse
import os
import pathlib
import statistics
import sys
import tempfile

import measure

LISTS = ([], ["-F", "comm,tid,time,event,ip,sym"], ["-G"])


def cpu_s(command, runs, environment):
    usages = [measure.run(command, environment=environment) for _ in range(runs)]
    if any(usage.status != 0 for usage in usages):
        sys.exit(f"{' '.join(map(str, command))}: failed")
    return statistics.median(usage.cpu_s for usage in usages)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--perf", default="perf")
    parser.add_argument("--limit", type=float, default=1 / 3)
    parser.add_argument("recordings", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    worst = 0.0
    with tempfile.TemporaryDirectory(prefix="perftape-bench-") as home:
        environment = {**os.environ, "HOME": home, "PAGER": "cat"}
        for recording in arguments.recordings:
            for options in LISTS:
                words = ["--no-inline", "-i", recording, *options]
                perf = cpu_s([*arguments.perf.split(), "--buildid-dir", home, "script", "--force",
                              *words], arguments.runs, environment)
                ours = cpu_s([arguments.bin / "perftape-script", "-q", *words], arguments.runs,
                             environment)
                worst = max(worst, ours / perf)
                print(f"{recording.name} {' '.join(options) or '(default)'}: perf {perf:.2f} s, "
                      f"perftape {ours:.2f} s, ratio {ours / perf:.2f}", flush=True)
    return 1 if worst > arguments.limit else 0


if __name__ == "__main__":
    sys.exit(main())
