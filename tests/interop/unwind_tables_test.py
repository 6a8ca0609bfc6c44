#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares unwind tables with what readelf makes of the same call frame information.

    unwind_tables_test.py --bin build/dev/bin [--all] [FILE_OR_DIRECTORY...]

For each program and library, every row of `readelf --debug-dump=frames-interp` (.eh_frame and
.debug_frame) must equal the row of `perftape-inspect --unwind-table` at that address: the CFA, the
frame pointer and the return address. The reverse holds, too: where a row of ours starts in a
function, readelf's must have the same rule. Without files, a sample of those of this machine is
compared, for about 20 seconds; --all compares all, which takes minutes.

arm64 is compared on the libraries of a cross compiler if there are some, and always on
testdata/elf/frames-aarch64.so. Without readelf the test is skipped (status 77).

readelf prints "exp" for an expression; the forms that we know are unit tests. It prints "u" both
for an undefined register and for one without a rule. It ignores DW_CFA_restore in a CIE, which
DWARF does not define; we do as GCC's unwinder. (CUDA's libraries have such CIEs.) A function that
begins with a new stack pointer has no caller in our tables (glibc's __start_context).
"""
import argparse
import bisect
import os
import random
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

SKIPPED = 77
ROOTS = ("/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib64", "/usr/libexec", "/usr/local", "/opt")
ARM64_ROOT = "/usr/aarch64-linux-gnu/lib"
ARM64_FILE = Path(__file__).resolve().parents[2] / "testdata/elf/frames-aarch64.so"
# Many rows, assembler with expressions, signal frames, realigned stacks.
ALWAYS = ("libc.so.6", "ld-linux-x86-64.so.2", "libcrypto.so.3", "libstdc++.so.6", "libgmp.so.10",
          "libm.so.6", "libgcc_s.so.1", "libz.so.1", "python3", "sort", "ls", "xz", "perf")
SAMPLE_SECONDS = 20
SMALL = 4 << 20  # bytes of a file in the sample, except ALWAYS
MACHINES = {62: ("rsp", "rbp", "rdi"), 183: ("sp", "x29", "x30")}  # EM_*: our names
LINKS = {"r2": "rcx", "r5": "rdi", "x30": "x30"}  # as readelf prints them, and our names

GENERAL = re.compile(r"r[a-ds][xip]|r\d+|sp|x\d+")  # registers that the CFA may be in

FUNCTION = re.compile(r"\S+ \S+ \S+ FDE cie=(\S+) pc=([0-9a-f]+)\.\.([0-9a-f]+)")
COMMON = re.compile(r"(\S+) \S+ \S+ CIE ")
ADDRESS = re.compile(r"[0-9a-f]{16} ")


def machine_of(path):
    """Returns e_machine of a 64-bit little-endian program or library, or None."""
    try:
        with open(path, "rb") as file:
            head = file.read(20)
    except OSError:
        return None
    if len(head) < 20 or head[:6] != b"\x7fELF\x02\x01" or head[16] not in (2, 3):
        return None
    return int.from_bytes(head[18:20], "little")


def expected(columns, values, machine):
    """Returns the columns (cfa, fp, ra) of our row for a row of readelf. A column may be a
    predicate: readelf does not print what exactly follows."""
    _, fp, _ = MACHINES[machine]
    row = dict(zip(columns, re.sub(r" \(\w+\)", "", values).split()))  # "r10 (r10)"
    cfa, saved, ra = row["CFA"], row.get(fp, "u"), row.get("ra", "u")
    if ra == "u":
        return ("end",) if machine == 62 else ("end or x30", cfa, saved)
    register = re.match(r"[a-z]+\d*", cfa)[0]
    other = cfa != "exp" and not GENERAL.fullmatch(register)
    if other or saved[0] == "v" or saved not in ("u", "s", "exp") and saved[:2] not in ("c+", "c-"):
        return ("unsupported",)
    if ra != "exp" and ra not in LINKS and ra[:2] not in ("c+", "c-"):
        return ("unsupported",)
    known = (cfa, fp if saved in "us" else saved, LINKS.get(ra, ra))
    return known + (expected_base(row.get("rbx", "u")),) if machine == 62 else known


def expected_base(saved):
    """Returns our column for where rbx is saved: a word near the CFA, or nowhere."""
    if saved in "us":
        return "rbx"
    if saved == "exp":
        return saved
    words, rest = divmod(int(saved[1:]), 8) if saved[0] == "c" else (0, 1)
    return saved if rest == 0 and words != 0 and -128 < words < 128 else "?"


def equal(ours, theirs):
    if ours[0] == "unsupported" and "exp" in theirs:
        return "an expression without a rule"
    if theirs[0] == "end or x30":
        _, cfa, saved = theirs
        if ours[0] == "end":
            return "equal"
        theirs = (cfa, "x29" if saved in "us" else saved, "x30")
        if not re.match(r"(sp|x\d+)[+-]", cfa):
            theirs = ("unsupported",)
    if ours[:len(theirs)] == theirs:
        return "equal"
    if "exp" in theirs and all(b in ("exp", a) for a, b in zip(ours, theirs)):
        return "equal as far as readelf prints an expression"
    return None


class Function:
    __slots__ = ("start", "end", "common", "rows")

    def __init__(self, start, end, common, rows):
        self.start, self.end, self.common, self.rows = start, end, common, rows


def read_theirs(path, machine):
    """Returns the functions in the order of the sections, with rows (address, expected)."""
    command = ["readelf", "--wide", "--debug-dump=frames-interp", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True, errors="replace") as readelf:
        functions, commons, known = [], {}, {}
        current = columns = common = None
        for line in readelf.stdout:
            if ADDRESS.match(line) and columns is not None:
                key = (columns, line[17:])
                if key not in known:
                    known[key] = expected(columns.split(), line[17:], machine)
                if current is not None:
                    current.rows.append((int(line[:16], 16), known[key]))
                else:
                    commons[common] = known[key]
            elif found := FUNCTION.match(line):
                start, end = int(found[2], 16), int(found[3], 16)
                initial = commons.get(found[1])
                current = Function(start, end, found[1], [(start, initial)] if initial else [])
                functions.append(current)
            elif found := COMMON.match(line):
                current, common = None, found[1]
            elif line.startswith("   LOC"):
                columns = line.strip()[len("LOC"):]
            elif line.startswith("Contents of"):
                commons = {}
        return functions


def restoring_commons(path):
    """Returns the offsets of CIEs with DW_CFA_restore."""
    done = subprocess.run(["readelf", "--wide", "--debug-dump=frames", str(path)],
                          capture_output=True, text=True, errors="replace")
    found, common = set(), None
    for line in done.stdout.splitlines():
        if line.startswith("  DW_CFA_restore:") and common:
            found.add(common)
        elif head := re.match(r"([0-9a-f]{8,}) \S+ \S+ (CIE|FDE)", line):
            common = head[1] if head[2] == "CIE" else None
    return found


def starts_context(path, function):
    """Whether the first instruction sets the stack pointer."""
    done = subprocess.run(["objdump", "-d", "--no-show-raw-insn", str(path),
                           f"--start-address={function.start:#x}",
                           f"--stop-address={function.end:#x}"], capture_output=True, text=True)
    instructions = re.findall(r"^ *[0-9a-f]+:\t(.*)$", done.stdout, re.M)
    first = [text for text in instructions if not text.startswith("endbr64")][:1]
    return bool(first and re.match(r"mov +%(rbx|r1[2-5]),%rsp", first[0]))


def read_ours(inspect, path):
    done = subprocess.run([inspect, "--unwind-table", str(path)], capture_output=True, text=True)
    if done.returncode != 0 or done.stderr:
        raise SystemExit(f"{path}: perftape-inspect: status {done.returncode}: {done.stderr}")
    addresses, rows = [], []
    for line in done.stdout.splitlines()[1:]:
        address, *row = line.split("\t")
        addresses.append(int(address, 16))
        rows.append(tuple(row))
    return addresses, rows


class Comparison:
    def __init__(self):
        self.files, self.counts, self.differences = 0, Counter(), []
        self.restoring = {}  # by file, as far as needed

    def add(self, inspect, path, machine):
        functions = read_theirs(path, machine)
        if not functions:
            return
        addresses, rows = read_ours(inspect, path)
        self.files += 1
        starts, ends = [], []  # of compared functions, sorted
        for function in functions:
            if function.start == 0 or function.start >= function.end:
                self.counts["functions that the linker discarded"] += 1
                continue
            i = bisect.bisect_right(starts, function.start)
            if (i > 0 and ends[i - 1] > function.start) or (i < len(starts) and
                                                            starts[i] < function.end):
                self.counts["functions that overlap an earlier one"] += 1
                continue
            starts.insert(i, function.start)
            ends.insert(i, function.end)
            self.compare(path, function, addresses, rows)

    def compare(self, path, function, addresses, rows):
        theirs = {}  # of several rows at one address, the last counts
        for address, row in function.rows:
            if function.start <= address < function.end:
                theirs[address] = row
        first = bisect.bisect_right(addresses, function.start) - 1
        last = bisect.bisect_left(addresses, function.end)
        ours = {max(addresses[i], function.start): rows[i] for i in range(max(first, 0), last)}
        a = b = None
        for address in sorted(theirs.keys() | ours.keys()):
            a, b = ours.get(address, a), theirs.get(address, b)
            if a is None or b is None:
                verdict = None
            else:
                verdict = equal(a, b)
            if verdict is None and self.is_restored(path, function):
                verdict = "DW_CFA_restore in a CIE"
            if verdict is None and a and a[0] == "end" and starts_context(path, function):
                verdict = "the start of a context"
            self.counts[verdict or "different"] += 1
            if verdict is None:
                self.differences.append(f"{path}: {address:#x}: ours {a}, readelf's {b}")

    def is_restored(self, path, function):
        if path not in self.restoring:
            self.restoring[path] = restoring_commons(path)
        return function.common in self.restoring[path]


def files_below(root):
    if os.path.isfile(root):
        yield Path(root)
    for folder, _, names in os.walk(root):
        yield from (Path(folder, name) for name in sorted(names))


def distinct_files(roots):
    """Yields (path, e_machine) of programs and libraries, each file once."""
    seen = set()
    for root in roots:
        for path in files_below(root):
            if path.is_symlink() and path.name not in ALWAYS:
                continue
            machine = machine_of(path)
            if machine not in MACHINES:
                continue
            status = path.stat()
            if (status.st_dev, status.st_ino) not in seen:
                seen.add((status.st_dev, status.st_ino))
                yield path, machine


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("paths", nargs="*")
    options = parser.parse_args()
    if not shutil.which("readelf"):
        print("skipped: no readelf")
        return SKIPPED

    start = time.monotonic()
    files = list(distinct_files(options.paths or (*ROOTS, ARM64_ROOT, ARM64_FILE)))
    limit = None
    if not options.all and not options.paths:
        first = [file for file in files if file[0].name in ALWAYS or file[0] == ARM64_FILE]
        rest = [file for file in files if file not in first and file[0].stat().st_size < SMALL]
        random.Random(1).shuffle(rest)
        files, limit = first + rest, start + SAMPLE_SECONDS
    comparisons = {machine: Comparison() for machine in MACHINES}
    for path, machine in files:
        if limit and time.monotonic() > limit and comparisons[machine].files:
            break
        comparisons[machine].add(os.path.join(options.bin, "perftape-inspect"), path, machine)

    for machine, name in ((62, "x86-64"), (183, "arm64")):
        comparison = comparisons[machine]
        print(f"{name}: {comparison.files} files")
        for verdict, count in comparison.counts.most_common():
            print(f"{count:>12} {verdict}")
        for difference in comparison.differences[:20]:
            print("   ", difference)
    if comparisons[183].files == 0:
        print("no arm64 binaries to compare")
    compared = sum(comparison.counts["equal"] for comparison in comparisons.values())
    return 1 if any(c.differences for c in comparisons.values()) or compared == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
