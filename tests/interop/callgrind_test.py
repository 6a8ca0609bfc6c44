#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads our callgrind files with callgrind_annotate: inclusive and own cost of each function must be
those of the folded stacks.

    callgrind_test.py --bin build/dev/bin [--make build/dev/tests/make_recordings] [--corpus DIRECTORY]

Skipped (77) without callgrind_annotate (Debian's valgrind). The stacks are odd ones made here,
recordings that --make writes, and folded files of the corpus, if there is one.
"""
import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path

from corpus import SKIPPED, find as find_corpus

ROW = re.compile(r"^ *([\d,]+) \([ \d.]+%\)  (.*?):(.*) \[([^\[\]]*|\[.*\])\]$")
TOTALS = re.compile(r"^ *([\d,]+) \([ \d.]+%\)  PROGRAM TOTALS$", re.M)
LEVEL = re.compile(r"'\d+$")

ODD = """main;work;inner 6
main;work 3
main;other 1
main;rec;rec;rec;leaf 5
main;a;b;a;b 7
b;a 2
one 9007199254740993
main;operator<< (std::ostream&);f(int, char) 4
main;[unknown];(1);cfn=(2) 2
"""


def number(text):
    return int(text.replace(",", ""))


class CallgrindAnnotateReads(unittest.TestCase):
    bin = make = corpus = None
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def convert(self, source, target, *options):
        done = subprocess.run([self.bin / "perftape-convert", "-q", "-f", source, "-o", target,
                               *options], capture_output=True, cwd=self.folder, check=False)
        self.assertEqual(done.returncode, 0, done.stderr.decode())

    def annotated(self, name, inclusive):
        """Returns the total, and the cost of each function by its name."""
        done = subprocess.run(
            ["callgrind_annotate", f"--inclusive={inclusive}", "--threshold=100", "--auto=no", name],
            capture_output=True, cwd=self.folder, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        text = done.stdout.decode()
        rows = (ROW.match(line) for line in text.split("\n"))
        costs = {row[3]: number(row[1]) for row in rows if row}
        return number(TOTALS.search(text)[1]), costs

    def check(self, source, *options):
        """Compares with the folded stacks, which have the same names and numbers."""
        self.convert(source, "callgrind.out.1", "--root", "none", *options)
        self.convert(source, "same.folded", "--root", "none", "--values", "period", *options)
        inclusive, own, total = Counter(), Counter(), 0
        for line in (self.folder / "same.folded").read_text(errors="replace").splitlines():
            stack, count = line.rsplit(" ", 1)
            frames = [frame.strip() or "???" for frame in stack.split(";")]
            total += int(count)
            own[frames[-1]] += int(count)
            for name in set(frames):
                inclusive[name] += int(count)
        if total == 0:
            return
        shown_total, shown = self.annotated("callgrind.out.1", "yes")
        self.assertEqual(shown_total, total)
        self.assertEqual(shown.pop("[all]"), total)
        first_levels = {name: cost for name, cost in shown.items() if not LEVEL.search(name)}
        self.assertEqual(first_levels, dict(+inclusive))
        shown_own = Counter()
        for name, cost in self.annotated("callgrind.out.1", "no")[1].items():
            shown_own[LEVEL.sub("", name)] += cost
        self.assertEqual(dict(+shown_own), dict(+own))

    def test_odd_stacks(self):
        (self.folder / "odd.folded").write_text(ODD)
        self.check("odd.folded")

    def test_recordings(self):
        if self.make is None:
            self.skipTest("no --make")
        (self.folder / "made").mkdir()
        subprocess.run([self.make, self.folder / "made", "20"], check=True)
        for recording in sorted((self.folder / "made").iterdir()):
            with self.subTest(recording.name):
                self.check(recording, "--no-symbols", "--event", "cpu-clock*")

    def test_folded_files_of_the_corpus(self):
        if self.corpus is None:
            self.skipTest("no corpus")
        for path in sorted(self.corpus.rglob("*.expect-all.folded")):
            with self.subTest(path.name):
                self.check(path.resolve())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=Path)
    parser.add_argument("--make", type=Path)
    parser.add_argument("--corpus")
    options, rest = parser.parse_known_args()
    if shutil.which("callgrind_annotate") is None:
        print("callgrind_annotate (valgrind) is missing")
        return SKIPPED
    CallgrindAnnotateReads.bin = options.bin.resolve()
    CallgrindAnnotateReads.make = options.make and options.make.resolve()
    CallgrindAnnotateReads.corpus = find_corpus(options.corpus, "folded")
    done = unittest.main(argv=[sys.argv[0], *rest], exit=False)
    return 0 if done.result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
