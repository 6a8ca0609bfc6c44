# SPDX-License-Identifier: Apache-2.0
"""The critical path of programs whose path is known (known_path.cc), as perftape-report --path shows
it from a recording of perftape-record --why. Only CPU time and the length of timers are compared
with the program's own figures (path_oracle.py): other programs run at the same time. And the wall
clock of threads beside their own clocks."""

import collections
import json
import os
import pathlib
import sys
import unittest

import harness
import path_oracle

KNOWN_PATH = harness.BIN.parent / "tests" / "known_path"
JOINED_WAITS = harness.BIN.parent / "tests" / "joined_waits"
JOINED_LOOPS = os.environ.get("PERFTAPE_JOINED_LOOPS", "100")
BUSY_LOOPS = 10
MS = path_oracle.MS

# Threads that compute, sleep and wait for each other. Prints what each knows of its life: its first
# and last time by the clock, and its time on a CPU and in front of one by the scheduler's account.
LIVES = """
import json, os, threading, time
lock, lives = threading.Lock(), {}
def compute(ms):
    end = time.thread_time_ns() + ms * 10**6
    while time.thread_time_ns() < end: pass
def live():
    first = time.monotonic_ns()
    for _ in range(10):
        compute(20)
        time.sleep(0.05)
        with lock: compute(5)
    tid = threading.get_native_id()
    with open(f"/proc/self/task/{tid}/schedstat") as file: ran, queued = map(int, file.read().split()[:2])
    lives[tid] = {"ns": time.monotonic_ns() - first, "ran": ran, "queued": queued}
first = time.monotonic_ns()
threads = [threading.Thread(target=live) for _ in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
while len(os.listdir("/proc/self/task")) > 1: time.sleep(0.001)
print(json.dumps({"longest_ns": time.monotonic_ns() - first, "lives": lives}))
"""


def is_on_a_disk(directory):
    """Returns whether files in this directory are on a block device."""
    status, out, _ = harness.run("df", "--output=source", directory)
    return status == 0 and out.split()[-1].startswith("/dev/")


