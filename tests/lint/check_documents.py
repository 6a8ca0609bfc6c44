#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the documents for developers lead to files: check_documents.py [ROOT]

The documents are the ones at the top level and the README.md of each folder. A relative link leads
to a file or folder. So does a path in backquotes that begins with a folder, at the top level or
beside the document; it may leave out the ending of a file (`record/output/rotation`). ARCHITECTURE.md
stays small enough to be read as a whole.
"""
import re
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

from sources import finish, root_argument, tree_files

TOP_LEVEL = {"ARCHITECTURE.md", "CONTRIBUTING.md", "README.md", "SECURITY.md"}
MAX_ARCHITECTURE = 8192

LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)\s]*)?\)")
QUOTED = re.compile(r"`([^`\n]+)`")
PATH = re.compile(r"[\w.*-]+(?:/[\w.*-]+)+/?")
# Sources of the kernel's perf, whose folder has the name of one of ours.
OF_THE_KERNEL = re.compile(r"tools/(lib|perf)/")
# The name of something that a reader chooses.
PLACEHOLDER = re.compile(r"(?<![A-Z])(NAME|TOOL|DIR|FILE)(?![A-Z])")


def is_document(path):
    return path.name == "README.md" or str(path) in TOP_LEVEL


def normal(path):
    """Resolves '..' in a path relative to the root."""
    parts = []
    for part in PurePosixPath(path).parts:
        if part == ".." and parts:
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


class Tree:
    def __init__(self, paths):
        self.known = {str(path) for path in paths}
        self.folders = {str(folder) for path in paths for folder in path.parents}
        self.known |= self.folders
        # "a/b.bpf.c" is also called "a/b" and "a/b.bpf".
        for path in paths:
            for end, char in enumerate(path.name):
                if char == "." and end:
                    self.known.add(str(path.parent / path.name[:end]))

    def has(self, path):
        if "*" in path:
            return any(fnmatchcase(name, path) for name in self.known)
        return path in self.known


def complaints_about(document, text, tree):
    for number, line in enumerate(text.splitlines(), 1):
        for link in LINK.findall(line):
            if not tree.has(normal(document.parent / link) or "."):
                yield f"{document}:{number}: links to {link}, which is not there"
        for quoted in QUOTED.findall(line):
            if (not PATH.fullmatch(quoted) or PLACEHOLDER.search(quoted)
                    or OF_THE_KERNEL.match(quoted)):
                continue
            candidates = [normal(quoted), normal(document.parent / quoted)]
            begins_with_folder = any(
                str(base / quoted.split("/")[0]) in tree.folders
                for base in (PurePosixPath(), document.parent))
            if begins_with_folder and not any(tree.has(path) for path in candidates):
                yield f"{document}:{number}: names {quoted}, which is not there"


def main():
    root = root_argument()
    paths = tree_files(root)
    tree = Tree(paths)
    complaints = []
    for path in filter(is_document, paths):
        content = (root / path).read_bytes()
        complaints += complaints_about(path, content.decode(errors="replace"), tree)
        if str(path) == "ARCHITECTURE.md" and len(content) > MAX_ARCHITECTURE:
            complaints.append(f"{path}: {len(content)} bytes, more than {MAX_ARCHITECTURE}: move what "
                              "concerns one folder into its README.md")
    finish(complaints)


if __name__ == "__main__":
    main()
