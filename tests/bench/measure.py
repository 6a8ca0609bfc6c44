# SPDX-License-Identifier: Apache-2.0
"""Runs commands to their end and measures time and memory."""
import os
import statistics
import subprocess
import sys
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


def run(command, stdin=None, watch_memory=False):
    """Runs a command to its end and drops its output. `stdin` comes through a pipe."""
    feeder = stdin and subprocess.Popen(["cat", stdin], stdout=subprocess.PIPE)
    begin = time.monotonic()
    child = subprocess.Popen(command, stdin=feeder.stdout if feeder else subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if feeder:
        feeder.stdout.close()
    peak_kb, pid = 0, 0
    while watch_memory and not pid:
        peak_kb = max(peak_kb, anonymous_kb(child.pid))
        pid, status, usage = os.wait4(child.pid, os.WNOHANG)
        time.sleep(0.001)
    if not pid:
        _, status, usage = os.wait4(child.pid, 0)
    wall_s = time.monotonic() - begin
    child.returncode = os.waitstatus_to_exitcode(status)
    if feeder:
        feeder.wait()
    return Usage(wall_s, usage.ru_utime + usage.ru_stime, peak_kb, child.returncode)


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
