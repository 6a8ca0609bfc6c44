# SPDX-License-Identifier: Apache-2.0
"""Where the corpus is: real profiles of many recorders, which are no part of this tree."""
import os
from pathlib import Path

SKIPPED = 77  # the status of a test that did not run

BESIDE = Path(__file__).resolve().parents[2].parent / "shared" / "corpus"


def find(named=None, part=""):
    """The folder `part` of the corpus `named`, of $PERFTAPE_CORPUS, or of the one beside the tree;
    None, after saying so, where it is not there."""
    folder = Path(named or os.environ.get("PERFTAPE_CORPUS") or BESIDE) / part
    if folder.is_dir():
        return folder
    print(f"no corpus at {folder}; PERFTAPE_CORPUS names one")
    return None
