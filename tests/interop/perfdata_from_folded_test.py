#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Opens a perf.data that was made of folded stacks with perf and hotspot's parser.

    perfdata_from_folded_test.py --bin build/dev/bin [--corpus DIRECTORY] [NAME...]

The corpus is not part of this tree: $PERFTAPE_CORPUS, or ../shared/corpus beside it. Without one,
or without perf, the test is skipped (status 77). For each file, perf must show the shares of each
function (self, and with callees) that the test computes from the lines. It must show the same
stacks with the same counts, and print nothing to stderr. This is tested twice: with all names in
the perf.data, and with names in the files of --symbol-dir, which hotspot's parser must find, too.
"""
import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from corpus import SKIPPED, find as find_corpus

PERFPARSER = "/usr/lib/x86_64-linux-gnu/libexec/hotspot-perfparser"
FILES = ("flamegraph/perf-dd-stacks-01.expect-all.folded",
         "flamegraph/perf-funcab-cmd-01.expect-pid.folded",
         "flamegraph/perf-iperf-stacks-pidtid-01.expect-kernel.folded",
         "flamegraph/perf-java-stacks-01.expect-all.folded",
         "flamegraph/perf-js-stacks-01.expect-addrs.folded",
         "flamegraph/perf-rust-Yamakaky-dcpu.expect-all.folded",
         "flamegraph/perf-vertx-stacks-01.expect-jit.folded",
         "inferno/collapse-perf__expect-cpp-stacks-std-function-collapsed.txt",
         "inferno/collapse-perf__expect-go-stacks-collapsed.txt",
         "inferno/flamegraph__colors__async-profiler-collapsed-part.txt")
ROW = re.compile(r"^ +(\d+\.\d+)% +(\d+\.\d+)% +\[[.k]\] (.*?) *$")
SELF_ROW = re.compile(r"^ +(\d+\.\d+)% +\[[.k]\] (.*?) *$")
WITHIN = 0.011  # perf prints two decimals


def stacks_of(path):
    """Returns the sums by stack. Spaces around names are removed, as perf's columns do."""
    stacks = Counter()
    for line in path.read_text(errors="surrogateescape").splitlines():
        match = re.match(r"^(.*)\s+(\d+)$", line)
        stacks[tuple(name.strip() for name in match[1].split(";"))] += int(match[2])
    return stacks


def shares_of(stacks):
    """Returns by name the percentages with callees, and self."""
    total = sum(stacks.values())
    inclusive, own = Counter(), Counter()
    for stack, count in stacks.items():
        own[stack[-1]] += count
        for name in set(stack):
            inclusive[name] += count
    return ({name: 100 * count / total for name, count in inclusive.items()},
            {name: 100 * own[name] / total for name in inclusive})


