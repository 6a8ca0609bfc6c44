# SPDX-License-Identifier: Apache-2.0
"""Shared by all lint checks: the files of the tree, their code, and the exit status of a check."""
import os
import re
import subprocess
import sys
from pathlib import Path

# Comments, strings (also raw ones) and characters.
NOT_CODE = re.compile(r"""//[^\n]*|/\*.*?\*/|\bR"(?P<tag>\w*)\(.*?\)(?P=tag)"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.DOTALL)


def tree_files(root):
    """Returns every file of the tree as a path relative to `root`: those in git or not ignored by
    it; without git, all files."""
    if (root / ".git").exists():
        listed = subprocess.run(
            ["git", "-c", "safe.directory=*", "-C", root, "ls-files", "-z", "--cached", "--others",
             "--exclude-standard"], check=True, capture_output=True, text=True).stdout
        names = [name for name in listed.split("\0") if name and (root / name).is_file()]
    else:
        names = []
        for folder, folders, files in os.walk(root):
            folders[:] = [f for f in folders if f not in ("build", "__pycache__", ".git")]
            names += [os.path.relpath(os.path.join(folder, name), root) for name in files]
    return [Path(name) for name in sorted(set(names))]


def code_files(root):
    """Returns the C and C++ files."""
    return [path for path in tree_files(root) if path.suffix in (".h", ".cc", ".c")]


def code_of(text):
    """Replaces comments, strings and characters with blanks; each line keeps its number."""
    return NOT_CODE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def arguments_at(code, start):
    """Returns the arguments of the parenthesis or brace at `start`."""
    depth, arguments, begin = 0, [], start + 1
    for at in range(start, len(code)):
        if code[at] in "([{":
            depth += 1
        elif code[at] in ")]}":
            depth -= 1
        if depth == 0 or (depth == 1 and code[at] == ","):
            arguments.append(code[begin:at].strip())
            begin = at + 1
        if depth == 0:
            break
    return [] if arguments == [""] else arguments


def finish(complaints):
    """Prints the complaints; exits with 1 if there are any."""
    for complaint in complaints:
        print(complaint)
    sys.exit(1 if complaints else 0)


def root_argument():
    """Returns the tree to check: the first argument, or the tree of this file."""
    return Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2]).resolve()
