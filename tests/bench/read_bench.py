#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures time and memory of reading in comparison with perf. Run by hand, because machines are
noisy.

    read_bench.py --build build/release [--recording FILE] [--runs 7] [--megabytes 150 1000]
                  [--damaged DIRECTORY] [--only time memory damaged]

Without --recording it records with perf (root). All inputs are that recording, repeated with later
times until it is large enough. Both tools run alternately with a warm cache. Each figure is the
median of the runs; compare the ratios. Memory is RssAnon, sampled every millisecond: the memory
that a process allocates, without the mapped file.
"""
import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from measure import medians, run

MOST_MS, MOST_MB = 50, 64  # for a damaged file: time, and memory above the file's size
WORK = """for n in 1 2; do (i=0; while [ $i -lt 40000 ]; do i=$((i + 1)); done) & done
find /usr/include /usr/lib -type f | sort | md5sum; wait"""


def record(path):
    print("recording, some seconds ...", file=sys.stderr)
    subprocess.run(["perf", "record", "-q", "-a", "-F", "10000", "-g", "-o", path, "--",
                    "sh", "-c", WORK], check=True, stdout=subprocess.DEVNULL)


class Inputs:
    """Files made of one recording, each made once."""

    def __init__(self, generator, recording, directory):
        self.generator, self.recording, self.directory = generator, recording, Path(directory)

    def get(self, megabytes, kind):
        path = self.directory / f"{megabytes}.{kind}.data"
        if not path.exists():
            subprocess.run([self.generator, self.recording, path, str(megabytes), kind], check=True)
        return str(path)


def bench_time(inspect, convert, inputs, arguments):
    path = inputs.get(arguments.megabytes[0], "file")
    perf = ["perf", "report", "--stats", "-i", path]
    print(f"time, medians of {arguments.runs} alternating runs on {os.path.getsize(path) / 1e6:.0f} MB"
          "\n                             wall s   CPU s    x wall   x CPU   (perf: report --stats)")
    for name, command in (("inspect --stats", [inspect, "--stats", path]),
                          ("inspect --samples", [inspect, "--samples", path]),
                          ("convert --to folded", [convert, "--to", "folded", path, "-o", "-"])):
        ours, perfs = [], []
        for _ in range(arguments.runs):
            ours.append(run(command))
            perfs.append(run(perf))
        if any(usage.status != 0 for usage in ours + perfs):
            sys.exit(f"{name} or perf failed")
        (wall, cpu), (perf_wall, perf_cpu) = medians(ours), medians(perfs)
        print(f"  {'perf report --stats':24} {perf_wall:8.3f} {perf_cpu:7.3f}")
        print(f"  {name:24} {wall:8.3f} {cpu:7.3f} {wall / perf_wall:9.2f} {cpu / perf_cpu:7.2f}")


def bench_memory(inspect, inputs, arguments):
    small, large = arguments.megabytes[:2]
    print(f"peak RssAnon in MB        {small:>6} MB {large:>6} MB  ratio")
    for option in ("--stats", "--samples"):
        for kind, stdin in (("file", False), ("pipe", False), ("pipe", True), ("zstd", False)):
            peaks = []
            for megabytes in (small, large):
                path = inputs.get(megabytes, kind)
                command = [inspect, option, "-" if stdin else path]
                usage = run(command, path if stdin else None, watch_memory=True)
                if usage.status != 0:
                    sys.exit(f"{' '.join(command)}: exit status {usage.status}")
                peaks.append(usage.peak_kb / 1024)
            name = f"{option} {kind}{' on stdin' if stdin else ''}"
            print(f"  {name:24} {peaks[0]:8.1f} {peaks[1]:9.1f} {peaks[1] / peaks[0]:7.2f}")


def bench_damaged(inspect, arguments):
    files = sorted(path for path in Path(arguments.damaged).rglob("*")
                   if path.is_file() and path.suffix not in (".tsv", ".md"))
    worst_ms = worst_mb = (0, "")
    over = []
    for path in files:
        for option in ("--header", "--records", "--samples", "--stats", "--validate"):
            command = [inspect, option, str(path)]
            took_ms = min(run(command).wall_s for _ in range(3)) * 1000
            above_mb = run(command, watch_memory=True).peak_kb / 1024
            above_mb -= path.stat().st_size / (1 << 20)
            name = f"{path.name} {option}"
            worst_ms, worst_mb = max(worst_ms, (took_ms, name)), max(worst_mb, (above_mb, name))
            if took_ms > MOST_MS or above_mb > MOST_MB:
                over.append(f"{name}: {took_ms:.0f} ms, {above_mb:.0f} MB")
    print(f"{len(files)} damaged files, five sections of each: slowest {worst_ms[0]:.0f} ms "
          f"({worst_ms[1]}), largest {worst_mb[0]:.1f} MB above its size ({worst_mb[1]}); "
          f"beyond {MOST_MS} ms or {MOST_MB} MB: {len(over)}")
    for line in over:
        print(f"  {line}")


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--build", type=Path, default="build/release")
    parser.add_argument("--recording", help="a perf.data with call graphs")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--megabytes", type=int, nargs=2, default=(150, 1000))
    parser.add_argument("--damaged", help="a folder of damaged files")
    parser.add_argument("--only", nargs="+", choices=("time", "memory", "damaged"),
                        default=("time", "memory", "damaged"))
    return parser.parse_args()


def main():
    arguments = parse()
    inspect, convert = (str(arguments.build / "bin" / name)
                        for name in ("perftape-inspect", "perftape-convert"))
    with tempfile.TemporaryDirectory(prefix="read-bench-") as directory:
        recording = arguments.recording
        if not recording:
            recording = os.path.join(directory, "recording.data")
            record(recording)
        inputs = Inputs(arguments.build / "tests/repeat_perfdata", recording, directory)
        if "time" in arguments.only:
            bench_time(inspect, convert, inputs, arguments)
        if "memory" in arguments.only:
            bench_memory(inspect, inputs, arguments)
        if "damaged" in arguments.only and arguments.damaged:
            bench_damaged(inspect, arguments)


if __name__ == "__main__":
    main()
