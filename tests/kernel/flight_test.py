# SPDX-License-Identifier: Apache-2.0
"""Flight recordings: the last seconds are in memory, and a file is written on a trigger, on SIGUSR2
and at the end. Each file is complete by itself.

PERFTAPE_FLIGHT_BEFORE (default 3) is how many seconds pass before the stall, PERFTAPE_FLIGHT_IDLE
(default 5) how long the memory of an idle recorder is watched."""

import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import time

import harness
from off_cpu_test import WAITER, samples_of
from rotation_test import STORM, RotationTest, lost_in, samples_of as raw_samples_of

BEFORE = float(os.environ.get("PERFTAPE_FLIGHT_BEFORE", "3"))
IDLE = float(os.environ.get("PERFTAPE_FLIGHT_IDLE", "5"))
KILLS = int(os.environ.get("PERFTAPE_FLIGHT_KILLS", "6"))
MB = 1 << 20


class FlightTest(RotationTest):
    def flight(self, *arguments, command=(), output="r.%n"):
        """Records to the end; returns the summary."""
        status, _, err = harness.run(harness.RECORD, "--json", "summary.json", "-o", output,
                                     *arguments, "--", *command, cwd=self.dir)
        self.status, self.err = status, err
        self.assertNotEqual(status, 1, err)
        return self.summary()

    def targets(self):
        """Starts a program that burns CPU time and one that starts others; returns -p and their pids."""
        burner = self.spawn(harness.BURNER, "--seconds", "600", stdout=subprocess.DEVNULL)
        storm = self.spawn("bash", "-c", STORM, stdout=subprocess.DEVNULL)
        return "-p", f"{burner.pid},{storm.pid}"

    def summary(self):
        return json.loads((self.dir / "summary.json").read_text())

    def start(self, *arguments, output="r.%n"):
        """Starts a recorder, which writes no file yet."""
        recorder = self.spawn(harness.RECORD, "--json", "summary.json", *arguments, "-o", output,
                              cwd=self.dir, stderr=subprocess.PIPE, text=True)
        time.sleep(2)
        self.assertIsNone(recorder.poll(), "the recorder ended by itself")
        self.assertEqual(self.files(), [])
        return recorder

    def request(self, recorder, number):
        """Requests a file and waits until it is complete, with its features and bundle."""
        recorder.send_signal(signal.SIGUSR2)
        self.wait_for(recorder, self.dir / f"r.{number}")

    def wait_for(self, recorder, path):
        def is_complete():
            self.assertIsNone(recorder.poll())
            return path.exists() and self.trigger_of(path) is not None
        self.wait_until(is_complete)

    def trigger_of(self, path):
        """Why the file was written; None while it is incomplete."""
        _, out, _ = harness.run(harness.INSPECT, "--losses", path)
        for line in out.splitlines():
            if line.startswith("written because of: "):
                return line.partition(": ")[2]
        return None

    def binaries_in(self, path):
        status, out, err = harness.run(harness.BUNDLE, "list", path)
        self.assertEqual(status, 0, err)
        return out


