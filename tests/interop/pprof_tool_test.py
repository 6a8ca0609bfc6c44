#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that `go tool pprof` reads our profiles of each format.

    pprof_tool_test.py --build build/dev

It must read them with -top, -traces, and -svg if dot is installed. It must also read a perf.data
itself if our perf_to_profile is on the PATH. Skipped (77) without go.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SKIPPED = 77

FOLDED = b"main;work;inner 6\nmain;work 3\nmain;other 1\n"


class PprofShows(unittest.TestCase):
    build = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def tool(self, name, *arguments, stdin=None):
        done = subprocess.run([self.build / "bin" / name, *arguments], input=stdin,
                              capture_output=True, cwd=self.folder, check=False)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return done.stdout

    def perf_data(self):
        path = self.folder / "in.data"
        path.write_bytes(subprocess.run([self.build / "tests" / "make_perfdata"], check=True,
                                        capture_output=True).stdout)
        return path

    def pprof(self, *arguments, path=os.environ["PATH"]):
        """Returns the output; an error or a message about a missing binary fails the test."""
        environment = dict(os.environ, HOME=str(self.folder), PATH=path)
        done = subprocess.run(["go", "tool", "pprof", "-symbolize=none", *arguments],
                              capture_output=True, env=environment, cwd=self.folder, check=False)
        messages = done.stderr.decode()
        self.assertEqual(done.returncode, 0, messages)
        self.assertNotIn("not available", messages)
        return done.stdout.decode()

    def check_views(self, profile, *wanted):
        for view in ("-top", "-traces"):
            text = self.pprof(view, profile)
            for word in wanted:
                self.assertIn(word, text)
        if shutil.which("dot"):
            drawing = self.pprof("-svg", "-output=/dev/stdout", profile)
            self.assertIn("</svg>", drawing)
            self.assertIn(wanted[0], drawing)

    def test_of_a_perf_data(self):
        self.tool("perftape-convert", self.perf_data(), "-o", "out.pb.gz")
        self.check_views("out.pb.gz", "app")

    def test_of_folded_stacks(self):
        (self.folder / "in.folded").write_bytes(FOLDED)
        self.tool("perftape-convert", "in.folded", "-o", "out.pb.gz")
        self.check_views("out.pb.gz", "inner", "other")
        self.assertRegex(self.pprof("-top", "out.pb.gz"), r"(?m)^ +6 60\.00% +60\.00% +6 60\.00% +inner")

    def test_of_a_pprof_and_of_one_without_gzip(self):
        self.tool("perftape-convert", self.perf_data(), "-o", "one.pb.gz")
        self.tool("perftape-convert", "one.pb.gz", "-o", "two.pb", "--no-gzip")
        self.check_views("two.pb", "app")

    def test_of_a_perf_data_through_perf_to_profile(self):
        path = f"{self.build / 'bin'}:{os.environ['PATH']}"
        top = self.pprof("-top", self.perf_data(), path=path)
        self.tool("perftape-convert", "in.data", "-o", "out.pb.gz")
        self.assertEqual(top, self.pprof("-top", "out.pb.gz"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True, type=Path)
    options, rest = parser.parse_known_args()
    if shutil.which("go") is None:
        print("go is not on the PATH")
        return SKIPPED
    PprofShows.build = options.build.resolve()
    return 0 if unittest.main(argv=[sys.argv[0], *rest], exit=False).result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
