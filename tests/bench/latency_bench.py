#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what latency probes cost, beside tools of bcc and bpftrace that do the same job. All
record the whole machine, and run alternately. Needs root; a tool that does not run here is left out
with the reason.

    tests/bench/latency_bench.py --build build/release [--runs N] [WHAT...]

WHAT is one of these, or all of them by default:

    calls     system calls: CPU time of a call of getppid (known_calls.c)
    switches  run queues: CPU time of a round trip of perf bench sched pipe on one CPU
    pgbench   the default set, also with fs: transactions of pgbench on a PostgreSQL of its own, which
              listens on a Unix socket and does not wait for the disk, so that the CPUs are busy;
              --seconds for each run. "alone again" shows how much two equal runs differ. The CPU time of a transaction,
              of the server and of pgbench, differs less than the rate.
    cost      the same load: CPU time of each program and of the recorder, as part of that of the
              server. Sets kernel.bpf_stats_enabled meanwhile.
"""
import argparse
import collections
import contextlib
import itertools
import json
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import postgres

SOURCES = pathlib.Path(__file__).parents[1]
OF_POSTGRES = ("pgbench", "cost")
WHAT = ("calls", "switches", *OF_POSTGRES)
OUTPUT = "perf.data"
SETS = ("latency", "latency,latency:fs")
SCRIPTS = {"TPC-B": (), "select only": ("-S",)}
STATISTICS = pathlib.Path("/proc/sys/kernel/bpf_stats_enabled")
# What the statistics show for its runs is their own time.
EMPTY = ["bpftrace", "-e", "tracepoint:raw_syscalls:sys_enter { }"]
# The same as bcc's syscount -L, by process.
SYSCALL_LATENCY = """
tracepoint:raw_syscalls:sys_enter { @start[tid] = nsecs; }
tracepoint:raw_syscalls:sys_exit /@start[tid]/ {
  @time[pid, args->id] = hist(nsecs - @start[tid]);
  delete(@start[tid]);
}
"""


def runqlat():
    """bpftrace's runqlat.bt without the headers of a kernel, which it takes one number of."""
    path = shutil.which("runqlat.bt")
    if path is None:
        return ""
    lines = pathlib.Path(path).read_text().splitlines()
    return "\n".join(["#define TASK_RUNNING 0", *(line for line in lines if not line.startswith("#"))])


def loaded_programs():
    """The ids of all BPF programs. Those of a tool that has ended are freed a little later."""
    done = subprocess.run(["bpftool", "prog", "list"], capture_output=True, text=True, check=True)
    return set(re.findall(r"^(\d+): ", done.stdout, re.MULTILINE))


def run_times(programs):
    """{name: (runs, nanoseconds)} of these programs, while the kernel counts them."""
    done = subprocess.run(["bpftool", "-j", "prog", "list"], capture_output=True, text=True, check=True)
    times = collections.defaultdict(lambda: (0, 0))
    for program in json.loads(done.stdout):
        if str(program["id"]) in programs:
            runs, ns = times[program["name"]]
            times[program["name"]] = runs + program.get("run_cnt", 0), ns + program.get("run_time_ns", 0)
    return times


@contextlib.contextmanager
def statistics_of_programs():
    before = STATISTICS.read_text()
    STATISTICS.write_text("1")
    try:
        yield
    finally:
        STATISTICS.write_text(before)


def print_figures(name, values, alone, change):
    """A row of a table: the median, the extremes, and what `change` makes of the median."""
    median = statistics.median(values)
    print(f"{name:44} {median:10.1f} {min(values):10.1f} {max(values):10.1f}  {change(median, statistics.median(alone))}")


def percent(value, alone):
    return f"{100 * (value / alone - 1):+.1f} %"


class DoesNotRun(Exception):
    pass


