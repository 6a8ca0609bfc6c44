#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the memory for unwinding copied stacks grows with the distinct stacks of a recording,
not with its samples.

    unwind_memory_test.py --bin build/dev/bin --repeat build/dev/tests/repeat_perfdata [--corpus DIR]

A recording of the corpus is repeated to two lengths. The longer one has eight times as many samples
of the same stacks. Memory is what the process has without mapped files (RssAnon), because the input
is mapped. Skipped (status 77) without the corpus.
"""
import argparse
import gzip
import os
import pathlib
import subprocess
import sys
import tempfile

import corpus

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "bench"))
from measure import run  # noqa: E402  (the path is set before)

RECORDING = "x86_64-k4.18-dwarf-vector-gcc"
BINARY = "vector_static_gcc_v9.1.0"
DIRECTORY = "/home/milian/projects/kdab/rnd/hotspot/3rdparty/perfparser/tests/auto/perfdata/" \
    "vector_static_gcc"
SHORT_MB, LONG_MB = 25, 200
MOST_GROWTH_KB = 8 << 10


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--repeat", type=pathlib.Path, required=True)
    parser.add_argument("--corpus")
    arguments = parser.parse_args()
    folder = corpus.find(arguments.corpus)
    if folder is None:
        sys.exit(corpus.SKIPPED)
    convert = arguments.bin / "perftape-convert"
    failed = False
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        binary = directory / "symfs" / DIRECTORY.lstrip("/") / BINARY
        binary.parent.mkdir(parents=True)
        packed = folder / "goldens" / "perfparser" / f"{BINARY}.gz"
        binary.write_bytes(gzip.decompress(packed.read_bytes()))
        outputs = {"folded": ["--to", "folded", "-o", directory / "out.folded"],
                   "unwind": ["--unwind", "-o", directory / "out.data"]}
        peaks = {of: [] for of in outputs}
        for size in SHORT_MB, LONG_MB:
            recording = directory / f"{size}.data"
            subprocess.run([arguments.repeat, folder / "perfdata" / f"{RECORDING}.perf.data",
                            recording, str(size), "file"], check=True)
            for of, options in outputs.items():
                command = [convert, "-f", "-q", "--threads", "2", "--symfs", directory / "symfs",
                           recording, *options]
                usage = run([str(word) for word in command], watch_memory=True)
                failed |= usage.status != 0
                peaks[of].append(usage.peak_kb)
            # Callers are only in the copied stacks.
            failed |= b";main;" not in (directory / "out.folded").read_bytes()
            os.unlink(recording)
        for of, (short, long) in peaks.items():
            print(f"{of}: {SHORT_MB} MB need {short} KB, {LONG_MB} MB need {long} KB")
            failed |= long > short + MOST_GROWTH_KB
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
