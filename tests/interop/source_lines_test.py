#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares lines and inlined functions with llvm-symbolizer-19, or with binutils' addr2line if that
is missing.

    source_lines_test.py --resolve build/dev/tests/resolve_addresses [--keep DIRECTORY]

A small program of two files is compiled with every form of DWARF. For every fourth byte of its
code, functions, files, lines and columns of the frames must be equal. Skipped (status 77) without a
compiler.
"""
import argparse
import collections
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77

SOURCES = {
    "include/tape.h": """
#pragma once
#include <vector>
struct Tape {
  std::vector<int> cells;
  explicit Tape(int length);
  virtual ~Tape();
  template <class T> inline __attribute__((always_inline)) T Play(T from) const {
    T sum{};
    for (int cell : cells) {
      if (cell > 3) sum += from * cell; else sum -= cell;
    }
    return sum;
  }
  long Rewind(long by);
};
static inline __attribute__((always_inline)) long Twice(long value) { return value * 2 + 1; }
""",
    "tape.cc": """
#include "tape.h"
Tape::Tape(int length) {
  for (int i = 0; i < length; ++i) cells.push_back(Twice(i));
}
Tape::~Tape() {}
long Tape::Rewind(long by) {
  long at = Play<long>(by);
  if (at < 0) __builtin_trap();
  return Twice(Twice(at)) + Play<unsigned>(7);
}
""",
    "main.cc": """
#include "tape.h"
namespace {
struct Recorder : Tape {
  using Tape::Tape;
  __attribute__((noinline)) long Record(int n) {
    auto add = [this, n](long x) { return x + n + Play<short>(2); };
    return n > 2 ? add(Record(n - 1)) : Twice(n);
  }
};
}
int main(int count, char**) {
  Recorder recorder(count + 10);
  return static_cast<int>(recorder.Record(count) + recorder.Rewind(count));
}
""",
}

# Name -> compiler, flags, and the commands that follow.
KINDS = {
    "gcc-dwarf2": ("g++", ["-gdwarf-2"], None),
    "gcc-dwarf3": ("g++", ["-gdwarf-3"], None),
    "gcc-dwarf4": ("g++", ["-gdwarf-4"], None),
    "gcc-dwarf5": ("g++", ["-gdwarf-5"], None),
    "gcc-dwarf64": ("g++", ["-gdwarf64", "-gdwarf-5"], None),
    "gcc-sections": ("g++", ["-ffunction-sections", "-Wl,--gc-sections", "-g"], None),
    "gcc-lto": ("g++", ["-flto", "-g"], None),
    "gcc-zlib": ("g++", ["-g", "-gz"], None),
    "gcc-split4": ("g++", ["-gdwarf-4", "-gsplit-dwarf"], None),
    "gcc-split5": ("g++", ["-gdwarf-5", "-gsplit-dwarf"], None),
    "gcc-package4": ("g++", ["-gdwarf-4", "-gsplit-dwarf"], "package-gnu"),
    "gcc-debug-file": ("g++", ["-g"], "debug-file"),
    "gcc-dwz": ("g++", ["-g"], "dwz"),
    "clang-dwarf4": ("clang++-19", ["-gdwarf-4"], None),
    "clang-dwarf5": ("clang++-19", ["-gdwarf-5"], None),
    "clang-split4": ("clang++-19", ["-gdwarf-4", "-gsplit-dwarf"], None),
    "clang-split5": ("clang++-19", ["-gdwarf-5", "-gsplit-dwarf"], None),
    "clang-package5": ("clang++-19", ["-gdwarf-5", "-gsplit-dwarf"], "package"),
    "clang-lines": ("clang++-19", ["-gline-tables-only"], None),
    "clang-zstd": ("clang++-19", ["-g"], "zstd"),
}


class Missing(Exception):
    """A required tool is missing."""


def run(*command, cwd=None, text=None):
    if shutil.which(command[0]) is None:
        raise Missing(command[0])
    done = subprocess.run(command, cwd=cwd, input=text, capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"{command}: {done.stderr}")
    return done.stdout


def build(kind, directory):
    """Builds the program. Returns it, further arguments of resolve_addresses, and the file that the
    oracle reads: the program, or the file with its debug information."""
    compiler, flags, afterwards = KINDS[kind]
    for name, text in SOURCES.items():
        (directory / name).parent.mkdir(exist_ok=True)
        (directory / name).write_text(text)
    for unit in ("tape", "main"):
        run(compiler, "-O2", "-Iinclude", *flags, "-c", f"{unit}.cc", "-o", f"{unit}.o", cwd=directory)
    run(compiler, "-O2", *flags, "tape.o", "main.o", "-o", "program", cwd=directory)
    program = directory / "program"
    if afterwards == "debug-file":
        run("objcopy", "--only-keep-debug", "program", "program.debug", cwd=directory)
        run("objcopy", "--strip-debug", "program", "stripped", cwd=directory)
        return directory / "stripped", [directory / "program.debug"], program
    if afterwards == "dwz":
        shutil.copy(program, directory / "twin")
        shutil.copy(program, directory / "plain")
        run("dwz", "-m", "shared", "program", "twin", cwd=directory)
        return program, [program, directory / "shared"], directory / "plain"
    if afterwards == "zstd":
        run("llvm-objcopy-19", "--compress-debug-sections=zstd", "program", cwd=directory)
    if afterwards == "package-gnu":
        run("dwp", "-e", "program", cwd=directory)
    if afterwards == "package":
        run("llvm-dwp-19", "-e", "program", "-o", "program.dwp", cwd=directory)
    if afterwards in ("package", "package-gnu"):
        for part in directory.glob("*.dwo"):
            part.unlink()
    return program, [], program


def addresses_of(program):
    """Returns the address of every fourth byte of the functions in .text."""
    picked = []
    for line in run("nm", "-S", "--defined-only", str(program)).splitlines():
        words = line.split()
        if len(words) == 4 and words[2] in "tTwW":
            start, size = int(words[0], 16), int(words[1], 16)
            picked += [f"{address:#x}" for address in range(start, start + size, 4)]
    return picked


def frames_of(text):
    """Returns [[(function, place), …] for each address]."""
    answers = []
    for answer in text.rstrip("\n").split("\n\n"):
        lines = answer.split("\n")
        answers.append(list(zip(lines[0::2], lines[1::2])))
    return answers


def ask_llvm(program, addresses):
    return frames_of(run("llvm-symbolizer-19", "--no-demangle", "--functions=linkage", "--inlines", "-e",
                         str(program), text="\n".join(addresses)))


def ask_binutils(program, addresses):
    """addr2line prints no columns, and names the outermost function as DWARF does."""
    out = run("addr2line", "-a", "-i", "-f", "-e", str(program), text="\n".join(addresses))
    answers = []
    lines = iter(out.splitlines())
    for line in lines:
        if line.startswith("0x"):
            answers.append([])
        else:
            place = next(lines).split(" (discriminator")[0].replace(":?", ":0")
            answers[-1].append((line, place))
    return answers


def without_columns(frames):
    return [(function, os.path.normpath(place.rsplit(":", 1)[0])) for function, place in frames]


def comparable(frames, exact):
    """Returns the parts of frames to compare. Several constructors may have one address, and either
    name is right. Without llvm only lines are compared: where dwz shares entries, addr2line does
    not find their names."""
    named = [(function.replace("C2E", "C1E").replace("D2E", "D1E"), place) for function, place in frames]
    if exact:
        return named
    return [place for _, place in without_columns(named)]


def without_scopes(mine, theirs):
    """Returns our frames with the names of theirs where only the scope differs: a function without a
    linkage name, such as a lambda of GCC, has no scope in llvm-symbolizer's answer."""
    if len(mine) != len(theirs):
        return mine
    return [(short if name.endswith(f"::{short}") else name, place)
            for (name, place), (short, _) in zip(mine, theirs)]


