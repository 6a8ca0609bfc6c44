#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares unwound stacks with those that perfparser (hotspot) expects of the same recordings.

    unwind_goldens_test.py --bin build/dev/bin [--corpus DIR] [RECORDING...]

The corpus has the binary of each recording. perfparser unwinds with libdw. A frame of its expected
results is the address of a call, one byte before the return address that a callchain has. The
classes are:

  same          all frames are the same
  longer        we also have a last frame in no mapping, or callers of its last frame
  shorter       we end at a frame whose callers it finds
  contradicted  the frames differ

Fails if any sample is shorter or contradicted. A recording of a program of the corpus is unwound, too;
there is no expected result, but all its stacks must end at the outermost function, or where the copy
of the stack ends. Skipped (status 77) without the corpus.
"""
import argparse
import collections
import gzip
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import corpus

# By recording, the binary in the corpus. Its path is in the expected results.
BINARIES = {
    "x86_64-k4.18-dwarf-vector-gcc": "vector_static_gcc_v9.1.0",
    "x86_64-k5.4-dwarf-zstd-fork": "fork",
    "x86_64-k5.4-dwarf-zstd-vector-gcc": "vector_static_gcc_v9.1.0",
}
# Two addresses: in the process and in the binary. Those of an inlined call differ.
FRAME = re.compile(r"\t([0-9a-f]+) ([0-9a-f]+)\t(?:.*\t)?0 0")
KERNEL = 1 << 63
NANOSECONDS = 10**9


def expected(golden):
    """Returns [((pid, tid, time), frames)], sorted, and the paths of the binaries."""
    found, paths = [], set()
    for line in golden.read_text(errors="replace").splitlines():
        frame = FRAME.fullmatch(line)
        if line and not line.startswith("\t"):
            _, pid, tid, time = line.split("\t")
            seconds, _, rest = time.partition(".")
            found.append(((int(pid), int(tid), int(seconds) * NANOSECONDS + int(rest)), []))
        elif frame:
            address, in_binary = (int(word, 16) for word in frame.groups())
            if address and (address == in_binary or address >= KERNEL):
                found[-1][1].append(address)
        paths.update(re.findall(r" (/\S+) $", line))
    return sorted(found), paths


def unwound(bin_directory, recording, symfs, written):
    """Returns [((pid, tid, time), frames)] of our callchains, sorted."""
    subprocess.run([bin_directory / "perftape-convert", "-q", "-f", recording, "--symfs", symfs,
                    "--unwind", "-o", written], check=True)
    table = subprocess.run([bin_directory / "perftape-inspect", "--samples", written], check=True,
                           stdout=subprocess.PIPE, text=True, errors="replace").stdout
    lines = table.splitlines()
    columns = lines[0].lstrip("# ").split("\t")
    found = []
    for line in lines[1:]:
        row = dict(zip(columns, line.split("\t")))
        frames = [int(word, 16) for word in re.split("[ ,;]", row["frames"]) if word]
        found.append(((int(row["pid"]), int(row["tid"]), int(row["time_ns"])), frames))
    return sorted(found)


def class_of(ours, theirs):
    common = 0
    while common < min(len(ours), len(theirs)) and ours[common] - theirs[common] in (0, 1):
        common += 1
    if common == len(ours) == len(theirs):
        return "same"
    if common == len(theirs):
        return "longer"
    return "shorter" if common == len(ours) else "contradicted"


def compare(bin_directory, folder, name):
    goldens = folder / "goldens" / "perfparser"
    theirs, paths = expected(goldens / f"{name}.expected.txt")
    with tempfile.TemporaryDirectory() as directory:
        symfs = pathlib.Path(directory) / "symfs"
        packed = goldens / f"{BINARIES[name]}.gz"
        for path in paths:
            binary = symfs / path.lstrip("/")
            binary.parent.mkdir(parents=True, exist_ok=True)
            binary.write_bytes(gzip.decompress(packed.read_bytes()))
        ours = unwound(bin_directory, folder / "perfdata" / f"{name}.perf.data", symfs,
                       pathlib.Path(directory) / "unwound.data")
    assert [of for of, _ in ours] == [of for of, _ in theirs], f"{name}: other samples"
    classes, examples = collections.Counter(), {}
    for (of, mine), (_, its) in zip(ours, theirs):
        kind = class_of(mine, its)
        classes[kind] += 1
        examples.setdefault(kind, (of, [f"{frame:x}" for frame in mine],
                                   [f"{frame:x}" for frame in its]))
    print(f"{name}: {dict(classes)}")
    for kind in classes.keys() - {"same"}:
        print(f"  {kind}: {examples[kind]}")
    return classes["shorter"] + classes["contradicted"] == 0


def unwinds_all(bin_directory, folder, name, binary):
    """Whether all stacks of a recording end at the outermost function, or with the copy."""
    with tempfile.TemporaryDirectory() as directory:
        program = pathlib.Path(directory) / "usr" / "bin" / binary
        program.parent.mkdir(parents=True)
        program.write_bytes(gzip.decompress((folder / "native" / f"{binary}.gz").read_bytes()))
        command = [bin_directory / "perftape-convert", "-q", "--symfs", directory,
                   folder / "perfdata" / f"{name}.perf.data"]

        def output(*options):
            return subprocess.run([*command, *options], check=True, stdout=subprocess.PIPE).stdout

        report = output("--json", "-o", pathlib.Path(directory) / "out.folded")
        outputs = {output("--to", "folded", "--threads", threads) for threads in ("1", "2", "4")}
        assert len(outputs) == 1, "the output depends on the number of threads"
        # A thread's name, the mark and two functions; --no-kernel leaves out those of the kernel.
        short = output("--to", "folded", "--max-stack", "2", "--no-kernel", "--no-inline")
        depths = {line.count(b";") + 1 for line in short.splitlines()}
        assert max(depths) == 4, f"--max-stack 2: {depths}"
    unwound = json.loads(report)["inputs"][0]["unwound"]
    print(f"{name}: {unwound}")
    return unwound["whole"] + unwound["unreadable"] == unwound["samples"] > 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--corpus")
    parser.add_argument("recordings", nargs="*")
    arguments = parser.parse_args()
    folder = corpus.find(arguments.corpus)
    if folder is None:
        sys.exit(corpus.SKIPPED)
    results = [compare(arguments.bin, folder, name) for name in arguments.recordings or BINARIES]
    if not arguments.recordings:
        results.append(unwinds_all(arguments.bin, folder, "own-x86_64-dwarf-workload",
                                   "workload_nofp"))
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
