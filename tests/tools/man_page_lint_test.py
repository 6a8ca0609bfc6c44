# SPDX-License-Identifier: Apache-2.0
"""Checks the man pages that were built with mandoc: `mandoc -T lint` must print nothing.

    tests/tools/man_page_lint_test.py build/dev/tools/man
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile


def complaints(page):
    return subprocess.run(["mandoc", "-T", "lint", page], capture_output=True, text=True).stdout


def main():
    pages = sorted(pathlib.Path(sys.argv[1]).glob("*.[17]"))
    for missing in ("mandoc", "pandoc"):
        if shutil.which(missing) is None:
            print(f"skipped: {missing} is not installed", file=sys.stderr)
            return 77
    if len(pages) < 16:
        print(f"only {len(pages)} man pages in {sys.argv[1]}", file=sys.stderr)
        return 1
    with tempfile.NamedTemporaryFile("w", suffix=".1") as wrong:
        wrong.write(".TH X 1\n.NoSuchMacro\n")
        wrong.flush()
        if not complaints(wrong.name):
            print("mandoc finds nothing in a wrong page", file=sys.stderr)
            return 1
    found = "".join(complaints(page) for page in pages)
    print(found, end="")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
