# SPDX-License-Identifier: Apache-2.0
"""Shared by the tests in which perf records: their command line, what they need, and a directory."""
import argparse
import os
import pathlib
import shutil
import tempfile

SKIPPED = 77  # CTest's


def run_check(description, check):
    """Returns the status of check(BIN, DIRECTORY): the folder of the tools, from the command line, and
    an empty directory. Without root or perf, prints so and returns SKIPPED."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--bin", required=True, type=pathlib.Path)
    arguments = parser.parse_args()
    if os.geteuid() != 0 or shutil.which("perf") is None:
        print("needs root and perf")
        return SKIPPED
    with tempfile.TemporaryDirectory() as name:
        return check(arguments.bin, pathlib.Path(name))
