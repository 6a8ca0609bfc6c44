#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the messages of commits: check_commits.py ROOT --since COMMIT

Each commit after COMMIT, except merges, has a subject of at most 72 columns, an empty line, and a
body with the reason. Exits with 77 if the history is not here, as in an archive of the sources.
"""
import argparse
import subprocess
import sys

from sources import finish

MAX_COLUMNS = 72
SKIPPED = 77


def git(root, *arguments):
    """Returns git's output, or nothing if it failed."""
    try:
        done = subprocess.run(["git", "-C", root, *arguments], capture_output=True, check=False)
    except FileNotFoundError:
        return None
    return done.stdout.decode(errors="replace") if done.returncode == 0 else None


def complaints_about(commit, message):
    subject, _, rest = message.partition("\n")
    if len(subject) > MAX_COLUMNS:
        yield f"{commit}: the subject has {len(subject)} columns, more than {MAX_COLUMNS}: {subject}"
    if not rest.startswith("\n") or not rest.strip():
        yield f"{commit}: no body gives the reason: {subject}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("root")
    parser.add_argument("--since", required=True)
    arguments = parser.parse_args()
    log = git(arguments.root, "log", "--no-merges", "--format=%h%n%B%x00", f"{arguments.since}..HEAD")
    if log is None:
        print(f"skipped: the history since {arguments.since} is not here")
        sys.exit(SKIPPED)
    complaints = []
    for entry in filter(None, (text.strip("\n") for text in log.split("\0"))):
        commit, _, message = entry.partition("\n")
        complaints += complaints_about(commit, message)
    finish(complaints)


if __name__ == "__main__":
    main()
