#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what the sandbox costs the tools that read files: the time of a run with it, less that of
a run with --no-sandbox, in alternation on the same files.

    sandbox_bench.py --bin build/release/bin [--runs 100] [FILE...]

Without FILE, a folded file and a perf.data made of it are converted: runs so short that the cost of
the sandbox shows. Prints a line for each command, and fails if the median of the differences exceeds
2 ms (--limit)."""

import argparse
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time


def run_time_ms(command, directory):
    begin = time.perf_counter()
    subprocess.run(command, cwd=directory, check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    return (time.perf_counter() - begin) * 1e3


def compare(command, directory, runs):
    """Returns the medians of the times without the sandbox and of the differences, in ms."""
    without, differences = [], []
    for run in range(runs):
        commands = [command, [*command, "--no-sandbox"]]
        if run % 2:
            commands.reverse()
        times = [run_time_ms(each, directory) for each in commands]
        if run % 2:
            times.reverse()
        without.append(times[1])
        differences.append(times[0] - times[1])
    return statistics.median(without), statistics.median(differences)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--limit", type=float, default=2.0, metavar="MS")
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    arguments = parser.parse_args()
    tool = {name: str(arguments.bin.resolve() / f"perftape-{name}")
            for name in ("convert", "inspect")}
    with tempfile.TemporaryDirectory(prefix="perftape-bench-") as name:
        directory = pathlib.Path(name)
        files = [str(file.resolve()) for file in arguments.files]
        if not files:
            (directory / "in.folded").write_text("main;work 3\nmain;idle 2\n")
            subprocess.run([tool["convert"], "-q", "in.folded", "-o", "in.data"], cwd=directory,
                           check=True)
            files = ["in.folded", "in.data"]
        worst = 0.0
        print(f"{'command':44} {'without, ms':>12} {'sandbox, ms':>12} {'ratio':>6}")
        for file in files:
            for command in ([tool["convert"], "-q", "-f", file, "-o", "out.pb.gz"],
                            [tool["inspect"], "-q", file]):
                if command[0] == tool["inspect"] and not file.endswith(".data"):
                    continue
                without, cost = compare(command, directory, arguments.runs)
                label = f"{pathlib.Path(command[0]).name} {pathlib.Path(file).name}"
                print(f"{label:44} {without:12.2f} {cost:12.2f} {1 + cost / without:6.2f}")
                worst = max(worst, cost)
    return 1 if worst > arguments.limit else 0


if __name__ == "__main__":
    sys.exit(main())
