#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the runner of the command-line cases: it must refuse wrong results."""
import contextlib
import io
import tempfile
import unittest
from pathlib import Path

import run_case


class RunCase(unittest.TestCase):
    def setUp(self):
        self.home = tempfile.TemporaryDirectory()
        self.addCleanup(self.home.cleanup)

    def write(self, name, text):
        path = Path(self.home.name, name)
        path.write_text(text)
        return path

    def check(self, script, **expected):
        case = self.write("x.test", script)
        for suffix, text in expected.items():
            self.write("x." + suffix.replace("_", "."), text)
        with contextlib.redirect_stdout(io.StringIO()):
            return run_case.check(case, Path(self.home.name), Path(self.home.name))

    def test_accepts_the_expected_output(self):
        self.assertEqual(self.check("echo out; echo err >&2; exit 3", stdout_exact="out\n",
                                    stderr_glob="e*\n", exit="3\n"), 0)

    def test_refuses_other_stdout(self):
        self.assertEqual(self.check("echo out", stdout_exact="other\n"), 1)

    def test_refuses_a_missing_line_end(self):
        self.assertEqual(self.check("printf out", stdout_exact="out\n"), 1)

    def test_refuses_unexpected_stderr(self):
        self.assertEqual(self.check("echo oops >&2"), 1)

    def test_refuses_another_status(self):
        self.assertEqual(self.check("exit 1", exit="2\n"), 1)

    def test_refuses_a_glob_that_matches_only_the_beginning(self):
        self.assertEqual(self.check("echo a; echo b", stdout_glob="a\n"), 1)

    def test_matches_any_lines_with_dots(self):
        self.assertEqual(self.check("seq 9", stdout_glob="1\n...\n9\n"), 0)
        self.assertEqual(self.check("seq 9", stdout_glob="1\n...\n8\n"), 1)

    def test_stops_a_script_at_its_first_failure(self):
        self.assertEqual(self.check("false; echo not reached", exit="1\n"), 0)

    def test_reports_a_skipped_case_as_skipped(self):
        self.assertEqual(self.check("echo no perf here >&2; exit 77"), run_case.SKIPPED)

    def test_updates_expectations(self):
        case = self.write("y.test", "echo out; exit 4")
        run_case.update(case, Path(self.home.name), Path(self.home.name))
        self.assertEqual(Path(self.home.name, "y.exit").read_text(), "4\n")
        self.assertEqual(run_case.check(case, Path(self.home.name), Path(self.home.name)), 0)


if __name__ == "__main__":
    unittest.main()
