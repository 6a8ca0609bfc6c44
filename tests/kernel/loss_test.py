# SPDX-License-Identifier: Apache-2.0
"""Tests that samples which the kernel withholds are counted, in comparison with `perf record`."""

import ctypes
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import unittest

import harness

PERIOD_NS = 1_000_000
CPU1 = pathlib.Path("/sys/devices/system/cpu/cpu1/online")


def use_bpf(cpu_seconds):
    """Updates a large value of a BPF map for this much CPU time. Meanwhile the kernel skips the BPF
    programs of perf events on this CPU (bpf_disable_instrumentation)."""
    libc = ctypes.CDLL(None, use_errno=True)
    bpf, map_create, map_update = 321, 0, 2  # x86-64, aarch64: 280
    if os.uname().machine == "aarch64":
        bpf = 280
    value = ctypes.create_string_buffer(1 << 18)
    key = ctypes.c_uint32(0)
    attr = (ctypes.c_uint32 * 32)(1, 4, len(value), 1)  # BPF_MAP_TYPE_HASH
    fd = libc.syscall(bpf, map_create, ctypes.byref(attr), 128)
    assert fd >= 0, os.strerror(ctypes.get_errno())
    update = (ctypes.c_uint64 * 16)(fd, ctypes.addressof(key), ctypes.addressof(value), 0)
    print("ready", flush=True)
    sys.stdin.readline()
    while time.process_time() < cpu_seconds:
        for _ in range(100):
            libc.syscall(bpf, map_update, ctypes.byref(update), 128)


def counts(err):
    """Returns (samples, lost) of the summary on stderr."""
    match = re.search(r"(\d+) samples?, (\d+) lost", err)
    assert match, err
    return int(match.group(1)), int(match.group(2))


