#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Loads our files in the Firefox Profiler's own code. It must warn of nothing, and show the times of our folded stacks
for each thread and function.

    firefox_test.py --bin build/dev/bin [--profiler FOLDER] [--corpus FOLDER]

FOLDER is the npm package @firefox-devtools/profiler-cli: from $PERFTAPE_FIREFOX_PROFILER, or from npm's global
packages. Skipped (77) if it or node is missing. The test uses no network.
"""
import argparse
import collections
import gzip
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import corpus

SKIPPED = 77
TESTDATA = Path(__file__).resolve().parents[2] / "testdata"
ROOT = re.compile(r"-(-?\d+)/(-?\d+)$")
PAIR = collections.namedtuple("PAIR", "own total")


def find_profiler(named):
    folders = [named, os.environ.get("PERFTAPE_FIREFOX_PROFILER")]
    if shutil.which("npm"):
        done = subprocess.run(["npm", "root", "-g"], capture_output=True, text=True, check=False)
        folders.append(str(Path(done.stdout.strip()) / "@firefox-devtools" / "profiler-cli"))
    programs = [Path(folder) / "dist" / "profiler-cli.js" for folder in folders if folder]
    found = [program for program in programs if program.is_file()]
    return found[0].resolve() if found else None


def times_of_stacks(lines, has_threads):
    """Returns own time and total of each function, by thread, of folded lines."""
    times = collections.defaultdict(lambda: collections.defaultdict(lambda: [0.0, 0.0]))
    for line in lines:
        stack, _, number = line.rpartition(" ")
        frames = stack.split(";")
        thread = ("-1", -1)
        if has_threads:
            root = ROOT.search(frames.pop(0))
            thread = (root[1], int(root[2]))
        functions = times[thread]
        frames = frames or ["[unknown]"]
        functions[frames[-1]][0] += float(number)
        for name in set(frames):
            functions[name][1] += float(number)
    return times


class FirefoxProfilerShows(unittest.TestCase):
    bin = None
    profiler = None
    corpus = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.environment = {**os.environ, "HOME": folder.name,
                            "PROFILER_CLI_SESSION_DIR": folder.name}
        self.addCleanup(self.ask, "stop", "--all")

    def convert(self, source, *options):
        done = subprocess.run([self.bin / "perftape-convert", "-q", source, *options],
                              capture_output=True, text=True, cwd=self.folder, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def ask(self, *words):
        """Runs a command of the profiler and returns what it prints."""
        done = subprocess.run(["node", self.profiler, *words], capture_output=True, text=True,
                              env=self.environment, cwd=self.folder, timeout=120, check=False)
        return done.stdout + done.stderr

    def load(self, name):
        """Loads a file. The profiler gives its daemon half a second to start, which a busy machine exceeds."""
        for _ in range(20):
            said = self.ask("load", name)
            if "Session started" in said:
                break
            for pid in re.findall(r"pid:? (\d+)", said, re.I):
                try:
                    os.kill(int(pid), signal.SIGKILL)
                except ProcessLookupError:
                    pass
        self.assertIn("Session started", said)
        logs = "".join(log.read_text() for log in self.folder.glob("*.log"))
        self.assertNotRegex(said + logs, r"(?i)warn|error|fail")

    def json_of(self, *words):
        return json.loads(self.ask(*words, "--json"))

    def shown_in(self, thread):
        """Returns own time and total of each function that the profiler shows, and the names of several functions."""
        shown, repeated = {}, set()
        for function in self.json_of("thread", "functions", "--thread", thread)["functions"]:
            name = function["name"]
            if name in shown:
                repeated.add(name)
            before = shown.get(name, PAIR(0, 0))
            shown[name] = PAIR(before.own + function["selfSamples"],
                               before.total + function["totalSamples"])
        return shown, repeated

    def check_thread(self, handle, weight_type, expected):
        shown, repeated = self.shown_in(handle)
        scale = 1e6 if weight_type == "tracing-ms" else 1
        self.assertEqual(set(shown), set(expected))
        for name, (own, total) in expected.items():
            self.assertTrue(math.isclose(shown[name].own, own / scale, rel_tol=1e-9, abs_tol=1e-6),
                            f"{handle} {name}: {shown[name].own} for {own}")
            # The total of two functions of one name counts stacks with both twice.
            if name not in repeated:
                self.assertTrue(math.isclose(shown[name].total, total / scale, rel_tol=1e-9,
                                             abs_tol=1e-6),
                                f"{handle} {name}: {shown[name].total} for {total}")

    def check(self, source, *options, has_threads=True):
        """Compares all threads of all events with folded stacks. Returns what the profiler says of its threads."""
        self.convert(source, *options, "-f", "-o", "out.firefox.json.gz")
        with gzip.open(self.folder / "out.firefox.json.gz") as file:
            written = json.load(file)
        self.load("out.firefox.json.gz")
        listed = self.json_of("thread", "list")["threads"]
        self.assertEqual(len(listed), len(written["threads"]))
        expected = {}
        for thread in listed:
            in_file = written["threads"][thread["threadIndex"]]
            event = re.search(r" \(([^()]*)\)$", in_file["name"])
            event = event[1] if event else None
            if event not in expected:
                lines = self.convert(source, *options, "--to", "folded", "--values", "period",
                                     "--root", "comm/pid/tid",
                                     *(["--event", event] if event else [])).splitlines()
                expected[event] = times_of_stacks(lines, has_threads)
            key = (in_file["pid"], in_file["tid"])
            self.check_thread(thread["threadHandle"], in_file["samples"]["weightType"],
                              expected[event].pop(key))
        self.assertEqual({event: left for event, left in expected.items() if left}, {})
        return listed

    def of_corpus(self, name):
        if self.corpus is None:
            self.skipTest("no corpus")
        return self.corpus / name

    def test_a_recording_of_four_threads_with_names(self):
        threads = self.check(TESTDATA / "perfdata/quickstart.data", "--debug-dir",
                             TESTDATA / "buildid")
        self.assertEqual({thread["name"] for thread in threads},
                         {"perftape-burner", "burn-matrix", "burn-hash", "burn-sort"})
        for thread in threads:
            self.assertGreater(thread["cpuMs"], 100)

    def test_a_recording_of_a_system(self):
        threads = self.check(self.of_corpus("perfdata/own-i386-fp-systemwide.perf.data"))
        self.assertGreater(len(threads), 3)

    def test_a_pprof_with_inlined_functions(self):
        self.check(self.of_corpus("pprof/parca-fib.pb.gz"), has_threads=False)

    def test_waits(self):
        threads = self.check(TESTDATA / "perfdata/off-cpu.data", "--no-symbols", "--comm", "sleep")
        handle = max(threads, key=lambda thread: thread["markerCount"])["threadHandle"]
        markers = self.ask("thread", "markers", "--thread", handle, "--list")
        self.assertRegex(markers, r"(?m)^ *m-\d+ +exec .* sleep$")
        self.assertRegex(markers, r"(?m)^ *m-\d+ +offcpu-time ")

    def test_waits_name_the_threads_that_ended_them(self):
        threads = self.check(TESTDATA / "perfdata/why.perf-script.txt.gz", "--no-symbols")
        lists = [self.ask("thread", "markers", "--thread", thread["threadHandle"], "--list")
                 for thread in threads]
        print("\n".join(lists)[:6000])

    def test_functions_with_odd_names(self):
        names = ["<script>alert(1)</script>", 'a"b\\c', "{marker.name}", "recursive", "\u202etxt",
                 "__proto__", "constructor"]
        (self.folder / "odd.folded").write_text(
            "".join(f"{name};recursive;recursive 4\n" for name in names))
        self.convert("odd.folded", "-o", "odd.firefox.json")
        self.load("odd.firefox.json")
        shown, _ = self.shown_in("t-0")
        self.assertEqual(shown.pop("recursive"), PAIR(28, 28))
        self.assertEqual(shown, {name: PAIR(0, 4) for name in names if name != "recursive"})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=Path)
    parser.add_argument("--profiler")
    parser.add_argument("--corpus")
    options, rest = parser.parse_known_args()
    FirefoxProfilerShows.bin = options.bin.resolve()
    FirefoxProfilerShows.profiler = find_profiler(options.profiler)
    if shutil.which("node") is None:
        print("node is not on the PATH")
        return SKIPPED
    if FirefoxProfilerShows.profiler is None:
        print("no Firefox Profiler: PERFTAPE_FIREFOX_PROFILER names the npm package "
              "@firefox-devtools/profiler-cli")
        return SKIPPED
    FirefoxProfilerShows.corpus = corpus.find(options.corpus)
    done = unittest.main(argv=[sys.argv[0], *rest], exit=False)
    return 0 if done.result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
