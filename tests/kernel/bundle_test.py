# SPDX-License-Identifier: Apache-2.0
"""Tests the bundles of recordings: they must contain the right bytes, even if files change."""

import contextlib
import hashlib
import io
import json
import os
import pathlib
import signal
import struct
import subprocess
import tarfile
import time
import unittest

import harness

SPIN = """
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static volatile unsigned long sum;
__attribute__((noinline)) void %s(void) {
  for (int i = 0; i < 1000000; ++i) sum += i;
}
int main(int argc, char** argv) {
  time_t end = time(0) + atoi(argv[1]) + 1;  // the first second has begun
  while (time(0) < end) {
    %s();
    for (int i = 0; i < 2000; ++i) getppid();  // so that the kernel is hit, too
  }
}
"""

# Runs code that it generates, and writes /tmp/perf-PID.map for it. The arguments are the duration
# and the mode of that file.
JIT = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
int main(int argc, char** argv) {
  static const unsigned char kLoop[] = {0xb9, 0, 0, 0x10, 0, 0xff, 0xc9, 0x75, 0xfc, 0xc3};
  char* code = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(code, kLoop, sizeof kLoop);
  char name[64];
  snprintf(name, sizeof name, "/tmp/perf-%d.map", getpid());
  FILE* map = fopen(name, "w");
  fprintf(map, "%lx 1000 made_at_run_time\n", (unsigned long)code);
  fclose(map);
  chmod(name, strtol(argv[2], 0, 8));
  time_t end = time(0) + atoi(argv[1]) + 1;  // the first second has begun
  while (time(0) < end) ((void (*)(void))code)();
}
"""

# Executes itself from a memfd, and calls a function, or code that it puts into another memfd.
IN_MEMORY = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
static volatile unsigned long sum;
__attribute__((noinline)) void burns_in_memory(void) { for (int i = 0; i < 1000000; ++i) sum += i; }
int main(int argc, char** argv, char** environment) {
  static const unsigned char kLoop[] = {0xb9, 0, 0, 0x10, 0, 0xff, 0xc9, 0x75, 0xfc, 0xc3};
  int file = memfd_create(argc == 1 ? "program" : "code", 0);
  if (argc == 1) {
    struct stat status;
    int self = open("/proc/self/exe", O_RDONLY);
    char* again[] = {argv[0], "again", 0};
    fstat(self, &status);
    while (sendfile(file, self, 0, 1 << 20) > 0) {}
    return fexecve(file, again, environment);
  }
  ftruncate(file, 8192);
  char* writable = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  char* code = mmap(0, 8192, PROT_READ | PROT_EXEC, MAP_SHARED, file, 0);
  memcpy(writable + 4096, kLoop, sizeof kLoop);
  char name[64];
  snprintf(name, sizeof name, "/tmp/perf-%d.map", getpid());
  FILE* map = fopen(name, "w");
  fprintf(map, "%lx 1000 made_in_memory\n", (unsigned long)code + 4096);
  fclose(map);
  for (time_t end = time(0) + 2; time(0) < end; burns_in_memory()) ((void (*)(void))(code + 4096))();
  unlink(name);
}
"""


def embedded(path):
    """Returns the bytes of the bundle in a recording, or None."""
    data = pathlib.Path(path).read_bytes()
    if data[-8:] != b"PERFTAPE":
        return None
    offset, size = struct.unpack_from("<QQ", data, len(data) - 32)
    return data[offset:offset + size]


# What every recording has in its archive.
NOTES = "recording.json"


def files_in(path):
    """Returns the names of the files in the archive of a recording."""
    tar = subprocess.run(["zstd", "-dcq"], input=embedded(path), capture_output=True,
                         check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(tar)) as members:
        return {member.name for member in members if member.isfile()}


def unpack(archive):
    """Returns (manifest, {member: bytes}) of a bundle."""
    tar = subprocess.run(["zstd", "-dcq"], input=archive, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(tar)) as members:
        files = {member.name: members.extractfile(member).read()
                 for member in members if member.isfile()}
    return json.loads(files["manifest.json"]), files


def has_features(path):
    """Returns whether the header has a feature's bit. The bits are bytes 72 to 104 of a file, and
    are written last."""
    try:
        with open(path, "rb") as file:
            return any(file.read(104)[72:])
    except FileNotFoundError:
        return False


