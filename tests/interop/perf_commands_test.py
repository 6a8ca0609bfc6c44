#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the small commands of perftape-perf with those of perf 6.1, line by line: evlist and
buildid-list for the recordings of the corpus, diff for some pairs, list for this machine. Each
command that perf 6.1 or a newer perf lists must have a row in perftape's table.

  perf_commands_test.py --bin PATH     exit 0 equal, 1 not, 77 skipped: no corpus or no perf 6.1
"""

import argparse
import re
import shutil
import subprocess
import sys

import newer_perf
from corpus import SKIPPED, find_recordings

# perf 6.1 lists what it read of these before the damage, or refuses them; perftape reads more.
DAMAGED = re.compile(r"CORRUPT|CRASHED")
# Each recording is read with the first two of them.
OPTIONS = (("evlist", "-v"), ("buildid-list",), ("evlist", "-F"), ("evlist", "-g"), ("evlist", "--trace-fields"),
           ("buildid-list", "-H"))
# Other names: perf 6.1 does not find the names of these, or does not know them.
OTHER_NAMES = ("pipe-x86_64-k4.9-uprobe-tracing-data", "pipe-x86_64-k6.16-COMPRESSED2-attr136-stderr-text-at-end",
               "simpleperf-aarch64-etm-auxtrace", "simpleperf-aarch64-etm-unformatted")
DIFF_PAIRS = (("own-x86_64-fp-workload", "own-x86_64-dwarf-workload"),
              ("own-x86_64-4kHz-one-page-ring", "own-x86_64-fp-workload"),
              ("own-s390x-BE-fp-systemwide", "own-s390x-BE-zstd-fp"))
# Reading all samples takes perf seconds for larger files.
MOST_BYTES = 1 << 20


def output_of(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
                          check=False)
    return done.stdout.decode(errors="replace"), done.returncode


def commands_listed_by(perf):
    names = set(output_of(*perf, "--list-cmds")[0].split())
    for line in output_of(*perf, "help")[0].splitlines():
        if match := re.match(r"   ([a-z0-9-]+)  ", line):
            names.add(match.group(1))
    return names


def missing_rows(perftape, perf):
    return [name for name in sorted(commands_listed_by(perf))
            if output_of(perftape, "help", name)[1] != 0]


def without_temporary_names(text):
    """perf shows the copy of the vdso that it makes."""
    return re.sub(r"/tmp/perf-vdso[\w.]*\.so-\w+", "[vdso]", text)


def differences(perftape, path, all_options):
    for options in all_options:
        if options[0] == "buildid-list" and path.stat().st_size > MOST_BYTES:
            continue
        expected, status = output_of("perf", *options, "-i", str(path))
        if status != 0 or not expected:
            continue  # perf 6.1 does not read the file
        if options[0] == "evlist" and path.name.removesuffix(".perf.data") in OTHER_NAMES:
            continue
        if options[0] == "buildid-list" and path.name.startswith("x86_64-k3.10-dwarf-one-sample"):
            continue  # perf 6.1 shows the end of a path
        if options[-1] == "-v" and path.name.startswith("pipe-") and "size: 128," not in expected:
            continue  # perf 6.1 prints the memory after the end of a shorter attribute
        found, _ = output_of(perftape, *options, "-i", str(path))
        if without_temporary_names(found) != without_temporary_names(expected):
            yield options, expected, found


def diff_shares(text):
    """Returns baseline and difference of each binary, in percent, as sums over its symbols. Symbols without a name are
    an address in perf's table, and local names differ in aliases."""
    shares = {}
    for line in text.splitlines():
        match = re.match(r" {1,9}([0-9.]+%)? +([+-][0-9.]+%)?  (\S+) +\[.\] ", line)
        if match and not line.startswith("#"):
            old, change = (float((match.group(i) or "0").rstrip("%")) for i in (1, 2))
            if match.group(1) and not match.group(2):
                change = -old  # not in the second recording
            base, sum_of_changes, lines = shares.get(match.group(3), (0, 0, 0))
            shares[match.group(3)] = (base + old, sum_of_changes + change, lines + 1)
    return shares


def diff_differences(perftape, pair):
    """Each number is rounded to 0.01 %, also in perf."""
    expected, found = (diff_shares(output_of(program, "diff", *map(str, pair))[0]) for program in ("perf", perftape))
    if not expected:
        yield "perf diff printed no table"
    for dso in sorted(expected.keys() | found.keys()):
        old, new = expected.get(dso, (0, 0, 0)), found.get(dso, (0, 0, 0))
        limit = 0.011 * (max(old[2], new[2]) + 1)
        if abs(old[0] - new[0]) > limit or abs(old[1] - new[1]) > limit:
            yield f"{dso}: perf {old}, perftape {new}"


def list_differences(perftape):
    """The software events and tracepoints that both list must have the same line."""
    def lines_of(program, word):
        return set(output_of(program, "list", word)[0].splitlines())
    for word in ("sw", "tracepoint"):
        expected, found = lines_of("perf", word), lines_of(perftape, word)
        # "faults" is a latency event of perftape; tracepoints of ftrace itself cannot be opened.
        kinds = re.compile(r"^  (page-faults|ftrace:)|\[(Tool event|Kernel PMU event|Raw .*|Hardware breakpoint)\]| (dummy|bpf-output) ")
        expected, found = ({line for line in lines if line.strip() and not kinds.search(line)}
                           for lines in (expected, found))
        for line in sorted(expected ^ found)[:5]:
            yield f"list {word}: only in {'perf' if line in expected else 'perftape'}: {line.strip()}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--corpus")
    args = parser.parse_args()
    if shutil.which("perf") is None:
        print("no perf")
        return SKIPPED
    perftape, failed, compared = f"{args.bin}/perftape-perf", 0, 0
    perfs = [["perf"]]
    try:
        perfs.append(newer_perf.command())
    except newer_perf.Unavailable as error:
        print(f"no newer perf: {error}")
    for name in {name for perf in perfs for name in missing_rows(perftape, perf)}:
        print(f"perf {name}: perftape-perf has no row for it")
        failed += 1
    recordings = find_recordings(args.corpus)
    for index, path in enumerate(recordings or ()):
        if DAMAGED.search(path.name):
            continue
        compared += 1
        options_of_path = OPTIONS if index % 4 == 0 or "group" in path.name else OPTIONS[:2]
        for options, expected, found in differences(perftape, path, options_of_path):
            failed += 1
            print(f"{path.name}: {' '.join(options)}\n  perf:     {expected[:600]!r}\n  perftape: {found[:600]!r}")
    by_name = {path.name.removesuffix(".perf.data"): path for path in recordings or ()}
    for pair in DIFF_PAIRS if by_name else ():
        for difference in diff_differences(perftape, [by_name[name] for name in pair]):
            print(f"diff {' '.join(pair)}: {difference}")
            failed += 1
    for difference in list_differences(perftape):
        print(difference)
        failed += 1
    print(f"{compared} recordings compared, {failed} differences")
    if failed:
        return 1
    return 0 if recordings else SKIPPED


if __name__ == "__main__":
    sys.exit(main())
