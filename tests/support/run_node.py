#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a test with Node.js: run_node.py FILE [ARGUMENT...]. Skipped (77) if node is missing or has
no test runner."""
import os
import shutil
import subprocess
import sys

SKIPPED = 77
OLDEST = 18  # the first version with `node --test`


def main():
    node = shutil.which("node") or shutil.which("nodejs")
    if node is None:
        print("node is not on the PATH: install nodejs")
        return SKIPPED
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
    if int(version.strip().lstrip("v").split(".")[0]) < OLDEST:
        print(f"node is {version.strip()}, older than {OLDEST}")
        return SKIPPED
    sys.stdout.flush()
    os.execv(node, [node, "--test", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
