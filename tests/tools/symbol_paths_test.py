#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Paths of symbol files that cannot be read, or should not be opened.

    symbol_paths_test.py --bin build/dev/bin [NAME...]

The recordings are written here, with any path for a binary. Permissions are tested as the user
nobody, which takes root.
"""
import argparse
import ctypes
import os
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from bombs_test import IP, SAMPLE, TID, TIME, attr, perf_file, record

MMAP2, MISC_USER, MISC_BUILD_ID = 10, 2, 1 << 14
BUILD_ID = bytes(range(20))
IN_OPEN = 0x20
HANGS_AFTER_SECONDS = 120
BIN = Path("build/dev/bin")


def recording(path, build_id=BUILD_ID, offsets=(0x1000,)):
    """Samples at these offsets in the file of one binary."""
    name = str(path).encode() + b"\0"
    name += bytes(-len(name) % 8)
    mapping = struct.pack("<IIQQQB3x20sII", 7, 7, 0x400000, 0x100000, 0, len(build_id), build_id, 5, 2)
    records = record(MMAP2, mapping + name, misc=MISC_USER | MISC_BUILD_ID)
    for offset in offsets:
        records += record(SAMPLE, struct.pack("<QIIQ", 0x400000 + offset, 7, 7, 1000), misc=MISC_USER)
    return perf_file(records, event=attr(IP | TID | TIME))


class OpenCounter:
    """Counts how often a file is opened for reading or writing, by anyone."""

    def __init__(self, path):
        libc = ctypes.CDLL(None, use_errno=True)
        self.inotify = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if libc.inotify_add_watch(self.inotify, os.fsencode(path), IN_OPEN) < 0:
            raise OSError(ctypes.get_errno(), "inotify_add_watch")

    def count(self):
        try:
            return len(os.read(self.inotify, 4096)) // 16
        except BlockingIOError:
            return 0
        finally:
            os.close(self.inotify)


class SymbolPaths(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.root = Path(holder.name)
        self.root.chmod(0o755)
        self.data = self.root / "perf.data"

    def directory(self, name, mode=0o755):
        path = self.root / name
        path.mkdir(parents=True)
        path.chmod(mode)
        return path

    def run_tool(self, tool, *arguments, **options):
        environment = {**os.environ, "NO_COLOR": "1", "LC_ALL": "C", "TMPDIR": "/tmp",
                       "HOME": str(self.root / "home"), **options.pop("environment", {})}
        environment.pop("DEBUGINFOD_CACHE_PATH", None)
        environment.pop("XDG_CACHE_HOME", None)
        done = subprocess.run([tool, *map(str, arguments)], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, env=environment, errors="replace",
                              timeout=HANGS_AFTER_SECONDS, **options)
        return done.returncode, done.stdout, done.stderr

    def sources(self, *arguments, **options):
        """What --show-sources says of the recording."""
        tool = options.pop("tool", BIN / "perftape-convert")
        status, out, err = self.run_tool(tool, self.data, "--show-sources", "--to", "folded", "-o",
                                         "-", *arguments, **options)
        self.assertEqual(status, 0, err)
        self.assertNotEqual(out, "")
        return err


class NotRegular(SymbolPaths):
    def fifo(self, name):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        os.mkfifo(path)
        return path

    def test_a_recorded_path_is_not_opened_by_convert(self):
        fifo = self.fifo("fifo")
        self.data.write_bytes(recording(fifo))
        opened = OpenCounter(fifo)
        self.assertIn(f"not {fifo}: not a regular file\n", self.sources("--local"))
        self.assertEqual(opened.count(), 0)

    def test_a_recorded_path_is_not_opened_by_bundle_create(self):
        fifo = self.fifo("fifo")
        self.data.write_bytes(recording(fifo))
        opened = OpenCounter(fifo)
        status, _, err = self.run_tool(BIN / "perftape-bundle", "create", self.data, "-v", "-o",
                                       self.root / "bundle")
        self.assertIn(f"{fifo}: not found", err)
        self.assertIn(status, (0, 3))
        self.assertEqual(opened.count(), 0)

    def test_kernel_symbols_below_a_root_do_not_block(self):
        fifo = self.fifo("symfs/proc/kallsyms")
        data = Path(__file__).parents[2] / "testdata/perfdata/quickstart.data"
        status, _, err = self.run_tool(BIN / "perftape-convert", data, "--symfs",
                                       self.root / "symfs", "--show-sources", "--to", "folded",
                                       "-o", "-")
        self.assertEqual(status, 0, err)
        self.assertIn(f"not {fifo}: not a regular file\n", err)

    def test_a_part_of_a_recording_does_not_block(self):
        data = self.directory("recording.data")
        (data / "data").write_bytes(recording("/usr/bin/program"))
        fifo = self.fifo("recording.data/data.0")
        status, _, err = self.run_tool(BIN / "perftape-convert", data, "--to", "folded", "-o", "-")
        self.assertEqual(status, 1, err)
        self.assertIn(f"{fifo}: not a regular file\n", err)


def main():
    global BIN
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--bin", type=Path, default=BIN)
    options, rest = parser.parse_known_args()
    BIN = options.bin.resolve()
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
