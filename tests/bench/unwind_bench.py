#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how long the unwinding of copied stacks takes: folded output of perftape-convert against
perf script --no-inline and hotspot's perfparser. All read the same recording, alternately.

    tests/bench/unwind_bench.py --build build/release [--runs N] [--samples N] [--recording FILE]

Without --recording it records compilers with perf record --call-graph dwarf, which needs root, until
there are about --samples. The recording is read into the page cache before each run. perftape-convert
keeps unwind tables in a cache of its own, which the first run fills; "cold" is without it.
"""
import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

from measure import run

PERFPARSER = "/usr/lib/x86_64-linux-gnu/libexec/hotspot-perfparser"
ENVIRONMENT = {**os.environ, "HOME": "/dev/null", "LC_ALL": "C"}
SOURCE = "#include <algorithm>\n#include <map>\n#include <regex>\n#include <string>\n" \
    "std::map<std::string, std::regex> m; int main() { return m.size(); }\n"


def record(directory, samples):
    """A recording of compilers, one after the other. A sample is about 8.5 KB."""
    source, recording = directory / "source.cc", directory / "perf.data"
    source.write_text(SOURCE)
    seconds = max(1, samples // 5000)
    loop = f"end=$(($(date +%s) + {seconds})); " \
        f"while [ $(date +%s) -lt $end ]; do c++ -O2 -c -o /dev/null {source}; done"
    subprocess.run(["perf", "record", "-q", "-F", "7000", "--call-graph", "dwarf", "-o", recording,
                    "--", "sh", "-c", loop], check=True, env=ENVIRONMENT)
    return recording


def measure(command, recording, environment):
    """Returns wall seconds, CPU seconds and the most memory without mapped files in MB."""
    with open(recording, "rb") as file:
        while file.read(1 << 20):
            pass
    usage = run(command, watch_memory=True, environment=environment)
    if usage.status not in (0, 3):
        sys.exit(f"exit status {usage.status}: {command}")
    return usage.wall_s, usage.cpu_s, usage.peak_kb / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--samples", type=int, default=100000)
    parser.add_argument("--recording", type=pathlib.Path)
    options = parser.parse_args()
    convert = options.build / "bin" / "perftape-convert"
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as name:
        directory = pathlib.Path(name)
        recording = options.recording or record(directory, options.samples)
        warm = {**ENVIRONMENT, "XDG_CACHE_HOME": str(directory)}
        commands = {
            "perftape-convert": [convert, "-q", recording, "--to", "folded"],
            "perftape-convert, cold": [convert, "-q", recording, "--to", "folded"],
            "perftape-convert --threads 1": [convert, "-q", "--threads", "1", recording, "--to",
                                             "folded"],
            "perftape-convert --unwind": [convert, "-q", "-f", recording, "--unwind", "-o",
                                          directory / "unwound.data"],
            "perf script --no-inline": ["perf", "script", "--no-inline", "-i", recording],
        }
        if shutil.which(PERFPARSER):
            commands["hotspot-perfparser"] = [PERFPARSER, "--input", recording, "--output",
                                              directory / "parsed"]
        usages = {of: [] for of in commands}
        measure(commands["perftape-convert"], recording, warm)
        for _ in range(options.runs):
            for of, command in commands.items():
                environment = ENVIRONMENT if of.endswith("cold") else warm
                usages[of].append(measure(command, recording, environment))
        medians = {of: [statistics.median(values) for values in zip(*found)]
                   for of, found in usages.items()}
        ours = medians["perftape-convert"][0]
        print(f"{recording.stat().st_size / 1e6:.0f} MB")
        for of, (wall, cpu, size) in medians.items():
            print(f"{of:30} {wall:8.2f} s {cpu:8.2f} s CPU {size:7.0f} MB {wall / ours:7.1f} x")


if __name__ == "__main__":
    main()
