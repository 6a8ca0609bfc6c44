#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests what summary.py says of tests that fail once."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

SUMMARY = pathlib.Path(__file__).resolve().parent / "summary.py"
FAILS_ONCE = """
add_test(once sh -c "test -e once || { touch once; exit 1; }")
set_tests_properties(once PROPERTIES LABELS "%s")
add_test(always false)
add_test(never true)
"""


class SecondTries(unittest.TestCase):
    def summary_of(self, labels):
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory)
            (path / "CTestTestfile.cmake").write_text(FAILS_ONCE % labels)
            subprocess.run(["ctest", "--repeat", "until-pass:2", "--output-junit", "tests.xml", "--output-log",
                            "tests.log"], cwd=path, check=False, capture_output=True)
            done = subprocess.run([sys.executable, SUMMARY, path / "tests.xml", path / "tests.log"], check=False,
                                  capture_output=True, text=True)
            return done.returncode, done.stdout

    def test_a_test_of_root_may_need_a_second_try_which_is_listed(self):
        status, out = self.summary_of("root;interop")
        self.assertEqual(status, 0, out)
        self.assertIn("3 tests: 2 passed, 0 skipped, 1 failed\n", out)
        self.assertIn("  passed at the second try: once\n", out)

    def test_another_test_may_not(self):
        status, out = self.summary_of("unit")
        self.assertEqual(status, 1, out)
        self.assertIn("  passed at the second try, which only root tests have: once\n", out)


if __name__ == "__main__":
    unittest.main(verbosity=2)
