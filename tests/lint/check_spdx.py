#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every source file begins with its licence: check_spdx.py [ROOT]

User space code is Apache-2.0. Kernel code and the header that it shares have two licences.
"""
import re

from sources import finish, root_argument, tree_files

APACHE = "SPDX-License-Identifier: Apache-2.0"
KERNEL = "SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause"
COMMENTS = {
    ".h": "// {}", ".cc": "// {}", ".c": "// {}",
    ".py": "# {}", ".sh": "# {}", ".bash": "# {}", ".cmake": "# {}", ".txt": "# {}",
    ".js": "// {}", ".mjs": "// {}", ".css": "/* {} */", ".html": "<!-- {} -->",
}


def expected_line(path, first_line):
    """Returns the line with which `path` must begin, or None if it is no source file."""
    if path.parts[0] == "bpf" and path.suffix in (".h", ".c"):
        return f"/* {KERNEL} */"
    if path.parts[0] == "testdata" and path.suffix not in (".py", ".sh"):
        return None
    if path.suffix == ".txt" and path.name != "CMakeLists.txt":
        return None
    if path.suffix == "" and first_line.startswith("#!"):
        return f"# {APACHE}"
    return COMMENTS[path.suffix].format(APACHE) if path.suffix in COMMENTS else None


def main():
    root = root_argument()
    complaints = []
    for path in tree_files(root):
        lines = (root / path).read_text(errors="replace").split("\n", 2)
        wanted = expected_line(path, lines[0])
        found = lines[1] if re.match(r"#!", lines[0]) and len(lines) > 1 else lines[0]
        if wanted is not None and found != wanted:
            complaints.append(f"{path}: must open with: {wanted}")
    finish(complaints)


if __name__ == "__main__":
    main()
