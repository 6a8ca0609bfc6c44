#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what the call chains of a recording cost the recorded program: perftape-record
--call-graph eh, fp and none against perf record -g and --call-graph dwarf. Each tool records the
same commands, all alternately. The time is the CPU time of the command itself, user and system,
without the recorder. What is added without call chains is the floor: the interrupts, and the start.
Needs root.

    tests/bench/unwind_record_bench.py --build build/release [--runs N] [--rates 999,4999]
"""
import argparse
import pathlib
import re
import statistics
import subprocess
import tempfile

HEADERS = "algorithm functional iostream map memory regex string"
# Prints user and system seconds of a command to a file.
TIMED = 'TIMEFORMAT="%3U %3S"; { time "${@:2}" >/dev/null 2>/dev/null; } 2>"$1"'
FLOOR, OURS, PERF_FP, PERF_DWARF = ("perftape none", "perftape eh", "perf record -g",
                                    "perf record --call-graph dwarf")


def output_of(*command):
    return subprocess.run(command, text=True, capture_output=True, check=True).stdout.strip()


def workloads(directory):
    source = directory / "headers.cc"
    source.write_text("".join(f"#include <{name}>\n" for name in HEADERS.split()) +
                      "int main() { std::regex r(\"a+b\"); return std::regex_match(\"aab\", r); }\n")
    numbers = directory / "numbers"
    numbers.write_text("\n".join(str(i * 7919 % 1000003) for i in range(150000)))
    compiler = output_of("g++", "-print-prog-name=cc1plus")
    multiarch = output_of("g++", "-print-multiarch")
    return {
        "cc1plus": [compiler, "-quiet", "-imultiarch", multiarch, "-D_GNU_SOURCE", "-O2",
                    str(source), "-o", "/dev/null"],
        "python3": ["/usr/bin/python3", "-c",
                    "print(sum(hash(str(i)) % 7 for i in range(1500000)))"],
        "xz": ["xz", "-9", "-k", "-c", str(numbers)],
        "sort": ["sort", "--parallel=1", str(numbers)],
    }


def recorders(record, rate):
    ours = [record, "-q", "--no-bundle", "-F", str(rate), "-o", "out.data"]
    perf = ["perf", "record", "-q", "-e", "cpu-clock", "-F", str(rate), "-o", "out.data"]
    return {
        "alone": [],
        FLOOR: [*ours, "--call-graph", "none", "--"],
        "perftape fp": [*ours, "--call-graph", "fp", "--"],
        OURS: [*ours, "--call-graph", "eh", "--"],
        PERF_FP: [*perf, "-g", "--"],
        PERF_DWARF: [*perf, "--call-graph", "dwarf", "--"],
    }


def cpu_seconds(words, command, directory):
    subprocess.run([*words, "bash", "-c", TIMED, "bash", "times", *command], cwd=directory,
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return sum(map(float, (directory / "times").read_text().split()))


def samples_of(inspect, file):
    text = subprocess.run([inspect, "--stats", file], text=True, capture_output=True).stdout
    return int(re.search(r"SAMPLE events?:\s+(\d+)", text).group(1))


def measure(options, directory, command, rate):
    inspect = str(pathlib.Path(options.build, "bin/perftape-inspect").resolve())
    record = str(pathlib.Path(options.build, "bin/perftape-record").resolve())
    times, sizes = {}, {}
    for _ in range(options.runs):
        for name, words in recorders(record, rate).items():
            times.setdefault(name, []).append(cpu_seconds(words, command, directory))
            output = directory / "out.data"
            if words:
                sizes[name] = (output.stat().st_size, samples_of(inspect, output))
                output.unlink()
    return times, sizes


def difference(times, name, base):
    """The median over the rounds: a busy machine slows down what runs at the same time."""
    return statistics.median(a - b for a, b in zip(times[name], times[base]))


def print_rows(name, rate, times, sizes):
    print(f"\n{name}, {rate} Hz" + " " * 20 + "CPU s  slower   us/sample   of perf -g  bytes/sample")
    theirs = difference(times, PERF_FP, FLOOR)
    alone = statistics.median(times["alone"])
    for recorder in times:
        line = f"  {recorder:32} {statistics.median(times[recorder]):7.3f} " \
            f"{100 * difference(times, recorder, 'alone') / alone:6.1f} %"
        if recorder in sizes:
            size, samples = sizes[recorder]
            added = difference(times, recorder, FLOOR)
            line += f" {1e6 * added / samples:10.2f} {added / theirs if theirs else 0:11.2f}"
            line += f" {size / samples:12.0f}"
        print(line, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--runs", type=int, default=31)
    parser.add_argument("--rates", default="999,4999")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        for workload, command in workloads(directory).items():
            for rate in map(int, options.rates.split(",")):
                print_rows(workload, rate, *measure(options, directory, command, rate))


if __name__ == "__main__":
    main()
