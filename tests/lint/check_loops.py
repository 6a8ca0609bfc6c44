#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that no range-for walks over a part of a temporary: check_loops.py [ROOT]

`for (T x : Make().value())` ends the temporary result before the first round, except for compilers
that have P2718 of C++23: GCC has it from version 15 on.
"""
import re

from sources import arguments_at, code_files, code_of, finish, root_argument

LOOP = re.compile(r"\bfor\s*(\()")
PART_OF_A_TEMPORARY = re.compile(r"\)\s*\.\s*(value|error)\s*\(\s*\)$")


def complaints_about(path, code):
    for loop in LOOP.finditer(code):
        head = ",".join(arguments_at(code, loop.start(1)))
        _, colon, walked = re.sub("::", "  ", head).rpartition(":")
        if colon and PART_OF_A_TEMPORARY.search(walked.strip()):
            yield (f"{path}:{code.count(chr(10), 0, loop.start()) + 1}: the temporary ends before the "
                   "first round: give it a name")


def main():
    root = root_argument()
    complaints = []
    for path in code_files(root):
        code = code_of((root / path).read_text(errors="replace"))
        complaints += complaints_about(path, code)
    finish(complaints)


if __name__ == "__main__":
    main()
