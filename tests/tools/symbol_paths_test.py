#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests paths of symbol files that cannot be read, or must not be opened.

    symbol_paths_test.py --bin build/dev/bin [NAME...]

The test writes the recordings, with any path for a binary. Permissions are tested as the user
nobody, which needs root.
"""
import argparse
import ctypes
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from bombs_test import IP, SAMPLE, TID, TIME, attr, perf_file, record

MMAP2, MISC_KERNEL, MISC_USER, MISC_BUILD_ID = 10, 1, 2, 1 << 14
BUILD_ID = bytes(range(20))
IN_OPEN = 0x20
NOBODY = 65534
HANGS_AFTER_SECONDS = 120
BIN = Path("build/dev/bin")


def recording(path, build_id=BUILD_ID, offsets=(0x1000,)):
    """Returns a recording of samples at these file offsets of one binary."""
    name = str(path).encode() + b"\0"
    name += bytes(-len(name) % 8)
    mapping = struct.pack("<IIQQQB3x20sII", 7, 7, 0x400000, 0x100000, 0, len(build_id), build_id, 5, 2)
    records = record(MMAP2, mapping + name, misc=MISC_USER | MISC_BUILD_ID)
    for offset in offsets:
        records += record(SAMPLE, struct.pack("<QIIQ", 0x400000 + offset, 7, 7, 1000), misc=MISC_USER)
    return perf_file(records, event=attr(IP | TID | TIME))


class OpenCounter:
    """Counts how often any process opens a file for reading or writing."""

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
        """Returns what --show-sources prints for the recording."""
        tool = options.pop("tool", BIN / "perftape-convert")
        status, out, err = self.run_tool(tool, self.data, "--show-sources", "--to", "folded", "-o",
                                         "-", *arguments, **options)
        self.assertEqual(status, 0, err)
        self.assertNotEqual(out, "")
        return err


@unittest.skipIf(os.geteuid() != 0, "not root: permissions are tested as another user")
class Unreadable(SymbolPaths):
    def setUp(self):
        super().setUp()
        # The user nobody may have no access to the build directory.
        self.tools = self.directory("tools")
        shutil.copy(BIN / "perftape-convert", self.tools)
        shutil.copy(BIN / "perftape-symbolize", self.tools)
        self.as_nobody = {"user": NOBODY, "group": NOBODY, "extra_groups": []}

    def sources_for_nobody(self, *arguments):
        return self.sources(*arguments, tool=self.tools / "perftape-convert", **self.as_nobody)

    def test_a_recorded_path_is_a_reason(self):
        private = self.directory("private", 0o700)
        self.data.write_bytes(recording(f"{private}/program"))
        told = self.sources_for_nobody("--local")
        self.assertIn(f"not used: {private}/program: Permission denied\n", told)

    def test_a_root_of_files_is_a_reason(self):
        symfs = self.directory("symfs", 0o700)
        self.data.write_bytes(recording("/usr/bin/program"))
        told = self.sources_for_nobody("--symfs", symfs)
        self.assertIn(f"not used: {symfs}/usr/bin/program: Permission denied\n", told)

    def test_a_directory_of_debug_files_is_one_reason(self):
        debug = self.directory("debug", 0o700)
        self.data.write_bytes(recording("/usr/bin/program"))
        told = self.sources_for_nobody("--debug-dir", debug)
        self.assertEqual(told.count("Permission denied"), 1, told)
        self.assertIn(f"not used: {debug}: Permission denied\n", told)

    def test_the_users_own_cache_is_one_reason(self):
        cache = self.directory("home/.debug", 0o700)
        self.data.write_bytes(recording("/usr/bin/program"))
        self.assertIn(f"not used: {cache}: Permission denied\n", self.sources_for_nobody())

    def test_a_part_of_the_cache_is_a_reason(self):
        self.directory("home/.debug/.build-id/00", 0o700)
        self.data.write_bytes(recording("/usr/bin/program"))
        self.assertIn("/.build-id/00/", self.sources_for_nobody())

    def test_a_perf_map_is_a_reason(self):
        symfs = self.directory("symfs")
        self.directory("symfs/tmp", 0o700)
        self.data.write_bytes(recording("//anon"))
        told = self.sources_for_nobody("--symfs", symfs)
        self.assertIn(f"{symfs}/tmp/perf-7.map: Permission denied", told)

    def test_symbolize_continues(self):
        private = self.directory("private", 0o700)
        self.data.write_bytes(recording(f"{private}/program"))
        out = self.directory("out", 0o777)
        status, _, err = self.run_tool(self.tools / "perftape-symbolize", self.data, "--local",
                                       "--show-sources", "-o", out / "x.data", **self.as_nobody)
        self.assertEqual(status, 0, err)
        self.assertIn(f"not used: {private}/program: Permission denied\n", err)


class LongNames(SymbolPaths):
    def test_a_component_beyond_the_file_systems_limit_is_a_reason(self):
        path = "/usr/bin/" + "x" * 256
        self.data.write_bytes(recording(path))
        self.assertIn(f"not used: {path}: File name too long\n", self.sources("--local"))


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
        self.assertIn(f"not used: {fifo}: not a regular file\n", self.sources("--local"))
        self.assertEqual(opened.count(), 0)

    def test_a_recorded_path_is_not_opened_by_bundle_create(self):
        fifo = self.fifo("fifo")
        self.data.write_bytes(recording(fifo))
        opened = OpenCounter(fifo)
        status, _, err = self.run_tool(BIN / "perftape-bundle", "create", self.data, "-v", "-o",
                                       self.root / "bundle")
        self.assertIn(f": {fifo}: not a regular file\n", err)
        self.assertIn(status, (0, 3))
        self.assertEqual(opened.count(), 0)

    def test_kernel_symbols_below_a_root_do_not_block(self):
        fifo = self.fifo("symfs/proc/kallsyms")
        data = Path(__file__).parents[2] / "testdata/perfdata/quickstart.data"
        status, _, err = self.run_tool(BIN / "perftape-convert", data, "--symfs",
                                       self.root / "symfs", "--show-sources", "--to", "folded",
                                       "-o", "-")
        self.assertEqual(status, 0, err)
        self.assertIn(f"not used: {fifo}: not a regular file\n", err)

    def test_a_part_of_a_recording_does_not_block(self):
        data = self.directory("recording.data")
        (data / "data").write_bytes(recording("/usr/bin/program"))
        fifo = self.fifo("recording.data/data.0")
        status, _, err = self.run_tool(BIN / "perftape-convert", data, "--to", "folded", "-o", "-")
        self.assertEqual(status, 1, err)
        self.assertIn(f"{fifo}: not a regular file\n", err)


class NamedByTheUser(SymbolPaths):
    def test_directories_that_are_absent_or_files_are_refused(self):
        self.data.write_bytes(recording("/usr/bin/program"))
        absent = self.root / "absent"
        for option, name in (("--symfs", "symbol directory"), ("--debug-dir", "debug directory")):
            for tool in ("perftape-convert", "perftape-symbolize"):
                for path, reason in ((absent, "No such file or directory"),
                                     (self.data, "Not a directory")):
                    out = self.root / "out.data"
                    status, _, err = self.run_tool(BIN / tool, self.data, option, path, "-o",
                                                   self.root / "out.folded")
                    self.assertEqual(status, 1, err)
                    self.assertIn(f"{tool}: {name} {path}: {reason}\n", err)
                    self.assertFalse(out.exists())

    def test_files_that_are_absent_are_refused(self):
        self.data.write_bytes(recording("/usr/bin/program"))
        absent = self.root / "absent"
        for option in ("--bundle", "--kallsyms", "--vmlinux"):
            status, _, err = self.run_tool(BIN / "perftape-convert", self.data, option, absent, "-o",
                                           self.root / "out.folded")
            self.assertEqual(status, 1, err)
            self.assertIn(f"{absent}: No such file or directory\n", err)


PROGRAM = """
static __attribute__((always_inline)) inline int inner(volatile int *at) {
  int sum = 0;
  for (int i = 0; i < 100; ++i) sum += *at;
  return sum;
}
__attribute__((noinline)) int outer(volatile int *at) { return inner(at); }
int main() { volatile int one = 1; return outer(&one); }
"""


@unittest.skipIf(shutil.which("cc") is None or shutil.which("nm") is None, "no C compiler")
class Completed(SymbolPaths):
    """The bundle of a recording has no DWARF; the binary on this machine has."""

    def setUp(self):
        super().setUp()
        self.program = self.root / "program"
        source = self.root / "program.c"
        source.write_text(PROGRAM)
        identity = "5eed" * 10
        subprocess.run(["cc", "-g", "-O1", "-no-pie", f"-Wl,--build-id=0x{identity}", "-o",
                        self.program, source], check=True)
        listed = subprocess.run(["nm", "-S", self.program], check=True, capture_output=True,
                                text=True).stdout
        start, size = next(line.split()[:2] for line in listed.splitlines()
                           if line.endswith(" outer"))
        # The first segment is at address 0x400000 and file offset 0.
        start = int(start, 16) - 0x400000
        self.data.write_bytes(recording(self.program, bytes.fromhex(identity),
                                        range(start, start + int(size, 16), 2)))
        carried = self.root / "carried.data"
        status, _, err = self.run_tool(BIN / "perftape-symbolize", self.data, "--local", "-o", carried)
        self.assertEqual(status, 0, err)
        self.data = carried

    def folded(self, *arguments):
        status, out, err = self.run_tool(BIN / "perftape-convert", self.data, "--show-sources",
                                         "--to", "folded", "-o", "-", *arguments)
        self.assertEqual(status, 0, err)
        return out, err

    def test_names_are_from_the_bundle_and_lines_from_the_binary(self):
        out, err = self.folded("--local")
        self.assertIn("outer;inner ", out)
        self.assertIn(f": bundle: {self.program}, lines from {self.program} (symbols, DWARF)\n", err)

    def test_lines_are_from_a_file_with_the_same_build_id(self):
        moved = self.directory("symfs" + str(self.root)) / "program"
        self.program.rename(moved)
        out, err = self.folded("--no-local", "--symfs", self.root / "symfs")
        self.assertIn("outer;inner ", out)
        self.assertIn(f", lines from {moved} (symbols, DWARF)\n", err)

    def test_there_are_none_if_no_later_source_has_them(self):
        out, err = self.folded("--no-local")
        self.assertIn("outer ", out)
        self.assertNotIn("inner", out)
        self.assertIn(f": bundle: {self.program} (symbols)\n", err)

    def test_a_binary_of_another_build_gives_none_and_is_a_reason(self):
        subprocess.run(["cc", "-g", "-Wl,--build-id=0x1234", "-o", self.program,
                        self.root / "program.c"], check=True)
        out, err = self.folded("--local")
        self.assertNotIn("inner", out)
        self.assertIn(f"not used: {self.program}: build id 1234, but the recorded one is 5eed", err)

    def test_none_are_searched_if_none_are_wanted(self):
        _, err = self.folded("--local", "--no-lines")
        self.assertNotIn("lines from", err)


KERNEL = """
static __attribute__((always_inline)) inline int inner(volatile int *at) {
  int sum = 0;
  for (int i = 0; i < 100; ++i) sum += *at;
  return sum;
}
__attribute__((noinline)) int outer(volatile int *at) { return inner(at); }
int _start(void) { volatile int one = 1; return outer(&one); }
"""
TEXT = 0xffffffff81000000


@unittest.skipIf(shutil.which("cc") is None or shutil.which("nm") is None, "no C compiler")
class CompletedKernel(SymbolPaths):
    def setUp(self):
        super().setUp()
        source = self.root / "kernel.c"
        source.write_text(KERNEL)
        self.vmlinux = self.root / "vmlinux"
        subprocess.run(["cc", "-g", "-O1", "-nostdlib", "-static", "-fcf-protection=none",
                        "-mcmodel=kernel", "-no-pie", "-fno-pic", f"-Wl,-Ttext={TEXT:#x}",
                        f"-Wl,--defsym=_text={TEXT:#x}", f"-Wl,--build-id=0x{BUILD_ID.hex()}", "-o",
                        self.vmlinux, source], check=True)
        listed = subprocess.run(["nm", "-n", self.vmlinux], check=True, capture_output=True,
                                text=True).stdout
        addresses = {name: int(address, 16)
                     for address, _, name in map(str.split, listed.splitlines())}
        self.kallsyms = self.root / "kallsyms"
        self.kallsyms.write_text("".join(f"{addresses[name]:016x} T {name}\n"
                                         for name in ("_text", "outer", "_start")))
        start = addresses["outer"]
        name = b"[kernel.kallsyms]_text\0\0"
        mapping = struct.pack("<iIQQQB3x20sII", -1, 0, TEXT, addresses["_edata"] - TEXT, TEXT, 20, BUILD_ID, 5, 2)
        records = record(MMAP2, mapping + name, misc=MISC_KERNEL | MISC_BUILD_ID)
        for offset in range(2, 10):
            records += record(SAMPLE, struct.pack("<QIIQ", start + offset, 7, 7, 1000),
                              misc=MISC_KERNEL)
        self.data.write_bytes(perf_file(records, event=attr(IP | TID | TIME)))

    def test_names_are_from_kallsyms_and_lines_from_vmlinux(self):
        told = self.sources("--kallsyms", self.kallsyms, "--vmlinux", self.vmlinux)
        self.assertIn(f", lines from {self.vmlinux}\n", told)
        _, out, _ = self.run_tool(BIN / "perftape-convert", self.data, "--kallsyms", self.kallsyms,
                                  "--vmlinux", self.vmlinux, "--to", "folded", "-o", "-")
        self.assertIn("outer;inner ", out)

    def test_none_are_searched_if_none_are_wanted(self):
        self.assertNotIn("lines from", self.sources("--kallsyms", self.kallsyms, "--vmlinux",
                                                    self.vmlinux, "--no-lines"))


def main():
    global BIN
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--bin", type=Path, default=BIN)
    options, rest = parser.parse_known_args()
    BIN = options.bin.resolve()
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
