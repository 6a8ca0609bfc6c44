#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that all tools together define no name twice: check_definitions.py OBJECT_OR_ARCHIVE...

Links all objects of all tools into one image with ld.gold, which also compares where weak symbols
(inline functions, members of classes) were defined. Two classes with one qualified name are
undefined behaviour as soon as both are linked, and no compiler sees both. Each tool has its own
`main`, which is no duplicate. The objects need debug information. Exits with 77 if ld.gold is not
installed.
"""
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from sources import finish

SKIPPED = 77
OURS = re.compile(r"\bperftape\b")


def without_main(path, directory, number):
    """Returns a copy of an object with a local main; archives are not copied."""
    if path.endswith(".a"):
        return path
    copy = Path(directory, f"{number}.o")
    subprocess.run(["objcopy", "--localize-symbol=main", path, copy], check=True)
    return str(copy)


def link(paths):
    """Returns the messages of ld.gold for an image of all objects."""
    with tempfile.TemporaryDirectory() as directory:
        inputs = [without_main(path, directory, number) for number, path in enumerate(paths)]
        command = ["ld.gold", "-o", Path(directory, "image"), "-e", "0", "--detect-odr-violations",
                   "--unresolved-symbols=ignore-all", "--defsym=__dso_handle=0", "--whole-archive", *inputs]
        return subprocess.run(command, check=False, capture_output=True, text=True).stderr


def complaints_of(output):
    """Yields one complaint for each symbol of ours with several definitions, and for each other
    error."""
    complaints = []
    for block in re.split(r"(?=^ld\.gold: )", output, flags=re.MULTILINE):
        if "defined in multiple places" in block:
            if OURS.search(block.partition("symbol '")[2]):
                complaints.append(block.strip())
        elif "error:" in block:
            complaints.append(block.strip())
    return complaints


def main():
    if shutil.which("ld.gold") is None:
        print("skipped: ld.gold is not installed (Debian: binutils)")
        sys.exit(SKIPPED)
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    finish(complaints_of(link(sys.argv[1:])))


if __name__ == "__main__":
    main()