class CriticalPath(harness.RecordingTest):
    def record_path(self, *mode):
        """Records the program. Returns the file, what the program measured, and the report."""
        data = self.dir / "perf.data"
        status, out, err = harness.run(harness.RECORD, "--why", "-q", "--no-bundle", "-o", data, "--",
                                       KNOWN_PATH, *mode)
        self.assertEqual(status, 0, err)
        return data, json.loads(out), path_oracle.report_of(data)

    def assert_path_is_known(self, *mode):
        """Compares the path of the program with what it measured."""
        data, known, report = self.record_path(*mode)
        wrong = path_oracle.judge(data, known, report)
        self.assertEqual(wrong, [], "\n".join(path_oracle.lines_of(report["path"])))
        return report["path"]

    def test_the_path_of_a_request_consists_of_its_parts(self):
        _, known, report = self.record_path("requests")
        path = report["path"]
        self.assertEqual((path["windows"], path_oracle.total(path["parts"])), (1, path["window_ns"]))
        for name in known["parts"]:
            times = ({"timer": path_oracle.total(path["parts"], state="timer")} if name == "timer"
                     else path_oracle.states_of(path["parts"], name))
            self.assertGreater(sum(times.values()), 0, name)

    @harness.timing
    def test_a_request_that_waits_for_a_lock_and_a_child(self):
        self.assert_path_is_known("requests")

    @harness.timing
    def test_the_same_request_beside_busy_loops(self):
        for _ in range(BUSY_LOOPS):
            self.spawn("sh", "-c", "while :; do :; done")
        self.assert_path_is_known("requests")

    def test_each_wakeup_is_joined_with_the_wait_that_it_ended(self):
        """Of all threads of the machine, 40 of which send messages to each other."""
        data = self.dir / "perf.data"
        status, _, err = harness.run(
            harness.RECORD, "--why", "-a", "-q", "-F", "99", "--off-cpu-threshold", "0",
            "--no-bundle", "-o", data, "--",
            "perf", "bench", "sched", "messaging", "-t", "-g", "1", "-l", JOINED_LOOPS)
        self.assertIn(status, (0, 3), err)  # what is lost is no wrong wait
        status, out, err = harness.run(JOINED_WAITS, data)
        self.assertEqual(status, 0, err)
        counts = json.loads(out)
        self.assertEqual(counts["wrong"], 0, out + err)
        self.assertGreater(counts["joined"], 100, out)

    @harness.timing
    def test_the_same_request_in_a_recording_of_perf(self):
        data = self.dir / "perf.data"
        status, out, err = harness.run(
            "perf", "record", "-q", "-a", "-g", "-m", "16M", "-o", data, "-e",
            "sched:sched_switch,sched:sched_waking,cpu-clock", "--", KNOWN_PATH, "requests")
        self.assertEqual(status, 0, err)
        known = json.loads(out[out.index("{"):])
        path = path_oracle.report_of(data, "--pid", str(known["pid"]))["path"]
        parts = path["parts"]
        self.assertEqual(path_oracle.total(parts), path["window_ns"])
        # The kernel does not report each switch to perf. What it did not is in the function, or is
        # said not to be recorded. The C library has no frame pointers, so perf does not find all
        # callers.
        unknown = path_oracle.total(parts, state="not recorded")
        self.assertGreater(path_oracle.total(parts, state="timer") + unknown,
                           known["parts"]["timer"] // 2)
        self.assertGreater(path["explained_ns"], path["window_ns"] // 4)
        for function in ("hold_lock", "handle_request", "child_work"):
            of_function = [part for part in parts if function in part["stack"]]
            self.assertGreater(path_oracle.total(of_function, state="running") + unknown,
                               known["parts"][function] // 5)

    @harness.timing
    def test_the_slowest_stage_of_a_pipeline(self):
        self.assert_path_is_known("pipeline")

    @harness.timing
    def test_jobs_of_a_thread_pool(self):
        self.assert_path_is_known("pool")

    @harness.timing
    def test_a_convoy_of_threads_behind_one_mutex(self):
        path = self.assert_path_is_known("convoy")
        holders = {part["tid"] for part in path["parts"] if part["function"] == "hold_mutex"
                   and part["state"] == "running"}
        self.assertGreaterEqual(len(holders), 30)

    @harness.timing
    def test_waits_for_a_disk(self):
        if not is_on_a_disk(self.dir):
            self.skipTest(f"{self.dir} is on no disk")
        self.assert_path_is_known("disk", self.dir / "file")

    @harness.timing
    def test_a_futex_in_shared_memory(self):
        self.assert_path_is_known("futex")

    @harness.timing
    def test_a_server_on_the_loopback_interface(self):
        self.assert_path_is_known("epoll")


class WallClock(harness.RecordingTest):
    def times_by_state(self, data):
        """Returns the nanoseconds of each state, by tid."""
        status, out, err = harness.run(harness.CONVERT, "-q", "--wall", "--idle", "--root",
                                       "comm/pid/tid", "--to", "folded", data)
        self.assertEqual(status, 0, err)
        times = collections.defaultdict(collections.Counter)
        for line in out.splitlines():
            stack, _, ns = line.rpartition(" ")
            thread, state = stack.split(";")[:2]
            times[thread.rpartition("/")[2]][state.strip("[]")] += int(ns)
        return times

    def assert_lives_are_known(self, out, data):
        """Compares the times of threads with what LIVES printed."""
        known = json.loads(out)
        times = self.times_by_state(data)
        for tid, life in known["lives"].items():
            recorded = times[tid]
            total = sum(recorded.values())
            # It began before it could read its clock, and ended after it had read it last.
            self.assertGreater(total, life["ns"] * 0.99, recorded)
            self.assertLess(total, known["longest_ns"] * 1.01, recorded)
            # The kernel does not report each switch: what it did then is not recorded.
            unknown = recorded["not recorded"]
            self.assertLess(unknown, total / 10, recorded)
            self.assertAlmostEqual(recorded["running"], life["ran"], msg=f"{recorded}, {life}",
                                   delta=life["ran"] * 0.01 + 3 * MS + unknown)
            yield recorded, life, unknown

    @harness.timing
    def test_a_thread_has_its_life(self):
        data = self.dir / "perf.data"
        status, out, err = harness.run(harness.RECORD, "--why", "-q", "--no-bundle", "-o", data, "--",
                                       sys.executable, "-c", LIVES)
        self.assertEqual(status, 0, err)
        for recorded, life, unknown in self.assert_lives_are_known(out, data):
            # Short waits are of any kind.
            self.assertGreater(recorded["runnable"] + recorded["short waits"] + unknown,
                               life["queued"] * 0.99 - 3 * MS, f"{recorded}, {life}")

    @harness.timing
    def test_a_thread_has_its_life_by_the_switches_of_perf(self):
        data = self.dir / "perf.data"
        status, out, err = harness.run("perf", "record", "-q", "--switch-events", "-F", "999", "-e",
                                       "cpu-clock", "-o", data, "--", sys.executable, "-c", LIVES)
        self.assertEqual(status, 0, err)
        for recorded, life, _ in self.assert_lives_are_known(out[out.index("{"):], data):
            # After its wakeup a thread is still in its sleep here.
            self.assertGreater(recorded["sleep"], 10 * 50 * MS, f"{recorded}, {life}")


class Oracle(unittest.TestCase):
    """What the comparison itself complains of."""

    KNOWN = {"pid": 7, "window_ns": 90 * path_oracle.MS, "stopped_ns": 0,
             "parts": {"hold_lock": 40 * path_oracle.MS, "timer": 20 * path_oracle.MS}}

    def path(self, hold_ms=41, timer_ms=20, **changed):
        parts = [("running", "hold_lock", hold_ms, 8), ("timer", "child_work", timer_ms, 9),
                 ("runnable", "main", 100 - hold_ms - timer_ms, 7)]
        path = {"windows": 1, "window_ns": 100 * path_oracle.MS, "explained_ns": 100 * path_oracle.MS,
                "parts": [{"comm": "x", "pid": 7, "tid": tid, "state": state, "function": function,
                           "ns": ms * path_oracle.MS, "stack": ["main", function]}
                          for state, function, ms, tid in parts]}
        return path | changed

    def test_a_path_that_is_known(self):
        self.assertEqual(path_oracle.complaints(self.KNOWN, self.path()), [])

    def test_complains_of_each_difference(self):
        for path, complaint in ((self.path(hold_ms=45), "hold_lock: 45.0 ms of 40.0 ms"),
                                (self.path(hold_ms=35), "hold_lock: 35.0 ms of 40.0 ms"),
                                (self.path(timer_ms=19), "timer: 19.0 ms of 20.0 ms"),
                                (self.path(window_ns=99), "the parts have"),
                                (self.path(windows=2), "2 windows")):
            wrong = path_oracle.complaints(self.KNOWN, path)
            self.assertTrue(any(text.startswith(complaint) for text in wrong), wrong)

    def test_missed_time_may_look_like_running(self):
        self.assertEqual(path_oracle.complaints(self.KNOWN, self.path(hold_ms=48),
                                                missed=5 * path_oracle.MS), [])
        rows = [{"event": "cpu-clock", "pid": "7", "tid": "8", "period": str(path_oracle.MS),
                 "time_ns": str(ms * path_oracle.MS)} for ms in (1, 2, 12, 13)]
        self.assertEqual(path_oracle.missed_ns(rows, {7}), 10 * path_oracle.MS)

    def test_complains_of_a_sample_in_a_wait(self):
        sample = {"event": "cpu-clock", "tid": "8", "time_ns": str(15 * path_oracle.MS)}
        wait = {"event": "offcpu-time", "tid": "8", "period": str(10 * path_oracle.MS),
                "time_ns": str(20 * path_oracle.MS), "dso": "[kernel.kallsyms]"}
        self.assertEqual(len(list(path_oracle.samples_in_waits([sample, wait]))), 1)
        for changed in ({"tid": "9"}, {"dso": "short_waits"}, {"period": "1"}):
            self.assertEqual(list(path_oracle.samples_in_waits([sample, wait | changed])), [])

    def test_stopped_time_may_look_like_a_wait(self):
        known = self.KNOWN | {"stopped_ns": 5 * path_oracle.MS}
        self.assertEqual(path_oracle.complaints(known, self.path(hold_ms=32)), [])
        self.assertTrue(path_oracle.complaints(known, self.path(hold_ms=30)))

    def test_missed_time_may_not_be_recorded(self):
        path = self.path(hold_ms=28)
        path["parts"][2] |= {"state": "not recorded", "ns": 12 * path_oracle.MS}
        path["parts"].append(path["parts"][0] | {"state": "runnable", "ns": 40 * path_oracle.MS})
        self.assertTrue(path_oracle.complaints(self.KNOWN, path))
        self.assertEqual(path_oracle.complaints(self.KNOWN, path, missed=12 * path_oracle.MS), [])


if __name__ == "__main__":
    harness.require(str(KNOWN_PATH), path_oracle.REPORT)
    harness.require_sample_rate(999)
    if harness.run(harness.RECORD, "list", "offcpu")[1].count("not here"):
        harness.skip(harness.run(harness.RECORD, "list", "offcpu")[1])
    harness.main()
