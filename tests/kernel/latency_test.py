# SPDX-License-Identifier: Apache-2.0
"""Latency probes against a program that measures the same calls with its own clock (latency.c)."""

import collections
import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import harness
import limits
import provoke
import provoked_test

REPORT = harness.BIN / "perftape-report"
SOURCE = pathlib.Path(__file__).with_name("latency.c")
EINTR, EBADF, ENOENT, ECONNREFUSED = 4, 9, 2, 111

# A sample as perf script prints it.
Call = collections.namedtuple("Call", "pid comm event period fields stack")
SAMPLE = re.compile(r"^\s*(?P<comm>.+?) +(?P<pid>\d+)/\d+ +(?P<period>\d+) +latency:(?P<event>\w+): *(?P<fields>.*)$")


def calls_of(data, *options):
    """The samples of a recording. perf script must have no message."""
    out = provoke.script(data, *options, "-F", "comm,pid,tid,period,event,trace,ip,sym")
    calls = []
    for block in out.split("\n\n"):
        lines = [line for line in block.splitlines() if line.strip()]
        if not lines:
            continue
        head = SAMPLE.match(lines[0])
        assert head, lines[0]
        fields = dict(re.findall(r"(\w+)=(\S*)", head["fields"]))
        stack = [line.split(None, 1)[1] if len(line.split(None, 1)) > 1 else "" for line in lines[1:]]
        calls.append(Call(int(head["pid"]), head["comm"], head["event"], int(head["period"]), fields, stack))
    return calls


