#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the JavaScript of the tree: check_scripts.py [ROOT]

Scripts of pages must never turn a text into markup or code, nor ask the network: their names come
from files of strangers. With node on the PATH, the syntax of each script is checked as well.
"""
import re
import shutil
import subprocess

from sources import finish, root_argument, tree_files

MAX_COLUMNS = 100

# Pattern -> why a page must not use it.
FORBIDDEN = {
    r"\b(inner|outer)HTML\b|\binsertAdjacentHTML\b|\bdocument\.write": "makes markup of a text",
    r"\beval\(|\bnew Function\b|\bset(Timeout|Interval)\(['\"`]": "makes code of a text",
    r"\bfetch\(|\bXMLHttpRequest\b|\bWebSocket\b|\bimport\(|\bsendBeacon\b": "asks the network",
    r"\bvar\b": "is visible outside of its block: use const or let",
    r"[^=!]==[^=]|!=[^=]": "converts its operands: use === or !==",
    r"\bconsole\.": "is for debugging",
}
NOT_CODE = re.compile(r"//[^\n]*|'(?:\\.|[^'\\\n])*'")


def text_complaints(path, text):
    is_page = not path.parts[0] == "tests"
    if is_page and "'use strict';" not in text and len(text.splitlines()) > 2:
        yield f"{path}: has no 'use strict'"
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > MAX_COLUMNS:
            yield f"{path}:{number}: {len(line)} columns, more than {MAX_COLUMNS}"
        if line != line.rstrip() or "\t" in line:
            yield f"{path}:{number}: has a tab, or blanks at its end"
        code = NOT_CODE.sub("''", line)
        for pattern, reason in FORBIDDEN.items() if is_page else ():
            if found := re.search(pattern, code):
                yield f"{path}:{number}: '{found[0].strip()}' {reason}"


def syntax_complaints(root, path):
    node = shutil.which("node") or shutil.which("nodejs")
    if node is None:
        return
    done = subprocess.run([node, "--check", root / path], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        yield f"{path}: {done.stderr.strip()}"


def main():
    root = root_argument()
    complaints = []
    for path in tree_files(root):
        if path.suffix not in (".js", ".mjs"):
            continue
        complaints += text_complaints(path, (root / path).read_text())
        complaints += syntax_complaints(root, path)
    finish(complaints)


if __name__ == "__main__":
    main()
