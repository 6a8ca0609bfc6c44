# SPDX-License-Identifier: Apache-2.0
"""Records what is hard on a recorder: targets that end at once, many threads, a reader of a pipe
that stalls or exits, and a rotating recording during an exec storm, whose memory and descriptors
must not grow.

PERFTAPE_THREADS (default 2000) is the number of threads; 10000 takes a minute on a busy machine.
PERFTAPE_SOAK_SECONDS (default 12) is the length of the storm; 600 is a real soak."""

import os
import pathlib
import re
import signal
import subprocess
import threading
import time

import harness

SOAK_SECONDS = float(os.environ.get("PERFTAPE_SOAK_SECONDS", "12"))
THREADS = int(os.environ.get("PERFTAPE_THREADS", "2000"))
# A program with many threads that wait, and a main thread that works until its input ends.
CROWD = """
import sys, threading, time
threading.stack_size(65536)
end = threading.Event()
threads = [threading.Thread(target=end.wait, daemon=True) for _ in range(int(sys.argv[1]))]
for thread in threads: thread.start()
print("ready", flush=True)
stop = time.monotonic() + float(sys.argv[2])
while time.monotonic() < stop: sum(range(1000))
end.set()
for thread in threads: thread.join()
"""
STORM = "while :; do /bin/sh -c 'exec /bin/true'; done"


