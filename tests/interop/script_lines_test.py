#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""perftape-script prints what perf script prints: line by line, for the recordings of the corpus and
the lists of fields below. Each recording is tried with some of the lists, so that all are used;
--all tries all. The version of perf must be 6.1. Without names: those of another machine are found by
neither, and those in bundles only by perftape."""
import argparse
import itertools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import corpus

# The options of perf script that are compared, in the order of their use.
LISTS = [
    "",
    "-F comm,tid,pid,time,cpu,event,ip,sym,dso,period",
    "-F comm,pid,tid,cpu,time,event,ip,sym,dso,trace",
    "-F comm,tid,time,event,ip,sym",
    "-F ip,sym",
    "-F ip,sym,dso",
    "-F ip,sym,symoff,dso",
    "-F comm,ip,sym",
    "-F pid,ip,sym",
    "-F comm,tid,ip,sym,dso",
    "-F event,ip",
    "-F event,period",
    "-F time,event",
    "-F comm,pid",
    "-F comm,tid,time",
    "-F cpu,time",
    "-F tid,time,ip",
    "-F +pid",
    "-F +misc",
    "-F +flags",
    "-F -period",
    "-F -comm,-tid",
    "-F -symoff",
    "-F -dso",
    "-F -ip",
    "-F +pid,-cpu",
    "-F +addr",
    "-F +brstack",
    "-F +brstacksym",
    "-F brstack",
    "-F ip,brstacksym",
    "-F +uregs",
    "-F +iregs",
    "-F +insnlen",
    "-F +data_src,+weight",
    "-F hw:comm,ip,sym",
    "-F sw:comm,tid,time,event",
    "-F trace:comm,time,trace",
    "-G",
    "-G -F ip,sym,dso",
    "--ns",
    "--reltime",
    "--deltatime -F comm,time,event",
    "--max-stack 3",
    "--max-stack 0 -F comm,ip",
    "-C 0 -F comm,cpu,time",
    "--show-task-events",
    "--show-mmap-events -F comm,tid,time,event",
    "--show-task-events --show-mmap-events -F comm,pid,tid,time,misc,event",
    "--show-lost-events --show-switch-events",
    "--show-namespace-events --show-cgroup-events --show-bpf-events -F comm,tid,time,event",
]

# The lines that may differ, and why. The names are those of recordings, or parts of them.
DIFFERENT = {
    "dwarf": "without the binaries perf prints no frame of a copied stack, perftape the innermost",
    "simpleperf-aarch64-embedded-lib-in-apk": "the same",
    "simpleperf-aarch64-ip-zero-in-callchain": "the same",
    "own-x86_64-4kHz-one-page-ring": "perf has no mapping behind the recorded end of the kernel, "
                                     "where its initialization is",
    "own-x86_64-offcpu-sched-switch-wakeup": "the same",
    "own-i386-fp-systemwide": "perf keeps the mappings of the program before exec(2)",
    "own-ppc64le-fp-systemwide": "the same",
    "simpleperf-aarch64-merge1": "the same",
    "pipe": "perf adds its default fields to those that -F names, if a pipe describes the events",
    "own-s390x-BE": "perf reads the protection of a mapping in its own byte order",
    "x86_64-k3.4-callgraph-and-branch": "perf takes user addresses in branches for the kernel's",
    "x86_64-k4.14-intel-pt": "perf takes fields that only samples of the trace would have",
    "simpleperf-aarch64-etm-auxtrace": "the same",
    "simpleperf-aarch64-etm-unformatted": "the same",
    "x86_64-k5.4-lbr-callgraph-vector-gcc": "perf reads an entry of an empty branch stack",
}

# Before their COMM, perf gives the first process and kthreadd the name of the idle thread, their parent.
IDLE, FIRST = r"^ *swapper(?= )", r"^ *:[12](?= )"

LARGEST = 200_000  # bytes, without --all
LISTS_OF_A_RECORDING = 3  # without --all


def lines_of(command, environment):
    """Returns the lines of a command's stdout; None if it refuses the options or the file."""
    done = subprocess.run(command, capture_output=True, env=environment, stdin=subprocess.DEVNULL,
                          timeout=300, check=False)
    if done.returncode < 0:
        sys.exit(f"{' '.join(map(str, command))}: signal {-done.returncode}")
    if done.returncode not in (0, 3):
        return None
    return done.stdout.decode("utf-8", "backslashreplace").split("\n")