class Files(FlightTest):
    def test_the_end_of_the_command_writes_one_file_of_the_last_seconds(self):
        summary = self.flight("-F", "499", "--flight", "1.5", command=(harness.BURNER, "--seconds", "4"))
        self.assertEqual(self.status, 0, self.err)
        self.assertEqual([file.name for file in self.files()], ["r.1"])
        path = self.dir / "r.1"
        self.assertEqual(self.trigger_of(path), "the command ended with status 0")
        _, out, _ = harness.run(harness.INSPECT, "--header", path)
        self.assertIn("written because of: the command ended with status 0\n", out)
        counts = self.assert_opens(path)
        self.assertEqual(sum(counts.values()), summary["samples"])
        self.assertGreater(summary["flight"]["dropped_samples"], summary["samples"])
        # These threads were named and their binary was mapped long before the first sample.
        names = "\n".join(counts)
        for name in ("burn-matrix|perftape-burner|[.] burn_matrix", "burn-hash|perftape-burner"):
            self.assertIn(name, names)
        self.assertIn("perftape-burner", self.binaries_in(path))

    def test_a_crash_of_the_command_writes_the_file(self):
        script = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; kill -SEGV $$"
        self.flight("--flight", "5", command=("sh", "-c", script))
        self.assertEqual(self.status, 128 + signal.SIGSEGV)
        path = self.dir / "r.1"
        self.assertEqual(self.trigger_of(path), "signal SIGSEGV ended the command")
        self.assertGreater(sum(self.assert_opens(path).values()), 0)

    def test_sigusr2_writes_a_file_and_the_recording_goes_on(self):
        recorder = self.start(*self.targets(), "-F", "499", "--flight", "1", "-z")
        self.request(recorder, 1)
        self.request(recorder, 2)
        err = self.finish(recorder)
        self.assertEqual(recorder.returncode, 0, err)
        self.assertEqual([file.name for file in self.files()], ["r.1", "r.2", "r.3"])
        self.assertEqual([self.trigger_of(file) for file in self.files()],
                         ["SIGUSR2", "SIGUSR2", "the end of the recording"])
        for file in self.files():
            counts = self.assert_opens(file, validate=False)  # other readers do not know COMPRESSED
            self.assertIn("burn_matrix", "\n".join(counts))
        for file, listed in zip(self.files(), self.summary()["flight"]["files"]):
            self.assertEqual(file.name, listed["file"])

    def test_files_have_old_binaries_only_if_samples_hit_them(self):
        early, deleted = self.dir / "early", self.dir / "deleted"
        shutil.copy(WAITER, early)
        shutil.copy(harness.BURNER, deleted)
        shell = self.spawn("sh", "-c", f"read go; {early} stall 800 0; sleep 4; {deleted} --seconds 60",
                           stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        recorder = self.start("-p", shell.pid, "-F", "499", "--flight", "2")
        shell.stdin.write(b"go\n")
        shell.stdin.close()
        find = ("pgrep", "-P", shell.pid, "deleted")
        self.wait_until(lambda: harness.run(*find)[0] == 0)
        time.sleep(1.2)
        deleted.unlink()
        os.kill(int(harness.run(*find)[1]), signal.SIGTERM)
        shell.wait()
        recorder.wait()  # its target has ended
        path = self.dir / "r.1"
        self.assertEqual(self.trigger_of(path), "the recorded tasks ended")
        binaries = self.binaries_in(path)
        self.assertIn(str(deleted), binaries)
        self.assertNotIn(str(early), binaries)
        status, out, err = harness.run(harness.CONVERT, path, "--to", "folded", "-o", "-")
        self.assertEqual(status, 0, err)
        self.assertIn("burn_matrix", out)

    def test_the_newest_files_are_kept_and_passed_to_a_command(self):
        recorder = self.start(*self.targets(), "--flight", "1", "--no-bundle", "--keep-files", "2",
                              "--exec-on-switch", "echo >> log")
        for number in (1, 2, 3):
            self.request(recorder, number)
        self.finish(recorder)
        self.assertEqual([file.name for file in self.files()], ["r.3", "r.4"])
        log = (self.dir / "log").read_text().split()
        self.assertEqual(sorted(pathlib.Path(name).name for name in log), ["r.1", "r.2", "r.3", "r.4"])


class Numbers(FlightTest):
    def test_no_sample_is_lost_between_the_file_and_what_was_dropped(self):
        """The kernel calls the program once for each of these calls."""
        calls = 60000
        script = ("import os, time\n"
                  f"for i in range({calls}):\n os.getppid()\n if i % 1000 == 0: time.sleep(0.05)")
        summary = self.flight("-e", "syscalls:sys_enter_getppid", "--flight", "1", "--no-callgraph",
                              command=("python3", "-c", script))
        file = self.dir / "r.1"
        in_file = len(raw_samples_of(file))
        self.assertEqual(in_file, summary["samples"])
        self.assertEqual(in_file, summary["events"][0]["samples"])
        dropped = summary["flight"]["dropped_samples"]
        self.assertGreater(dropped, 0)
        seen = in_file + dropped + summary["lost_samples"]
        self.assertLessEqual(seen, calls)
        self.assertGreaterEqual(seen + summary["skipped_hits"], calls)
        times = [sample[3] for sample in raw_samples_of(file)]
        self.assertEqual(times, sorted(times))

    def test_memory_keeps_its_limit_and_the_oldest_go_first(self):
        recorder = self.start(*self.targets(), "-F", "999", "--call-graph", "dwarf", "--flight", "60",
                              "--flight-memory", "2M", "--no-bundle")
        before = self.resident(recorder)
        time.sleep(3)
        after = self.resident(recorder)
        err = self.finish(recorder)
        flight = self.summary()["flight"]
        print(f"full: {before >> 10} KiB, then {after >> 10} KiB; kept {flight['kept_ns'] / 1e9:.2f} s")
        self.assertLess(after - before, 4 * MB)
        self.assertLess(flight["least_kept_ns"], 60e9)
        self.assertIn("because --flight-memory is too small", err)
        self.assertLess((self.dir / "r.1").stat().st_size, 3 * MB)
        self.assert_opens(self.dir / "r.1")
        lost = sum(map(lost_in, self.files()))
        self.assertLessEqual(lost, self.summary()["lost_samples"])

    def test_an_idle_recorder_needs_no_more_memory(self):
        sleeper = self.spawn("sleep", "100000")
        # Without unwind tables, which are read for all programs that start meanwhile.
        recorder = self.start("-p", sleeper.pid, "--flight", "2", "--call-graph", "fp")
        sizes = [self.resident(recorder)]
        for _ in range(2):
            time.sleep(IDLE / 2)
            sizes.append(self.resident(recorder))
        opened = len(os.listdir(f"/proc/{recorder.pid}/fd"))
        self.finish(recorder)
        print("idle: " + ", ".join(f"{size >> 10} KiB" for size in sizes) + f"; {opened} descriptors")
        self.assertLess(sizes[2] - sizes[1], MB)

    def resident(self, process):
        """Returns the memory of the process in bytes, without rings and BPF maps."""
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
        return int(re.search(r"^RssAnon:\s*(\d+) kB", status, re.MULTILINE)[1]) << 10


class Triggers(FlightTest):
    @harness.timing
    def test_a_stall_is_in_the_file_with_the_seconds_before_it(self):
        summary = self.flight("-e", "cpu-clock,offcpu", "-F", "499", "--flight", "5", "--trigger",
                              "offcpu>500ms", command=(WAITER, "stall", int(BEFORE * 1000), 1500))
        first, second = summary["flight"]["files"]
        self.assertRegex(first["trigger"], r"^offcpu>500ms: 7\d\d\.\d ms of tid \d+ at \d+\.\d+ s$")
        self.assertIn("the command ended", second["trigger"])
        path = self.dir / first["file"]
        self.assertEqual(self.trigger_of(path), first["trigger"])
        samples = samples_of(path)
        stalls = [sample for sample in samples if sample.period >= 700_000_000]
        self.assertEqual([sample.event for sample in stalls], ["offcpu-time"])
        self.assertIn("stall_once", " ".join(stalls[0].symbols))
        began_ns = stalls[0].time_ns - stalls[0].period
        burnt = [sample.time_ns for sample in samples
                 if sample.event == "cpu-clock" and "burn_cpu" in " ".join(sample.symbols)]
        self.assertLess(min(burnt), began_ns - 2 * 10**9, "the two seconds before are missing")
        self.assertLess(max(sample.time_ns for sample in samples), stalls[0].time_ns + 10**9)
        self.assert_opens(path)

    def test_ten_triggers_in_a_second_make_one_file(self):
        script = "for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done; sleep 1"
        summary = self.flight("-e", "cpu-clock,sched:sched_process_exec", "--flight", "5", "--trigger",
                              "sched:sched_process_exec", command=("sh", "-c", script))
        flight = summary["flight"]
        self.assertEqual(len(flight["files"]), 2)  # the second one at the end
        self.assertRegex(flight["files"][0]["trigger"], "^sched:sched_process_exec: tid ")
        self.assertGreaterEqual(flight["ignored_triggers"], 9)
        self.assertEqual([file.name for file in self.files()], ["r.1", "r.2"])
        for file in self.files():
            self.assert_opens(file)

    def test_a_rate_fires_above_its_limit_only(self):
        script = "for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done; sleep 1"
        for limit, files in (("5/s", 2), ("1000/s", 1)):
            summary = self.flight("-e", "cpu-clock,sched:sched_process_exec", "--flight", "5", "--trigger",
                                  f"sched:sched_process_e*>{limit}", command=("sh", "-c", script))
            self.assertEqual(len(summary["flight"]["files"]), files, limit)

    def test_busy_cpus_and_pressure_fire(self):
        triggers = {"cpu>1%/500ms": r"^cpu>1%/500ms: \d+\.\d %$"}
        if os.path.exists("/proc/pressure/cpu"):
            triggers["psi:cpu some 1%/2s"] = "^psi:cpu some 1%/2s$"
        for _ in range(2 * os.cpu_count()):
            self.spawn("sh", "-c", "while :; do :; done")
        for trigger, text in triggers.items():
            summary = self.flight("-a", "--flight", "2", "--no-bundle", "--trigger", trigger,
                                  "--duration", "5", "--cooldown", "1m")
            self.assertEqual(len(summary["flight"]["files"]), 2, trigger)
            self.assertRegex(summary["flight"]["files"][0]["trigger"], text)

    def test_an_event_that_is_not_recorded_is_an_error(self):
        status, _, err = harness.run(harness.RECORD, "--flight", "5", "--trigger", "page-faults", "--",
                                     "touch", self.dir / "ran", cwd=self.dir)
        self.assertEqual(status, 1)
        self.assertIn("trigger page-faults: this event is not recorded: add it with -e; recorded are "
                      "cpu-clock", err)
        self.assertEqual(list(self.dir.iterdir()), [])


class FullDisk(FlightTest):
    """On a file system of its own."""

    def setUp(self):
        super().setUp()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", self.dir], check=True)

    def tearDown(self):
        subprocess.run(["umount", "-l", self.dir], check=True)
        super().tearDown()

    def test_a_file_that_does_not_fit_opens_and_says_how_much_is_missing(self):
        (self.dir / "ballast").write_bytes(bytes((2 << 20) - (400 << 10)))
        status, _, err = harness.run(harness.RECORD, "-F", "4999", "--no-bundle", "--flight", "30",
                                     "--json", "-", "-o", "r.%n", "--", harness.BURNER, "--seconds",
                                     "3", cwd=self.dir)
        self.assertEqual(status, 1, err)
        self.assertIn("No space left on device", err)
        path = self.dir / "r.1"
        self.assertGreater(lost_in(path), 0)
        harness.perf_report(path)
        match = re.search(r"(\d+) samples? written before, (\d+) lost", err)
        self.assertEqual((len(raw_samples_of(path)), lost_in(path)), (int(match[1]), int(match[2])))

    def test_a_file_that_cannot_begin_is_an_error(self):
        recorder = self.spawn(harness.RECORD, "--flight", "5", "--no-bundle", "-o", "r.%n", "-p",
                              str(os.getpid()), cwd=self.dir, stderr=subprocess.PIPE, text=True)
        time.sleep(3)
        left = shutil.disk_usage(self.dir).free
        (self.dir / "ballast").write_bytes(bytes(left))
        err = self.finish(recorder)
        self.assertEqual(recorder.returncode, 1, err)
        self.assertIn("No space left on device", err)


class Kill(FlightTest):
    def test_a_killed_recorder_leaves_only_files_that_open(self):
        random.seed(20260103)
        targets = self.targets()
        for attempt in range(KILLS):
            recorder = self.start(*targets, "-F", "999", "-q", "--flight", "5")
            recorder.send_signal(signal.SIGUSR2)
            time.sleep(random.uniform(0, 0.6))
            recorder.send_signal(signal.SIGKILL)
            recorder.wait()
            for file in self.dir.iterdir():
                # A file that was not complete yet has a temporary name.
                self.assertRegex(file.name, r"^r\.\d(\.\w{6})?$", f"attempt {attempt}")
                if file.suffix[1:].isdigit():
                    counts, err = harness.perf_report(file)
                    self.assertEqual(sum(counts.values()), len(raw_samples_of(file)))
                    self.assert_complains_of_losses_only(err, file)
                file.unlink()


if __name__ == "__main__":
    harness.require("perf", "zstd", str(WAITER))
    harness.require_sample_rate(4999)
    harness.main()
