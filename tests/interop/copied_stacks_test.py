#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the stacks that perftape-convert makes of copied registers and stacks with perf's own.

    copied_stacks_test.py --bin build/dev/bin [--workload COMMAND | --recording FILE]

Records a program with perf record --call-graph dwarf. perf script unwinds the recording with
libunwind. perftape-convert --unwind writes the same recording with callchains, which perf script
prints. In at least 99.5 % of the samples of all programs together we must find all frames that
libunwind finds. No sample may be contradicted. The classes are:

  same          all frames are the same
  bogus         libunwind adds a last frame where no code is: in no mapping, where the copy ends, in the
                heap, or on the stack, where rt_sigreturn had restored some of the registers
  shorter       libunwind ends at a frame whose callers we find
  guessed       the leaf has no table, as _init and _fini have none: libunwind follows its frame pointer, and so leaves
                out the caller that we find
  cut           we end at a frame whose callers libunwind finds
  contradicted  the frames differ

All samples in the vdso must have a caller in the program. (libunwind finds none where perf has saved
no copy of the vdso, as here.) The programs are one of ours, which has each kind of frame, and cc1plus, python3 and
xz, where they are installed. "cut" occurs in ld.so below _dl_runtime_resolve, whose CFA is in rbx,
which tables do not follow.

With --recording FILE only that recording is compared. Its samples should be of a program that perf
started itself: perf 6.1 loses the tables of libraries that a process had mapped before its exec, as
a child of a shell has. There libunwind ends at the first frame in libc, or guesses a caller.

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
SHOWN = 2  # examples of each class
ENVIRONMENT = {**os.environ, "HOME": "/dev/null", "LC_ALL": "C"}

PROGRAM = r"""
#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

volatile unsigned long sink;
__attribute__((noinline)) void leaf(int rounds) { for (int i = 0; i < rounds; ++i) sink += i; }
__attribute__((noinline)) void deep(int depth, int rounds) {
  if (depth == 0) leaf(rounds); else deep(depth - 1, rounds);
  ++sink;
}
/* Most of this is in the vdso. */
__attribute__((noinline)) void tell_time(int rounds) {
  struct timespec now;
  for (int i = 0; i < rounds; ++i) sink += clock_gettime(CLOCK_MONOTONIC, &now);
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
    tell_time(1000);
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
    """Yields the user frames of each sample as (address, dso), leaf first."""
    command = ["perf", "script", "--no-inline", "-i", recording, "-F", "tid,time,ip,dso"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          env=ENVIRONMENT, text=True, errors="replace") as script:
        sample = None
        for line in script.stdout:
            if not line.strip():
                continue
            if not line.startswith(("\t", "        \t")) and re.match(r"\s*\d+\s+[\d.]+:", line):
                if sample:
                    yield sample
                sample = (line.split(":")[0].split(), [])
                continue
            address, dso = line.strip().split(" ", 1)
            if int(address, 16) < KERNEL or "[unknown]" in dso:
                sample[1].append((int(address, 16), dso))
        if sample:
            yield sample
    assert script.returncode == 0, f"perf script: exit status {script.returncode}"


def same(ours, theirs):
    """Whether a frame of a callchain is the frame that libunwind found."""
    return ours[1] == theirs[1] and ours[0] - theirs[0] in (0, 1)


def has_no_code(frames):
    return all(any(name in dso for name in ("[unknown]", "[stack]", "[heap]")) for _, dso in frames)


def leaves_out_caller(ours, theirs):
    """Whether these are the same frames without the caller of the leaf, up to the first one where no code is."""
    with_code = next((i for i in range(len(theirs)) if has_no_code(theirs[i:])), len(theirs))
    rest = ours[2:]
    return 1 < with_code <= len(rest) + 1 and all(map(same, rest, theirs[1:with_code]))


def class_of(ours, theirs):
    common = 0
    while common < min(len(ours), len(theirs)) and same(ours[common], theirs[common]):
        common += 1
    if common == len(ours) == len(theirs):
        return "same"
    if common == len(ours):
        return "bogus" if has_no_code(theirs[common:]) else "cut"
    if common == len(theirs):
        return "shorter"
    if has_no_code(theirs[common:]):
        return "bogus"
    if common == 1 and leaves_out_caller(ours, theirs):
        return "guessed"
    return "contradicted"


def record(command, size, recording):
    done = subprocess.run(["perf", "record", "-q", "-F", "1999", "--call-graph", f"dwarf,{size}",
                           "-o", recording, "--", *command], env=ENVIRONMENT, check=False,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if not recording.exists() or recording.stat().st_size == 0:
        print(f"perf cannot record here: {done.stderr.decode(errors='replace')}")
        sys.exit(SKIPPED)


def compare(convert, name, recording, written):
    """Prints what differs; returns the number of samples by class."""
    run([convert, recording, "--unwind", "-o", written, "-f"])
    classes, examples = collections.Counter(), {}
    in_vdso = []
    for (of, mine), (its_of, its) in zip(samples(written), samples(recording), strict=True):
        assert of == its_of, "other samples"
        kind = class_of(mine, its)
        classes[kind] += 1
        examples.setdefault(kind, []).append((of, mine, its))
        if mine and mine[0][1] == "([vdso])":
            in_vdso.append(mine)
    alone = [mine for mine in in_vdso if mine[-1][1] == "([vdso])"]
    print(f"{len(in_vdso)} samples in the vdso, {len(alone)} of them without a caller")
    assert not alone, alone[0]
    print(f"{name}: {dict(classes)}, {recording.stat().st_size} -> {written.stat().st_size} bytes")
    for kind in ("contradicted", "cut", "guessed", "shorter", "bogus"):
        for example in examples.get(kind, [])[:SHOWN]:
            print(f"  {kind}: {example}")
    return classes


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


def workloads(named, directory):
    """Returns commands, and the sizes of the stacks that are copied."""
    command = shlex.split(named or "")
    if not command:
        source, program = directory / "program.c", directory / "program"
        source.write_text(PROGRAM)
        subprocess.run(["cc", "-O2", "-fomit-frame-pointer", "-fno-optimize-sibling-calls",
                        "-pthread", "-o", program, source], check=True)
        command = [str(program)]
    others = [] if named else installed_programs(directory)
    return [(command, 16384), (command, 1024)] + [(other, 16384) for other in others]


def fails(classes):
    total = sum(classes.values())
    found = total - classes["cut"] - classes["contradicted"]
    return total == 0 or classes["contradicted"] > 0 or found < ENOUGH * total


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=Path, required=True)
    parser.add_argument("--workload", help="another program to record")
    parser.add_argument("--recording", type=Path, help="a recording instead of those made here")
    arguments = parser.parse_args()
    convert = arguments.bin / "perftape-convert"
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        written = directory / "unwound.data"
        if arguments.recording:
            classes = compare(convert, arguments.recording, arguments.recording, written)
            check_folded(convert, arguments.recording, written)
            sys.exit(1 if fails(classes) else 0)
        recording, classes = directory / "perf.data", collections.Counter()
        for command, size in workloads(arguments.workload, directory):
            record(command, size, recording)
            name = f"{' '.join(command)[:60]}, {size} bytes"
            found = compare(convert, name, recording, written)
            assert found, f"{name}: no samples"
            classes += found
            check_folded(convert, recording, written)
        print(f"all programs: {dict(classes)}")
        sys.exit(1 if fails(classes) else 0)


if __name__ == "__main__":
    main()
