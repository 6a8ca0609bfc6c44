#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the stacks that perftape-convert makes of copied registers and stacks with perf's own.

    copied_stacks_test.py --bin build/dev/bin [--workload COMMAND]

Records a program with perf record --call-graph dwarf. perf script unwinds the recording with
libunwind. perftape-convert --unwind writes the same recording with callchains, which perf script
prints. In at least 99.5 % of the samples we must find all frames that libunwind finds. No sample
may be contradicted. The classes are:

  same          all frames are the same
  bogus         libunwind adds a last frame in no mapping, where the copy ends
  shorter       libunwind ends at a frame whose callers we find
  cut           we end at a frame whose callers libunwind finds
  contradicted  the frames differ

The programs are one of ours, which has each kind of frame, and cc1plus, python3 and
xz, where they are installed. "cut" occurs in ld.so below _dl_runtime_resolve, whose CFA is in rbx,
which tables do not follow.

perf prints the address of a call, one byte before the return address that a callchain has. Needs
root. Skipped (status 77) if perf cannot record here.
"""
import argparse
import collections
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77
KERNEL = 1 << 47
ENOUGH = 0.995
ENVIRONMENT = {**os.environ, "HOME": "/dev/null", "LC_ALL": "C"}

PROGRAM = r"""
#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

