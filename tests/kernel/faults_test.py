# SPDX-License-Identifier: Apache-2.0
"""Lets system calls of the recorder fail, one after the other, lets writes be short, and kills the
recorder at system calls. Each run either is complete, or fails with a message and a file that perf
opens, with as many samples as the message counts.

PERFTAPE_FAULTS=all injects each fault at each call. The default is a few of them."""

import os
import pathlib
import re
import signal
import subprocess

import harness
from committed_records import committed_records, committed_samples

ALL = os.environ.get("PERFTAPE_FAULTS") == "all"
LOST_SAMPLES = 13

# Name -> (options, pattern of the files).
WAYS = {"plain": ([], "perf.data"), "compressed": (["-z"], "perf.data"),
        "rotating": (["--switch-output=200K", "-o", "r.%n"], "r.[0-9]*")}
# (system calls, fault); strace counts the calls of each thread.
FAULTS = (("pwrite64", "error=ENOSPC"), ("pwrite64", "error=EIO"), ("pwrite64", "error=EINTR"),
          ("pwrite64", "retval=0"), ("fsync,fdatasync", "error=EIO"), ("ftruncate", "error=EIO"),
          ("rename,renameat,renameat2,linkat", "error=EIO"))
# One call alone, and each call from there on.
EXTENTS = ("", "+")
SAMPLED = {"plain": (1, 6), "compressed": (8,), "rotating": (5,)}


def lost_in(path):
    return sum(int.from_bytes(payload[:8], "little") for kind, payload in committed_records(path)
               if kind == LOST_SAMPLES)


class FaultTest(harness.RecordingTest):
    def files(self, pattern):
        return sorted(file for file in self.dir.glob(pattern) if file.is_file())

    def clear(self):
        for file in self.dir.iterdir():
            file.unlink()

    def trace(self, injection, *arguments):
        """Records with an injected fault. Returns (status, stderr, whether the fault happened)."""
        calls, _, fault = injection.partition(":")
        status, _, err = harness.run(
            "strace", "-f", "-qqq", "-o", self.dir / "trace", "-e", f"trace={calls}", "-e",
            f"inject={injection}", harness.RECORD, *arguments, cwd=self.dir)
        trace = (self.dir / "trace").read_text(errors="replace")
        (self.dir / "trace").unlink()
        # The trace also has the SIGCHLD of the recorded command.
        happened = re.search(r"\(INJECTED|killed by|--- SIGTERM", trace) is not None
        return status, err, happened

    def assert_opens(self, path, context):
        """Returns the number of samples, which is that of the flushed records."""
        counts, err = harness.perf_report(path)
        if sum(counts.values()) == 0:
            self.assertRegex(err, rf"\A{harness.LOSSES}({harness.NO_SAMPLES})?\Z",
                             f"{context}: {path}")
        else:
            self.assertRegex(err, rf"\A{harness.LOSSES}\Z", f"{context}: {path}")
        flushed = committed_samples(path)
        self.assertEqual(sum(counts.values()), flushed, f"{context}: {path}")
        return flushed


class FailingCalls(FaultTest):
    def test_each_call_that_fails(self):
        for way, (options, pattern) in WAYS.items():
            for calls, fault in FAULTS:
                # An interrupted call is repeated, for ever if each is interrupted.
                for extent in EXTENTS if fault != "error=EINTR" else ("",):
                    self.inject_at_each(way, options, pattern, f"{calls}:{fault}", extent)

    def inject_at_each(self, way, options, pattern, injection, extent):
        if not ALL and (injection, extent) not in (
                ("pwrite64:error=ENOSPC", "+"), ("pwrite64:error=EIO", ""),
                ("fsync,fdatasync:error=EIO", "")):
            return
        # A recording syncs once or twice, and writes more often.
        sampled = (1,) if injection.startswith("fsync") else SAMPLED[way]
        number = 0
        happened = True
        injected = failed = 0
        while happened:
            number += 1
            if not ALL and number > 10:
                break
            if not ALL and number not in sampled:
                continue
            with self.subTest(way=way, injection=injection, number=number, extent=extent):
                happened, has_failed = self.record_once(options, pattern,
                                                        f"{injection}:when={number}{extent}")
                injected += happened
                failed += has_failed
        print(f"{way}: {injection}{extent}: injected {injected} times, {failed} recordings failed",
              flush=True)
        # A recording need not rename or truncate, but it writes.
        if "pwrite64" in injection:
            self.assertGreater(injected, 0, f"{way}: {injection}")

    def record_once(self, options, pattern, injection):
        self.clear()
        status, err, happened = self.trace(injection, "-F", "1999", *options, "--", harness.BURNER,
                                           "--seconds", "0.4")
        context = f"{injection}: {err}"
        files = self.files(pattern)
        # perf.data and perf.data.old cannot both be ours: nothing was there before.
        self.assertEqual(len(list(self.dir.iterdir())), len(files), context)
        safe = sum(self.assert_opens(file, context) for file in files)
        counted = sum(map(lost_in, files))
        if status == 0:
            summary = re.search(r"(\d+) samples?[,;].*? (\d+) lost,", err)
            self.assertIsNotNone(summary, context)
            self.assertEqual((safe, counted), (int(summary[1]), int(summary[2])), context)
            return happened, False
        self.assertIn(status, (1, 3), context)
        self.assertTrue(happened, context)
        self.assertRegex(err, r"perftape-record: \S+.*: ", context)
        before = re.search(r"(\d+) samples? written before, (\d+) lost", err)
        if before:
            self.assertEqual(safe, int(before[1]), context)
            self.assertIn(counted, (int(before[2]), 0), context)
        return happened, True