def grow_symtab(path, size):
    """Moves .symtab to the end of the file and grows it to `size` bytes with a hole (elf(5), 64
    bit)."""
    with open(path, "r+b") as file:
        header = file.read(64)
        table, = struct.unpack_from("<Q", header, 40)
        count, = struct.unpack_from("<H", header, 60)
        end = file.seek(0, os.SEEK_END)
        hole = (end + 4095) // 4096 * 4096
        for i in range(count):
            file.seek(table + 64 * i + 4)
            kind, = struct.unpack("<I", file.read(4))
            if kind == 2:  # SHT_SYMTAB
                file.seek(table + 64 * i + 24)
                file.write(struct.pack("<QQ", hole, size))
        file.truncate(hole + size)


class Bundle(harness.RecordingTest):
    def setUp(self):
        super().setUp()
        self.data = self.dir / "perf.data"

    def compile(self, name, source, *flags):
        path = self.dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cc", "-O1", "-xc", "-", "-o", path, *flags], input=source, text=True,
                       check=True)
        return path

    def spinner(self, name, function="spin", *flags):
        return self.compile(name, SPIN % (function, function), *flags)

    def entries(self, data=None):
        """Returns {path: entry} of the manifest, and the members."""
        manifest, files = unpack(embedded(data or self.data))
        return {entry["path"]: entry for entry in manifest["files"]}, files

    @contextlib.contextmanager
    def running(self, *command):
        process = subprocess.Popen([str(word) for word in command])
        try:
            yield process
        finally:
            process.kill()
            process.wait()

    @contextlib.contextmanager
    def recording(self, *arguments):
        """A recording that runs in the block and ends with it."""
        process = self.spawn(harness.RECORD, "-a", "-F", "999", *arguments, cwd=self.dir,
                             stderr=subprocess.PIPE, text=True)
        while not self.data.exists():
            self.assertIsNone(process.poll())
            time.sleep(0.01)
        yield process
        process.send_signal(signal.SIGINT)
        _, self.messages = process.communicate(timeout=harness.TIMEOUT_S)

    def wait_until_sampled(self, *wanted):
        """Returns when the recording, which runs, has written a sample with each of these columns of
        `perftape-inspect --samples`. The recorder has then opened the file `dso` of the sample."""
        def is_sampled():
            _, out, _ = harness.run(harness.INSPECT, "--samples", self.data)
            columns, *rows = [line.split("\t") for line in out.splitlines()] or [[]]
            samples = [dict(zip(columns, row)).items() for row in rows]
            return all(any(one.items() <= sample for sample in samples) for one in wanted)

        self.wait_until(is_sampled)

    def test_the_bundle_has_all_sampled_binaries_and_names_them_elsewhere(self):
        program = self.spinner("spinner")
        identity = harness.build_id(program)
        _, err = self.record("-F", "999", "--", program, "1")
        self.assertRegex(err, r"symbols of \d+ files?[,)]")
        here, complaints = harness.perf_report(self.data)
        self.assert_complains_of_losses_only(complaints, self.data)
        entries, files = self.entries()
        self.assertEqual(entries[str(program)]["build_id"], identity)
        self.assertEqual(entries["[kernel.kallsyms]"]["kept"], "whole")

        cache = self.dir / "cache"
        for name, content in files.items():
            (cache / name).parent.mkdir(parents=True, exist_ok=True)
            (cache / name).write_bytes(content)
        link = cache / ".build-id" / identity[:2] / identity[2:]
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(cache / str(program).lstrip("/") / identity)
        program.unlink()
        status, out, err = harness.run("perf", "--buildid-dir", cache, "report", "--stdio", "-g",
                                       "none", "--no-children", "-F", "sample,sym", "-i", self.data,
                                       env=harness.perf_environment())
        self.assertEqual(status, 0, err)
        self.assertIn("[.] spin", out)
        self.assertGreater(here["[.] spin"], 0)

    def test_bundles_are_omitted_or_written_to_a_file(self):
        self.record("-q", "--no-bundle", "--", "true")
        self.assertEqual(files_in(self.data), {NOTES})
        aside = self.dir / "aside.tar.zst"
        aside.write_text("an earlier one")
        self.record("-q", "--bundle", aside, "--", harness.BURNER, "--seconds", "1")
        self.assertEqual(files_in(self.data), {NOTES})
        self.assertEqual((self.dir / "aside.tar.zst.old").read_text(), "an earlier one")
        manifest, _ = unpack(aside.read_bytes())
        self.assertIn(harness.BURNER, {entry["path"] for entry in manifest["files"]})
        self.assertEqual(list(self.dir.glob("aside.tar.zst.??????")), [])

    def test_a_pipe_has_no_bundle(self):
        status, err = self.record_to_pipe("-v")
        self.assertEqual(status, 0, err)
        self.assertIn("a pipe cannot contain a bundle", err)
        status, err = self.record_to_pipe("--bundle", self.dir / "aside.tar.zst")
        self.assertEqual(status, 0, err)
        unpack((self.dir / "aside.tar.zst").read_bytes())

    def record_to_pipe(self, *arguments):
        done = subprocess.run([harness.RECORD, "-o", "-", *map(str, arguments), "--", "true"],
                              capture_output=True, cwd=self.dir, timeout=harness.TIMEOUT_S)
        self.assertEqual(done.stdout[:8], b"PERFILE2")
        self.assertIsNone(embedded_bytes(done.stdout))
        return done.returncode, done.stderr.decode(errors="replace")

    def test_a_killed_recording_has_no_bundle_and_opens(self):
        with self.running(harness.BURNER, "--seconds", "30"):
            recorder = self.spawn(harness.RECORD, "-q", "-a", "-F", "999", cwd=self.dir)
            self.wait_for_samples(self.data)
            recorder.kill()
            recorder.wait()
        self.assertIsNone(embedded(self.data))
        counts, complaints = harness.perf_report(self.data)
        self.assert_complains_of_losses_only(complaints, self.data)
        self.assertGreater(sum(counts.values()), 0)

    def test_a_recording_is_complete_before_its_symbols_are_collected(self):
        program = self.spinner("spinner")
        grow_symtab(program, 512 << 20)
        recorder = self.spawn(harness.RECORD, "-q", "-F", "999", "--", program, "1", cwd=self.dir)
        while not has_features(self.data):
            self.assertIsNone(recorder.poll(), "it ended before its features were seen")
            time.sleep(0.001)
        recorder.kill()
        self.assertEqual(recorder.wait(), -signal.SIGKILL)
        self.assertIsNone(embedded(self.data))
        counts, complaints = harness.perf_report(self.data)
        self.assert_complains_of_losses_only(complaints, self.data)
        self.assertGreater(sum(counts.values()), 0)
        status, out, err = harness.run(harness.INSPECT, "--header", self.data)
        self.assertEqual(status, 0, err)
        self.assertIn(harness.build_id(program), out)

    def test_a_disk_that_is_full_for_the_bundle_leaves_a_good_recording(self):
        small = self.dir / "small"
        small.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", small], check=True)
        try:
            with self.running(harness.BURNER, "--seconds", "30") as burner:
                status, _, err = harness.run(harness.RECORD, "-p", burner.pid, "--duration", "0.5",
                                             "-o", small / "perf.data")
            self.assertEqual(status, 3, err)
            self.assertRegex(err, "recording is complete but has no symbols: .*No space left")
            self.assertEqual(files_in(small / "perf.data"), {NOTES})
            counts, complaints = harness.perf_report(small / "perf.data")
            self.assert_complains_of_losses_only(complaints, small / "perf.data")
            self.assertGreater(sum(counts.values()), 0)
            status, out, err = harness.run(harness.INSPECT, "--header", small / "perf.data")
            self.assertEqual(status, 0, err)
            self.assertIn("SAMPLE_TIME", out.upper().replace(" ", "_"))
        finally:
            subprocess.run(["umount", small], check=True)

    def test_a_binary_of_a_container_that_is_gone_is_the_one_that_ran(self):
        self.need_mount_namespace()
        program = self.spinner("box/inside", "spin_inside", "-static")
        identity = harness.build_id(program)
        box = self.dir / "root"
        box.mkdir()
        script = (f"mount -t tmpfs tmpfs {box} && cp {program} {box}/ && rm {program} || exit\n"
                  f"(until [ $(cat /proc/$$/comm) = inside ]; do sleep 0.05; done; rm {box}/inside) &\n"
                  f"exec chroot {box} /inside 600")
        with self.recording():
            with self.running("unshare", "-m", "sh", "-c", script):
                self.wait_until_sampled({"dso": "inside"})
        entries, files = self.entries()
        found = [entry for path, entry in entries.items() if path.startswith("/inside")]
        self.assertEqual([entry.get("build_id") for entry in found], [identity], (found, self.messages))
        self.assertIn(b"spin_inside", files[found[0]["member"]])

    def test_a_binary_that_was_replaced_is_the_one_that_ran(self):
        program = self.spinner("program", "spin_before")
        newer = self.spinner("newer", "spin_afterwards")
        identity = harness.build_id(program)
        with self.recording():
            with self.running(program, "600") as spinner:
                self.wait_until_sampled({"pid": str(spinner.pid), "dso": "program"})
                newer.rename(program)
                time.sleep(0.3)
        entries, files = self.entries()
        entry = entries[str(program)]
        self.assertEqual(entry.get("build_id"), identity, entry)
        self.assertIn(b"spin_before", files[entry["member"]])
        self.assertNotIn(b"spin_afterwards", files[entry["member"]])

    def test_files_of_one_path_without_build_id_have_their_own_names(self):
        files = [self.spinner(name, "spin_" + name, "-Wl,--build-id=none")
                 for name in ("before", "afterwards")]
        program = self.dir / "program"
        self.record("-F", "999", "--", "sh", "-c",
                    "".join(f"cp {file} {program}; {program} 1; mv {program} {file}; "
                            for file in files))
        manifest, _ = unpack(embedded(self.data))
        entries = [entry for entry in manifest["files"] if entry["path"] == str(program)]
        self.assertEqual({entry["sha256"] for entry in entries},
                         {hashlib.sha256(file.read_bytes()).hexdigest() for file in files})
        status, out, err = harness.run(harness.BUNDLE, "verify", self.data)
        self.assertEqual(status, 0, out + err)
        files[0].rename(program)  # not used: a file of the bundle was the one
        status, out, err = harness.run(harness.CONVERT, self.data, "--to", "folded", "-o", "-")
        self.assertEqual(status, 0, err)
        for name in ("spin_before", "spin_afterwards"):
            self.assertRegex(out, rf"main;{name} \d+\n")
        self.assertNotIn("[program]", out)

    def test_a_bundle_is_made_of_a_recording_of_perf(self):
        program, replaced = self.spinner("spinner"), self.spinner("replaced", "spin_before")
        identity = harness.build_id(program)
        status, _, err = harness.run("perf", "record", "-q", "-g", "-F", "999", "-o", self.data,
                                     "--", "sh", "-c", f"{program} 1; {replaced} 1",
                                     env=harness.perf_environment(), cwd=self.dir)
        self.assertEqual(status, 0, err)
        replaced.unlink()
        self.spinner("replaced", "spin_afterwards")
        status, _, err = harness.run(harness.BUNDLE, "create", "-v", cwd=self.dir)
        self.assertEqual(status, 3, err)
        self.assertIn(f"{replaced}: replaced by another build", err)
        manifest, files = unpack((self.dir / "perf.data.tar.zst").read_bytes())
        entries = {entry["path"]: entry for entry in manifest["files"]}
        self.assertEqual(entries[str(program)]["build_id"], identity)
        self.assertIn(b"spin", files[entries[str(program)]["member"]])
        self.assertEqual(entries["[kernel.kallsyms]"]["kept"], "whole")
        status, out, err = harness.run(harness.BUNDLE, "list", "perf.data.tar.zst", cwd=self.dir)
        self.assertEqual(status, 0, err)
        self.assertIn(identity, out)

    @unittest.skipUnless(os.uname().machine == "x86_64", "the generated code is of x86-64")
    def test_a_program_in_a_memfd_is_a_file_and_generated_code_is_not(self):
        program = self.compile("in_memory", IN_MEMORY)
        self.record("-q", "-F", "499", "--", program)
        status, _, err = harness.run(harness.CONVERT, "-q", self.data, "--to", "folded", "-o",
                                     self.dir / "folded")
        self.assertEqual(status, 0, err)
        _, leaves, stacks = harness.folded_counts(self.dir / "folded")
        self.assertGreater(leaves["burns_in_memory"], 50, leaves)
        self.assertGreater(leaves["made_in_memory"], 50, leaves)
        burning = [stack for stack in stacks if stack.endswith(";burns_in_memory")]
        self.assertTrue(all(";main;" in stack for stack in burning), burning)

    def test_maps_that_others_may_write_are_rejected(self):
        program = self.compile("jit", JIT)
        with self.recording():
            with self.running(program, "600", "644") as good:
                with self.running(program, "600", "666") as bad:
                    self.wait_until_sampled(*({"dso": f"perf-{process.pid}.map"} for process in (good, bad)))
        for process in (good, bad):
            os.unlink(f"/tmp/perf-{process.pid}.map")
        entries, files = self.entries()
        taken = entries[f"/tmp/perf-{good.pid}.map"]
        self.assertEqual((taken["kind"], taken["pid"]), ("perf-map", good.pid))
        self.assertIn(b"made_at_run_time", files[taken["member"]])
        refused = entries[f"/tmp/perf-{bad.pid}.map"]
        self.assertEqual(refused["kept"], "nothing")
        self.assertIn("writable by other users", refused["missing"])


def embedded_bytes(data):
    return None if data[-8:] != b"PERFTAPE" else data


if __name__ == "__main__":
    harness.require("perf", "zstd", "readelf", "cc")
    harness.main()
