# SPDX-License-Identifier: Apache-2.0
"""Runs commands to their end and measures time and memory."""
import contextlib
import os
import statistics
import subprocess
import sys
import threading
import time


class Usage:
    def __init__(self, wall_s, cpu_s, peak_kb, status):
        self.wall_s, self.cpu_s, self.peak_kb, self.status = wall_s, cpu_s, peak_kb, status


def anonymous_kb(pid):
    """Returns the memory of a process without mapped files."""
    try:
        with open(f"/proc/{pid}/status") as status:
            for line in status:
                if line.startswith("RssAnon:"):
                    return int(line.split()[1])
    except OSError:
        pass
    return 0


class MemoryWatch:
    """Samples the memory of a process, while a block runs. Afterwards `peak_kb` is the most."""

    def __init__(self, pid):
        self.pid, self.peak_kb, self.is_over = pid, 0, threading.Event()
        self.thread = threading.Thread(target=self.watch)

    def watch(self):
        while not self.is_over.wait(0.002):
            self.peak_kb = max(self.peak_kb, anonymous_kb(self.pid))

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.is_over.set()
        self.thread.join()


def run(command, stdin=None, watch_memory=False, environment=None):
    """Runs a command to its end and drops its output. `stdin` comes through a pipe."""
    feeder = stdin and subprocess.Popen(["cat", stdin], stdout=subprocess.PIPE)
    begin = time.monotonic()
    child = subprocess.Popen([str(word) for word in command], env=environment,
                             stdin=feeder.stdout if feeder else subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if feeder:
        feeder.stdout.close()
    with MemoryWatch(child.pid) if watch_memory else contextlib.nullcontext() as memory:
        _, status, usage = os.wait4(child.pid, 0)
        wall_s = time.monotonic() - begin
    child.returncode = os.waitstatus_to_exitcode(status)
    if feeder:
        feeder.wait()
    return Usage(wall_s, usage.ru_utime + usage.ru_stime, memory.peak_kb if memory else 0,
                 child.returncode)


def medians(usages):
    return (statistics.median(usage.wall_s for usage in usages),
            statistics.median(usage.cpu_s for usage in usages))


def alternate(commands, runs):
    """Returns the medians (wall, CPU) of each command, run alternately: {name: (command,
    stdin)}."""
    usages = {name: [] for name in commands}
    for _ in range(runs):
        for name, (command, stdin) in commands.items():
            usage = run(command, stdin)
            if usage.status != 0:
                sys.exit(f"{name}: exit status {usage.status}: {' '.join(command)}")
            usages[name].append(usage)
    return {name: medians(took) for name, took in usages.items()}