class SignalsAtCalls(FaultTest):
    """A signal when a certain call begins: while it starts, records, and ends."""
    CALLS = (("perf_event_open", (1, 4)), ("bpf", (1, 40, 80)), ("renameat2", (1,)),
             ("pwrite64", (1, 2, 5, 8, 12)), ("fsync", (1, 2)), ("clone3", (1, 4)))

    def test_a_kill_leaves_a_file_that_opens_or_none(self):
        for call, number in self.points():
            with self.subTest(call=call, number=number):
                status, err, happened = self.record(f"{call}:signal=KILL:when={number}")
                if happened:
                    self.assertEqual(status, -signal.SIGKILL, err)
                for file in self.files("perf.data"):
                    self.assert_opens(file, f"{call} {number}")
                self.assert_only_leftovers_of_the_name()

    def test_a_termination_ends_it_with_a_file_that_opens_or_none(self):
        for call, number in self.points():
            with self.subTest(call=call, number=number):
                status, err, happened = self.record(f"{call}:signal=TERM:when={number}")
                self.assertIn(status, (0, 1, 128 + signal.SIGTERM, -signal.SIGTERM), err)
                for file in self.files("perf.data"):
                    self.assert_opens(file, f"{call} {number}: {err}")

    def points(self):
        for call, numbers in self.CALLS:
            for number in numbers if ALL else numbers[-1:]:
                yield call, number

    def record(self, injection):
        self.clear()
        return self.trace(injection, "-F", "1999", "--", harness.BURNER, "--seconds", "0.3")

    def assert_only_leftovers_of_the_name(self):
        for file in self.dir.iterdir():
            self.assertRegex(file.name, r"^perf\.data(\.old|\.\w{6})?$")


class ShortWrites(FaultTest):
    """The kernel may write a part of what it is given. short_writes.c does so often."""

    def setUp(self):
        super().setUp()
        self.preloaded = self.dir / "short_writes.so"
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", self.preloaded,
                        pathlib.Path(__file__).with_name("short_writes.c"), "-ldl"], check=True)
        self.counter = os.memfd_create("short_writes", 0)
        self.addCleanup(os.close, self.counter)
        self.burner = self.spawn(harness.BURNER, "--seconds", "600", stdout=subprocess.DEVNULL)

    def run_shortened(self, *arguments):
        """Records a program, and returns (status, stdout, stderr, number of short writes)."""
        os.ftruncate(self.counter, 0)
        os.ftruncate(self.counter, 8)
        os.set_inheritable(self.counter, True)
        with subprocess.Popen(
                [harness.RECORD, "-p", str(self.burner.pid), "-F", "1999", *arguments], cwd=self.dir,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, pass_fds=(self.counter,),
                env=dict(os.environ, LD_PRELOAD=str(self.preloaded),
                         SHORT_WRITES_FD=str(self.counter))) as recorder:
            out, err = recorder.communicate(timeout=harness.TIMEOUT_S)
        count = int.from_bytes(os.pread(self.counter, 8, 0), "little")
        return recorder.returncode, out, err.decode(), count

    def test_files_are_whole(self):
        for way, (options, pattern) in WAYS.items():
            with self.subTest(way=way):
                status, _, err, count = self.run_shortened(*options, "--duration", "1")
                self.assertEqual(status, 0, err)
                files = self.files(pattern)
                samples = sum(self.assert_opens(file, err) for file in files)
                print(f"{way}: {count} short writes, {samples} samples in {len(files)} files")
                self.assertGreater(count, 3)
                self.assertIn(f"{samples} samples", err)
                status, out, err = harness.run(harness.BUNDLE, "verify", files[-1])
                self.assertEqual(status, 0, out + err)

    def test_a_stream_is_whole(self):
        status, out, err, count = self.run_shortened("-o", "-", "--duration", "1")
        self.assertEqual(status, 0, err)
        self.assertGreater(count, 3)
        stream = self.dir / "stream"
        stream.write_bytes(out)
        counts, complaints = harness.perf_report(stream)
        self.assert_complains_of_losses_only(complaints, stream)
        self.assertIn(f"{sum(counts.values())} samples", err)


class SmallDisks(FaultTest):
    SIZES = ("64k", "256k", "1m", "4m")

    def test_each_size_is_complete_or_clearly_failed(self):
        for size in self.SIZES:
            for way, (options, pattern) in WAYS.items():
                with self.subTest(size=size, way=way):
                    self.record_on(size, way, options, pattern)

    def record_on(self, size, way, options, pattern):
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", self.dir],
                       check=True)
        try:
            status, _, err = harness.run(
                harness.RECORD, "-a", "-F", "4999", *options, "--",
                harness.BURNER, "--seconds", "0.5", cwd=self.dir)
            files = self.files(pattern)
            safe = sum(self.assert_opens(file, err) for file in files)
            print(f"{way} on {size}: status {status}, {safe} samples in {len(files)} files")
            if status == 0 or "the disk was full" in err:
                self.assertRegex(err, rf"{safe} samples?")
            else:
                self.assertIn("No space left on device", err)
                self.assertIn("r.1" if way == "rotating" else "perf.data", err)
        finally:
            subprocess.run(["umount", "-l", self.dir], check=True)


if __name__ == "__main__":
    harness.require("perf", "strace", "mount", "zstd", "cc")
    harness.require_sample_rate(4999)
    harness.main()
