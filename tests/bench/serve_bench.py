#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what perftape-serve costs a busy machine: the CPU time of its processes, as part of one
CPU, beside that of perftape-record with the same events. Needs root and PostgreSQL.

    tests/bench/serve_bench.py --build build/release [--seconds N] [--runs N] [--events EVENTS] [--push URL]

pgbench keeps the CPUs busy. Beside it, a program resets connections, loses packets and retransmits
segments once a second (tests/kernel/provoke.c). "start" is the CPU time until the measurement
begins, in seconds: --settle seconds, in which symbols are read. "BPF" is the time of the programs
in the kernel, which is that of the tasks they interrupt; the kernel counts it meanwhile
(kernel.bpf_stats_enabled). Programs that other users start meanwhile count: the recorder reads the
unwind tables of each new binary.
"""
import argparse
import collections
import contextlib
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import latency_bench
import postgres

EVENTS = ("cpu-clock", "cpu-clock,packetloss,tcpretrans,tcpreset")
PROVOKE = pathlib.Path(__file__).parents[1] / "kernel" / "provoke.c"
Cost = collections.namedtuple("Cost", "start_s percent bpf_percent parts")


def children_of(pid):
    return [int(child) for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def used_by(pid):
    """{name: CPU seconds} of a process and its children."""
    used = collections.Counter()
    for one in (pid, *children_of(pid)):
        used[pathlib.Path(f"/proc/{one}/comm").read_text().strip()] += postgres.cpu_seconds(one)
    return used


@contextlib.contextmanager
def load(server, directory):
    """Runs the programs until the block ends."""
    provoke = directory / "provoke"
    subprocess.run(["cc", "-O1", "-fno-omit-frame-pointer", "-o", provoke, PROVOKE], check=True)
    is_over = threading.Event()

    def transactions():
        while not is_over.is_set():
            server.measure(5)

    def losses():
        while not is_over.wait(1):
            subprocess.run([provoke, "all"], stdout=subprocess.DEVNULL, check=True)

    threads = [threading.Thread(target=each) for each in (transactions, losses)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        is_over.set()
        for thread in threads:
            thread.join()


def ns_of(times):
    return sum(ns for _, ns in times.values())


def cost_of(words, directory, options):
    """Runs a tool beside the load."""
    before = latency_bench.loaded_programs()
    tool = subprocess.Popen(words, cwd=directory, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        time.sleep(options.settle)
        if tool.poll() is not None:
            sys.exit(f"{' '.join(words)} has ended with status {tool.returncode}")
        programs = latency_bench.loaded_programs() - before
        start, ns, begin = used_by(tool.pid), ns_of(latency_bench.run_times(programs)), time.monotonic()
        time.sleep(options.seconds)
        end, ns_then, seconds = used_by(tool.pid), ns_of(latency_bench.run_times(programs)), time.monotonic() - begin
    finally:
        tool.send_signal(signal.SIGINT)
        tool.wait()
    parts = {name: 100 * (end[name] - start[name]) / seconds for name in end}
    return Cost(sum(start.values()), sum(parts.values()), (ns_then - ns) / 1e7 / seconds, parts)


def tools_for(events, directory, options):
    binaries = pathlib.Path(options.build, "bin").resolve()
    common = ["-q", "-F", "19", "-e", events]
    push = ["--push", f"pyroscope={options.push}"] if options.push else []
    return {
        "perftape-record": [binaries / "perftape-record", "-a", "--no-bundle", "-o", "perf.data", *common],
        "perftape-serve": [binaries / "perftape-serve", "--listen", directory / "serve.sock", *common, *push],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--settle", type=int, default=15)
    parser.add_argument("--events", action="append",
                        help=f"for -e; several: each of them; default {' and '.join(EVENTS)}")
    parser.add_argument("--push", metavar="URL", help="also push to this Pyroscope")
    options = parser.parse_args()
    if not postgres.is_installed():
        sys.exit("PostgreSQL is not installed")
    costs = collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        directory.chmod(0o755)
        with postgres.Postgres(directory) as server, load(server, directory), latency_bench.statistics_of_programs():
            for _ in range(options.runs):
                for events in options.events or EVENTS:
                    for tool, words in tools_for(events, directory, options).items():
                        costs[events, tool].append(cost_of(list(map(str, words)), directory, options))
    print(f"{'median of CPU time, % of one CPU':58} {'all':>7} {'least':>7} {'most':>7} {'BPF':>7} {'start s':>8}")
    for (events, tool), found in costs.items():
        all_of = [cost.percent for cost in found]
        print(f"{tool + ' -e ' + events:58} {statistics.median(all_of):7.2f} {min(all_of):7.2f} {max(all_of):7.2f} "
              f"{statistics.median(cost.bpf_percent for cost in found):7.2f} "
              f"{statistics.median(cost.start_s for cost in found):8.2f}")
        for part in found[0].parts:
            print(f"  {part:56} {statistics.median(cost.parts.get(part, 0) for cost in found):7.2f}")


if __name__ == "__main__":
    main()
