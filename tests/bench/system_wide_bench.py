#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what a recording of the whole system costs: the CPU time of the programs that run (two
compilers at once, a fixed number of times) and that of the recorder, perftape-record -a against
perf record -a with -g (as fp) and --call-graph dwarf (as eh). All run alternately. Needs root.

    tests/bench/system_wide_bench.py --build build/release [--runs N] [--rates 999,9999]

"slower" is against the programs without a recorder. "without floor" is what the call chains add:
a recording without them, which has only the interrupts, is subtracted. The recorder's time has no
bundle. "start and end" is its time for a recording of nothing, which is in "recorder", too.
"""
import argparse
import os
import pathlib
import resource
import signal
import statistics
import subprocess
import tempfile
import time

from unwind_record_bench import difference, workloads

FLOOR = "perftape none"
COPIES = 2


def recorders(record, rate):
    ours = [record, "-a", "-q", "--no-bundle", "-F", str(rate), "-o", "out.data"]
    perf = ["perf", "record", "-a", "-q", "-e", "cpu-clock", "-F", str(rate), "-o", "out.data"]
    return {
        "alone": [],
        FLOOR: [*ours, "--call-graph", "none"],
        "perftape fp": [*ours, "--call-graph", "fp"],
        "perftape eh": [*ours, "--call-graph", "eh"],
        "perftape eh, --sync": [*ours, "--call-graph", "eh", "--sync"],
        "perf record -a -g": [*perf, "-g"],
        "perf record -a dwarf": [*perf, "--call-graph", "dwarf"],
    }


class Recording:
    """A recorder that runs while the block does. Afterwards `cpu_s` is its CPU time."""

    def __init__(self, words, directory):
        self.words, self.directory, self.cpu_s = words, directory, 0.0

    def __enter__(self):
        if self.words:
            self.child = subprocess.Popen(self.words, cwd=self.directory, stdout=subprocess.DEVNULL,
                                          stderr=subprocess.DEVNULL)
            while not (self.directory / "out.data").exists():
                time.sleep(0.01)
            time.sleep(0.5)
        return self

    def __exit__(self, *_):
        if not self.words:
            return
        self.child.send_signal(signal.SIGINT)
        _, _, usage = os.wait4(self.child.pid, 0)
        self.child.returncode = 0
        self.cpu_s = usage.ru_utime + usage.ru_stime
        (self.directory / "out.data").unlink()


def cpu_seconds(command, rounds):
    """The CPU time of the command, run `rounds` times in each of COPIES places."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    loop = f"for i in $(seq {rounds}); do \"$@\" >/dev/null; done"
    places = [subprocess.Popen(["sh", "-c", loop, "sh", *command]) for _ in range(COPIES)]
    for place in places:
        place.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def print_rows(rate, programs, recorder, idle):
    print(f"\n{rate} Hz{'':22} programs   slower  without floor   recorder  start and end")
    alone = statistics.median(programs["alone"])
    for name, found in programs.items():
        line = f"  {name:24} {statistics.median(found):8.2f} s"
        if name != "alone":
            line += f" {100 * difference(programs, name, 'alone') / alone:6.2f} %" \
                f" {100 * difference(programs, name, FLOOR) / alone:12.2f} %" \
                f" {statistics.median(recorder[name]):8.3f} s {statistics.median(idle[name]):10.3f} s"
        print(line, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--rounds", type=int, default=2, help="how often each compiler runs")
    parser.add_argument("--rates", default="999,9999")
    options = parser.parse_args()
    record = str((options.build / "bin/perftape-record").resolve())
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        command = workloads(directory)["cc1plus"]
        for rate in map(int, options.rates.split(",")):
            programs, recorder, idle = {}, {}, {}
            for _ in range(options.runs):
                for of, words in recorders(record, rate).items():
                    with Recording(words, directory) as nothing:
                        pass
                    with Recording(words, directory) as recording:
                        programs.setdefault(of, []).append(cpu_seconds(command, options.rounds))
                    idle.setdefault(of, []).append(nothing.cpu_s)
                    recorder.setdefault(of, []).append(recording.cpu_s)
            print_rows(rate, programs, recorder, idle)


if __name__ == "__main__":
    main()