volatile unsigned long sink;
__attribute__((noinline)) void leaf(int rounds) { for (int i = 0; i < rounds; ++i) sink += i; }
__attribute__((noinline)) void deep(int depth, int rounds) {
  if (depth == 0) leaf(rounds); else deep(depth - 1, rounds);
  ++sink;
}
/* The frame is addressed by rbp. */
__attribute__((noinline)) void sized(int bytes) {
  char *memory = alloca(bytes);
  memset(memory, bytes, bytes);
  deep(3, 2000);
  sink += memory[bytes / 2];
}
/* The stack is realigned. */
__attribute__((noinline)) void aligned(void) {
  int words[64] __attribute__((aligned(256)));
  memset(words, 1, sizeof words);
  deep(2, 2000);
  sink += words[sink % 64];
}
static int compare(const void *a, const void *b) {
  deep(2, 20);
  return *(const int *)a - *(const int *)b;
}
static void on_alarm(int signal) { deep(4, 20000); }
static void *work(void *unused) {
  for (int k = 0; k < 250; ++k) {
    int numbers[300];
    for (int i = 0; i < 300; ++i) numbers[i] = (i * 7919) % 1009;
    qsort(numbers, 300, sizeof *numbers, compare);
    for (int i = 0; i < 30; ++i) { sized(100 + i); aligned(); }
    deep(k % 100, 20000);
  }
  return unused;
}
int main(void) {
  struct itimerval every = {{0, 3000}, {0, 3000}};
  pthread_t thread;
  signal(SIGALRM, on_alarm);
  setitimer(ITIMER_REAL, &every, 0);
  pthread_create(&thread, 0, work, 0);
  work(0);
  pthread_join(thread, 0);
  return 0;
}
"""


def run(command, **options):
    return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, env=ENVIRONMENT, **options).stdout


def samples(recording):
    """The user frames of each sample as (offset in the file, dso), leaf first."""
    text = run(["perf", "script", "--no-inline", "-i", recording, "-F", "tid,time,ip,dso"])
    found = []
    for line in text.decode(errors="replace").splitlines():
        if not line.strip():
            continue
        if not line.startswith(("\t", "        \t")) and re.match(r"\s*\d+\s+[\d.]+:", line):
            found.append((line.split(":")[0].split(), []))
            continue
        address, dso = line.strip().split(" ", 1)
        if int(address, 16) < KERNEL or "[unknown]" in dso:
            found[-1][1].append((int(address, 16), dso))
    return found


def same(ours, theirs):
    """Whether a frame of a callchain is the frame that libunwind found."""
    return ours[1] == theirs[1] and ours[0] - theirs[0] in (0, 1)


def class_of(ours, theirs):
    common = 0
    while common < min(len(ours), len(theirs)) and same(ours[common], theirs[common]):
        common += 1
    if common == len(ours) == len(theirs):
        return "same"
    if common == len(ours):
        rest = theirs[common:]
        return "bogus" if all("[unknown]" in dso for _, dso in rest) else "cut"
    if common == len(theirs):
        return "shorter"
    if all("[unknown]" in dso for _, dso in theirs[common:]):
        return "bogus"
    return "contradicted"


def compare(convert, command, size, directory):
    recording, written = directory / "perf.data", directory / "unwound.data"
    done = subprocess.run(["perf", "record", "-q", "-F", "1999", "--call-graph", f"dwarf,{size}",
                           "-o", recording, "--", *command], env=ENVIRONMENT, check=False,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if not recording.exists() or recording.stat().st_size == 0:
        print(f"perf cannot record here: {done.stderr.decode(errors='replace')}")
        sys.exit(SKIPPED)
    run([convert, recording, "--unwind", "-o", written, "-f"])
    ours, theirs = samples(written), samples(recording)
    assert [of for of, _ in ours] == [of for of, _ in theirs], "other samples"
    classes, examples = collections.Counter(), {}
    for (of, mine), (_, its) in zip(ours, theirs):
        kind = class_of(mine, its)
        classes[kind] += 1
        examples.setdefault(kind, (of, mine, its))
    print(f"{' '.join(command)[:60]}, {size} bytes: {dict(classes)}, "
          f"{recording.stat().st_size} -> {written.stat().st_size} bytes")
    for kind in ("contradicted", "cut", "shorter"):
        if kind in examples:
            print(f"  {kind}: {examples[kind]}")
    return classes, recording, written


def check_folded(convert, recording, written):
    """The stacks are the same without the way over a perf.data."""
    def lines(name):
        text = run([convert, name, "--to", "folded", "-q"]).decode()
        return sorted(text.replace("[truncated stack];", "").splitlines())

    # Lines that differ only in the mark are added up.
    def summed(found):
        totals = collections.Counter()
        for line in found:
            stack, _, count = line.rpartition(" ")
            totals[stack] += int(count)
        return totals
    assert summed(lines(recording)) == summed(lines(written)), "folded stacks differ"


def installed_programs(directory):
    """Commands that run for about a second, in real libraries."""
    commands = []
    source, script, numbers = (directory / name for name in ("in.ii", "loop.py", "numbers"))
    compiler = run(["c++", "-print-prog-name=cc1plus"]).decode().strip()
    if Path(compiler).is_file():
        source.write_bytes(run(["c++", "-E", "-x", "c++", "-"],
                               input=b"#include <map>\nstd::map<int, int> m;\n"))
        commands.append([compiler, "-quiet", "-O2", "-fpreprocessed", "-o", "/dev/null", source])
    script.write_text("import json, re\n"
                      "for _ in range(60):\n"
                      "    t = json.dumps([{'k': [i, str(i), {'x': i / 7}]} for i in range(1500)])\n"
                      "    sorted(json.loads(t), key=lambda e: e['k'][1])\n"
                      "    re.findall('(\\\\w+)', t)\n")
    commands.append([sys.executable, script])
    if shutil.which("xz"):
        numbers.write_text("\n".join(str(i * i) for i in range(40000)))
        commands.append(["xz", "-k", "-c", "-T1", "-3", numbers])
    return [[str(word) for word in command] for command in commands]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=Path, required=True)
    parser.add_argument("--workload", help="another program to record")
    arguments = parser.parse_args()
    convert = arguments.bin / "perftape-convert"
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        command = shlex.split(arguments.workload or "")
        if not command:
            source, program = directory / "program.c", directory / "program"
            source.write_text(PROGRAM)
            subprocess.run(["cc", "-O2", "-fomit-frame-pointer", "-fno-optimize-sibling-calls",
                            "-pthread", "-o", program, source], check=True)
            command = [str(program)]
        runs = [(command, 16384), (command, 1024)]
        if not arguments.workload:
            runs += [(program, 16384) for program in installed_programs(directory)]
        failed = False
        for command, size in runs:
            classes, recording, written = compare(convert, command, size, directory)
            total = sum(classes.values())
            found = total - classes["cut"] - classes["contradicted"]
            failed |= total == 0 or classes["contradicted"] > 0 or found < ENOUGH * total
            check_folded(convert, recording, written)
        sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
