#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares perftape-report --latency with perf report --latency of a newer perf (newer_perf.py), on the same recordings.

    latency_test.py --bin build/dev/bin --program build/dev/tests/known_parallelism

perf record --latency records a program that computes in one thread, in four threads on two CPUs, and first in one, then
in four (known_parallelism.cc). Latency, overhead and parallelism of each phase must agree within 5 points, also those
of --parallelism 1. A recording of perftape-record --why must know the phases, too. Skipped (status 77) without a newer
perf, without a second CPU, or if this user may not record.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import newer_perf

SKIPPED = 77
MOST_POINTS = 5.0
LEAST_PERCENT = 80  # of the latency is in the phases
ATTEMPTS = 3  # beside other load, records may be lost and phases be short
# Names of runs, with the seconds of CPU time in one thread and in four.
RUNS = {"serial": (1.0, 0), "parallel": (0, 2.0), "half": (1.0, 1.0)}
PHASES = ("serial_phase", "parallel_phase")


def run(*arguments):
    return subprocess.run([str(argument) for argument in arguments], capture_output=True, text=True, timeout=120,
                          check=False)


def phases_of_perf(perf, path, *options):
    """Returns {phase: (latency, overhead)} in percent, and the average parallelism of each phase."""
    done = run(*perf, "report", "-i", path, "--latency", "--stdio", "--no-children", "-g", "none", "-F",
               "latency,overhead,parallelism,sym", *options)
    shares, numbers = {}, {}
    for line in done.stdout.splitlines():
        found = re.match(r" +([\d.]+)% +([\d.]+)% +(\d+) +\[.\] (\w+)", line)
        if found and found[4] in PHASES:
            latency, overhead, parallelism = float(found[1]), float(found[2]), int(found[3])
            before = shares.get(found[4], (0.0, 0.0))
            shares[found[4]] = (before[0] + latency, before[1] + overhead)
            numbers.setdefault(found[4], []).append((overhead, parallelism))
    averages = {phase: sum(share * number for share, number in rows) / sum(share for share, _ in rows)
                for phase, rows in numbers.items()}
    return shares, averages


def phases_of_perftape(bin_dir, path, *options):
    """The same of our report."""
    done = run(bin_dir / "perftape-report", "-q", "--latency", "--json", "-n", "10000", path, *options)
    if done.returncode not in (0, 3):
        raise RuntimeError(done.stderr)
    shares, averages = {}, {}
    for event in json.loads(done.stdout)["events"]:
        for function in event["functions"]:
            if function["function"] in PHASES:
                latency = function["latency"]["self"]
                shares[function["function"]] = (latency["percent"], function["self"]["percent"])
                averages[function["function"]] = latency["parallelism"]
    return shares, averages


class Judge:
    def __init__(self, perf, bin_dir, program, work):
        self.perf, self.bin, self.program = perf, pathlib.Path(bin_dir), program
        self.work = pathlib.Path(work)
        self.failures = []

    def compare(self, what, ours, theirs):
        our_shares, our_averages = ours
        their_shares, their_averages = theirs
        if sum(latency for latency, _ in our_shares.values()) < LEAST_PERCENT:
            self.failures.append(f"{what}: the phases have too few samples: {our_shares}")
        for phase in sorted(set(our_shares) | set(their_shares)):
            our = (*our_shares.get(phase, (0, 0)), our_averages.get(phase, 0))
            their = (*their_shares.get(phase, (0, 0)), their_averages.get(phase, 0))
            print(f"{what} {phase}: latency {our[0]:.2f} %, perf {their[0]:.2f} %; overhead {our[1]:.2f} %, "
                  f"perf {their[1]:.2f} %; parallelism {our[2]:.2f}, perf {their[2]:.2f}")
            far = max(abs(our[0] - their[0]), abs(our[1] - their[1])) > MOST_POINTS
            if far or abs(our[2] - their[2]) > MOST_POINTS / 100 * max(their[2], 1):
                self.failures.append(f"{what} {phase}: {our} instead of {their}")

    def attempt(self, check):
        """Keeps the failures of a check only if each of its attempts fails."""
        before = list(self.failures)
        for _ in range(ATTEMPTS):
            self.failures = list(before)
            check()
            if self.failures == before:
                return
            print("attempt failed:", *self.failures[len(before):], sep="\n  ")

    def check(self, name):
        path = self.work / f"{name}.data"
        done = run(*self.perf, "record", "--latency", "-e", "cpu-clock", "-F", "999", "--call-graph", "fp", "-o", path,
                   "--", self.program, *RUNS[name])
        if not path.exists():
            raise newer_perf.Unavailable(f"it cannot record: {done.stderr.strip() or 'no message'}")
        self.compare(name, phases_of_perftape(self.bin, path), phases_of_perf(self.perf, path))
        serial = ("--parallelism", "1")
        self.compare(f"{name} --parallelism 1", phases_of_perftape(self.bin, path, *serial),
                     phases_of_perf(self.perf, path, *serial, "--percentage", "relative"))

    def check_own_recording(self):
        """perf's rule, from waits: one thread ran in the serial phase, up to two in the other one."""
        path = self.work / "own.data"
        done = run(self.bin / "perftape-record", "--why", "-q", "-o", path, "--", self.program, *RUNS["half"])
        if done.returncode not in (0, 3):
            self.failures.append(f"perftape-record: {done.stderr}")
            return
        shares, averages = phases_of_perftape(self.bin, path)
        print(f"perftape-record --why: {shares}, parallelism {averages}")
        if averages.get("serial_phase", 0) > 1 + MOST_POINTS / 100:
            self.failures.append(f"serial phase: {averages}")
        if not 1 < averages.get("parallel_phase", 0) <= 2 + MOST_POINTS / 100:
            self.failures.append(f"parallel phase: {averages}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--program", required=True)
    arguments = parser.parse_args()
    if not {0, 1} <= os.sched_getaffinity(0):
        print("skipped: needs CPUs 0 and 1")
        return SKIPPED
    try:
        perf = newer_perf.command()
        with tempfile.TemporaryDirectory() as work:
            judge = Judge(perf, arguments.bin, arguments.program, work)
            for name in RUNS:
                judge.attempt(lambda name=name: judge.check(name))
            if os.geteuid() == 0:
                judge.attempt(judge.check_own_recording)
    except newer_perf.Unavailable as error:
        print(f"skipped: newer perf: {error}")
        return SKIPPED
    for failure in judge.failures:
        print(f"FAILED {failure}")
    return 1 if judge.failures else 0


if __name__ == "__main__":
    sys.exit(main())