def resources_of(pid):
    """Returns (RssAnon in KiB, number of descriptors) of a process."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return (int(re.search(r"RssAnon:\s+(\d+) kB", status)[1]),
            len(os.listdir(f"/proc/{pid}/fd")))


class ShortTargets(harness.RecordingTest):
    def test_targets_that_end_in_the_first_millisecond(self):
        for options in ([], ["-z"], ["--call-graph", "dwarf"], ["--switch-output=1s"]):
            with self.subTest(options=options):
                self.record(*options, "-o", "short.%n" if "--switch" in str(options) else
                            "short.data", "--", "/bin/true")
                for file in self.dir.glob("short.*"):
                    counts, err = harness.perf_report(file)
                    none = f"Error:\nThe {file} data has no samples!\n"
                    self.assertEqual(err, "" if counts else none)
                    file.unlink()

    def test_processes_that_end_while_the_recorder_starts(self):
        for delay in (0, 0.005, 0.01, 0.02, 0.05, 0.1):
            with self.subTest(delay=delay):
                target = self.spawn("sleep", str(delay))
                # Reaped at once, so that the id becomes unknown.
                threading.Thread(target=target.wait, daemon=True).start()
                status, _, err = harness.run(harness.RECORD, "-p", target.pid, "-o", "p.data",
                                             cwd=self.dir)
                self.assertIn(status, (0, 1), err)
                if status == 1:
                    self.assertIn(str(target.pid), err)
                    self.assertFalse((self.dir / "p.data").exists())
                else:
                    harness.perf_stats(self.dir / "p.data")
                    (self.dir / "p.data").unlink()


class Crowd(harness.RecordingTest):
    def test_a_command_with_many_threads(self):
        _, err = self.record("-o", "crowd.data", "-F", "99", "--no-bundle", "--", "python3", "-c",
                             CROWD, THREADS, "0.5")
        self.check(self.dir / "crowd.data", err)

    def test_a_process_that_has_many_threads(self):
        target = self.spawn("python3", "-c", CROWD, THREADS, "60", stdout=subprocess.PIPE)
        self.assertEqual(target.stdout.readline(), b"ready\n")
        _, err = self.record("-p", target.pid, "-o", "crowd.data", "-F", "99", "--no-bundle",
                             "--duration", "1")
        self.check(self.dir / "crowd.data", err)

    def check(self, data, err):
        """Each thread has its COMM, and no process event is lost."""
        counts, messages = harness.perf_report(data)
        self.assertEqual(messages, "", err)
        self.assertGreater(sum(counts.values()), 10)
        self.assertNotIn("process events lost", err)
        status, out, err = harness.run(harness.INSPECT, "--stats", data)
        self.assertEqual(status, 0, err)
        stats = harness.perf_stats(data)
        self.assertGreater(stats.get("FORK", 0) + stats.get("COMM", 0), THREADS, stats)


class PipeReaders(harness.RecordingTest):
    def start(self, *options):
        return self.spawn(harness.RECORD, *options, "-o", "-", "--no-bundle", "--", harness.BURNER,
                          "--seconds", "4", cwd=self.dir, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)

    def test_a_reader_that_stalls_gets_the_whole_stream(self):
        recorder = self.start("-a", "-F", "4999")
        err = []
        threading.Thread(target=lambda: err.append(recorder.stderr.read()), daemon=True).start()
        stream = recorder.stdout.read(10_000)
        time.sleep(2)  # much longer than the pipe has room
        stream += recorder.stdout.read()
        self.assertIn(recorder.wait(), (0, 3))
        recorder.stdout.close()
        (self.dir / "stream.data").write_bytes(stream)
        while not err:
            time.sleep(0.01)
        totals = re.search(r"(\d+) samples?[,;].*? (\d+) lost,", err[0].decode())
        self.assertIsNotNone(totals, err)
        stats = harness.perf_stats(self.dir / "stream.data")
        self.assertEqual(stats["SAMPLE"], int(totals[1]), err)
        status, out, messages = harness.run(harness.INSPECT, "--records", self.dir / "stream.data")
        self.assertEqual(status, 0, messages)
        lost = sum(map(int, re.findall(r" LOST_SAMPLES .*: lost (\d+)", out)))
        self.assertEqual(lost, int(totals[2]), err)

    def test_a_reader_that_stalls_for_ever_does_not_keep_the_recorder(self):
        recorder = self.start("-a", "-F", "4999")
        recorder.stdout.read(10_000)
        time.sleep(2)  # the pipe is full
        recorder.send_signal(signal.SIGTERM)
        status = recorder.wait(timeout=harness.TIMEOUT_S)
        err = recorder.stderr.read().decode()
        recorder.stdout.close()
        self.assertEqual(status, 1, err)
        self.assertRegex(err, r"the reader has stalled: \d+ bytes are not written")
        self.assertRegex(err, r"[1-9]\d* samples? (is|are) not in|[1-9]\d* lost|not written")

    def test_a_reader_that_exits_ends_the_recording(self):
        recorder = self.start("-a", "-F", "999")
        recorder.stdout.read(10_000)
        recorder.stdout.close()
        err = recorder.stderr.read().decode()
        self.assertNotIn(recorder.wait(timeout=harness.TIMEOUT_S), (-signal.SIGSEGV, 0), err)


class Soak(harness.RecordingTest):
    def test_memory_and_descriptors_do_not_grow(self):
        # Not -a: the recorder keeps a descriptor of each binary that it has sampled, and the other
        # programs of this machine are not part of the test.
        storms = [self.spawn("bash", "-c", STORM, stdout=subprocess.DEVNULL)
                  for _ in range(os.cpu_count())]
        targets = ",".join(str(storm.pid) for storm in storms)
        recorder = self.spawn(harness.RECORD, "-p", targets, "-F", "499", "--switch-output=1s",
                              "--keep-files", "3", "-o", "soak.%n", cwd=self.dir,
                              stderr=subprocess.PIPE, text=True)
        self.assertIsNone(recorder.poll())
        time.sleep(max(3, SOAK_SECONDS / 6))  # tables and buffers get their size
        found = []
        for _ in range(3):
            # The end of a file holds the slim copies of its bundle for a moment: the least counts.
            found.append(min(self.observe(recorder.pid, SOAK_SECONDS / 6)))
            time.sleep(SOAK_SECONDS / 6)
        recorder.send_signal(signal.SIGINT)
        _, err = recorder.communicate(timeout=harness.TIMEOUT_S)
        print("RssAnon KiB, descriptors:", *found)
        self.assertEqual(recorder.returncode, 0, err)
        # On a busy machine a bundle may take all of an observation, but what leaks grows at each.
        (first, first_fds), (last, last_fds) = max(found[:2]), found[2]
        self.assertLessEqual(last, first * 1.1 + 2048, found)
        self.assertLessEqual(last_fds, first_fds + 8, found)
        files = list(self.dir.glob("soak.*"))
        self.assertEqual(len(files), 3)
        for file in files:
            counts, messages = harness.perf_report(file)
            self.assertEqual(messages, "")
            self.assertGreater(sum(counts.values()), 0)

    def observe(self, pid, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            yield resources_of(pid)
            time.sleep(0.1)


if __name__ == "__main__":
    harness.require("perf")
    harness.require_sample_rate(4999)
    harness.main()
