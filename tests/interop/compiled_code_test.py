#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests names of code without ELF symbols. JIT code must get the names of perf, from its jitdump
and from its perf map. A stripped Go program must get the names of the unstripped one.

    compiled_code_test.py --bin build/dev/bin

Skipped (77) if perf cannot record. Each test is skipped if its compiler (node, go) is missing.
"""
import argparse
import collections
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SKIPPED = 77

SCRIPT = """'use strict';
function leafWork(n) { let s = 0; for (let i = 0; i < n; i++) s = (s * 31 + i) % 1000003; return s; }
function textWork(n) {
  const parts = [];
  for (let i = 0; i < n; i++) parts.push('item' + i);
  return parts.join(',').length;
}
const end = Date.now() + 500;
let x = 0;
while (Date.now() < end) x += leafWork(20000) + textWork(500);
console.log(x);
"""

PROGRAM = """package main

import "time"

type shape interface{ area(n int) float64 }
type square struct{ side float64 }

func (s square) area(n int) float64 { return inner(s.side, n) }

func inner(side float64, n int) float64 {
	sum := 0.0
	for i := 0; i < n; i++ {
		sum += side * float64(i)
	}
	return sum
}

//go:noinline
func outer(s shape) float64 { return s.area(100000) }

func main() {
	x := 0.0
	for end := time.Now().Add(500 * time.Millisecond); time.Now().Before(end); {
		x += outer(square{2})
	}
	println(x)
}
"""

# How V8's names of functions begin, before version 11 and since.
OF_JAVASCRIPT = ("LazyCompile:", "Function:", "JS:")


def run(*command, cwd, **environment):
    done = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, check=False, timeout=120,
                          env=dict(os.environ, HOME=str(cwd), PERF_CONFIG="/dev/null", **environment))
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]}: {done.stderr}{done.stdout}")
    return done.stdout


def perf_record(output, *command, cwd):
    run("perf", "record", "-q", "-k", "mono", "-e", "cpu-clock:u", "-F", "997", "-g", "-o", output,
        "--", *command, cwd=cwd)


class CompiledCode(unittest.TestCase):
    bin = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def leaves(self, recording, *options):
        """Returns the number of samples of each function, as perftape-convert counts them."""
        folded = run(self.bin / "perftape-convert", recording, "--to", "folded", *options,
                     cwd=self.folder)
        counts = collections.Counter()
        for line in folded.splitlines():
            stack, count = line.rsplit(" ", 1)
            counts[stack.split(";")[-1]] += int(count)
        return counts

    def leaves_of_perf(self, recording):
        counts = collections.Counter()
        for line in run("perf", "script", "-G", "-F", "ip,sym", "-i", recording,
                        cwd=self.folder).splitlines():
            if line.strip():
                counts[line.split(maxsplit=1)[1].removesuffix(" (inlined)")] += 1
        return counts

    def same(self, ours, theirs, beginnings):
        """Returns the names that begin so, and how often each occurs."""
        def chosen(counts):
            return {name: count for name, count in counts.items() if name.startswith(beginnings)}
        self.assertEqual(chosen(ours), chosen(theirs))
        return chosen(ours)

    @unittest.skipUnless(shutil.which("node"), "node is not installed")
    def test_a_jitdump_has_the_names_of_perf_inject(self):
        (self.folder / "work.js").write_text(SCRIPT)
        perf_record("perf.data", "node", "--perf-prof", "work.js", cwd=self.folder)
        run("perf", "inject", "--jit", "-i", "perf.data", "-o", "injected.data", cwd=self.folder)
        names = self.same(self.leaves("perf.data"), self.leaves_of_perf("injected.data"), OF_JAVASCRIPT)
        self.assertTrue(any("leafWork" in name for name in names), names)

    @unittest.skipUnless(shutil.which("node"), "node is not installed")
    def test_a_jitdump_below_symfs_has_the_same_names(self):
        (self.folder / "work.js").write_text(SCRIPT)
        perf_record("perf.data", "node", "--perf-prof", "work.js", cwd=self.folder)
        here = self.leaves("perf.data", "--local")
        carried = self.folder / "carried" / self.folder.relative_to("/")
        carried.mkdir(parents=True)
        for dump in self.folder.glob("jit-*.dump"):
            dump.rename(carried / dump.name)
        self.same(self.leaves("perf.data", "--no-local", "--symfs", "carried"), here, OF_JAVASCRIPT)

    @unittest.skipUnless(shutil.which("node"), "node is not installed")
    def test_a_perf_map_has_the_names_of_perf(self):
        (self.folder / "work.js").write_text(SCRIPT)
        before = set(Path("/tmp").glob("perf-*.map"))
        perf_record("perf.data", "node", "--perf-basic-prof", "work.js", cwd=self.folder)
        for path in set(Path("/tmp").glob("perf-*.map")) - before:
            if "work.js" in path.read_text(errors="replace"):
                self.addCleanup(path.unlink)
        names = self.same(self.leaves("perf.data"), self.leaves_of_perf("perf.data"), OF_JAVASCRIPT)
        self.assertTrue(any("leafWork" in name for name in names), names)

    @unittest.skipUnless(shutil.which("go"), "go is not installed")
    def test_a_stripped_go_program_has_the_names_of_the_unstripped_one(self):
        (self.folder / "main.go").write_text(PROGRAM)
        (self.folder / "go.mod").write_text("module example.com/work\ngo 1.18\n")
        for output, flags in (("stripped", "-s -w"), ("whole", "")):
            run("go", "build", f"-ldflags={flags}", "-o", output, ".", cwd=self.folder,
                GOFLAGS="-mod=mod", GOPROXY="off", GOTOOLCHAIN="local", CGO_ENABLED="0",
                GOCACHE=str(self.folder / "cache"))
        perf_record("perf.data", "./stripped", cwd=self.folder)
        stripped = self.leaves("perf.data")
        # Both have the same code at the same offsets.
        (self.folder / "whole").replace(self.folder / "stripped")
        whole = self.leaves("perf.data")
        self.same(stripped, whole, "main.")
        self.assertGreater(stripped["main.inner"], 100, stripped)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True, type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        try:
            perf_record("perf.data", "true", cwd=folder)
        except (OSError, RuntimeError) as problem:
            print(f"skipped: perf cannot record here: {problem}")
            return SKIPPED
    CompiledCode.bin = arguments.bin.resolve()
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(CompiledCode)
    return 0 if unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