def quantile(buckets, fraction):
    """The start of the bucket that has this quantile (formats/base/latency_buckets.h)."""
    wanted = fraction * sum(count for _, count in buckets)
    before = 0
    for index, count in buckets:
        before += count
        if before >= wanted:
            return index if index < 4 else (4 + index % 4) << (index // 4 - 1)
    return 0


def printed(out):
    """What the program printed, {name: [number, ...]}."""
    own = collections.defaultdict(list)
    for name, value in re.findall(r"^(\w+) (-?\d+)$", out, re.MULTILINE):
        own[name].append(int(value))
    return own


def notes_of(bundle):
    archive = subprocess.run(["tar", "--zstd", "-xOf", bundle, "recording.json"], check=True, capture_output=True)
    return json.loads(archive.stdout)


class Latency(harness.RecordingTest):
    @classmethod
    def setUpClass(cls):
        cls.shared = tempfile.TemporaryDirectory()
        cls.program = str(pathlib.Path(cls.shared.name) / "latency")
        subprocess.run(["cc", "-O1", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-pthread",
                        "-o", cls.program, SOURCE], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.shared.cleanup()

    def measure(self, events, *scenario, command=None, options=()):
        """Records the program, or `command`, with `options`. Sets self.own (what it measured), self.calls (the slow and failed
        calls), self.sums (the samples of fast calls) and self.notes."""
        data, bundle = self.dir / "perf.data", self.dir / "notes.tar.zst"
        out, err = self.record("-q", *options, "-o", data, "--bundle", bundle, "-e", events, "--",
                               *(command or (self.program, *scenario)))
        self.assertEqual(err, "")
        self.own = printed(out)
        samples = calls_of(data)
        self.calls = [call for call in samples if call.stack != ["fast_calls"]]
        self.sums = [call for call in samples if call.stack == ["fast_calls"]]
        self.notes = notes_of(bundle)
        self.assert_consistent()
        return self.pid()

    def pid(self):
        return self.own["pid"][0]

    def noted(self, probe, pid=None):
        """The calls of a probe by the program, or all that have such a probe."""
        found = [noted for noted in self.notes["latency"]
                 if noted["probe"] == probe and (pid is None or noted["pid"] == pid)]
        if pid is not None:
            self.assertEqual(len(found), 1, (probe, pid, self.notes["latency"]))
            return found[0]
        return found

    def of_event(self, event, pid=None):
        return [call for call in self.calls if call.event == event and pid in (None, call.pid)]

    def assert_consistent(self):
        """The periods of all samples are the sums of the histograms, whose counts agree."""
        periods, sums = collections.Counter(), collections.Counter()
        for call in self.calls + self.sums:
            periods[call.event, call.pid] += call.period
        for noted in self.notes["latency"]:
            event = re.sub("[-=]", "_", noted["probe"])
            sums[event, noted["pid"]] += noted["sum_ns"]
            if noted["buckets"]:
                self.assertEqual(sum(count for _, count in noted["buckets"]), noted["count"])
        self.assertEqual(+periods, +sums)
        self.assertEqual(self.notes["latency_lost"], [])

    def assert_near(self, calls, own_ns):
        """Each call took at most what the program measured around it, and most of that."""
        self.assertEqual(len(calls), len(own_ns))
        for call, own in zip(calls, own_ns):
            self.assertLessEqual(call.period, own)
            self.assertGreater(call.period, own / 2)

    def assert_called_from(self, call, function):
        self.assertIn(function, [re.sub(r"\+0x.*", "", frame) for frame in call.stack])

    def test_a_slow_call_is_a_sample_and_all_are_counted(self):
        pid = self.measure("latency:read/min=25ms/,latency:syscall=read/min=55ms/", "reads")
        slow = [own for own in self.own["read"] if own > 25e6]
        if len(slow) > len(self.of_event("read", pid)):  # one was just not slow
            slow = [own for own in slow if own > 40e6]
        self.assert_near(self.of_event("read", pid), slow)
        for call in self.of_event("read", pid):
            self.assert_called_from(call, "read_pipe")
            self.assertEqual(call.fields["error"], "0")
            self.assertRegex(call.fields["file"], r"^pipe:\[\d+\]$")
            self.assertEqual(call.fields["file"], f"pipe:[{call.fields['ino']}]")
        noted, single = self.noted("read", pid), self.noted("syscall=read", pid)
        self.assertGreaterEqual(noted["count"], single["count"])  # pread64 is no read
        self.assertGreaterEqual(len(self.of_event("syscall_read", pid)), 2)
        self.assertLessEqual(len(self.of_event("syscall_read", pid)), sum(own > 55e6 for own in self.own["read"]))
        # The program's reads are the slowest of its process.
        of_own = sum(count for index, count in noted["buckets"] if index >= 92)
        self.assertGreaterEqual(of_own, len(slow))
        highest = max(index for index, _ in noted["buckets"])
        self.assertAlmostEqual(quantile([(highest, 1)], 1), max(self.own["read"]), delta=max(self.own["read"]) / 2)

    def test_errors_are_counted_by_code(self):
        pid = self.measure("latency:read,latency:open,latency:syscall=openat", "errors")
        self.assertEqual(self.noted("read", pid)["errors"], [[EBADF, 5]])
        self.assertEqual(len(self.of_event("read", pid)), 5)
        for call in self.of_event("read", pid):
            self.assertEqual((call.fields["error"], call.fields["fd"]), (str(EBADF), "-1"))
            self.assert_called_from(call, "fail_calls")
        errors = dict(self.noted("open", pid)["errors"])
        self.assertEqual(errors.pop(ENOENT), 3)
        self.assertEqual(sum(errors.values()), 1)
        files = collections.Counter(call.fields["file"] for call in self.of_event("open", pid))
        self.assertEqual(files, {"/nonexistent/file": 3, "/etc/passwd": 1})
        self.assertEqual(self.noted("open", pid)["count"], self.noted("syscall=openat", pid)["count"])

    def test_without_errors_only_slow_calls_are_samples(self):
        pid = self.measure("latency:read/errors=off,min=1s/", "errors")
        self.assertEqual(self.calls, [])
        self.assertEqual(self.noted("read", pid)["errors"], [[EBADF, 5]])
        self.assertEqual(len([call for call in self.sums if call.pid == pid]), 1)
        status, out, err = harness.run(REPORT, self.dir / "perf.data")
        self.assertEqual(status, 0, err)
        self.assertNotIn("without call chains", out + err)
        self.assertEqual(self.notes["latency_min"],
                         [{"probe": "read", "min_ns": 10**9, "errors": False}])

    def test_a_call_that_is_restarted_is_one(self):
        pid = self.measure("latency:syscall=read/min=10ms/,latency:syscall=write", "restart")
        self.assert_near(self.of_event("syscall_read", pid), self.own["read"])
        self.assertEqual(self.of_event("syscall_read", pid)[0].fields["error"], "0")
        self.assertGreater(self.of_event("syscall_read", pid)[0].period, 100e6)

    def test_a_call_that_is_interrupted_is_no_error(self):
        pid = self.measure("latency:read/min=10ms/", "interrupt")
        calls = self.of_event("read", pid)
        self.assert_near(calls, self.own["read"])
        self.assertEqual(self.noted("read", pid)["errors"], [])
        self.assert_called_from(calls[0], "read_pipe")

    def test_a_call_in_which_the_process_was_stopped_is_one(self):
        pid = self.measure("latency:syscall=clock_nanosleep/min=150ms/", "stop")
        self.assert_near(self.of_event("syscall_clock_nanosleep", pid), self.own["sleep"])
        self.assertEqual(self.noted("syscall=clock_nanosleep", pid)["errors"], [])

    def test_a_wait_for_a_lock_names_it(self):
        pid = self.measure("latency:futex/min=20ms/", "lock")
        calls = [call for call in self.of_event("futex", pid)
                 if int(call.fields["lock"], 16) == self.own["lock"][0]]
        self.assert_near(calls, self.own["futex"])
        self.assert_called_from(calls[0], "wait_for_lock")

    def test_fsync_names_the_file(self):
        path = self.dir / ("directory-" * 12) / ("file-" * 20)
        path.parent.mkdir()
        pid = self.measure("latency:fsync/min=0ns/,latency:write/min=0ns/", "sync", str(path))
        calls = self.of_event("fsync", pid)
        self.assert_near(calls, self.own["fsync"])
        status = path.stat()
        for call in calls + [call for call in self.of_event("write", pid)
                             if call.fields["fd"] == str(self.own["fd"][0])]:
            self.assertEqual(call.fields["ino"], str(status.st_ino))
            self.assertEqual(call.fields["fd"], str(self.own["fd"][0]))
            self.assertEqual(call.fields["file"], ".../" + path.name)
            self.assert_called_from(call, "sync_file")

    def test_exec_of_a_thread_has_the_path_that_was_asked_for(self):
        self.measure("latency:exec/min=0ns/", "exec")
        calls = [call for call in self.of_event("exec") if call.pid != self.pid()]
        self.assertEqual([(call.fields["file"], call.fields["error"]) for call in calls],
                         [("/nonexistent/program", str(ENOENT)), ("/bin/true", "0")])
        self.assert_called_from(calls[0], "exec_from_thread")

    def test_connections_have_their_peers_and_errors(self):
        pid = self.measure("latency:tcp-connect/min=0ns/,latency:tcp-accept/min=10ms/", "connect")
        noted = self.noted("tcp-connect", pid)
        self.assertEqual((noted["count"], noted["errors"]), (6, [[ECONNREFUSED, 2]]))
        calls = self.of_event("tcp_connect", pid)
        peers = collections.Counter((call.fields["peer"], call.fields["error"]) for call in calls)
        self.assertEqual(peers, {(f"127.0.0.1:{self.own['port'][0]}", "0"): 4,
                                 (f"127.0.0.1:{self.own['refused'][0]}", str(ECONNREFUSED)): 2})
        for call, own in zip(calls, self.own["connect"]):
            self.assert_called_from(call, "connect_to")
            self.assertLessEqual(call.period, own)
        accepted = self.of_event("tcp_accept", pid)
        self.assertEqual(self.noted("tcp-accept", pid)["count"], 4)
        self.assertEqual(len(accepted), 3)
        for call in accepted:
            self.assertGreater(call.period, 60e6)
            self.assert_called_from(call, "accept_one")

    @harness.timing
    def test_a_connection_to_a_full_queue_takes_as_long_as_its_second_attempt(self):
        pid = self.measure("latency:tcp-connect/min=500ms/", "backlog")
        calls = self.of_event("tcp_connect", pid)
        if not calls:
            self.skipTest("the kernel has accepted two connections")
        self.assertEqual(len(calls), 1)
        self.assertEqual(calls[0].fields, {"error": "0", "peer": f"127.0.0.1:{self.own['port'][0]}"})
        self.assertLessEqual(abs(calls[0].period - self.own["established"][0]), 100e6)

    @harness.timing
    def test_waits_for_a_cpu_are_those_of_the_scheduler(self):
        pid = self.measure("latency:runq/min=1ms/", "queue")
        calls = [call for call in self.of_event("runq", pid) if "compete" in " ".join(call.stack)]
        waited = sum(call.period for call in calls)
        self.assertAlmostEqual(waited, self.own["delay"][0], delta=self.own["delay"][0] / 4)
        self.assertEqual({call.fields["cpu"] for call in calls}, {"0"})

    def check_queries(self, caller, *options):
        if shutil.which("ip") is None:
            self.skipTest("ip is not installed")
        # In a network of its own, where port 53 is free.
        inside = f"ip link set lo up && exec {self.program} names"
        pid = self.measure("latency:dns/min=10ms/", command=("unshare", "-n", "sh", "-c", inside), options=options)
        calls = self.of_event("dns", pid)
        self.assertEqual([call.fields["error"] for call in calls], ["0", "3", "2", "110", "110"])
        self.assertEqual({call.fields["name"] for call in calls}, {"www.example.com"})
        self.assertEqual({call.fields["peer"] for call in calls}, {"127.0.0.1:53"})
        for call, own in zip(calls, self.own["dns"]):
            self.assertLessEqual(call.period, own)
            self.assertGreater(call.period, own / 2)
        for call in calls:
            self.assert_called_from(call, caller)
        self.assertEqual(self.noted("dns", pid)["errors"], [[2, 1], [3, 1], [110, 2]])

    def test_queries_have_their_names_and_return_codes(self):
        self.check_queries("ask")

    def test_queries_are_recorded_with_frame_pointers(self):
        # syscall() has no frame, so its caller is missing.
        self.check_queries("names", "--call-graph", "fp")

    def test_requests_to_a_disk_are_counted(self):
        path = self.dir / "file"
        path.write_bytes(b"x" * 65536)
        subprocess.run(["sync", path], check=True)
        pid = self.measure("latency:block-io/min=0ns/", "direct", str(path))
        calls = [call for call in self.of_event("block_io", pid) if call.fields["bytes"] == "4096"]
        if not calls:
            self.skipTest("the temporary directory is on no disk")
        # The kernel can join one with a request of another process, which is larger then.
        larger = [call for call in self.of_event("block_io", pid) if int(call.fields["bytes"]) > 4096]
        missing = self.own["blocks"][0] - len(calls)
        self.assertTrue(0 <= missing <= len(larger), (missing, larger))
        self.assertEqual({call.fields["error"] for call in calls}, {"0"})
        device = path.stat().st_dev
        self.assertEqual({call.fields["dev"] for call in calls},
                         {f"{os.major(device)},{os.minor(device)}"})
        self.assertEqual(len({call.fields["sector"] for call in calls}), len(calls))
        for call in calls:
            self.assert_called_from(call, "read_directly")

    @contextlib.contextmanager
    def delaying_disk(self):
        """A loop device with a block in each of 100 MiB, and the directory of a cgroup. A program there waits for
        every tenth block, which is not in memory, because the cgroup limits reads of the disk below the device."""
        image = self.dir / "image"
        with image.open("wb") as file:
            for number in range(100):
                file.seek(number << 20)
                file.write(os.urandom(4096))
            file.truncate(100 << 20)
            file.flush()
            os.fsync(file.fileno())
        disk = limits.disk_of(image)
        if disk is None:
            self.skipTest("the temporary directory is on no disk")
        status, device, err = harness.run("losetup", "--find", "--show", image)
        if status != 0:
            self.skipTest(f"losetup: {err}")
        device = device.strip()
        try:
            with limits.reads(disk, 10) as cgroup, image.open("rb") as file:
                if not cgroup.directory:
                    self.skipTest("no writable hierarchy of cgroups with the controller")
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
                for number in range(100):
                    if number % 10 != 0:
                        os.pread(file.fileno(), 4096, number << 20)
                yield device, cgroup.directory
        finally:
            harness.run("losetup", "--detach", device)

    def test_requests_that_a_disk_delays_are_samples(self):
        with self.delaying_disk() as (device, cgroup):
            number = os.stat(device).st_rdev
            inside = f"echo $$ > {cgroup}/cgroup.procs; exec {self.program} disk {device}"
            # A bucket of the histogram begins with this duration.
            pid = self.measure(f"latency:block-io/min={1 << 24}ns/", command=("sh", "-c", inside))
        calls = [call for call in self.of_event("block_io", pid)
                 if call.fields["dev"] == f"{os.major(number)},{os.minor(number)}"]
        self.assert_near(calls, [own for own in self.own["request"] if own >= 1 << 24])
        self.assertGreaterEqual(len(calls), 5)  # of 10: the limit need not delay the first ones
        for call in calls:
            self.assertEqual((call.fields["bytes"], call.fields["error"]), ("4096", "0"))
            self.assert_called_from(call, "read_disk")
        noted = self.noted("block-io", pid)
        self.assertGreaterEqual(noted["count"], 100)
        self.assertEqual(sum(count for index, count in noted["buckets"] if index >= 4 * (24 - 1)),
                         len(self.of_event("block_io", pid)))

    def test_a_process_without_memory_reclaims_some(self):
        path = self.dir / "file"
        path.write_bytes(b"x" * (40 << 20))
        with path.open("rb") as file:  # so that the program reads it from the disk
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        with provoked_test.memory_limit(16 << 20) as group:
            if group is None:
                self.skipTest("no memory controller")
            inside = f"echo $$ > {group[0]}; exec {self.program} memory {path}"
            pid = self.measure("latency:reclaim/min=0ns/", command=("sh", "-c", inside))
        noted = self.noted("reclaim", pid)
        calls = self.of_event("reclaim", pid)
        self.assertEqual(noted["count"], len(calls))
        self.assertGreater(len(calls), 10)
        self.assertTrue(all("order" in call.fields for call in calls))
        self.assert_called_from(calls[-1], "fill_memory")

    def test_round_trip_times_are_those_of_the_kernel(self):
        pid = self.measure("latency:tcp-rtt/min=0ns/", "connect")
        calls = self.of_event("tcp_rtt", pid)
        self.assertEqual(self.noted("tcp-rtt", pid)["count"], len(calls))
        for call in calls:
            self.assertTrue(call.fields["peer"].startswith("127.0.0.1:"))
            self.assertLess(call.period, 10**9)

    def test_calls_that_find_no_room_are_counted(self):
        data, bundle = self.dir / "perf.data", self.dir / "notes.tar.zst"
        calls = "import os\nfile = os.open('/etc/passwd', os.O_RDONLY)\n" \
                "for _ in range(20000): os.pread(file, 1, 0), os.getppid()"
        self.record("-q", "--latency-histograms", "1", "-o", data, "--bundle", bundle, "-e",
                    "latency:read,latency:syscall=getppid", "--", sys.executable, "-c", calls)
        self.notes = notes_of(bundle)
        # The histogram is that of the probe whose call comes first; which one may change each second.
        lost = [lost for lost in self.notes["latency_lost"] if lost["cause"] == "no_room"]
        self.assertGreater(sum(each["calls"] for each in lost), 0)
        self.assertTrue({each["probe"] for each in lost} <= {"read", "syscall=getppid"}, lost)

    def test_an_interval_prints_the_calls_of_each_probe(self):
        _, err = self.record("-q", "-o", "a.data", "--interval", "100ms", "-e",
                             "latency:read,latency:syscall=clock_nanosleep/min=1s/", "--",
                             self.program, "stop")
        lines = [line.split() for line in err.splitlines()]
        self.assertEqual(lines[0], ["probe", "calls", "errors", "p50", "p95", "p99", "max"])
        slept = sum(int(line[1]) for line in lines if line[0] == "syscall=clock_nanosleep")
        _, err = self.record("-q", "-o", "b.data", "--json", "summary.json", "--interval", "100ms",
                             "-e", "latency:read", "--", self.program, "errors")
        rows = [row for line in err.splitlines() for row in json.loads(line)["latency"]]
        self.assertEqual({row["probe"] for row in rows}, {"read"})
        self.assertEqual(sum(row["errors"] for row in rows), 5)
        self.assertGreaterEqual(slept, 4)  # of the program and its child

    def test_each_file_of_a_rotation_has_its_own_calls(self):
        out, _ = self.record("-q", "-o", "a.data", "--switch-output=100ms", "-e", "latency:read/min=1s/",
                             "--", self.program, "reads")
        pid = int(re.search(r"^pid (\d+)$", out, re.MULTILINE)[1])
        waited = sum(int(own) for own in re.findall(r"^read (\d+)$", out, re.MULTILINE))
        files = [[call for call in calls_of(data) if call.pid == pid]
                 for data in self.dir.iterdir() if data.name.startswith("a.data")]
        self.assertGreater(len(files), 1)
        sums = [call.period for calls in files for call in calls]
        self.assertGreater(sum(sums), waited / 2)
        self.assertLess(sum(sums), waited + 50e6)
        self.assertTrue(all(call.stack == ["fast_calls"] for calls in files for call in calls))

    def test_page_faults_are_counted(self):
        pid = self.measure("latency:page-fault", "faults")
        noted = self.noted("page-fault", pid)
        self.assertGreaterEqual(noted["count"], self.own["pages"][0])
        self.assertEqual((self.calls, self.sums, noted["buckets"]), ([], [], []))


if __name__ == "__main__":
    harness.require("perf", "cc", "tar", "zstd")
    harness.main()
