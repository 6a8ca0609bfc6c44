#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what latency probes cost, beside tools of bcc and bpftrace that do the same job. All
record the whole machine, and run alternately. Needs root; a tool that does not run here is left out
with the reason.

    tests/bench/latency_bench.py --build build/release [--runs N] [WHAT...]

WHAT is one of these, or all of them by default:

    calls     system calls: CPU time of a call of getppid (known_calls.c)
    switches  run queues: time of a round trip of perf bench sched pipe on one CPU
    pgbench   sets of probes: transactions of pgbench on a PostgreSQL of its own, which listens on a
              Unix socket and does not wait for the disk, so that the CPUs are busy; --seconds for
              each run
"""
import argparse
import contextlib
import os
import pathlib
import pwd
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

SOURCES = pathlib.Path(__file__).parents[1]
SETS = "latency:net,latency:fs,latency:block,latency:cpu,latency:memory"
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


class DoesNotRun(Exception):
    pass


@contextlib.contextmanager
def running(words, directory):
    """Runs a tool meanwhile. It has started when it has loaded its programs."""
    if not words:
        yield
        return
    if shutil.which(words[0]) is None:
        raise DoesNotRun(f"{words[0]} is not installed")
    before = loaded_programs()
    with tempfile.TemporaryFile("w+") as output:
        tool = subprocess.Popen(words, cwd=directory, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        try:
            new = seen = set()
            while not new or new != seen:
                seen = new
                time.sleep(0.5)
                new = loaded_programs() - before
                if tool.poll() is not None:
                    output.seek(0)
                    lines = output.read().strip().splitlines() or ["no message"]
                    raise DoesNotRun(f"{' '.join(words)[:60]}: {lines[-1]}")
            yield
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
        return [self.record, "-q", "-a", "--no-bundle", "-o", "perf.data", "-e", events, *more]

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
        alone = statistics.median(values["alone"])
        print(f"{'':44} {'median':>10} {'least':>10} {'most':>10}  {unit}")
        for name, found in values.items():
            if found:
                median = statistics.median(found)
                print(f"{name:44} {median:10.1f} {min(found):10.1f} {max(found):10.1f}  {worse(median, alone)}")
        print(flush=True)

    def calls(self):
        program = str(self.directory / "known_calls")
        subprocess.run(["cc", "-O1", "-pthread", "-o", program, SOURCES / "kernel" / "known_calls.c", "-lm"],
                       check=True)
        self.compare("ns of CPU time of a call", {
            "alone": [],
            "-e latency:syscall=getppid": self.ours("latency:syscall=getppid"),
            "-e latency:syscall": self.ours("latency:syscall"),
            "bcc syscount -L": ["syscount-bpfcc", "-L"],
            "bpftrace syscount.bt (no latency)": ["syscount.bt"],
            "bpftrace, histograms by process": ["bpftrace", "-e", SYSCALL_LATENCY],
        }, lambda: number_in(r"cpu ([\d.]+)", [program, "repeat", str(self.options.calls)], self.directory),
                     lambda value, alone: f"{value - alone:+.0f}")

    def switches(self):
        # On one CPU: on two, the time depends on whether these sleep meanwhile.
        pipe = ["taskset", "-c", "0", "perf", "bench", "sched", "pipe", "-l", str(self.options.loops)]
        self.compare("us of a round trip", {
            "alone": [],
            "-e latency:runq": self.ours("latency:runq"),
            "-e latency:runq --call-graph fp": self.ours("latency:runq", "--call-graph", "fp"),
            "-e latency:runq --no-callgraph": self.ours("latency:runq", "--no-callgraph"),
            "bcc runqlat": ["runqlat-bpfcc"],
            "bpftrace runqlat.bt": ["bpftrace", "-e", runqlat()],
        }, lambda: number_in(r"([\d.]+) usecs/op", pipe, self.directory),
                     lambda value, alone: f"{value - alone:+.1f}")

    def pgbench(self):
        binaries = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb"))
        if not binaries:
            print("pgbench: left out: PostgreSQL is not installed")
            return
        user = pwd.getpwnam("postgres")
        home = self.directory / "postgres"
        home.mkdir()
        os.chown(home, user.pw_uid, user.pw_gid)
        self.directory.chmod(0o755)
        as_user = {"user": "postgres", "group": user.pw_gid}
        postgres = binaries[-1].parent

        def run(program, *arguments):
            subprocess.run([postgres / program, *arguments], check=True, cwd=home, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, **as_user)

        run("initdb", "-D", home / "data", "-A", "trust")
        run("pg_ctl", "-D", home / "data", "-w", "-l", home / "log", "-o", f"-k {home} -c listen_addresses= -c fsync=off", "start")
        try:
            client = ["pgbench", "-h", home, "-U", "postgres"]
            run(*client, "-i", "-s", "10", "postgres")
            load = [postgres / "pgbench", *client[1:], "-c", "4", "-j", "2", "-T", str(self.options.seconds), "postgres"]
            self.compare("transactions a second", {
                "alone": [],
                "-e latency": self.ours("latency"),
                "the sets net, fs, block, cpu, memory": self.ours(SETS),
                "the same without cpu": self.ours(SETS.replace("latency:cpu,", "")),
            }, lambda: number_in(r"tps = ([\d.]+)", load, home, **as_user),
                         lambda value, alone: f"{100 * (value / alone - 1):+.1f} %")
        finally:
            run("pg_ctl", "-D", home / "data", "-m", "fast", "-w", "stop")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--calls", type=int, default=3000000)
    parser.add_argument("--loops", type=int, default=100000)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("what", nargs="*", metavar="WHAT", help="calls, switches or pgbench")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        bench = Bench(options, pathlib.Path(name))
        for what in options.what or ("calls", "switches", "pgbench"):
            if what not in ("calls", "switches", "pgbench"):
                sys.exit(f"{what} is not calls, switches or pgbench")
            getattr(bench, what)()


if __name__ == "__main__":
    main()