def differences(resolve, kind, directory):
    program, more, oracle_program = build(kind, directory)
    addresses = addresses_of(oracle_program)
    exact = shutil.which("llvm-symbolizer-19") is not None
    ask = ask_llvm if exact else ask_binutils
    if not exact:
        # addr2line supports split DWARF only in part, and numbers the files of LTO's DWARF 5
        # differently.
        if any(word in kind for word in ("clang", "split", "package", "lto", "dwarf64")):
            raise Missing("llvm-symbolizer-19")
    expected = ask(oracle_program, addresses)
    ours = frames_of(run(str(resolve), "--mangled", str(program), *map(str, more),
                         text="\n".join(addresses)))
    if not exact:
        expected = [[(f, os.path.normpath(p) + ":0") for f, p in frames] for frames in expected]
    assert len(ours) == len(expected) == len(addresses), (len(ours), len(expected), len(addresses))
    different = [(address, mine, theirs) for address, mine, theirs in zip(addresses, ours, expected)
                 if comparable(without_scopes(mine, theirs), exact) != comparable(theirs, exact)]
    depths = collections.Counter(len(frames) for frames in ours)
    return len(addresses), different, depths


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--resolve", type=Path, required=True)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("kinds", nargs="*")
    arguments = parser.parse_args()
    failed, tried = False, 0
    for kind in arguments.kinds or KINDS:
        with tempfile.TemporaryDirectory() as temporary:
            directory = Path(temporary)
            if arguments.keep:
                directory = arguments.keep.resolve() / kind
                directory.mkdir(parents=True, exist_ok=True)
            try:
                count, different, depths = differences(arguments.resolve.resolve(), kind, directory)
            except Missing as missing:
                print(f"{kind}: skipped, no {missing}")
                continue
        tried += 1
        agree = 100 * (count - len(different)) / count
        inlined = sum(number for depth, number in depths.items() if depth > 1)
        print(f"{kind}: {count} addresses, {inlined} with inlined functions, {agree:.2f} % agree")
        # One in a hundred may differ: where ranges contradict each other, no answer is right.
        if agree < 99 or (inlined == 0 and kind != "clang-lines"):
            failed = True
            for address, mine, theirs in different[:3]:
                print(f"  {address}\n    ours   {mine}\n    theirs {theirs}")
    if tried == 0:
        sys.exit(SKIPPED)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
