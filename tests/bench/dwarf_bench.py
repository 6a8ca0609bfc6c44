#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures source lines and inlined functions in comparison with llvm-symbolizer-19 and
eu-addr2line, and counts equal answers.

    dwarf_bench.py --build build/release [--addresses 20000] [--runs 3] BINARY

Addresses are drawn from the binary's functions, with equal probability for each function. All tools
get the same addresses, alternately. Each run starts without an index; `kept` is a run with an index
in the cache. eu-addr2line only gets a few addresses, and its time for all is extrapolated.
"""
import argparse
import collections
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FEW = 20  # addresses for eu-addr2line


def draw(binary, count):
    functions = []
    for line in subprocess.run(["nm", "-S", "--defined-only", binary], check=True, text=True,
                               capture_output=True).stdout.splitlines():
        words = line.split()
        if len(words) == 4 and words[2] in "tTwW" and int(words[1], 16) > 0:
            functions.append((int(words[0], 16), int(words[1], 16)))
    generator = random.Random(7)
    picked = set()
    for _ in range(20 * count):
        start, size = generator.choice(functions)
        picked.add(start + generator.randrange(size))
        if len(picked) == count:
            break
    picked = [f"{address:#x}" for address in picked]
    generator.shuffle(picked)
    return picked


def timed(command, addresses):
    """Returns elapsed seconds, CPU seconds of all threads, and the output."""
    before, start = os.times(), time.monotonic()
    out = subprocess.run([str(word) for word in command], input="\n".join(addresses), text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    passed, after = time.monotonic() - start, os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return passed, used, out


def frames_of(text):
    answers = []
    for answer in text.rstrip("\n").split("\n\n"):
        lines = answer.split("\n")
        answers.append(list(zip(lines[0::2], lines[1::2])))
    return answers


def one_alias(function):
    """Joins constructors, and destructors, which have several names at one address."""
    return function.replace("C2E", "C1E").replace("D2E", "D1E")


def kind_of(mine, theirs):
    if mine == theirs:
        return "same"
    if len(mine) != len(theirs):
        return "other number of frames"
    if [one_alias(f) for f, _ in mine] != [one_alias(f) for f, _ in theirs]:
        return "other function"
    places = [p for _, p in mine], [p for _, p in theirs]
    if places[0] == places[1]:
        return "same, by another name of the constructor"
    for name, cut in (("other file", 2), ("other line", 1)):
        if [p.rsplit(":", cut)[0] for p in places[0]] != [p.rsplit(":", cut)[0] for p in places[1]]:
            return name
    return "other column"


def print_agreement(ours, theirs, addresses):
    kinds, examples = collections.Counter(), {}
    for address, mine, other in zip(addresses, frames_of(ours), frames_of(theirs)):
        kind = kind_of(mine, other)
        kinds[kind] += 1
        examples.setdefault(kind, (address, mine, other))
    for kind, count in kinds.most_common():
        print(f"{count:8} {100 * count / len(addresses):7.3f} %  {kind}")
        if not kind.startswith("same"):
            print("           {}\n             ours   {}\n             theirs {}".format(*examples[kind]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--addresses", type=int, default=20000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("binary")
    arguments = parser.parse_args()
    addresses = draw(arguments.binary, arguments.addresses)
    resolve = [arguments.build / "tests/resolve_addresses", "--mangled"]
    tools = {"perftape": (resolve + [arguments.binary], addresses)}
    cache = tempfile.TemporaryDirectory()
    kept = resolve + [f"--cache={cache.name}", arguments.binary]
    timed(kept, addresses)
    tools["perftape, kept"] = kept, addresses
    if shutil.which("llvm-symbolizer-19"):
        tools["llvm-symbolizer-19"] = (["llvm-symbolizer-19", "--no-demangle", "--functions=linkage",
                                        "--inlines", "-e", arguments.binary], addresses)
    if shutil.which("eu-addr2line"):
        tools["eu-addr2line -i"] = (["eu-addr2line", "-i", "-f", "-e", arguments.binary], addresses[:FEW])
        # The constant time, independent of the number of addresses.
        tools["eu-addr2line -i, one"] = (["eu-addr2line", "-i", "-f", "-e", arguments.binary],
                                         addresses[:1])
    taken, outputs = collections.defaultdict(list), {}
    for _ in range(arguments.runs):
        for name, (command, asked) in tools.items():
            passed, used, outputs[name] = timed(command, asked)
            taken[name].append((passed, used))
    seconds = {name: [statistics.median(run[i] for run in runs) for i in (0, 1)]
               for name, runs in taken.items()}
    if "eu-addr2line -i" in seconds:
        one = seconds.pop("eu-addr2line -i, one")
        few = seconds["eu-addr2line -i"]
        seconds["eu-addr2line -i"] = [a + (b - a) / (FEW - 1) * (len(addresses) - 1)
                                      for a, b in zip(one, few)]
    print(f"{len(addresses)} addresses; seconds passed, seconds of processors, ratios to perftape")
    for name, (passed, used) in seconds.items():
        print(f"{name:20} {passed:9.3f} {used:9.3f} {passed / seconds['perftape'][0]:9.2f}"
              f" {used / seconds['perftape'][1]:9.2f}")
    if "llvm-symbolizer-19" in outputs:
        print_agreement(outputs["perftape"], outputs["llvm-symbolizer-19"], addresses)


if __name__ == "__main__":
    sys.exit(main())
