#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Uses perftape under the name perf, as scripts do, and compares with perf 6.1: exit statuses, names of files, defaults
of a recording.

  as_perf_test.py --bin PATH     exit 0 equal, 1 not, 77 skipped: no root or no perf
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SKIPPED = 77
ARGS = None


def run(directory, line, perf):
    """Runs a line of a script with `perf` as the only perf in the PATH. Returns its status and output."""
    path = f"{perf}:{directory}" if perf else os.environ["PATH"]
    done = subprocess.run(["/bin/bash", "-c", line], cwd=directory, capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL, timeout=120, env={**os.environ, "PATH": path + ":/usr/bin:/bin"})
    return done.returncode, done.stdout, done.stderr


class AsPerf(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.directory = pathlib.Path(self.temporary.name)
        self.perf = pathlib.Path(ARGS.bin).resolve().parent / "lib/perftape"

    def ours(self, line):
        return run(self.directory, line, self.perf)

    def most_frames(self):
        done = subprocess.run([pathlib.Path(ARGS.bin) / "perftape-inspect", "-q", "--samples", "--json",
                               self.directory / "own.data"], capture_output=True, text=True, check=True)
        return max(len(json.loads(line)["sample"].get("frames", [])) for line in done.stdout.splitlines())

    def test_record_exits_as_the_command_does(self):
        for command in ("true", "false", "sh -c 'exit 7'"):
            line = f"perf record -q -e cpu-clock -o own.data -- {command}"
            self.assertEqual(self.ours(line)[0], run(self.directory, line, None)[0], command)

    def test_failures_have_the_statuses_of_perf(self):
        for line in ("perf evlist -i absent", "perf evlist --nonsense", "perf buildid-list -i absent", "perf",
                     "perf nonsense", "perf evlist -g -v", "perf --version", "perf version", "perf help"):
            self.assertEqual(self.ours(line)[0], run(self.directory, line, None)[0], line)

    def test_a_recording_is_renamed_by_the_next_one(self):
        for _ in range(2):
            status, _, errors = self.ours("perf record -q -e cpu-clock -- true")
            self.assertEqual(status, 0, errors)
        self.assertEqual(sorted(path.name for path in self.directory.iterdir()), ["perf.data", "perf.data.old"])

    def test_the_defaults_are_those_of_perf(self):
        line = "perf record -q -o own.data -- sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done'"
        status, _, errors = self.ours(line)
        self.assertEqual(status, 0, errors)
        _, found, _ = self.ours("perf evlist -F -i own.data")
        self.assertRegex(found, r"^(cycles|cpu-clock)[:\w]*: sample_freq=4000\n")
        self.assertLessEqual(self.most_frames(), 1)
        # perf reads the recording, and sees the same.
        _, expected, _ = run(self.directory, "perf evlist -F -i own.data", None)
        self.assertEqual(found, expected)

    def test_call_chains_if_they_are_asked_for(self):
        line = "perf record -q -g -e cpu-clock -F 4000 -o own.data -- sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done'"
        self.assertEqual(self.ours(line)[0], 0)
        self.assertGreater(self.most_frames(), 1)

    def test_injects_the_build_ids_that_perf_injects(self):
        line = "perf record -q -B -e cpu-clock -F 4000 -o own.data -- sha256sum /usr/bin/perf"
        self.assertEqual(run(self.directory, line, None)[0], 0)
        self.assertEqual(run(self.directory, "perf inject -b -i own.data -o theirs.data", None)[0], 0)
        status, _, errors = self.ours("perf inject -b -i own.data -o ours.data")
        self.assertEqual(status, 0, errors)
        theirs, ours = (sorted(run(self.directory, f"perf buildid-list -i {name}.data", None)[1].splitlines())
                        for name in ("theirs", "ours"))
        self.assertTrue(theirs)
        # perf also adds the vdso, which is no file.
        self.assertEqual(ours, [line for line in theirs if "[vdso]" not in line])

    def test_perf_reads_the_archive(self):
        line = "perf record -q -e cpu-clock -F 4000 -- sh -c 'i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done'"
        self.assertEqual(self.ours(line)[0], 0)
        status, _, errors = self.ours("perf archive perf.data && mkdir cache && tar -xf perf.data.tar.bz2 -C cache")
        self.assertEqual(status, 0, errors)
        _, ids, _ = run(self.directory, "perf buildid-list -H -i perf.data", None)
        for line in ids.splitlines():
            build_id, name = line.split(" ", 1)
            if name.startswith("[") or not build_id:
                continue
            self.assertTrue((self.directory / "cache/.build-id" / build_id[:2] / build_id[2:]).exists(), line)


def main():
    global ARGS
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True)
    ARGS, rest = parser.parse_known_args()
    if shutil.which("perf") is None or os.geteuid() != 0:
        print("no perf, or not root")
        return SKIPPED
    return 0 if unittest.main(argv=[sys.argv[0], *rest], exit=False).result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
