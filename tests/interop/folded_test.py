#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads the folded files of other people's tools, writes them, and compares the lines.

    folded_test.py --bin build/dev/bin [--corpus DIRECTORY] [NAME...]

The corpus is not part of this tree: $PERFTAPE_CORPUS, or ../shared/corpus beside it. Without one
the test is skipped (status 77). For each file in its INVENTORY.tsv, the written lines must equal
the read ones as multisets: equal stacks are summed, lines without a count are skipped and counted.
The same must hold if root frames become threads, and by way of a perf.data and a pprof, which only
has whole numbers. The test computes the expected lines with flamegraph.pl's regular expression.
"""
import argparse
import csv
import re
import subprocess
import sys
import tempfile
from collections import Counter
from decimal import Decimal
from pathlib import Path

from corpus import SKIPPED, find as find_corpus

COUNTED = re.compile(r"^(.*)\s+?(\d+(?:\.\d*)?)$")  # flamegraph.pl


def text_of(path):
    content = path.read_bytes()
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return content.decode("utf-16")
    return content.decode("utf-8", errors="surrogateescape")


def expected(path, columns):
    """Returns the sums by stack, one for each column, and the number of lines without a count."""
    sums, skipped = {}, 0
    for line in text_of(path).split("\n"):
        stack, counts = line.rstrip("\r"), []
        if not stack or stack == "#" or stack.startswith("# "):  # a comment
            continue
        for _ in range(columns):
            match = COUNTED.match(stack)
            if not match:
                break
            stack = match[1]
            counts.insert(0, Decimal(match[2]))
        if len(counts) < columns:
            skipped += 1
            continue
        before = sums.get(stack, (Decimal(0),) * columns)
        sums[stack] = tuple(a + b for a, b in zip(before, counts))
    return sums, skipped


def lines_of(path):
    return Counter(line.rstrip("\r") for line in text_of(path).split("\n") if line)


class Test:
    def __init__(self, tool):
        self.tool, self.failures, self.checks = tool, 0, 0

    def convert(self, source, target, *options):
        done = subprocess.run(
            [self.tool, source, "-o", target, "-f", *(options or ["--no-symbols"])],
            capture_output=True, text=True, timeout=300)
        return done.returncode, done.stderr

    def check(self, what, good, detail=""):
        self.checks += 1
        if not good:
            self.failures += 1
            print(f"{what}: {detail}")

    def same_lines(self, what, source, written, columns):
        """Checks that the written lines equal the read ones; in order, if no stack occurs twice."""
        sums, _ = expected(source, columns)
        self.check(what, expected(written, columns)[0] == sums, "other sums")
        lines = lines_of(source)
        counted = Counter({k: n for k, n in lines.items() if COUNTED.match(k)})
        if sum(counted.values()) == len(sums):
            difference = (lines_of(written) - counted) + (counted - lines_of(written))
            self.check(what, not difference, f"other lines: {list(difference)[:4]}")

    def file(self, name, source, row, scratch):
        columns = 2 if int(row["two_col"] or 0) == int(row["lines"] or 0) > 0 else 1
        written = scratch / "out.folded"
        for wanted in range(1, columns + 1):
            _, skipped = expected(source, wanted)
            options = ["--from", "folded"] + ["--differential"] * (wanted - 1)
            status, stderr = self.convert(source, written, *options)
            if skipped:
                self.check(name, status == 1 and "line " in stderr, f"status {status}: {stderr}")
            status, stderr = self.convert(source, written, "--lenient", *options)
            counted = not skipped or re.search(rf"\b{skipped} lines? skipped", stderr)
            self.check(name, status == 0 and counted, f"status {status}: {stderr}")
            self.same_lines(f"{name}, {wanted} columns", source, written, wanted)
        if not int(row["float"] or 0) and expected(source, 1)[0]:
            self.around(name, source, scratch)
        for kind, ending in (("comm/pid/tid", "-tid.folded"), ("comm/pid", "-pid.folded")):
            if name.endswith(ending):
                self.as_threads(name, source, kind, scratch)

    def around(self, name, source, scratch):
        """Converts to perf.data, to pprof, and back. Names stay as they are, also those of the linker."""
        steps = [scratch / f"out.{ending}" for ending in ("data", "pb.gz", "folded")]
        for before, after in zip([source, *steps], steps):
            options = ["--from", "folded", "--lenient"] if before == source else ["--demangle", "none"]
            status, stderr = self.convert(before, after, *options)
            self.check(name, status == 0, f"to {after.name}: status {status}: {stderr}")
        self.same_lines(f"{name}, around", source, steps[-1], 1)

    def as_threads(self, name, source, kind, scratch):
        written = scratch / "out.folded"
        status, stderr = self.convert(source, written, "--input-root", kind, "--root", kind)
        self.check(name, status == 0, f"{kind}: status {status}: {stderr}")
        self.same_lines(f"{name}, as threads", source, written, 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=Path)
    parser.add_argument("--corpus")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    folder = find_corpus(args.corpus, "folded")
    if folder is None:
        return SKIPPED
    with open(folder / "INVENTORY.tsv", newline="") as table:
        rows = list(csv.DictReader(table, delimiter="\t"))
    test = Test(args.bin / "perftape-convert")
    with tempfile.TemporaryDirectory() as scratch:
        for row in rows:
            if not args.names or row["file"] in args.names:
                test.file(row["file"], folder / row["file"], row, Path(scratch))
    print(f"{len(rows)} files, {test.checks} checks, {test.failures} failures")
    return 1 if test.failures else 0


if __name__ == "__main__":
    sys.exit(main())
