#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how much a recording of waits slows down a program that switches as often as it can
(perf bench sched pipe), and how large the file is: perftape-record -e offcpu against perf record
-e sched:sched_switch and perf trace -s. All run alternately. Needs root.

    tests/bench/off_cpu_bench.py --build build/release [--runs N] [--loops N]
"""
import argparse
import os
import pathlib
import re
import statistics
import subprocess
import tempfile

PERF = ["perf", "record", "-q", "-e", "sched:sched_switch", "-g"]


def commands(record):
    ours = [record, "-q", "--no-bundle", "-e", "offcpu"]
    return {
        "alone": ([], None),
        "perftape-record -e offcpu": ([*ours, "-o", "1.data", "--"], "1.data"),
        "perftape-record -e offcpu -a": ([*ours, "-a", "-o", "2.data", "--"], "2.data"),
        "perftape-record -e offcpu --wakers": ([*ours, "--wakers", "-o", "3.data", "--"], "3.data"),
        "perftape-record -e cpu-clock": (
            [record, "-q", "--no-bundle", "-o", "4.data", "--"], "4.data"),
        "perf record -e sched:sched_switch -g": ([*PERF, "-o", "5.data", "--"], "5.data"),
        "perf record -e sched:sched_switch -g -a": ([*PERF, "-a", "-o", "6.data", "--"], "6.data"),
        "perf trace -s": (["perf", "trace", "-s", "-o", "7.data", "--"], None),
    }


def microseconds(words, directory, loops):
    """Returns the time of one round trip: two switches, or four if both tasks share a CPU with
    idle time in between."""
    done = subprocess.run([*words, "perf", "bench", "sched", "pipe", "-l", str(loops)], text=True,
                          capture_output=True, cwd=directory, check=True,
                          env=dict(os.environ, LC_ALL="C"))
    return float(re.search(r"([\d.]+) usecs/op", done.stdout + done.stderr).group(1))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--loops", type=int, default=100000)
    options = parser.parse_args()
    record = str(pathlib.Path(options.build, "bin", "perftape-record").resolve())
    times, sizes = {}, {}
    with tempfile.TemporaryDirectory() as directory:
        for _ in range(options.runs):
            for name, (words, output) in commands(record).items():
                times.setdefault(name, []).append(microseconds(words, directory, options.loops))
                if output:
                    sizes[name] = pathlib.Path(directory, output).stat().st_size
    # The fastest run of each: other programs only ever add time.
    alone = min(times["alone"])
    theirs = min(times["perf record -e sched:sched_switch -g"]) - alone
    print(f"{'':42} us/op: median  fastest   added  of perf's   file KiB")
    for name, values in times.items():
        added = min(values) - alone
        size = f"{sizes[name] / 1024:10.0f}" if name in sizes else ""
        print(f"{name:42} {statistics.median(values):13.2f}  {min(values):7.2f}  {added:6.2f}"
              f"     {added / theirs:6.2f} {size}")


if __name__ == "__main__":
    main()