def is_named(perf, ours):
    """Whether two lines are equal, except for the names of processes 1 and 2 before their COMM, or that
    only perftape has names: from the recording, or by build id."""
    if perf is None or ours is None:
        return False
    if re.sub(IDLE, "", perf) == re.sub(FIRST, "", ours) != ours:
        return True
    if "[unknown]" not in perf:
        return False
    pattern = re.escape(perf).replace(re.escape("[unknown]"), r".+?")
    return re.fullmatch(pattern, ours) is not None


class Comparison:
    def __init__(self, script, directory, shows_all):
        self.script = script
        self.shows_all = shows_all
        self.equal = self.refused = self.lines = self.named = self.explained = 0
        self.different = []
        self.environment = {**os.environ, "HOME": str(directory), "TZ": "UTC", "PAGER": "cat",
                            "PERF_BUILDID_DIR": str(directory / "buildids")}
        self.empty = directory / "empty"
        self.empty.mkdir()
        self.kallsyms = directory / "kallsyms"
        self.kallsyms.write_text("")

    def compare(self, recording, options):
        words = options.split()
        perf = lines_of(["perf", "--buildid-dir", self.environment["PERF_BUILDID_DIR"], "script",
                         "--force", "--no-itrace", "--symfs", self.empty, "--kallsyms", self.kallsyms,
                         "--no-inline", "-i", recording, *words], self.environment)
        ours = lines_of([self.script, "-q", "--no-local", "-i", recording, *words],
                        self.environment)
        if perf is None or ours is None:
            if perf is None and ours is None:
                self.refused += 1
            elif perf is None:
                self.refused += 1
            else:
                self.report(recording, options, "only perftape refuses it")
            return
        differing = [pair for pair in itertools.zip_longest(perf, ours) if pair[0] != pair[1]]
        unequal = [pair for pair in differing if not is_named(*pair)]
        if not unequal:
            self.equal += 1
            self.lines += len(perf)
            self.named += len(differing)
            return
        self.report(recording, options,
                    f"{len(unequal)} of {len(perf)} lines, the first:\n"
                    f"    perf     {unequal[0][0]!r:.300}\n    perftape {unequal[0][1]!r:.300}")

    def report(self, recording, options, what):
        name = recording.name.removesuffix(".perf.data")
        if any(part in name for part in DIFFERENT):
            self.explained += 1
        else:
            self.different.append(f"{name} {options}: {what}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True, type=pathlib.Path)
    parser.add_argument("--all", action="store_true", help="all lists for all recordings")
    parser.add_argument("--only", default="", help="recordings with this in their names")
    parser.add_argument("--options", help="these options instead of the lists")
    arguments = parser.parse_args()
    recordings = corpus.find_recordings()
    if recordings is None:
        return corpus.SKIPPED
    version = shutil.which("perf") and subprocess.run(["perf", "version"], capture_output=True,
                                                      check=False).stdout.decode()
    if not version or " 6.1" not in version:
        print("needs perf 6.1")
        return corpus.SKIPPED
    lists = [arguments.options] if arguments.options is not None else LISTS
    offset = 0
    with tempfile.TemporaryDirectory() as name:
        comparison = Comparison(arguments.bin / "perftape-script", pathlib.Path(name),
                                arguments.all)
        for recording in recordings:
            if arguments.only not in recording.name:
                continue
            if not arguments.all and recording.stat().st_size > LARGEST:
                continue
            chosen = lists
            if not arguments.all and arguments.options is None:
                chosen = [lists[(offset + i) % len(lists)] for i in range(LISTS_OF_A_RECORDING)]
                offset += LISTS_OF_A_RECORDING
            for options in chosen:
                comparison.compare(recording, options)
    for difference in comparison.different:
        print(difference)
    print(f"{comparison.equal} texts are equal, with {comparison.lines} lines, of "
          f"which only perftape names {comparison.named}; perf refuses {comparison.refused}; "
          f"{comparison.explained} differ for a known reason, {len(comparison.different)} for no "
          "known one")
    return 1 if comparison.different or comparison.equal == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