class Loss(harness.RecordingTest):
    def lost_samples(self, data):
        """Returns perf's sum of LOST_SAMPLES, in the block of the event."""
        status, out, err = harness.run("perf", "report", "--stats", "-i", data,
                                       env=harness.perf_environment())
        self.assertEqual(status, 0, err)
        return int(re.findall(r"LOST_SAMPLES events:\s+(\d+)", out)[-1])

    def test_an_ordinary_recording_loses_nothing(self):
        _, err = self.record("-a", "-F", "99", "--no-bundle", "-o", "a.data", "--duration", "1")
        self.assertEqual(counts(err)[1], 0, err)

    @harness.timing
    def test_every_expiry_of_a_timer_is_in_a_counter(self):
        # Some virtual machines hide their idle task from perf events.
        duration_s, rate = 2, 999
        for cpu in sorted(os.sched_getaffinity(0)):
            self.record("-a", "-C", cpu, "-F", rate, "--no-bundle", "-o", "a.data", "--duration",
                        duration_s, "--json", "a.json")
            summary = json.loads((self.dir / "a.json").read_text())
            event, = summary["events"]
            counted = {"samples": summary["samples"], "lost": summary["lost_samples"],
                       "silent": sum(silent["expiries"] for silent in event["silent"]),
                       "other_tasks": sum(other["overflows"] for other in event["other_tasks"]),
                       "stalled": sum(stalled["ns"] for stalled in event["stalled"]) * rate / 1e9}
            print(f"CPU {cpu}: {counted}")
            # Of each cause, a few percent are ordinary jitter.
            self.assertGreater(sum(counted.values()), 0.88 * duration_s * rate)

    def test_hits_in_the_time_of_the_recorder_are_counted(self):
        self.record("-a", "-e", "raw_syscalls:sys_enter", "--no-bundle", "-o", "a.data", "--duration",
                    "1", "--json", "a.json")
        event, = json.loads((self.dir / "a.json").read_text())["events"]
        self.assertGreater(sum(other["overflows"] for other in event["other_tasks"]), 0)
        samples = harness.inspect_samples(self.dir / "a.data")
        self.assertNotIn("perftape-record", {row["comm"] for row in samples})

    @harness.timing
    def test_samples_that_the_kernel_skips_for_bpf_users_are_lost(self):
        user = self.spawn(sys.executable, __file__, "use-bpf", "1.5", stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True)
        self.assertEqual(user.stdout.readline(), "ready\n")
        perf = self.spawn("perf", "record", "-q", "-e", "cpu-clock", "-c", PERIOD_NS, "-p", user.pid,
                          "-o", self.dir / "perf.data", stderr=subprocess.DEVNULL,
                          env=harness.perf_environment())
        ours = self.spawn(harness.RECORD, "-c", PERIOD_NS, "-p", user.pid, "--no-bundle", "-o",
                          self.dir / "ours.data", stderr=subprocess.PIPE, text=True)
        for data in ("ours.data", "perf.data"):
            self.wait_for_file(self.dir / data, ours, perf)
        time.sleep(0.3)  # from the name of the file to the first sample
        user.stdin.write("go\n")
        user.stdin.close()
        _, err = ours.communicate(timeout=harness.TIMEOUT_S)
        perf.wait(harness.TIMEOUT_S)
        theirs = harness.perf_stats(self.dir / "perf.data")["SAMPLE"]
        samples, lost = counts(err)
        print(f"{samples} samples + {lost} lost; perf has {theirs}")
        self.assertIn("while other programs used BPF", err)
        self.assertLess(samples, 0.95 * theirs)
        self.assertEqual(self.lost_samples(self.dir / "ours.data"), lost)
        # Which processes the skipped samples would have hit is an estimate, which is worse on a
        # busy machine.
        self.assertGreater(samples + lost, 0.7 * theirs)
        self.assertLess(samples + lost, 1.25 * theirs)

    def test_tracepoint_hits_that_the_kernel_skips_for_bpf_users_are_reported(self):
        if tuple(map(int, os.uname().release.split(".")[:2])) < (6, 7):
            self.skipTest("this kernel does not count skipped hits")
        user = self.spawn(sys.executable, __file__, "use-bpf", "0.7", stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True)
        self.assertEqual(user.stdout.readline(), "ready\n")
        ours = self.spawn(harness.RECORD, "-p", user.pid, "-e", "timer:hrtimer_expire_entry,irq:softirq_*",
                          "--no-bundle", "-o", self.dir / "ours.data", stderr=subprocess.PIPE, text=True)
        self.wait_for_file(self.dir / "ours.data", ours)
        user.stdin.write("go\n")
        user.stdin.close()
        _, err = ours.communicate(timeout=harness.TIMEOUT_S)
        self.assertEqual(ours.returncode, 0, err)
        self.assertRegex(err, r"\d+ tracepoint hits? of any process skipped, not counted as lost")
        self.assertRegex(err, r"samples.*[,;] 0 lost")

    def record_throttled(self, *arguments):
        """Records while the kernel allows 250 samples per second. Returns (stderr, JSON summary)."""
        recorder = self.spawn(harness.RECORD, "--no-bundle", "-o", self.dir / "a.data", "--json",
                              self.dir / "a.json", *arguments, stderr=subprocess.PIPE, text=True)
        self.wait_for_file(self.dir / "a.data", recorder)
        try:
            with harness.sample_rate_limit(250):
                _, err = recorder.communicate(timeout=harness.TIMEOUT_S)
        except OSError as error:
            self.skipTest(f"{harness.RATE_LIMIT}: {error}")
        return err, json.loads((self.dir / "a.json").read_text())

    def test_throttled_samples_are_lost(self):
        err, summary = self.record_throttled("-a", "-c", PERIOD_NS, "--duration", "1")
        self.assertIn("perf_event_max_sample_rate", err)
        samples, lost = counts(err)
        self.assertGreater(lost, 100)
        self.assertEqual(self.lost_samples(self.dir / "a.data"), lost)
        self.assertEqual((summary["samples"], summary["lost_samples"]), (samples, lost))
        self.assertGreater(sum(cpu["throttled"] for cpu in summary["events"][0]["lost"]), 0)
        self.assertEqual(summary["events"][0]["throttled"], [])  # counted as samples
        stats = harness.perf_stats(self.dir / "a.data")
        self.assertGreater(stats["THROTTLE"], 0)
        self.assertGreater(stats["UNTHROTTLE"], 0)
        self.assertEqual(stats["SAMPLE"], samples)

    def throttled_intervals(self, data):
        """Returns {cpu: [times of THROTTLE, times of UNTHROTTLE]} of the only event, as perf shows
        them."""
        status, out, err = harness.run("perf", "script", "-D", "-i", data,
                                       env=harness.perf_environment())
        self.assertEqual(status, 0, err)
        cpus = {}
        for cpu, time_ns, un in re.findall(r"^(\d+) (\d+) 0x\S+ \[\S+\]: PERF_RECORD_(UN)?THROTTLE",
                                           out, re.MULTILINE):
            cpus.setdefault(int(cpu), ([], []))[bool(un)].append(int(time_ns))
        return cpus

    @harness.timing
    def test_the_throttled_time_of_an_event_without_losses_is_the_files(self):
        # The ledger has no expiries of a clock of one mode, and none of a hardware counter. The
        # kernel throttles no software counter.
        err, summary = self.record_throttled("-e", f"cpu-clock:u/period={PERIOD_NS}/", "--",
                                             harness.BURNER, "--seconds", "1")
        event, = summary["events"]
        self.assertEqual(event["lost"], [])
        cpus = self.throttled_intervals(self.dir / "a.data")
        self.assertEqual({cpu["cpu"]: cpu["times"] for cpu in event["throttled"]},
                         {cpu: len(begins) for cpu, (begins, _) in cpus.items() if begins})
        self.assertGreater(sum(cpu["times"] for cpu in event["throttled"]), 50)
        for cpu in event["throttled"]:
            begins, ends = cpus[cpu["cpu"]]
            ended = sum(end - begin for begin, end in zip(begins, ends))
            print(f"CPU {cpu['cpu']}: {cpu['ns']} ns, {ended} ns between the records")
            # A record has a time in its body, which counts, and a little later one in its trailer.
            self.assertGreaterEqual(cpu["ns"], 0.99 * ended)
            if len(ends) == len(begins):
                self.assertLessEqual(cpu["ns"], 1.01 * ended)
            self.assertRegex(err, rf"CPU {cpu['cpu']}: throttled {cpu['times']} times?, "
                                  rf"{cpu['ns'] / 1e9:.2f} s without samples")

    def test_hits_that_a_stopped_recorder_cannot_read_are_lost_exactly(self):
        # The program knows how often it enters the kernel.
        calls = 30000
        user = self.spawn(sys.executable, "-c",
                          f"import os, sys\nsys.stdin.readline()\n"
                          f"for _ in range({calls}): os.getpgid(0)",
                          stdin=subprocess.PIPE, text=True)
        ours = self.spawn(harness.RECORD, "-p", user.pid, "-e", "syscalls:sys_enter_getpgid", "-m",
                          "64K", "--no-bundle", "-o", self.dir / "a.data", "--json",
                          self.dir / "a.json", stderr=subprocess.PIPE, text=True)
        self.wait_for_file(self.dir / "a.data", ours)
        time.sleep(0.5)
        ours.send_signal(signal.SIGSTOP)
        user.stdin.write("go\n")
        user.stdin.close()
        time.sleep(2)
        ours.send_signal(signal.SIGCONT)
        _, err = ours.communicate(timeout=harness.TIMEOUT_S)
        summary = json.loads((self.dir / "a.json").read_text())
        samples, lost = counts(err)
        print(f"{samples} samples + {lost} lost of {calls}, {summary['skipped_hits']} hits skipped")
        self.assertGreater(lost, 0)
        if summary["skipped_hits"] == 0:
            self.assertEqual(samples + lost, calls)
        else:
            self.assertLessEqual(samples + lost, calls)
            self.assertGreaterEqual(samples + lost + summary["skipped_hits"], calls)
        losses = harness.losses_of(self.dir / "a.data")
        self.assertEqual(losses["source"], "recording.json")
        self.assertEqual({loss["cause"] for loss in losses["lost"]}, {"ring_full"})
        self.assertEqual((losses["samples"], losses["lost_samples"],
                          losses["lost_samples_in_records"]), (samples, lost, lost))
        by_cpu = {loss["cpu"]: loss["samples"] for loss in losses["lost"]}
        in_records = {}
        for record in losses["records"]:
            in_records[record["cpu"]] = in_records.get(record["cpu"], 0) + record["count"]
        self.assertEqual(by_cpu, in_records)
        self.assertEqual(self.lost_samples(self.dir / "a.data"), lost)

    @harness.timing
    def test_a_fast_recording_with_room_loses_nothing(self):
        if harness.max_sample_rate() < 10000:
            self.skipTest(f"{harness.RATE_LIMIT} is below 10000")
        if os.getloadavg()[0] > os.cpu_count():
            self.skipTest("the machine is busy: the kernel throttles, and others use BPF")
        for _ in range(os.cpu_count()):
            self.spawn(harness.BURNER, "--seconds", "60", stdout=subprocess.DEVNULL)
        self.record("-a", "-F", "10000", "-m", "8M", "-o", "a.data", "--duration", "2", "--json",
                    "a.json")
        losses = harness.losses_of(self.dir / "a.data")
        self.assertEqual([loss for loss in losses["lost"] if loss["cause"] == "ring_full"], [])
        self.assertEqual(losses["lost_process_events"], [])
        print(f"{losses['samples']} samples, lost: {losses['lost']}")
        self.assertEqual(losses["lost_samples"], 0)

    def test_the_losses_of_perf_are_those_of_its_records(self):
        # perf writes no recording.json.
        status, _, err = harness.run("perf", "record", "-q", "-m", "1", "-e", "cpu-clock", "-c",
                                     "20000", "-o", self.dir / "perf.data", harness.BURNER,
                                     "--seconds", "0.5", env=harness.perf_environment())
        self.assertEqual(status, 0, err)
        losses = harness.losses_of(self.dir / "perf.data")
        stats = harness.perf_stats(self.dir / "perf.data")
        self.assertEqual(losses["source"], "records")
        self.assertEqual(losses["samples"], stats["SAMPLE"])
        records = [record["type"] for record in losses["records"]]
        for kind in ("LOST", "LOST_SAMPLES", "THROTTLE"):
            self.assertEqual(records.count(kind), stats.get(kind, 0), kind)
        self.assertEqual(losses["lost_samples"], losses["lost_samples_in_records"])

    @unittest.skipUnless(os.environ.get("PERFTAPE_SWITCH_CPU_OFF"),
                         "switches CPU 1 off and on again; PERFTAPE_SWITCH_CPU_OFF=1 allows it")
    def test_a_cpu_that_returns_is_sampled_again(self):
        if not CPU1.exists() or CPU1.read_text().strip() != "1":
            self.skipTest(f"{CPU1}: there is no second CPU to switch off")
        recorder = self.spawn(harness.RECORD, "-a", "-F", "499", "--no-bundle", "-o",
                              self.dir / "a.data", "--duration", "3", stderr=subprocess.PIPE,
                              text=True)
        self.wait_for_file(self.dir / "a.data", recorder)
        time.sleep(0.5)
        try:
            CPU1.write_text("0")
            back_at = time.clock_gettime(time.CLOCK_MONOTONIC)
        except OSError as error:
            self.skipTest(f"{CPU1}: {error}")
        finally:
            CPU1.write_text("1")
        _, err = recorder.communicate(timeout=harness.TIMEOUT_S)
        self.assertRegex(err, r"CPU 1 was not recorded from [\d.]+ s to [\d.]+ s: it went offline")
        _, report_err = harness.perf_report(self.dir / "a.data")
        self.assertEqual(report_err, "")
        times = [int(row["time_ns"]) / 1e9 for row in harness.inspect_samples(self.dir / "a.data")
                 if row["cpu"] == "1"]
        self.assertTrue([when for when in times if when < back_at])
        self.assertTrue([when for when in times if when > back_at])


if __name__ == "__main__":
    if sys.argv[1:2] == ["use-bpf"]:
        use_bpf(float(sys.argv[2]))
        sys.exit(0)
    harness.require("perf")
    harness.main()
