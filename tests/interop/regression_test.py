#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plays a build that is checked for regressions: a program is recorded several times, one of its
functions becomes 10 % slower, and perftape-report --diff --fail-on finds it.

    regression_test.py --bin build/dev/bin

Recordings of the same program must not fail, three on each side: one alone does not show how much
recordings differ on a machine that does other work. PERFTAPE_REGRESSION_PAIRS is the number of such
pairs of sides, 3 without it. A recording takes some 1.5 seconds.
"""
import argparse
import itertools
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SKIPPED = 77
RECORDINGS = 5
SIDE = 3
PAIRS = int(os.environ.get("PERFTAPE_REGRESSION_PAIRS", "3"))
# Not of main, which has 50 samples a side: where interrupts hit a busy machine decides them.
RULES = [f"{function} self +3%" for function in ("parse", "lookup", "print")]
# The share of `parse` grows by 1.6 points. Its standard error is 0.15 points with the 170,000
# samples a side that this gives.
RATE = "19999"

# The functions get 20, 30 and 50 percent of the time. The work of `parse` is set by PERCENT. Which
# function runs next is drawn: a loop of equal rounds runs in step with the sampling clock at times,
# and then the samples are not independent of each other.
PROGRAM = """
#define WORK __attribute__((noinline)) static void
static volatile unsigned sink;
WORK parse(void) { for (long i = 0; i < 5000L * PERCENT / 100; i++) sink = sink * 1664525 + 1; }
WORK lookup(void) { for (long i = 0; i < 5000; i++) sink = sink * 1664525 + 2; }
WORK print(void) { for (long i = 0; i < 5000; i++) sink = sink * 1664525 + 3; }
int main(void) {
  unsigned random = 1;
  for (int i = 0; i < 240000; i++) {
    random = random * 1664525 + 1013904223;
    unsigned draw = (random >> 16) % 10;
    if (draw < 2) parse();
    else if (draw < 5) lookup();
    else print();
  }
  return 0;
}
"""

parser = argparse.ArgumentParser()
parser.add_argument("--bin", required=True)
OPTIONS, REST = parser.parse_known_args()
BIN = pathlib.Path(OPTIONS.bin).resolve()


def build(directory, name, percent):
    program = directory / name
    subprocess.run(["gcc", "-O1", "-fno-omit-frame-pointer", f"-DPERCENT={percent}", "-x", "c", "-",
                    "-o", program], input=PROGRAM, text=True, check=True)
    return program


def record(directory, program, name):
    output = directory / f"{name}.data"
    subprocess.run([BIN / "perftape-record", "-q", "--no-bundle", "-F", RATE, "-o", output, "--",
                    program], check=True, stdout=subprocess.DEVNULL)
    return output


class Regression(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        directory = pathlib.Path(cls.temporary.name)
        # The same name in two directories, as in two builds.
        for side in ("old", "new"):
            (directory / side).mkdir()
        old, new = build(directory, "old/app", 100), build(directory, "new/app", 110)
        cls.before, cls.after = [], []
        # Alternately: what slows down the machine for a while affects both.
        for i in range(2 * SIDE):
            cls.before.append(record(directory, old, f"old{i}"))
            if i < RECORDINGS:
                cls.after.append(record(directory, new, f"new{i}"))

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def compare(self, before, after):
        olds = [word for path in before for word in ("--diff", path)]
        rules = [word for rule in RULES for word in ("--fail-on", rule)]
        return subprocess.run([BIN / "perftape-report", "-q", *olds, *after, "--dso", "app",
                               "--markdown", "-n", "5", *rules],
                              text=True, capture_output=True)

    def test_a_function_that_became_slower_fails_the_build(self):
        done = self.compare(self.before[:RECORDINGS], self.after)
        print(done.stdout)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("1 violation of --fail-on", done.stderr)
        self.assertEqual(done.stdout.count("parse: self grew by"), 1, done.stdout)

    def test_pairs_of_the_same_program_do_not_fail(self):
        for one in itertools.islice(itertools.combinations(self.before, SIDE), PAIRS):
            other = [path for path in self.before if path not in one]
            done = self.compare(one, other)
            self.assertEqual(done.returncode, 0, f"{one}: {done.stdout}{done.stderr}")


if __name__ == "__main__":
    if os.geteuid() != 0:
        print("skipped: recording needs root")
        sys.exit(SKIPPED)
    unittest.main(argv=[sys.argv[0], *REST], verbosity=2)
