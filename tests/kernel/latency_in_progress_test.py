# SPDX-License-Identifier: Apache-2.0
"""Latency probes whose calls end elsewhere keep each call in the kernel meanwhile: connections, DNS queries, requests to
disks. Here more are in progress than there is room for. Each is counted, or counted as lost; what has ended makes room."""

import json
import os
import pathlib
import re
import subprocess
import socket
import sys
import time

import harness
import latency_test
from latency_test import ECONNREFUSED

REPORT = harness.BIN / "perftape-report"
PROGRAM = (sys.executable, pathlib.Path(__file__).with_name("calls_in_progress.py"))
ECONNABORTED, ETIMEDOUT = 103, 110
ROOM = 16


class InProgress(harness.RecordingTest):
    def measure(self, probe, *scenario, options=("--latency-in-progress", ROOM), command=PROGRAM):
        """Records a scenario. Sets self.own (what it printed). Returns what the recorder printed."""
        self.data, self.bundle = self.dir / "perf.data", self.dir / "notes.tar.zst"
        out, err = self.record("-o", self.data, "--bundle", self.bundle, "-e", f"latency:{probe}/min=1h,errors=off/",
                               *options, "--", *command, *scenario)
        self.read_counts(out)
        return err

    def read_counts(self, out):
        """Sets self.own, self.calls, self.longest_ns and self.errors of the program, and self.lost by cause."""
        self.own = latency_test.printed(out)
        notes = latency_test.notes_of(self.bundle)
        of_program = [noted for noted in notes["latency"] if noted["pid"] == self.own["pid"][0]]
        self.calls = sum(noted["count"] for noted in of_program)
        self.longest_ns = max((noted["max_ns"] for noted in of_program), default=0)
        self.errors = {code: count for noted in of_program for code, count in noted["errors"]}
        # A run that was missed need not have been one of these calls: other programs connect, too.
        self.lost = {lost["cause"]: lost["calls"] for lost in notes["latency_lost"] if lost["cause"] != "recursion"}

    def test_connections_without_room_are_counted_as_lost_and_those_that_ended_make_room(self):
        err = self.measure("tcp-connect", "connects", 100, 20)
        waiting = 100 - self.own["established"][0]
        self.assertGreater(waiting, 90)
        self.assertEqual(self.errors, {ECONNABORTED: ROOM, ECONNREFUSED: 20})
        self.assertEqual((self.calls, self.lost), (120 - waiting + ROOM, {"in_progress": waiting - ROOM}))
        self.assert_told(err, "tcp-connect", waiting - ROOM)

    def test_readers_of_a_recording_tell_what_was_not_counted(self):
        data, lost = self.dir / "perf.data", 50 - ROOM
        _, err = self.record("-o", data, "-e", "latency:dns", "--latency-in-progress", ROOM, "--", *PROGRAM, "queries", 50,
                             1, 0)
        self.assert_told(err, "dns", lost)
        losses = harness.losses_of(data)
        self.assertEqual([noted["errors"] for noted in losses["latency"]], [[[ETIMEDOUT, ROOM]]])
        self.assertEqual(losses["latency_lost"], [{"probe": "dns", "cause": "in_progress", "calls": lost}])
        status, out, err = harness.run(REPORT, "-q", "--diagnose", data)
        self.assertEqual(status, 0, err)
        self.assertIn(f"{lost} calls of dns are not counted: in_progress", " ".join(out.split()))
        status, out, err = harness.run(harness.INSPECT, "--losses", data)
        self.assertEqual(status, 0, err)
        self.assertIn(f"  dns: in progress: {lost}\n", out)

    def assert_told(self, err, probe, lost):
        self.assertIn(f"latency:{probe}: {lost} calls were not counted: too many were in progress "
                      "(--latency-in-progress)", err)

    def test_a_connection_that_ends_on_a_cpu_that_is_not_recorded_makes_room(self):
        cpus = sorted(os.sched_getaffinity(0))
        if len(cpus) < 2:
            self.skipTest("there is one CPU")
        begin, end = cpus[:2]
        self.measure("tcp-connect", "connects-elsewhere", 100, 20, begin, end,
                     options=("-C", begin, "--latency-in-progress", ROOM))
        waiting = 100 - self.own["established"][0]
        self.assertEqual(self.errors, {ECONNREFUSED: 20})
        self.assertEqual(self.lost, {"in_progress": waiting - ROOM})

    def test_all_queries_of_a_socket_end_when_it_is_closed(self):
        self.measure("dns", "queries", 1, 300, 20)
        self.assertEqual((self.errors, self.lost), ({ETIMEDOUT: ROOM + 20}, {"in_progress": 300 - ROOM}))
        err = self.measure("dns", "queries", 1, 300, 20, options=())
        self.assertEqual((self.errors, self.lost), ({ETIMEDOUT: 320}, {}))
        self.assertNotIn("not counted", err)

    def test_a_query_goes_on_as_long_as_its_socket_has_a_descriptor(self):
        self.measure("dns", "query-with-copy")
        self.assertEqual((self.errors, self.lost), ({ETIMEDOUT: 1}, {}))
        self.assertGreater(self.longest_ns, 50e6)

    def test_connections_without_room_have_no_round_trip_times(self):
        err = self.measure("tcp-rtt", "round-trips", 50, 20)
        # Both ends are sockets of the program.
        self.assertEqual(self.lost, {"in_progress": 2 * 50 - ROOM})
        self.assertGreater(self.calls, ROOM // 2)
        self.assert_told(err, "tcp-rtt", 2 * 50 - ROOM)

    def test_connections_that_wait_for_accept_without_room_are_counted_as_lost(self):
        err = self.measure("tcp-accept", "accepts", 100, 20)
        # It is not known who will accept a connection, so those of other programs need room, too.
        lost = self.lost["in_progress"]
        self.assertEqual(self.calls + lost, 120)
        self.assertIn(lost, range(100 - 4 * ROOM, 100))
        self.assert_told(err, "tcp-accept", lost)

    def test_connections_that_others_have_accepted_need_no_room(self):
        ready, go = self.dir / "ready", self.dir / "go"
        bundle = self.bundle = self.dir / "notes.tar.zst"
        recorder = self.spawn(harness.RECORD, "-q", "-o", "a.data", "--bundle", bundle, "-e", "latency:tcp-accept",
                              "--latency-in-progress", 1, "--", *PROGRAM, "accepts-later", 20, ready, go, cwd=self.dir,
                              stdout=subprocess.PIPE, text=True)
        while not ready.exists():
            self.assertIsNone(recorder.poll())
            time.sleep(0.01)
        with socket.create_server(("127.0.0.1", 0), backlog=8) as server:
            others = []
            for _ in range(20):
                others.append(socket.create_connection(server.getsockname()))
                others.append(server.accept()[0])
            go.touch()
            out, _ = recorder.communicate(timeout=harness.TIMEOUT_S)
            for other in others:
                other.close()
        self.read_counts(out)
        self.assertEqual((self.calls, self.lost), (20, {}))

    def interrupted_calls(self, recorder):
        """How many calls the programs of the recorder keep to see whether the kernel continues them (latency_calls.bpf.c)."""
        infos = (path.read_text() for path in pathlib.Path(f"/proc/{recorder.pid}/fdinfo").iterdir())
        own = {number for info in infos for number in re.findall(r"^map_id:\t(\d+)$", info, re.MULTILINE)}
        _, shown, _ = harness.run("bpftool", "-j", "map", "show")
        variables = [each["id"] for each in json.loads(shown)
                     if str(each["id"]) in own and each.get("name", "").endswith(".bss")]
        dumped = "".join(harness.run("bpftool", "-j", "map", "dump", "id", number)[1] for number in variables)
        return int(re.search(r'"interrupted_calls":(\d+)', dumped)[1])

    def test_calls_of_tasks_that_exit_are_forgotten(self):
        self.bundle = self.dir / "notes.tar.zst"
        probes = "latency:syscall=clock_nanosleep,latency:syscall=read,latency:futex"
        recorder = self.spawn(harness.RECORD, "-q", "-o", "a.data", "--bundle", self.bundle, "-e", probes, "--", *PROGRAM,
                              "killed", cwd=self.dir, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        out = ""
        for step, calls in (("stopped\n", 4), ("over\n", 0)):
            for line in iter(recorder.stdout.readline, step):
                self.assertNotEqual(line, "")
                out += line
            self.assertEqual(self.interrupted_calls(recorder), calls)
            recorder.stdin.write("\n")
            recorder.stdin.flush()
        recorder.communicate(timeout=harness.TIMEOUT_S)
        self.assertEqual(recorder.returncode, 0)
        self.read_counts(out)
        self.assertEqual(self.lost, {})
        # They are no calls, as they did not end.
        counted = {(noted["probe"], noted["pid"]) for noted in latency_test.notes_of(self.bundle)["latency"]}
        calls = {f"syscall={call}" for call in ("clock_nanosleep", "read")}
        self.assertEqual({(probe, pid) for probe, pid in counted if probe in calls and pid in self.own["killed"]}, set())

    def test_requests_without_room_are_counted_as_lost(self):
        path = self.dir / "file"
        path.write_bytes(os.urandom(8 * 100 * 8192))
        with path.open("rb") as file:
            os.fsync(file.fileno())
        if latency_test.limits.disk_of(path) is None:
            self.skipTest("the temporary directory is on no disk")
        # A thread of the kernel may issue some.
        err = self.measure("block-io", "reads", 8, 100, str(path), options=("-a", "--latency-in-progress", 1))
        notes = latency_test.notes_of(self.bundle)
        counted = sum(noted["count"] for noted in notes["latency"])
        print(f"{counted} requests counted, lost {self.lost}")
        self.assertEqual(self.lost.keys(), {"in_progress"})
        self.assertGreaterEqual(counted + self.lost["in_progress"], 8 * 100)
        self.assertRegex(err, r"latency:block-io: \d+ calls were not counted: too many were in progress")


if __name__ == "__main__":
    harness.require("tar", "zstd", "bpftool")
    harness.main()