@contextlib.contextmanager
def running(words, directory):
    """Runs a tool meanwhile. It has started when it has loaded its programs, and ours when its file has a name. Yields
    (its pid, the ids of these)."""
    if not words:
        yield None, set()
        return
    outputs = [directory / OUTPUT] if OUTPUT in words else []
    for path in outputs:
        path.unlink(missing_ok=True)
    if shutil.which(words[0]) is None:
        raise DoesNotRun(f"{words[0]} is not installed")
    before = loaded_programs()
    with tempfile.TemporaryFile("w+") as output:
        tool = subprocess.Popen(words, cwd=directory, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        try:
            new = seen = set()
            while not new or new != seen or not all(path.exists() for path in outputs):
                seen = new
                time.sleep(0.5)
                new = loaded_programs() - before
                if tool.poll() is not None:
                    output.seek(0)
                    lines = output.read().strip().splitlines() or ["no message"]
                    raise DoesNotRun(f"{' '.join(words)[:60]}: {lines[-1]}")
            yield tool.pid, new
        finally:
            tool.send_signal(signal.SIGINT)
            try:
                tool.wait(timeout=10)
            except subprocess.TimeoutExpired:  # bpftrace may miss the signal
                tool.kill()
                tool.wait()


def number_in(pattern, words, directory, **options):
    done = subprocess.run(words, capture_output=True, text=True, cwd=directory, check=True,
                          env=dict(os.environ, LC_ALL="C"), **options)
    return float(re.search(pattern, done.stdout + done.stderr).group(1))


class Bench:
    def __init__(self, options, directory):
        self.record = str(pathlib.Path(options.build, "bin", "perftape-record").resolve())
        self.options = options
        self.directory = directory

    def ours(self, events, *more):
        return [self.record, "-q", "-a", "--no-bundle", "-o", OUTPUT, "-e", events, *more]

    def compare(self, unit, tools, measure, worse):
        """Measures beside each tool, alternately. `worse(value, alone)` is what the tool costs."""
        values = {}
        for number in range(self.options.runs):
            for name, words in tools.items():
                if values.get(name, []) is None:
                    continue
                try:
                    with running(words, self.directory):
                        values.setdefault(name, []).append(measure())
                except DoesNotRun as error:
                    if number > 0:
                        raise
                    values[name] = None
                    print(f"{name}: left out: {error}")
        print(f"{'':44} {'median':>10} {'least':>10} {'most':>10}  {unit}")
        for name, found in values.items():
            if found:
                print_figures(name, found, values["alone"], worse)
        print(flush=True)

    def calls(self):
        program = str(self.directory / "known_calls")
        subprocess.run(["cc", "-O1", "-pthread", "-o", program, SOURCES / "kernel" / "known_calls.c", "-lm"],
                       check=True)
        self.compare("ns of CPU time of a call", {
            "alone": [],
            "-e latency:syscall=getppid": self.ours("latency:syscall=getppid"),
            "-e latency:syscall": self.ours("latency:syscall"),
            "-e latency:fs, which does not count it": self.ours("latency:fs"),
            "bcc syscount -L": ["syscount-bpfcc", "-L"],
            "bpftrace syscount.bt (no latency)": ["syscount.bt"],
            "bpftrace, histograms by process": ["bpftrace", "-e", SYSCALL_LATENCY],
        }, lambda: number_in(r"cpu ([\d.]+)", [program, "repeat", str(self.options.calls)], self.directory),
                     lambda value, alone: f"{value - alone:+.0f}")

    def switches(self):
        # On one CPU: on two, the time depends on whether these sleep meanwhile.
        pipe = ["taskset", "-c", "0", "perf", "bench", "sched", "pipe", "-l", str(self.options.loops)]

        def round_trip():
            before = os.times()
            subprocess.run(pipe, check=True, stdout=subprocess.DEVNULL)
            after = os.times()
            return 1e6 * (sum(after[2:4]) - sum(before[2:4])) / self.options.loops

        self.compare("us of CPU time of a round trip", {
            "alone": [],
            "-e latency:runq": self.ours("latency:runq"),
            "-e latency:runq --call-graph fp": self.ours("latency:runq", "--call-graph", "fp"),
            "-e latency:runq --no-callgraph": self.ours("latency:runq", "--no-callgraph"),
            "bcc runqlat": ["runqlat-bpfcc"],
            "bpftrace runqlat.bt": ["bpftrace", "-e", runqlat()],
        }, round_trip, lambda value, alone: f"{value - alone:+.1f}")

    def pgbench(self):
        tools = {"alone": [], "alone again": [], **{f"-e {events}": self.ours(events) for events in SETS}}
        with postgres.Postgres(self.directory) as server:
            for title, script in SCRIPTS.items():
                rates, costs = collections.defaultdict(list), collections.defaultdict(list)
                for _ in range(self.options.runs):
                    for name, words in tools.items():
                        with running(words, self.directory):
                            rate, count, *cpu = server.measure(self.options.seconds, *script)
                        rates[name].append(rate)
                        costs[name].append(1e6 * sum(cpu) / count)
                for unit, values in (("transactions a second", rates), ("us of CPU time of a transaction", costs)):
                    print(f"{title:44} {'median':>10} {'least':>10} {'most':>10}  {unit}")
                    for name, found in values.items():
                        print_figures(name, found, values["alone"], percent)
                print(flush=True)

    def cost(self):
        with postgres.Postgres(self.directory) as server, statistics_of_programs(), \
                running(EMPTY, self.directory) as (_, empty):
            for events, (title, script) in itertools.product(SETS, SCRIPTS.items()):
                with running(self.ours(events), self.directory) as (recorder, programs):
                    programs = programs | empty
                    before, used = run_times(programs), postgres.cpu_seconds(recorder)
                    _, count, cpu, client = server.measure(self.options.seconds, *script)
                    used = postgres.cpu_seconds(recorder) - used
                    after = run_times(programs)
                times = {name: (runs - before[name][0], ns - before[name][1]) for name, (runs, ns) in after.items()}
                print_cost(f"-e {events}, {title}, {count} transactions", times, used, cpu, cpu + client)


def print_cost(title, times, recorder, server, both):
    """`times` is {program: (runs, nanoseconds)}, the others are seconds."""
    runs, ns = times.pop("sys_enter")
    statistics_ns = ns / runs
    print(f"{title:44} {'runs':>10} {'ns':>10} {'less':>10}  CPU time of the server")
    total = recorder
    for name, (runs, ns) in sorted(times.items(), key=lambda row: -row[1][1]):
        net = ns - statistics_ns * runs
        total += net / 1e9
        if runs > 0:
            print(f"{name:44} {runs:10} {ns / runs:10.0f} {net / runs:10.0f}  {net / 1e7 / server:.2f} %")
    print(f"recorder {100 * recorder / server:.2f} %, all {100 * total / server:.2f} %; {100 * total / both:.2f} % of server "
          f"and pgbench; statistics {statistics_ns:.0f} ns\n", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--calls", type=int, default=3000000)
    parser.add_argument("--loops", type=int, default=100000)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("what", nargs="*", metavar="WHAT", help="calls, switches, pgbench or cost")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        bench = Bench(options, pathlib.Path(name))
        bench.directory.chmod(0o755)
        for what in options.what or WHAT:
            if what not in WHAT:
                sys.exit(f"{what} is none of {', '.join(WHAT)}")
            if what in OF_POSTGRES and not postgres.is_installed():
                print(f"{what}: left out: PostgreSQL is not installed")
                continue
            getattr(bench, what)()


if __name__ == "__main__":
    main()
