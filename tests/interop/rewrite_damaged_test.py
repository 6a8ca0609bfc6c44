#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that `perftape-convert --to perf.data` writes an undamaged file for damaged input, or
none.

    rewrite_damaged_test.py --bin build/dev/bin [--corpus DIRECTORY] [NAME...]

Each damaged recording of the corpus is written as a file and as a pipe's stream. The output must
read with status 0. With status 3, stderr and --json contain the file's name, an offset and a
reason. With status 0, the output has the samples of the input, and the input reads with status 0,
too. The corpus is not part of this tree: $PERFTAPE_CORPUS, or ../shared/corpus beside it. Without
one the test is skipped (status 77).
"""
import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from corpus import SKIPPED, find as find_corpus

FORMS = {"file": [], "pipe": ["--pipe"]}
OFFSET = re.compile(r"0x[0-9a-f]+")

# Files whose messages have no offset, and why.
NO_OFFSET = {
    "f-trunc-header-000.data": "the file is empty",
}


def run(*command):
    return subprocess.run([str(part) for part in command], capture_output=True, timeout=300)


class Judge:
    def __init__(self, bin_dir, work):
        self.convert, self.inspect = bin_dir / "perftape-convert", bin_dir / "perftape-inspect"
        self.target = Path(work, "out.data")
        self.complaints = []

    def judge(self, source):
        for form, options in FORMS.items():
            self.target.unlink(missing_ok=True)
            done = run(self.convert, source, "--to", "perf.data", "-f", "-o", self.target, "--json",
                       *options)
            for words in self.complaints_of(source, done):
                self.complaints.append(f"{source.name} as {form}: {words}")

    def complaints_of(self, source, done):
        messages = done.stderr.decode(errors="replace")
        if done.returncode not in (0, 1, 3):
            yield f"status {done.returncode}: {messages}"
        elif done.returncode == 1:
            yield from self.message_complaints(source, messages)
        else:
            if done.returncode == 3:
                yield from self.message_complaints(source, messages)
                yield from self.json_complaints(source, json.loads(done.stdout))
            else:
                yield from self.silence_complaints(source)
            yield from self.output_complaints()

    @staticmethod
    def message_complaints(source, messages):
        if source.name not in messages:
            yield f"the file is not named: {messages}"
        if not OFFSET.search(messages) and source.name not in NO_OFFSET:
            yield f"no offset is named: {messages}"

    @staticmethod
    def json_complaints(source, report):
        problems = report["inputs"][0]["problems"]
        if not any(OFFSET.search(problem) for problem in problems):
            yield f"--json names no reason with an offset: {problems}"
        if Path(report["inputs"][0]["name"]).name != source.name:
            yield f"--json names {report['inputs'][0]['name']}"
        lost = sum(report["lost"].values())
        if lost != len(report["dropped"]):
            yield f"--json counts {lost} records, and lists {len(report['dropped'])}"

    def silence_complaints(self, source):
        before = run(self.inspect, "--samples", source)
        if before.returncode != 0:
            yield f"status 0, though reading the input ends with {before.returncode}"
        if before.stdout != run(self.inspect, "--samples", self.target).stdout:
            yield "status 0, but the samples are others"

    def output_complaints(self):
        readers = {"samples": [self.inspect, "--samples"], "stats": [self.inspect, "--stats"],
                   "folded": [self.convert, "--to", "folded", "-o", "-"]}
        for name, command in readers.items():
            done = run(*command, self.target)
            if done.returncode != 0:
                yield f"the output reads ({name}) with status {done.returncode}: " + \
                      done.stderr.decode(errors="replace")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=Path, help="where the tools are")
    parser.add_argument("--corpus")
    parser.add_argument("names", nargs="*", help="only these recordings")
    options = parser.parse_args()
    corpus = find_corpus(options.corpus, "corrupt")
    if corpus is None:
        return SKIPPED
    sources = [path for path in sorted(corpus.glob("*/*.data"))
               if not options.names or path.name in options.names]
    with tempfile.TemporaryDirectory(prefix="perftape-rewrite-damaged-") as work:
        judge = Judge(options.bin, work)
        for source in sources:
            judge.judge(source)
    print("\n".join(judge.complaints))
    print(f"{len(sources)} files, {len(judge.complaints)} complaints")
    return 1 if judge.complaints or not sources else 0


if __name__ == "__main__":
    sys.exit(main())