class Test:
    def __init__(self, convert, directory):
        self.convert, self.dir, self.failures = convert, Path(directory), 0

    def expect(self, what, is_so, detail=""):
        if not is_so:
            print(f"FAILED: {what}: {detail}")
            self.failures += 1

    def run(self, what, *command):
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                              errors="surrogateescape", stdin=subprocess.DEVNULL, timeout=120)
        self.expect(what, done.returncode == 0 and not done.stderr,
                    f"status {done.returncode}, stderr {done.stderr[:500]}")
        return done.stdout

    def check(self, path):
        stacks = stacks_of(path)
        inside, beside, symbols = self.dir / "in.data", self.dir / "out.data", self.dir / "symbols"
        self.run(f"{path.name}: convert", self.convert, "-q", "-f", "--from", "folded", path, "-o",
                 inside)
        self.check_perf(f"{path.name}", ["perf"], inside, stacks, "k")
        self.run(f"{path.name}: convert", self.convert, "-q", "-f", "--from", "folded", path, "-o",
                 beside, "--symbol-dir", symbols)
        self.check_perf(f"{path.name} with --symbol-dir", ["perf", "--buildid-dir", symbols],
                        beside, stacks, "k" if all("_[k]" in name for stack in stacks
                                                   for name in stack) else ".")
        self.check_hotspot(path.name, beside, symbols, stacks)

    def check_perf(self, what, perf, data, stacks, mark):
        inclusive, own = shares_of(stacks)
        report = [*perf, "report", "-i", data, "--stdio", "--percent-limit", "0", "--max-stack",
                  "8000", "-g", "caller"]
        text = self.run(what, *report, "--children", "-F", "overhead_children,overhead,sym")
        rows = {match[3]: (float(match[1]), float(match[2]))
                for match in map(ROW.match, text.splitlines()) if match}
        self.expect(f"{what}: functions", rows.keys() == inclusive.keys(),
                    sorted(rows.keys() ^ inclusive.keys())[:5])
        for name, (with_callees, alone) in rows.items():
            self.expect(f"{what}: {name}", abs(with_callees - inclusive.get(name, -1)) < WITHIN
                        and abs(alone - own.get(name, -1)) < WITHIN,
                        f"{with_callees} % and {alone} %, not {inclusive.get(name)} and "
                        f"{own.get(name)}")
        self.expect(f"{what}: mark", f"[{mark}] " in text, mark)

        text = self.run(what, *report, "--no-children", "-F", "overhead,sym")
        rows = {match[2]: float(match[1])
                for match in map(SELF_ROW.match, text.splitlines()) if match}
        expected = {name: share for name, share in own.items() if share > 0}
        self.expect(f"{what}: leaves", rows.keys() == expected.keys(),
                    sorted(rows.keys() ^ expected.keys())[:5])
        for name, share in rows.items():
            self.expect(f"{what}: {name} alone", abs(share - expected.get(name, -1)) < WITHIN,
                        f"{share} %, not {expected.get(name)}")

        text = self.run(what, *perf, "script", "-i", data, "--max-stack", "8000", "-F",
                        "period,ip,sym")
        self.expect(f"{what}: perf script", self.script_stacks(text) == stacks, "other stacks")

    @staticmethod
    def script_stacks(text):
        stacks = Counter()
        for sample in text.split("\n\n"):
            lines = sample.strip("\n").split("\n")
            if len(lines) < 2:
                continue
            frames = [line.strip().partition(" ")[2].strip() for line in lines[1:]]
            stacks[tuple(reversed(frames))] += int(lines[0].strip().rstrip(":"))
        return stacks

    def check_hotspot(self, what, data, symbols, stacks):
        if not Path(PERFPARSER).exists():
            return
        out = self.dir / "hotspot.out"
        done = subprocess.run([PERFPARSER, "--input", data, "--debug", symbols, "--output", out],
                              capture_output=True, text=True, timeout=60,
                              stdin=subprocess.DEVNULL)
        self.expect(f"{what}: perfparser", done.returncode == 0 and
                    "MissingElfFile" not in done.stderr, done.stderr[:500])
        found = out.read_bytes()
        # Each name as the parser sends it; it demangles and shortens the names of some languages.
        plain = {name for stack in stacks for name in stack if re.fullmatch(r"[a-z_]{4,}", name)}
        missing = [name for name in plain if name.encode() not in found]
        self.expect(f"{what}: perfparser's names", not missing, missing[:5])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=Path, required=True)
    parser.add_argument("--corpus")
    parser.add_argument("names", nargs="*", default=FILES)
    options = parser.parse_args()
    if shutil.which("perf") is None:
        print("skipped: perf is not installed")
        return SKIPPED
    if not Path(PERFPARSER).exists():
        print("without hotspot's parser, which is not installed")
    folder = find_corpus(options.corpus, "folded")
    if folder is None:
        return SKIPPED
    with tempfile.TemporaryDirectory() as directory:
        test = Test(options.bin / "perftape-convert", directory)
        for name in options.names:
            test.check(folder / name)
        print(f"{len(options.names)} files, {test.failures} failures")
        return 1 if test.failures else 0


if __name__ == "__main__":
    sys.exit(main())
