#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what perftape-convert writes of other people's recordings with the originals.

    normalize_test.py --bin build/dev/bin [--corpus DIRECTORY] [NAME ...]

Each recording of the corpus is written as a file and as a pipe's stream, compressed and
uncompressed. Read again, each has the same records and samples. With --compat 6.1, perf 6.1 counts
as many samples as the corpus's oracle, also for recordings that it refuses in their original form
because of their age, compression, byte order or records. Skipped (status 77) without a corpus or
perf.
"""
import argparse
import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from corpus import SKIPPED, find as find_corpus

FORMS = {"file": [], "pipe": ["--pipe"], "compressed file": ["-z"],
         "compressed pipe": ["--pipe", "-z3"]}

# Records that a pipe and a file have in different forms, and those of compression.
HEAD = {"ATTR", "FEATURE", "TRACING_DATA", "BUILD_ID", "COMPRESSED", "COMPRESSED2"}

# Damaged recordings: converting them reports the damage.
DAMAGED = {
    "own-x86_64-CRASHED-data-size-0": "its recorder was killed",
    "pipe-x86_64-k3.2-CORRUPT-zero-size-sample": "a sample of size 0",
    "pipe-x86_64-k6.16-COMPRESSED2-attr136-stderr-text-at-end": "other output in its pipe",
}


def run(*command):
    return subprocess.run([str(part) for part in command], capture_output=True, timeout=300,
                          env={**os.environ, "PERF_CONFIG": "/dev/null"})


class Recording:
    """Returns the records and samples of a file, as perftape-inspect prints them."""

    def __init__(self, inspect, path):
        self.samples = run(inspect, "--samples", path).stdout
        self.records = []
        for line in run(inspect, "--records", path).stdout.decode(errors="replace").splitlines():
            _, record = line.split(" ", 1)
            # Names of events are in the head of a pipe, and in a feature of a file.
            if record.split(" ", 1)[0] in HEAD or "update_type 2" in record:
                continue
            # Padding may change in perf's records and in those of unknown types.
            record = re.sub(r" size \d+:", ":", record, count=1)
            record = re.sub(r"payload \[\d+\].*", "payload", record)
            self.records.append(record)


def samples_in_perf(path):
    """Returns the number of SAMPLE records that perf counts, and its message if it fails."""
    done = run("perf", "report", "--stats", "-i", path)
    counts = re.search(r"^ +SAMPLE events: +(\d+)", done.stdout.decode(), re.M)
    return (int(counts[1]) if counts else 0), done.stderr.decode() if done.returncode else ""


class Judge:
    def __init__(self, bin_dir, corpus, work):
        self.convert = bin_dir / "perftape-convert"
        self.inspect = bin_dir / "perftape-inspect"
        self.corpus, self.target = corpus, Path(work, "out.data")
        self.complaints = []

    def write(self, source, *options):
        done = run(self.convert, source, "--to", "perf.data", "-f", "-o", self.target, *options)
        want = 3 if source.name.removesuffix(".perf.data") in DAMAGED else 0
        if done.returncode != want:
            self.complaints.append(f"{source.name} {' '.join(options)}: status {done.returncode}: "
                                   f"{done.stderr.decode(errors='replace')}")
        return done.returncode in (0, 3)

    def judge_round_trip(self, source):
        before = Recording(self.inspect, source)
        for form, options in FORMS.items():
            if not self.write(source, *options):
                continue
            after = Recording(self.inspect, self.target)
            if before.records != after.records:
                lines = zip(before.records, after.records)
                first = next((pair for pair in lines if pair[0] != pair[1]), ("one ended", ""))
                self.complaints.append(f"{source.name} as {form}: {len(before.records)} records "
                                       f"became {len(after.records)}: {first[0]} | {first[1]}")
            if before.samples != after.samples:
                self.complaints.append(f"{source.name} as {form}: other samples")

    def judge_compatibility(self, source):
        name = source.name.removesuffix(".perf.data")
        oracle = json.loads((source.parent / f"{name}.oracle.json").read_text())
        want = oracle.get("sample_records", oracle["samples"])
        if not self.write(source, "--compat", "6.1"):
            return
        count, stderr = samples_in_perf(self.target)
        if count != want or stderr:
            self.complaints.append(f"{name}: perf reads {count} of {want} samples: {stderr}")


def refused_by_perf(corpus):
    with open(corpus / "perfdata" / "MANIFEST.tsv", newline="") as table:
        return {row["name"] for row in csv.DictReader(table, delimiter="\t")
                if row["perf61_reads"] in ("no", "normalized")}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=Path, help="where the tools are")
    parser.add_argument("--corpus")
    parser.add_argument("names", nargs="*", help="only these recordings")
    options = parser.parse_args()
    if shutil.which("perf") is None:
        print("skipped: there is no perf")
        return SKIPPED
    corpus = find_corpus(options.corpus)
    if corpus is None:
        return SKIPPED
    sources = sorted((corpus / "perfdata").glob("*.perf.data"))
    if options.names:
        sources = [path for path in sources if path.name.removesuffix(".perf.data") in options.names]
    with tempfile.TemporaryDirectory(prefix="perftape-normalize-") as work:
        judge = Judge(options.bin, corpus, work)
        for source in sources:
            judge.judge_round_trip(source)
            judge.judge_compatibility(source)
    for complaint in judge.complaints:
        print(complaint)
    refused = sum(path.name.removesuffix(".perf.data") in refused_by_perf(corpus)
                  for path in sources)
    print(f"{len(sources)} recordings, {refused} of them refused by perf 6.1 as they are; "
          f"{len(judge.complaints)} complaints")
    return 1 if judge.complaints else 0


if __name__ == "__main__":
    sys.exit(main())
