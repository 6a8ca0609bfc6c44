# SPDX-License-Identifier: Apache-2.0
"""What all lint checks share: which files the tree has, and how a check ends."""
import os
import subprocess
import sys
from pathlib import Path


def tree_files(root):
    """Every file of the tree as a path relative to `root`: what git knows or would add, or what
    lies there where it is no git checkout."""
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
    """The C and C++ files."""
    return [path for path in tree_files(root) if path.suffix in (".h", ".cc", ".c")]


def finish(complaints):
    """Prints the complaints; exits with 1 where there are any."""
    for complaint in complaints:
        print(complaint)
    sys.exit(1 if complaints else 0)


def root_argument():
    """The tree to check: the first argument, or the tree this file is in."""
    return Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2]).resolve()
