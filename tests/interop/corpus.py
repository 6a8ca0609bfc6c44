# SPDX-License-Identifier: Apache-2.0
"""Finds the corpus: recordings and profiles of other tools, which are not part of this tree."""
import os
import re
from pathlib import Path

SKIPPED = 77  # the status of a test that did not run

BESIDE = Path(__file__).resolve().parents[2].parent / "shared" / "corpus"


# The names of tracepoints whose formats simpleperf wrote inside a record, where perf does not read
# them. The expected results have their numbers.
NUMBERS = {"sched:sched_switch": "tracepoint:47"}


def name_in_bytes(event):
    """Returns the name of an event as the expected results have it that were made without perf."""
    return NUMBERS.get(event, re.sub(r"^(?!tracepoint)([^:]*):[a-zA-Z]+$", r"\1", event))


def find(named=None, part=""):
    """Returns the folder `part` of the corpus: of `named`, of $PERFTAPE_CORPUS, or of the one
    beside the tree. Prints a message and returns None if it is missing."""
    folder = Path(named or os.environ.get("PERFTAPE_CORPUS") or BESIDE) / part
    if folder.is_dir():
        return folder
    print(f"no corpus at {folder}; PERFTAPE_CORPUS names one")
    return None


def find_recordings(named=None, names=()):
    """Returns the perf.data of the corpus, sorted: all, or those of these names; None as find()."""
    folder = find(named, "perfdata")
    if folder is None:
        return None
    return [path for path in sorted(folder.glob("*.perf.data"))
            if not names or path.name.removesuffix(".perf.data") in names]
