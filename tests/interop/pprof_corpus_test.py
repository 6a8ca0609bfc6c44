#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that pprof to pprof keeps all that `go tool pprof -raw` shows.

    pprof_corpus_test.py --bin build/dev/bin [--corpus DIR]

For each profile of the corpus, -raw must print for our copy the text beside the profile, except for
ids and order. Formats that are not protobuf are skipped. Skipped (77) without go or corpus.
"""
import argparse
import gzip
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import corpus
import pprof_raw


def expected_text(path):
    for beside in (Path(f"{path}.raw.txt"), Path(f"{path}.raw.txt.gz")):
        if beside.is_file():
            data = beside.read_bytes()
            data = gzip.decompress(data) if beside.suffix == ".gz" else data
            return data.decode(errors="surrogateescape")
    return None


def is_protobuf(path):
    """Returns whether this is gzip or begins with the first field of a profile. The legacy formats
    are text or begin with zeros."""
    return path.read_bytes()[:1] in (b"\x1f", b"\x0a", b"\x12", b"\x1a", b"\x22", b"\x2a", b"\x32")


def check(path, tools, folder):
    """Returns how our copy of the profile differs, or an empty list."""
    copy = folder / "copy.pb.gz"
    done = subprocess.run([tools / "perftape-convert", "-q", "-f", "--no-symbols", path, "-o", copy],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return [f"status {done.returncode}: {done.stderr.strip()}"]
    return pprof_raw.differences(pprof_raw.Raw(expected_text(path)),
                                 pprof_raw.Raw(pprof_raw.of_file(copy)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=Path)
    parser.add_argument("--corpus")
    options = parser.parse_args()
    profiles = corpus.find(options.corpus, "pprof")
    if profiles is None:
        return corpus.SKIPPED
    if shutil.which("go") is None:
        print("go is not on the PATH")
        return corpus.SKIPPED
    wrong = 0
    paths = [path for path in sorted(profiles.iterdir())
             if expected_text(path) is not None and is_protobuf(path)]
    with tempfile.TemporaryDirectory() as folder:
        for path in paths:
            for line in check(path, options.bin, Path(folder))[:5]:
                print(f"{path.name}: {line[:1000]}")
                wrong += 1
    print(f"{len(paths)} profiles, {wrong} differences")
    return 1 if wrong or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
