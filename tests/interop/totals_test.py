#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the output of perftape-convert and perftape-report with the totals that perf counts.

    totals_test.py --bin build/dev/bin [--corpus DIRECTORY] [NAME...]

The corpus is not part of this tree: $PERFTAPE_CORPUS, or ../shared/corpus beside it. Without one
the test is skipped (status 77). For each recording, the samples and periods of the pprof by event,
comm, pid, tid and dso must equal those of NAME.oracle.json. So must those of perftape-report, and
those of its folded stacks by event, comm and dso, for samples and for periods. Where perf cannot read a file, the oracle is an
independent walk over its bytes, without comm and dso. KNOWN lists all other differences with
reasons.
"""
import argparse
import json
import re
import subprocess
import sys

from concurrent.futures import ThreadPoolExecutor
from urllib.parse import unquote

import pprof_reader
from corpus import SKIPPED, find_recordings, name_in_bytes

HIDDEN_KERNEL = "[kernel]"  # convert/model/mappings_without_files.h
UNKNOWN = -1  # a pid or tid, as perf prints it; pprof has no label then

# Recording -> the totals that are not compared, and the reason.
KNOWN = {
    "aarch64-k4.0-fib": (
        ["comm"],
        "perf script prints :TID until a thread has a name; perf report and we use the later name",
    ),
    "own-x86_64-4kHz-one-page-ring": (["comm"], "the same"),
    "x86_64-k3.10-dwarf-one-sample": (
        ["dso"],
        "the MMAP2 of that kernel has no protection and flags; perf reads the first 8 bytes of the "
        "name for them",
    ),
    "x86_64-k5.4-lbr-callgraph-vector-gcc": (
        ["dso"],
        "perf counts the file of the sample's address; the innermost frame is of the branch stack, and "
        "was another instruction",
    ),
    "x86_64-k6.12-lbr-callgraph-attr136": (["dso"], "the same"),
}


def run(*command):
    done = subprocess.run(command, capture_output=True, timeout=300)
    if done.returncode not in (0, 3):  # perf does not read the damaged part either
        raise ValueError(f"status {done.returncode}: {done.stderr.decode(errors='replace')}")
    return done.stdout


def convert(tools, path, *options):
    return run(f"{tools}/perftape-convert", "-q", "--no-symbols", path, "-o", "-", *options)


def dso_name(path):
    """Returns the base name, or all of "[vdso]". Some names of perf are unified: a module gets the
    kernel's name for it, and code without a file the name of its process's perf map. Code of the
    kernel in no mapping is unknown to perf."""
    if path in ("", "[unknown]", HIDDEN_KERNEL):
        return "[unknown]"
    name = path if path.startswith("[") else path.rsplit("/", 1)[-1] or path
    if module := re.fullmatch(r"(.*)\.ko(\.gz|\.xz|\.zst)?", name):
        return f"[{module[1].replace('-', '_')}]"
    return "anon" if re.fullmatch(r"perf-\d+\.map", name) else name


def letters(name):
    """Returns the letters and digits of a text, which perf prints unchanged."""
    return re.sub(r"\\x[0-9a-f]{2}|[^0-9A-Za-z]", "", name)


class Totals:
    """Returns samples and periods by dimension: {"comm": {"ls": [3, 3000]}, ...}."""

    def __init__(self):
        self.by = {key: {} for key in ("event", "comm", "pid", "tid", "dso")}

    def add(self, key, name, samples, period):
        sums = self.by[key].setdefault(str(name), [0, 0])
        sums[0] += samples
        sums[1] += period


def totals_of_pprof(data):
    profile = pprof_reader.read(data)
    totals = Totals()
    for sample in profile.samples:
        dso = dso_name(profile.dsos[sample.locations[0]]) if sample.locations else ""
        for at in range(0, len(profile.types), 2):
            samples, period = sample.values[at:at + 2]
            if samples == 0 and period == 0:
                continue
            event = profile.types[at][0].removesuffix("_sample")
            names = {"event": event, "dso": dso} | {
                key: sample.labels.get(key, UNKNOWN) for key in ("comm", "pid", "tid")}
            for key, name in names.items():
                totals.add(key, name, samples, period)
    return totals, [name.removesuffix("_sample") for name, _ in profile.types[::2]]


def totals_of_report(tools, path):
    report = json.loads(run(f"{tools}/perftape-report", "-q", "--no-local", "--no-lines", "-n0",
                            "--json", "--by", "comm,pid,tid,dso", path))
    totals = Totals()
    for event in report["events"]:
        has_periods = event["weights"] == "periods"

        def add(key, name, amount):
            totals.add(key, name, amount["samples"], amount["weight"] if has_periods else 0)
        add("event", event["name"], event["total"])
        for key, groups in event["by"].items():
            for group in groups:
                add(key, group["name"] if key != "dso" else dso_name(group["name"]),
                    group["amount"])
    return totals


def totals_of_folded(tools, path, events):
    totals = Totals()
    for event in events:
        glob = re.sub(r"([*?\[\\])", r"\\\1", event)
        for values, column in (("samples", 0), ("period", 1)):
            lines = convert(tools, path, "--to", "folded", "--values", values, "--event", glob)
            for line in lines.decode(errors="replace").splitlines():
                stack, count = line.rsplit(" ", 1)
                frames = [unquote(frame) for frame in stack.split(";")]
                both = [0, 0]
                both[column] = int(count)
                totals.add("event", event, *both)
                totals.add("comm", frames[0], *both)
                totals.add("dso", frames[-1], *both)
    return totals


def renamed(sums, rename):
    """Sums the entries that have the same name afterwards."""
    found = {}
    for name, both in sums.items():
        before = found.get(rename(name), [0, 0])
        found[rename(name)] = [None if one is None else one + other
                               for one, other in zip(both, before)]
    return found


def without_brackets(name):
    """Returns a dso in brackets, as folded stacks show it, unless it has brackets already."""
    name = dso_name(name) if name == HIDDEN_KERNEL else name
    return dso_name(name.strip("[]")).strip("[]")


def oracle_sums(oracle, key):
    """Returns the same from perf; periods are None if it does not print them."""
    if key == "event":
        return {name: [of["samples"], of["period_sum"]] for name, of in oracle["events"].items()
                if of["samples"] or of["period_sum"]}
    periods = oracle.get(f"period_by_{key}", {})
    sums = {name: [samples, periods.get(name)] for name, samples in oracle[f"by_{key}"].items()}
    return renamed(sums, dso_name) if key == "dso" else sums


def as_pid(name):
    """perf prints a pid of all ones as -1, perftape-report as unknown."""
    return str(int(name or -1) & 0xFFFFFFFF)


def complaint_about(form, key, got, want):
    shown = {name: [both[0], None if want.get(name, [0, 0])[1] is None else both[1]]
             for name, both in got.items()}
    if shown == want:
        return None
    differing = sorted(name for name in shown.keys() | want.keys()
                       if shown.get(name) != want.get(name))[:4]
    return f"{form} by {key}: " + "; ".join(
        f"{name!r} is {shown.get(name)}, perf has {want.get(name)}" for name in differing)


def complaints(tools, path):
    name = path.name.removesuffix(".perf.data")
    oracle = json.loads((path.parent / f"{name}.oracle.json").read_text())
    is_from_bytes = "perf 6.1 on" not in oracle["made_by"]
    keys = ["event", "pid", "tid"] + ([] if is_from_bytes else ["comm", "dso"])
    left_out, _ = KNOWN.get(name, ((), ""))
    pprof, events = totals_of_pprof(convert(tools, path, "--to", "pprof", "--no-gzip"))
    folded = totals_of_folded(tools, path, events)
    report = totals_of_report(tools, path)
    in_pprof, in_folded = {}, {"comm": letters, "dso": without_brackets}
    for key in ("pid", "tid"):
        in_pprof[key] = as_pid
    if is_from_bytes:
        in_pprof["event"] = in_folded["event"] = name_in_bytes
    for key in keys:
        if key in left_out or (key != "event" and f"by_{key}" not in oracle):
            continue
        for form, totals, names in (("pprof", pprof, in_pprof), ("report", report, in_pprof),
                                    ("folded", folded, in_folded)):
            if form == "folded" and key in ("pid", "tid"):
                continue
            rename = names.get(key, str)
            yield complaint_about(form, key, renamed(totals.by[key], rename),
                                  renamed(oracle_sums(oracle, key), rename))


def check(tools, path):
    try:
        return [words for words in complaints(tools, path) if words]
    except (ValueError, KeyError, IndexError) as error:
        return [f"{type(error).__name__}: {error}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True)
    parser.add_argument("--corpus")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    files = find_recordings(options.corpus, options.names)
    if files is None:
        return SKIPPED

    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda path: check(options.bin, path), files))
    for path, words in zip(files, found):
        for line in words:
            print(f"{path.name}: {line}")
    for name, (keys, reason) in KNOWN.items():
        print(f"{name}: compared without {', '.join(keys)}: {reason}")
    failed = sum(bool(words) for words in found)
    print(f"{len(files) - failed} of {len(files)} files agree")
    return 1 if failed or not files else 0


if __name__ == "__main__":
    sys.exit(main())
