#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Opens the output of perftape-recover with perf: it must have the samples that the report counts.

    recover_test.py --bin build/dev/bin [--corpus DIRECTORY] [--table]

The inputs are a small recording cut at many offsets, and all damaged files of the corpus, if there
is one ($PERFTAPE_CORPUS, or ../shared/corpus beside the tree). --table prints what perf reads of
each damaged file and of the recovered one. Skipped (status 77) without perf.
"""
import argparse
import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from corpus import SKIPPED, find as find_corpus

# perf only handles guests named by --guestmount, and prints no samples of others.
PRINTS_FEWER = {"g-synthetic-guest-samples.data"}


def recover(tool, source, target):
    done = subprocess.run([tool, source, "-o", target, "-f", "--json"], capture_output=True)
    if done.returncode not in (0, 1, 3):
        raise AssertionError(f"{source}: status {done.returncode}: {done.stderr.decode()}")
    return json.loads(done.stdout) if done.returncode != 1 else None


def samples_in_perf(path):
    """Returns the number of samples that `perf script` prints; None if it fails."""
    done = subprocess.run(["perf", "script", "--no-itrace", "-F", "pid,tid", "-i", path],
                          capture_output=True, env={**os.environ, "PERF_CONFIG": "/dev/null"})
    if done.returncode != 0:
        return None
    return sum(1 for line in done.stdout.splitlines() if line.strip())


class Judge:
    def __init__(self, tool, work):
        self.tool, self.target = tool, Path(work, "recovered.data")
        self.complaints = []

    def judge(self, source, name):
        """Returns the number of kept samples, as perf counts them; None if nothing was
        recovered."""
        report = recover(self.tool, source, self.target)
        if report is None:
            return None
        printed = samples_in_perf(self.target)
        if printed != report["samples"] and not (name in PRINTS_FEWER and printed is not None):
            self.complaints.append(f"{name}: {report['samples']} samples kept, perf reads {printed}")
        return report["samples"]


def small_recordings(bin_dir, work):
    whole = subprocess.run([bin_dir.parent / "tests" / "make_perfdata"], check=True,
                           capture_output=True).stdout
    for cut in range(250, len(whole) + 1, 37):
        path = Path(work, f"cut-{cut}.data")
        path.write_bytes(whole[:cut])
        yield path


def damaged_files(corpus):
    for kind in ("made", "fuzz"):
        with open(corpus / "corrupt" / f"EXPECT-{kind}.tsv", newline="") as table:
            for row in csv.DictReader(table, delimiter="\t"):
                yield corpus / "corrupt" / kind / row["file"], row


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=Path, help="where the tools are")
    parser.add_argument("--corpus")
    parser.add_argument("--table", action="store_true", help="print what came back of each file")
    options = parser.parse_args()
    if shutil.which("perf") is None:
        print("skipped: there is no perf")
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix="perftape-recover-") as work:
        judge = Judge(options.bin / "perftape-recover", work)
        for path in small_recordings(options.bin, work):
            judge.judge(path, path.name)
        corpus = find_corpus(options.corpus)
        for path, row in damaged_files(corpus) if corpus else ():
            kept = judge.judge(path, row["file"])
            if options.table:
                print(row["file"], row["perf61_script_samples"], 0 if kept is None else kept,
                      sep="\t")
    for complaint in judge.complaints:
        print(complaint)
    return 1 if judge.complaints else 0


if __name__ == "__main__":
    sys.exit(main())
