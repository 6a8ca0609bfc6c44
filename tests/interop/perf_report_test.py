#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the table of perftape-report with perf report --stdio for recordings of the corpus and
combinations of keys and options: each line must be equal, except for blanks at its end and the
level ([k] or [.]) of addresses in no mapping. Both programs have no symbols but those in the
recording, so perf shows addresses for most frames.

Also walks the options in `perf report -h`: perftape-report must know each of them.

  perf_report_test.py --bin DIR [--all]    exit 0 equal, 1 not, 77 skipped: no corpus or no perf 6.1

--all compares all combinations with all recordings that perf 6.1 reads.
"""

import argparse
import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile

import newer_perf
from corpus import SKIPPED, find_recordings

# Small recordings: with and without call chains, of one and of several events, of other machines.
RECORDINGS = ["own-x86_64-fp-workload", "x86_64-k3.8-systemwide-1s", "x86_64-k3.8-callgraph-fp"]

# Options, by whether the recording must have call chains.
FLAT = [
    "--no-children -g none",
    "--no-children -g none -s comm",
    "--no-children -g none -s dso",
    "--no-children -g none -s sym",
    "--no-children -g none -s dso,sym",
    "--no-children -g none --sort comm,dso",
    "--no-children -g none -s comm,sym",
    "--no-children -g none -s cpu",
    "--no-children -g none -s cpu,comm",
    "--no-children -g none -s cgroup,comm",
    "--no-children -g none -s pid",
    "--no-children -g none -s time",
    "--no-children -g none -s time,comm --ns",
    "--no-children -g none -s time --time-quantum 10ms",
    "--no-children -g none -s comm,dso,sym -n",
    "--no-children -g none -s comm --show-total-period",
    "--no-children -g none -s comm -n --show-total-period",
    "--no-children -g none -s comm --show-cpu-utilization",
    "--no-children -g none -s overhead,comm",
    "--no-children -g none -s comm,overhead",
    "--no-children -g none -s sample,comm",
    "--no-children -g none -F overhead,comm",
    "--no-children -g none -F comm,overhead,dso",
    "--no-children -g none -F overhead,sample,period,comm,dso",
    "--no-children -g none -F overhead_sys,overhead_us,dso",
    "--no-children -g none -F period,dso -s dso",
    "--no-children -g none -s +cpu",
    "--no-children -g none -t ,",
    "--no-children -g none -t | -s comm,dso -n",
    "--no-children -g none -q -s dso",
    "--no-children -g none --percent-limit 1",
    "--no-children -g none --percent-limit 5 -s comm",
    "--no-children -g none -d [kernel.kallsyms]",
    "--no-children -g none -d [kernel.kallsyms],[unknown]",
    "--no-children -g none -d [kernel.kallsyms] --percentage relative",
    "--no-children -g none -d [kernel.kallsyms] --percentage absolute",
    "--no-children -g none --comms swapper",
    "--no-children -g none -c swapper,perf -s comm",
    "--no-children -g none -C 0 -s comm",
    "--no-children -g none --time 10%-20% -s comm",
    "--no-children -g none --time 10%/2 -s comm",
    "--no-children -g none --hierarchy",
    "--no-children -g none --hierarchy -s comm,dso",
    "--no-children -g none --hierarchy -s dso,sym --percent-limit 2",
    "--no-children -g none -U",
    "--no-children -g none -w 0,10,10 -s comm,dso",
]
CHAINS = [
    "--children -s comm",
    "--children -s dso -g none",
    "--children -s sym -g none",
    "--no-children",
    "--no-children -s comm",
    "--no-children -s sym",
    "--no-children -G",
    "--no-children -g caller -s comm",
    "--no-children -g callee -s dso",
    "--no-children -g graph,2",
    "--no-children -g fractal,2",
    "--no-children -g flat,1 -s comm",
    "--no-children -g folded,1 -s comm",
    "--no-children -g graph,1,2 -s comm",
    "--no-children -g count,2 -s comm",
    "--no-children -g period,2 -s comm",
    "--no-children -g address,2 -s comm",
    "--no-children -s comm --max-stack 4",
    "-s comm --percent-limit 3",
]
# Here perf sorts lines with equal shares by the differences of their addresses in 64 bits, so the
# order depends on the order in which it met them: compared only with --all.
TIED = ["", "--children -g none"]
# The recordings whose call chains are compared without --all, which takes long.
CHAINED = ("x86_64-k3.8-callgraph-fp",)
# An argument for each option that has one; "1" for all others.
ARGUMENTS = {"--sort": "comm", "--fields": "comm", "--call-graph": "graph", "--cpu": "0",
             "--percentage": "relative", "--time": "1,2", "--time-quantum": "1ms"}


class Tools:
    def __init__(self, folder, home):
        self.report = os.path.join(folder, "perftape-report")
        self.environment = {**os.environ, "HOME": home, "PERF_BUILDID_DIR": home,
                            "PERF_CONFIG": "/dev/null", "LC_ALL": "C"}

    def run(self, *command):
        return subprocess.run(command, capture_output=True, env=self.environment, check=False,
                              stdin=subprocess.DEVNULL)

    def perf(self, path, options):
        return self.lines(self.run("perf", "report", "--stdio", "--force", "-i", path, *options))

    def ours(self, path, options):
        return self.lines(self.run(self.report, "--stdio", "-i", path, *options))

    @staticmethod
    def lines(done):
        text = done.stdout.decode(errors="replace")
        # perf ends some reports with a random hint.
        text = re.sub(r"\n#\n# \(.*\)\n#\n", "\n", text)
        # An address in no mapping has the level of the frame before it, in the first sample: perf's
        # is the first by time, perftape's the first in the file.
        text = re.sub(r"((?:\[unknown\]|%) +)\[[k.]\] ((?:0x)?[0-9a-f]{16})\b", r"\1[?] \2", text)
        return [line.rstrip() for line in text.splitlines() if line.strip()]


def compare(tools, path, options):
    """Returns whether both tables are equal, and prints the first difference."""
    words = options.split()
    theirs, ours = tools.perf(str(path), words), tools.ours(str(path), words)
    if all(line.startswith("# To display") or line == "#" for line in theirs):
        return True  # perf has no samples for these options, or no times of the first and last
    if theirs == ours:
        return True
    changes = [line for line in difflib.unified_diff(theirs, ours, "perf", "perftape", lineterm="",
                                                     n=0)][:12]
    print(f"{path.name}: {options}")
    for line in changes:
        print("   ", line[:160])
    return False


def check_known(tools, perf):
    """Returns the options of `perf report -h` that perftape-report does not know."""
    unknown = []
    done = tools.run(*perf, "report", "-h")
    for line in (done.stdout + done.stderr).decode().splitlines():
        match = re.match(r" {4}(?:(-\w), | {4})(--[\w-]+)( <|\[=)?", line)
        if match is None:
            continue
        for name in filter(None, match.groups()[:2]):
            words = [name]
            if match.group(3) == " <":
                words.append(ARGUMENTS.get(match.group(2), "1"))
            done = tools.run(tools.report, "--stdio", *words, "-i", "/nonexistent.data")
            if b"unknown option" in done.stderr:
                unknown.append(name)
    return unknown


def perfs():
    """Returns the commands of the system's perf, and of a newer one if there is one."""
    found = [["perf"]]
    try:
        found.append(newer_perf.command())
    except newer_perf.Unavailable as why:
        print(f"no newer perf: {why}")
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    perf = shutil.which("perf")
    if perf is None or b" 6.1" not in subprocess.run([perf, "--version"], capture_output=True,
                                                     check=False).stdout:
        print("skipped: no perf 6.1")
        return SKIPPED
    paths = find_recordings(names=() if options.all else RECORDINGS)
    if not paths:
        return SKIPPED
    with tempfile.TemporaryDirectory() as home:
        tools = Tools(options.bin, home)
        unknown = [name for perf in perfs() for name in check_known(tools, perf)]
        if unknown:
            print("unknown options of perf report:", *unknown)
        wrong = right = 0
        for path in paths:
            has_chains = options.all or path.name.startswith(CHAINED)
            has_chains &= "Children" in "\n".join(tools.perf(str(path), ["-g", "none"])[:12])
            combinations = FLAT + (CHAINS if has_chains else [])
            for words in combinations + (TIED if has_chains and options.all else []):
                if compare(tools, path, words):
                    right += 1
                else:
                    wrong += 1
    print(f"{right} tables equal, {wrong} different")
    return 1 if wrong or unknown else 0


if __name__ == "__main__":
    sys.exit(main())
