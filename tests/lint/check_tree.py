#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the shape of the tree: check_tree.py [ROOT]

The top level has the seven folders and the customary files of an open project. Code files stay
below 600 lines, test data stays small, nothing names a developer's machine, and every test case is
run.
"""
import re

from sources import finish, root_argument, tree_files

FOLDERS = {"bpf", "convert", "formats", "record", "testdata", "tests", "tools"}
FILES = re.compile(r"CMakeLists\.txt|CMakePresets\.json|NOTICE|LICENSE(\.[\w.-]+)?"
                   r"|(README|ARCHITECTURE|CONTRIBUTING|CHANGELOG|SECURITY)\.md|\..+")
CODE = {".h", ".cc", ".c", ".py", ".sh", ".bash", ".cmake", ".js", ".mjs", ".css", ".html"}
MAX_LINES = 600
MAX_TESTDATA = 5 << 20

# Written so that this file does not match itself.
PRIVATE = re.compile(r"(?<![\w.-])/wor[k]/|/tmp/w[t]/|\.pkg\.d[e]v\b|artifactregistr[y]"
                     r"|snapshot\.debia[n]\.org")


def top_level_complaints(paths):
    for path in paths:
        top = path.parts[0]
        if len(path.parts) > 1 and top not in FOLDERS and not top.startswith("."):
            yield f"{path}: no folder {top}/ at the top level"
        if len(path.parts) == 1 and not FILES.fullmatch(top):
            yield f"{path}: not a customary file at the top level"


def content_complaints(path, content):
    if path.suffix in CODE and path.parts[0] != "testdata":
        lines = content.count(b"\n")
        if lines > MAX_LINES:
            yield f"{path}: {lines} lines, more than {MAX_LINES}: split it"
    if b"\0" not in content:
        for number, line in enumerate(content.decode(errors="replace").splitlines(), 1):
            if PRIVATE.search(line):
                yield f"{path}:{number}: names a machine of ours: {line.strip()[:80]}"


def main():
    root = root_argument()
    paths = tree_files(root)
    complaints = list(top_level_complaints(paths))
    testdata_size = 0
    for path in paths:
        content = (root / path).read_bytes()
        complaints += content_complaints(path, content)
        testdata_size += len(content) if path.parts[0] == "testdata" else 0
    if testdata_size > MAX_TESTDATA:
        complaints.append(f"testdata: {testdata_size} bytes, more than {MAX_TESTDATA}")
    finish(complaints)


if __name__ == "__main__":
    main()
