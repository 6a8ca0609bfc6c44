#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares perftape-inspect with what perf itself says of recordings made by other people's tools.

    corpus_test.py --inspect build/dev/bin/perftape-inspect [--corpus DIRECTORY] [--all]

The corpus is not part of this tree: $PERFTAPE_CORPUS, or ../shared/corpus beside it; without one the
test is skipped (status 77). Of each file in MUST_AGREE the table of --samples must equal
NAME.samples.tsv.gz line by line, and the counts of --stats those of NAME.oracle.json. --all tries the
rest, too, and names those that agree by now.
"""
import argparse
import difflib
import gzip
import json
import os
import re
import subprocess
import sys
from pathlib import Path

SKIPPED = 77

MUST_AGREE = """
aarch64-etm-injected-branches-kernel
aarch64-k4.0-fib
armv7-k3.4-systemwide-6events
i686-k3.4-systemwide-6events
own-i386-fp-systemwide
own-pipe-s390x-BE-fp
own-ppc64le-fp-systemwide
own-s390x-BE-dwarf
own-s390x-BE-fp-systemwide
own-s390x-BE-sched-switch
own-x86_64-4kHz-one-page-ring
own-x86_64-buildid-mmap-cgroup-namespaces-switch
own-x86_64-dwarf-workload
own-x86_64-fp-workload
own-x86_64-group-read
own-x86_64-offcpu-sched-switch-wakeup
own-x86_64-raw-syscalls
pipe-x86_64-k3.4
pipe-x86_64-k4.14-no-attr-ids
pipe-x86_64-k4.14-switch-namespaces
pipe-x86_64-k4.16-header-features-unaligned
simpleperf-aarch64-embedded-lib-in-apk
simpleperf-aarch64-ip-zero-in-callchain
simpleperf-aarch64-kernel-symbols-true
simpleperf-aarch64-merge1
simpleperf-aarch64-meta-info
simpleperf-aarch64-proguard
simpleperf-aarch64-two-functions-dwarf
simpleperf-aarch64-two-processes
simpleperf-x86_64-branch-lost
simpleperf-x86_64-embedded-symbols
simpleperf-x86_64-fp-lost
simpleperf-x86_64-git-symbols
simpleperf-x86_64-group-read
simpleperf-x86_64-mini-debug-info
simpleperf-x86_64-plain
x86_64-k3.16-callchain-48k
x86_64-k3.16-cpuclock-taskclock
x86_64-k3.18-proc-map-timeout
x86_64-k3.2-remapped-executable
x86_64-k3.3-lbr-9k
x86_64-k3.4-busy-6events
x86_64-k3.4-callgraph-and-branch
x86_64-k3.4-hw-and-sw-events
x86_64-k3.4-raw
x86_64-k3.4-singleprocess-6events
x86_64-k3.4-systemwide-0s-6events
x86_64-k3.8-busy-6events-large
x86_64-k3.8-callgraph-fp
x86_64-k3.8-forkexit
x86_64-k3.8-systemwide-1s
x86_64-k3.8-systemwide-5s
x86_64-k4.14-branch-any
x86_64-k4.14-group-desc
x86_64-k4.14-intel-pt
x86_64-k4.18-dwarf-vector-gcc
x86_64-k4.4-lost-samples-pebs
x86_64-k4.8-precise-7samples
x86_64-k4.9-uprobe-raw
x86_64-k5.17-mem-weight-struct-data-src
x86_64-k5.6-ro-sample
x86_64-k6.16-sleep-attr136
x86_64-k6.6-user-events-tracepoints-attr136
x86_64-segments-dyn
""".split()


def inspect(tool, option, path):
    done = subprocess.run([tool, option, path], capture_output=True, timeout=300)
    return done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def samples_complaint(tool, path, table):
    want = gzip.open(table).read().decode(errors="replace").splitlines()
    got, stderr = inspect(tool, "--samples", path)
    if got.splitlines() == want:
        return None
    diff = difflib.unified_diff(want[:200], got.splitlines()[:200], "perf", "perftape", n=0,
                                lineterm="")
    return "samples differ\n" + "\n".join([line[:160] for line in diff][:8]) + stderr


def stats_complaint(tool, path, oracle):
    text, _ = inspect(tool, "--stats", path)
    # Only the counts of records have a percentage behind them.
    records = {name: int(count) for name, count in re.findall(r"(\w+) events: +(\d+)  \(", text)}
    if records != oracle["record_counts"]:
        return f"records are {records}, perf says {oracle['record_counts']}"
    periods = text.split("Periods:\n")[1]
    events = {}
    for name, samples, period in re.findall(r"^ *(.*): +(\d+) samples, period (\d+)$", periods, re.M):
        before = events.get(name, (0, 0))
        events[name] = (before[0] + int(samples), before[1] + int(period))
    events = {name: counts for name, counts in events.items() if counts != (0, 0)}
    want = {name: (e["samples"], e["period_sum"]) for name, e in oracle["events"].items()}
    return None if events == want else f"events are {events}, perf says {want}"


def complaint(tool, path):
    stem = str(path).removesuffix(".perf.data")
    table = Path(stem + ".samples.tsv.gz")
    if not table.exists():
        return "there is no table to compare it with"
    oracle = json.loads(Path(stem + ".oracle.json").read_text())
    return samples_complaint(tool, path, table) or stats_complaint(tool, path, oracle)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inspect", required=True)
    parser.add_argument("--corpus", default=os.environ.get("PERFTAPE_CORPUS"))
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    beside = Path(__file__).resolve().parents[2].parent / "shared" / "corpus"
    directory = Path(options.corpus or beside) / "perfdata"
    if not directory.is_dir():
        print(f"skipped: there is no corpus at {directory}; PERFTAPE_CORPUS names one")
        return SKIPPED

    failed = 0
    for path in sorted(directory.glob("*.perf.data")):
        name = path.name.removesuffix(".perf.data")
        must = name in MUST_AGREE
        if not must and not options.all:
            continue
        words = complaint(options.inspect, path)
        if must and words:
            failed += 1
            print(f"{name}: {words}")
        elif options.all and not must:
            print(f"{name}: {words.splitlines()[0] if words else 'agrees by now'}")
    print(f"{len(MUST_AGREE) - failed} of {len(MUST_AGREE)} files agree")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
