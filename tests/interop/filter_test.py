#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Filters have the same effect for all formats. A recording that is filtered while it is converted
to folded stacks gives the same lines as one that is filtered into a perf.data or pprof first."""
import argparse
import pathlib
import subprocess
import sys
import tempfile

FILTERS = [
    ["--comm", "app1,x*"],
    ["--pid", "2"],
    ["--tid", "1,3"],
    ["-C", "0-1"],
    ["--event", "cpu-clock*"],
    ["--dso", "app0"],
    ["--dso", "[kernel.kallsyms]"],
    ["--focus", "app1"],
    ["--ignore", "app1$"],
    ["--time", "25%,75%"],
    ["--time", ",0.000005"],
    ["--comm", "app1", "--cpu", "3", "--focus", "kernel"],
]
# Filters that change stacks need a format that can hold stacks that were not recorded.
CUTS = [["--no-kernel"], ["--no-user"], ["--max-depth", "2"], ["--min-percent", "10"]]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--make", required=True)
    options = parser.parse_args()

    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        subprocess.run([options.make, directory, "30"], check=True)

        def convert(source, output, *more):
            run = subprocess.run([f"{options.bin}/perftape-convert", "-q", "--no-symbols", "-f",
                                  directory / source, "-o", directory / output, *more],
                                 capture_output=True, text=True)
            if run.returncode != 0:
                sys.exit(f"{source} to {output} {more}: {run.stderr}")
            return (directory / output).read_text() if output.endswith("folded") else ""

        complaints, lines = 0, 0
        for source in ("0007.data", "0009.data", "0019.data"):
            convert(source, "labels.pb.gz", "--labels", "cpu")
            for chosen in FILTERS + CUTS:
                expected = convert(source, "direct.folded", *chosen)
                lines += expected.count("\n")
                ways = {}
                if chosen[0] != "--time":
                    ways["a pprof"] = convert("labels.pb.gz", "by-pprof.folded", *chosen)
                if chosen not in CUTS:
                    convert(source, "filtered.data", *chosen)
                    ways["a perf.data"] = convert("filtered.data", "by-perfdata.folded")
                for way, found in ways.items():
                    if found != expected:
                        complaints += 1
                        print(f"{source} {' '.join(chosen)}, by way of {way}:\n{found}"
                              f"instead of\n{expected}")
        print(f"{len(FILTERS + CUTS)} filters on 3 recordings: {lines} lines, {complaints} complaints")
    return 1 if complaints or lines == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
