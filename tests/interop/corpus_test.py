#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares perftape-inspect with the output of perf on recordings of other people's tools.

    corpus_test.py --inspect build/dev/bin/perftape-inspect [--corpus DIRECTORY] [NAME...]

The corpus is not part of this tree: $PERFTAPE_CORPUS, or ../shared/corpus beside it. Without one
the test is skipped (status 77). For each recording, the table of --samples must equal
NAME.samples.tsv.gz line by line, the counts of --stats those of NAME.oracle.json, and the events of
--header those of NAME.inventory.json. Where perf cannot read a file, the oracle is an independent
walk over its bytes, without time order, comm or dso; then these are not compared. KNOWN lists all
other differences with reasons.
"""
import argparse
import difflib
import gzip
import json
import re
import subprocess
import sys

import header_json
from corpus import SKIPPED, find_recordings, name_in_bytes

EVENT, COMM, DSO, FRAME_COUNT, FRAMES = 0, 1, 8, 9, 10

ABBREVIATED = {"excl_cc_user": "exclude_callchain_user"}  # in the inventories

# Recording -> the columns that are not compared, and the reason.
KNOWN = {
    "x86_64-k3.10-dwarf-one-sample": (
        [DSO],
        "the MMAP2 of that kernel has no protection and flags; perf reads the first 8 bytes of the "
        "name for them, and shows 64/ld-2.17.so for /usr/lib64/ld-2.17.so",
    ),
    "x86_64-k5.4-lbr-callgraph-vector-gcc": (
        [FRAME_COUNT, FRAMES],
        "where the branch stack is empty perf reads on behind it, and shows as a frame the ip of the "
        "next record; here the chain's own user frames are shown",
    ),
}


def inspect(tool, option, path, *more):
    done = subprocess.run([tool, option, path, *more], capture_output=True, timeout=300)
    return done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def masked(line, columns):
    cells = line.split("\t")
    for column in columns:
        if column < len(cells):
            cells[column] = "-"
    return "\t".join(cells)


def with_name_in_bytes(line):
    cells = line.split("\t")
    cells[EVENT] = name_in_bytes(cells[EVENT])
    return "\t".join(cells)


def samples_complaint(tool, path, want, columns, is_from_bytes):
    got, stderr = inspect(tool, "--samples", path)
    got = [masked(line, columns) for line in got.splitlines()]
    want = [masked(line, columns) for line in want]
    if is_from_bytes:
        got = sorted(with_name_in_bytes(line) for line in got)
        want.sort()
    if got == want:
        return None
    diff = difflib.unified_diff(want[:200], got[:200], "perf", "perftape", n=0, lineterm="")
    return "samples differ\n" + "\n".join([line[:160] for line in diff][:8]) + stderr


def stats_complaint(tool, path, oracle, is_from_bytes):
    text, _ = inspect(tool, "--stats", path)
    # Only counts of records are followed by a percentage. perf prints types of simpleperf as
    # numbers; perftape and the oracle print names.
    records = {name: int(count) for name, count in re.findall(r"(\w+) events: +(\d+)  \(", text)
               if not name.startswith("SIMPLEPERF_")}
    want = {name: count for name, count in oracle["record_counts"].items()
            if not name.startswith("SP_")}
    if records != want:
        return f"records are {records}, perf has {want}"
    periods, shares = text.split("Periods:\n")[1].split("\nComms:\n")
    events = {}
    for name, samples, period in re.findall(r"^ *(.*): +(\d+) samples, period (\d+)$", periods, re.M):
        name = name_in_bytes(name) if is_from_bytes else name
        before = events.get(name, (0, 0))
        events[name] = (before[0] + int(samples), before[1] + int(period))
    events = {name: counts for name, counts in events.items() if counts != (0, 0)}
    want = {name: (e["samples"], e["period_sum"]) for name, e in oracle["events"].items()}
    want = {name: counts for name, counts in want.items() if counts != (0, 0)}
    if events != want:
        return f"events are {events}, perf has {want}"
    return None if is_from_bytes else shares_complaint(shares, oracle)


def shares_complaint(shares, oracle):
    for text, key in zip(shares.split("\nDsos:\n"), ("comm", "dso")):
        got = {}
        for name, samples, period in re.findall(r"^ *(.*): +(\d+) samples, period (\d+)$", text, re.M):
            got[name] = (int(samples), int(period))
        want = {name: (count, oracle[f"period_by_{key}"][name])
                for name, count in oracle[f"by_{key}"].items()}
        if got != want and not (key == "dso" and DSO in KNOWN.get(oracle["name"], ([], ""))[0]):
            return f"{key}s are {got}, perf has {want}"
    return None


def inventory_complaint(tool, path, inventory):
    """The inventory comes from a walk over the bytes that shares no code with perf. It invents
    names for events without one."""
    header = header_json.parse(inspect(tool, "--header", path, "--json")[0])
    kept = ("type", "size", "config", "sample_period", "sample_type", "flags", "precise_ip",
            "branch_sample_type")
    got = [{name: event[name] for name in kept} | {"ids": len(event["ids"])}
           for event in header["events"]]
    want = [event_of_inventory(event) for event in inventory["events"]]
    if got != want:
        return f"events are {got}, the inventory has {want}"
    return None


def event_of_inventory(event):
    flags = {ABBREVIATED.get(flag, flag) for flag in event["flags"]}
    precise = {"precise0": 1, "precise1": 2}
    return {"type": event["type"], "size": event["size"], "config": event["config"],
            "sample_period": event["sample_period_or_freq"],
            "sample_type": set(event["sample_type"]), "flags": flags - precise.keys(),
            "precise_ip": sum(precise[flag] for flag in flags & precise.keys()),
            "branch_sample_type": event["branch_sample_type"], "ids": event["nids"]}


def complaint(tool, path):
    name = path.name.removesuffix(".perf.data")
    oracle = json.loads((path.parent / f"{name}.oracle.json").read_text())
    oracle["name"] = name
    is_from_bytes = "perf 6.1 on" not in oracle["made_by"]
    columns, _ = KNOWN.get(name, ([], ""))
    table = path.parent / f"{name}.samples.tsv.gz"
    words = None
    if table.exists():
        want = gzip.open(table).read().decode(errors="replace").splitlines()
        if is_from_bytes:
            columns = columns + [COMM, DSO]
        words = samples_complaint(tool, path, want, columns, is_from_bytes)
    inventory = json.loads((path.parent / f"{name}.inventory.json").read_text())
    return (words or stats_complaint(tool, path, oracle, is_from_bytes) or
            inventory_complaint(tool, path, inventory))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inspect", required=True)
    parser.add_argument("--corpus")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    files = find_recordings(options.corpus, options.names)
    if files is None:
        return SKIPPED

    failed = 0
    for path in files:
        if words := complaint(options.inspect, path):
            failed += 1
            print(f"{path.name}: {words}")
    for name, (columns, reason) in KNOWN.items():
        print(f"{name}: compared without columns {columns}: {reason}")
    print(f"{len(files) - failed} of {len(files)} files agree")
    return 1 if failed or not files else 0


if __name__ == "__main__":
    sys.exit(main())
