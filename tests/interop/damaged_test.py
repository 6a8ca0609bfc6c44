#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the tools on damaged recordings: made ones of the corpus, and files that fuzzers found.

    damaged_test.py --bin build/dev/bin [--corpus DIRECTORY] [--no-memory] [NAME...]

Checks for each file and each of COMMANDS:
* The status is 0, 1 or 3, without a signal. It is 1 only if nothing can be read. It is 0 only if
nothing is damaged, or if the command does not read the damaged part (WITHOUT_COMPLAINT lists these
files with reasons).
* With status 1 or 3, stderr contains the file's name and the messages an offset.
* No sanitizer reports anything.
* Memory stays within 64 MB of the file's size.
* --samples prints a row for every complete sample before the damage.

The corpus is not part of this tree: $PERFTAPE_CORPUS, or ../shared/corpus beside it. Without one
the test is skipped (status 77). --no-memory is for builds with sanitizers, which need more memory.
"""
import argparse
import csv
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from corpus import SKIPPED, find as find_corpus

MOST_MEMORY_KB = 64 << 10

# The commands, by the name that the lists below use. --validate and recover report damage on
# stdout.
COMMANDS = {
    "samples": ["perftape-inspect", "--samples"],
    "stats": ["perftape-inspect", "--stats"],
    "validate": ["perftape-inspect", "--validate"],
    "folded": ["perftape-convert", "--to", "folded", "-o", "-"],
    "recover": ["perftape-recover", "-f", "-o"],
}
READERS = {"samples", "stats", "folded"}
REPORTS_ON_STDOUT = {"validate", "recover"}

# (commands, reason, files): commands that correctly exit with 0. "all" means all of COMMANDS.
WITHOUT_COMPLAINT = [
    ({"all"}, "not damaged: the file is odd, and every reader reads all of it",
     ["c-callchain-nr-0.data", "f-mmap-len-max.data", "f-records-reversed.data",
      "f-sample-time-0.data", "g-synthetic-guest-samples.data"]),
    ({"all"}, "cut between two records of a stream, which has no end mark: no reader can detect it",
     ["p-cut-at-boundary.data"]),
    ({"all"}, "perf reads a chain up to a marker that it does not know, in silence",
     ["c-callchain-bad-context.data"]),
    ({"all"}, "no reader looks at the bit, and the layout does not change by it",
     ["f-sample-type-unknown-bit.data"]),
    ({"samples", "stats", "folded", "validate"}, "an attribute of size 0 is one of version 0",
     ["p-attr-inner-size-0.data"]),
    ({"samples", "stats", "folded", "validate"}, "bytes that no section claims",
     ["f-trailing-garbage.data"]),
    ({"samples", "stats", "folded"}, "a damaged feature that samples do without",
     ["f-feature-build-id-size-0.data", "f-feature-cmdline-nr-huge.data",
      "f-feature-event-desc-attr-size-0.data", "f-feature-event-desc-nr-huge.data",
      "f-feature-nrcpus-short.data", "f-feature-string-len-huge.data",
      "p-feature-id-300.data", "t-tracing-data-bad-magic.data"]),
    ({"samples", "stats", "folded", "recover"}, "what the features say of compression is not needed",
     ["z-mmap-len-0.data", "z-no-compressed-feature.data", "z-type-99.data"]),
    ({"samples", "stats", "folded"}, "a name without NUL ends with its record",
     ["f-comm-no-nul.data", "f-mmap-no-nul.data"]),
    ({"samples", "stats", "folded"}, "a record of an unknown type is passed over",
     ["f-record-simpleperf-type.data", "f-record-type-0.data", "f-record-unknown-type-63.data",
      "f-record-unknown-type-200.data"]),
    ({"samples", "stats", "folded"}, "samples without a field, or of attributes recorded twice",
     ["f-sample-type-0.data", "p-attr-twice.data"]),
    ({"samples", "stats", "folded", "recover"},
     "the attributes of a stream are looked for to its end; the text is that of either version",
     ["p-attr-last.data", "f-magic-v1.data"]),
]

# Files with fewer rows than in the corpus's table, by how many, and why.
FEWER_ROWS = {
    "f-record-size-8.data": (1, "the table counts the record whose size was changed"),
    "f-sample-short.data": (1, "the table counts the record that was made too short"),
}

# Files whose messages have no offset, and why.
NO_OFFSET = {
    "f-trunc-header-000.data": "the file is empty",
}


def may_be_silent(command, name):
    return any(name in names and (command in commands or "all" in commands)
               for commands, _, names in WITHOUT_COMPLAINT)


class Run:
    """The result of a command: exit status (negative: the signal), messages, and peak memory in
    kB."""

    def __init__(self, arguments):
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            child = subprocess.Popen(arguments, stdout=out, stderr=err, stdin=subprocess.DEVNULL)
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            self.status, self.peak_kb = child.returncode, usage.ru_maxrss
            out.seek(0)
            err.seek(0)
            self.stdout, self.stderr = out.read(), err.read().decode(errors="replace")


class Judge:
    def __init__(self, options, work):
        self.options, self.output = options, str(Path(work, "recovered.data"))
        self.complaints = []
        self.baseline_kb = {name: self.run(name, "/nonexistent").peak_kb for name in COMMANDS}

    def run(self, command, path):
        program, *arguments = COMMANDS[command]
        if command == "recover":
            arguments = arguments + [self.output]
        return Run([self.options.bin / program, *arguments, path])

    def judge(self, path, samples_before):
        for command in COMMANDS:
            run = self.run(command, path)
            for words in self.complaints_of(command, path, samples_before, run):
                self.complaints.append(f"{path.name}: {command}: {words}")

    def complaints_of(self, command, path, samples_before, run):
        if run.status not in (0, 1, 3):
            yield f"status {run.status}: {run.stderr[-400:]}"
            return
        if re.search(r"Sanitizer|runtime error:", run.stderr):
            yield run.stderr[-400:]
        if run.status == 1 and samples_before > 0:
            yield f"nothing read, of {samples_before} samples"
        if run.status == 0 and not may_be_silent(command, path.name):
            yield "no complaint"
        if run.status != 0:
            yield from self.message_complaints(command, path, run)
        rows = max(0, len(run.stdout.splitlines()) - 1)
        fewer, _ = FEWER_ROWS.get(path.name, (0, ""))
        if command == "samples" and rows < samples_before - fewer:
            yield f"{rows} rows, of {samples_before} complete samples before the damage"
        allowed_kb = self.baseline_kb[command] + path.stat().st_size // 1024 + MOST_MEMORY_KB
        if not self.options.no_memory and run.peak_kb > allowed_kb:
            yield f"{run.peak_kb} kB of memory, of {allowed_kb} allowed"

    @staticmethod
    def message_complaints(command, path, run):
        messages = run.stderr
        if command in REPORTS_ON_STDOUT:
            messages += run.stdout.decode(errors="replace")
        if path.name not in messages:
            yield f"the file is not named: {messages[-300:]}"
        if not re.search(r"0x[0-9a-f]+", messages) and path.name not in NO_OFFSET:
            yield f"no offset is named: {messages[-300:]}"


def damaged_files(corpus, names):
    for kind in ("made", "fuzz"):
        with open(corpus / f"EXPECT-{kind}.tsv", newline="") as table:
            for row in csv.DictReader(table, delimiter="\t"):
                if not names or row["file"] in names:
                    before = row["complete_sample_records_before_damage"]
                    yield corpus / kind / row["file"], 0 if before == "-" else int(before)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=Path, help="where the tools are")
    parser.add_argument("--corpus")
    parser.add_argument("--no-memory", action="store_true", help="do not judge memory")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    corpus = find_corpus(options.corpus, "corrupt")
    if corpus is None:
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix="perftape-damaged-") as work:
        judge = Judge(options, work)
        count = 0
        for path, samples_before in damaged_files(corpus, options.names):
            judge.judge(path, samples_before)
            count += 1
    print("\n".join(judge.complaints))
    for commands, reason, names in WITHOUT_COMPLAINT:
        print(f"without complaint ({', '.join(sorted(commands))}): {', '.join(names)}: {reason}")
    for name, (fewer, reason) in FEWER_ROWS.items():
        print(f"{name}: {fewer} row less: {reason}")
    print(f"{count} files, {len(judge.complaints)} complaints")
    return 1 if judge.complaints or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
