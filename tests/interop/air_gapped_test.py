#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plays the analysis of a recording on a machine without a network: a program is recorded, and the
recording alone is carried to a chroot that holds the tools, the libraries they link, and nothing
else: no perf, no kallsyms, no /proc, no symbols, and a user who is not root.

    air_gapped_test.py --bin build/dev/bin

The report and the flame graph made there have the names that they have on the machine that
recorded, although the program was deleted by then.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SKIPPED = 77
NOBODY = 65534
TOOLS = ("perftape-report", "perftape-convert", "perftape-inspect")

PROGRAM = """
#include <stdlib.h>
static volatile unsigned sink;
static int compare_keys(const void *a, const void *b) {
  for (int i = 0; i < 20; i++) sink += i;
  return *(const int *)a - *(const int *)b;
}
__attribute__((noinline)) static void sort_catalogue(int *keys, int n) {
  for (int i = 0; i < n; i++) keys[i] = rand();
  qsort(keys, n, sizeof *keys, compare_keys);
  sink += keys[0];
}
int main(void) {
  static int keys[20000];
  for (int i = 0; i < 120; i++) sort_catalogue(keys, 20000);
  return 0;
}
"""

parser = argparse.ArgumentParser()
parser.add_argument("--bin", required=True)
OPTIONS, REST = parser.parse_known_args()
BIN = pathlib.Path(OPTIONS.bin).resolve()


def libraries(tool):
    """Returns the paths of the libraries and of the loader that the tool links."""
    lines = subprocess.run(["ldd", tool], text=True, capture_output=True, check=True).stdout
    return re.findall(r"(/\S+) \(0x", lines)


def make_chroot(root):
    (root / "bin").mkdir(parents=True)
    (root / "tmp").mkdir()
    (root / "tmp").chmod(0o777)
    for name in TOOLS:
        shutil.copy(BIN / name, root / "bin" / name)
        for library in libraries(BIN / name):
            target = root / library.lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(library, target)


class AirGapped(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        directory = pathlib.Path(cls.temporary.name)
        directory.chmod(0o755)
        program = directory / "catalogue"
        subprocess.run(["gcc", "-O1", "-g", "-fno-inline", "-x", "c", "-", "-o", program],
                       input=PROGRAM, text=True, check=True)
        cls.recording = directory / "perf.data"
        subprocess.run([BIN / "perftape-record", "-q", "-F", "999", "--bundle-debug", "-o",
                        cls.recording, "--", program], check=True, stdout=subprocess.DEVNULL)
        cls.here = subprocess.run([BIN / "perftape-convert", "-q", cls.recording, "--to", "folded", "-o", "-"],
                                  text=True, capture_output=True, check=True).stdout
        program.unlink()
        cls.root = directory / "air-gapped"
        make_chroot(cls.root)
        shutil.copy(cls.recording, cls.root / "tmp" / "perf.data")
        (cls.root / "tmp" / "perf.data").chmod(0o644)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def there(self, *words):
        """Runs a tool in the chroot as a user without rights; returns what it printed."""
        done = subprocess.run(words, text=True, capture_output=True, cwd="/", env={"LC_ALL": "C"},
                              preexec_fn=self.enter)
        self.assertEqual((done.returncode, done.stderr), (0, ""), words)
        return done.stdout

    def enter(self):
        os.chroot(self.root)
        os.chdir("/tmp")
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)

    def test_the_folded_stacks_have_the_same_names(self):
        self.assertRegex(self.here, "main;sort_catalogue;.*qsort.*;compare_keys")
        there = self.there("/bin/perftape-convert", "-q", "perf.data", "--to", "folded", "-o", "-")
        self.assertEqual(set(there.splitlines()) ^ set(self.here.splitlines()), set())

    def test_the_report_shows_the_function_and_its_callers(self):
        report = self.there("/bin/perftape-report", "-q", "perf.data", "--stacks=1", "-n", "3")
        print(report)
        self.assertRegex(report, r"(?m)^.*%.* compare_keys\b")
        self.assertRegex(report, r"sort_catalogue")

    def test_the_flame_graph_is_made(self):
        self.there("/bin/perftape-convert", "-q", "perf.data", "-o", "profile.svg")
        self.there("/bin/perftape-convert", "-q", "perf.data", "-o", "profile.html")
        self.assertIn("sort_catalogue", (self.root / "tmp/profile.svg").read_text())
        page = (self.root / "tmp/profile.html").read_text()
        self.assertTrue(page.startswith("<!DOCTYPE html>"), page[:80])

    def test_the_source_lines_come_from_the_debug_information_in_the_bundle(self):
        report = self.there("/bin/perftape-report", "-q", "perf.data", "-n", "0", "--lines",
                            "^compare_keys$")
        print(report)
        loop = PROGRAM.splitlines().index("  for (int i = 0; i < 20; i++) sink += i;") + 1
        self.assertRegex(report, rf"%.*:{loop}\b")


if __name__ == "__main__":
    if os.geteuid() != 0:
        print("skipped: recording and chroot need root")
        sys.exit(SKIPPED)
    unittest.main(argv=[sys.argv[0], *REST], verbosity=2)
