# SPDX-License-Identifier: Apache-2.0
"""Stages incidents and diagnoses them: each is found first, and for the right reason. A healthy program
has no finding. No test depends on how long something takes on this machine."""

import json
import os
import re
import shutil
import sys

import harness
import limits

PYTHON = os.path.realpath(sys.executable)
REPORT = str(harness.BIN / "perftape-report")
TCP = "tcp:tcp_retransmit_skb,tcp:tcp_receive_reset,tcp:tcp_send_reset"
ALL = f"latency:net,latency:fs,latency:block,latency:cpu,latency:memory,oom:mark_victim,{TCP}"

# Enters the cgroup of its first argument.
ENTER = """
import os, sys, time
def enter():
    with open(sys.argv[1] + "/cgroup.procs", "w") as procs:
        procs.write(str(os.getpid()))
"""

SPIN = ENTER + """
enter()
end = time.monotonic() + 4
while time.monotonic() < end:
    pass
"""

# Allocates MiB after MiB, up to the number of its second argument. It stays for longer than a second,
# so that its peak is read, and for less than it has grown.
LEAK = ENTER + """
if os.fork() == 0:
    enter()
    leaked = []
    while len(leaked) < int(sys.argv[2]):
        leaked.append(b"x" * (1 << 20))
        time.sleep(0.04)
    time.sleep(1.2)
    os._exit(0)
os.wait()
"""

# Writes and fsyncs records of 256 KiB to the file of its second argument.
FSYNC = ENTER + """
enter()
with open(sys.argv[2], "wb") as log:
    for _ in range(12):
        log.write(os.urandom(1 << 18))
        log.flush()
        os.fsync(log.fileno())
"""

# A server that reads a request and resets the connection, and its client.
RESET = """
import os, socket, struct
server = socket.create_server(("127.0.0.1", 0))
port = server.getsockname()[1]
if os.fork() == 0:
    while True:
        connection, _ = server.accept()
        if connection.recv(100) == b"end":
            os._exit(0)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()
server.close()
print(port, flush=True)
for request in [b"work"] * 10 + [b"end"]:
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.sendall(request)
        try:
            os.read(client.fileno(), 100)
        except ConnectionResetError:
            pass
os.wait()
"""

# Queries a server that does not answer, as a resolver does.
SILENT_DNS = """
import os, socket
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(("127.0.0.53", 53))
client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
client.settimeout(0.3)
for number in range(6):
    query = number.to_bytes(2, "big") + bytes.fromhex("01000001000000000000") + b"\\x02db\\x05local\\0\\0\\1\\0\\1"
    client.sendto(query, ("127.0.0.53", 53))
    try:
        client.recvfrom(512)
    except TimeoutError:
        pass
"""

HEALTHY = """
import os, socket, sys, threading, time
server = socket.create_server(("127.0.0.1", 0))
def serve():
    for _ in range(30):
        connection, _ = server.accept()
        connection.sendall(connection.recv(100))
        connection.close()
thread = threading.Thread(target=serve)
thread.start()
for _ in range(30):
    with socket.create_connection(server.getsockname()) as client:
        client.sendall(b"hello")
        client.recv(100)
    with open(sys.argv[1], "w") as file:
        file.write("x" * 1000)
    os.path.exists("/no/such/file")
    time.sleep(0.02)
thread.join()
"""


class Diagnose(harness.RecordingTest):
    def diagnose(self, events, program, *arguments, rules=()):
        """Records events of a program; returns its stdout and the diagnosis."""
        status, out, err = harness.run(
            harness.RECORD, "-q", "-e", events, "--cgroup-usage", "-o", "perf.data", "--", PYTHON, "-c", program,
            *arguments, cwd=self.dir)
        self.assertEqual(status, 0, err)
        changes = [f"--rule={rule}" for rule in rules]
        status, text, err = harness.run(REPORT, "-q", "--diagnose", "--json", *changes, "perf.data", cwd=self.dir)
        self.assertEqual(status, 0, err)
        return out, json.loads(text)

    def first(self, diagnosis):
        self.assertTrue(diagnosis["findings"], diagnosis["fine"])
        return diagnosis["findings"][0]

    def finding(self, diagnosis, pattern):
        """The first finding of a rule that matches, and the rule of its cause."""
        findings = diagnosis["findings"]
        found = next((one for one in findings if re.fullmatch(pattern, one["rule"])), None)
        self.assertIsNotNone(found, [one["rule"] for one in findings])
        return found, findings[found["cause"]]["rule"] if "cause" in found else None

    def require(self, cgroup):
        if not cgroup.directory:
            self.skipTest("no writable hierarchy of cgroups with the controller")
        return cgroup.directory

    def test_a_cpu_limit_throttles(self):
        with limits.cpu(5000) as cgroup:
            _, diagnosis = self.diagnose("latency:runq", SPIN, self.require(cgroup))
        found = self.first(diagnosis)
        self.assertRegex(found["rule"], "cpu-throttled.*")
        self.assertEqual(found["cgroup"], cgroup.path)
        self.assertIn("limit 0.05 CPUs", found["text"])
        # The waits for a CPU are its symptom.
        _, cause = self.finding(diagnosis, "run-queue-(slow|time)")
        self.assertEqual(cause, found["rule"])

    def test_a_leak_is_found_before_its_kill(self):
        with limits.memory(64 << 20) as cgroup:
            _, diagnosis = self.diagnose("cpu-clock,oom:mark_victim", LEAK, self.require(cgroup), 54)
        found = self.first(diagnosis)
        self.assertEqual((found["rule"], found["cgroup"]), ("memory-growth", cgroup.path))
        self.assertFalse([one for one in diagnosis["findings"] if one["rule"] == "oom-kill"])

    def test_a_leak_explains_its_kill(self):
        with limits.memory(64 << 20) as cgroup:
            _, diagnosis = self.diagnose("cpu-clock,oom:mark_victim", LEAK, self.require(cgroup), 1000)
        self.assertEqual(self.first(diagnosis)["rule"], "memory-growth")
        kill, cause = self.finding(diagnosis, "oom-kill")
        self.assertEqual((kill["value"], cause), (1, "memory-growth"))
        self.assertEqual([one["comm"] for one in diagnosis["oom_kills"]], [os.path.basename(PYTHON)])

    def test_a_slow_disk(self):
        if not shutil.which("mkfs.ext4") or not shutil.which("losetup"):
            self.skipTest("needs mkfs.ext4 and losetup")
        image, mount = self.dir / "image", self.dir / "mount"
        with open(image, "wb") as file:
            file.truncate(64 << 20)
        mount.mkdir()
        for command in (["mkfs.ext4", "-q", image], ["mount", "-o", "loop", image, mount]):
            status, _, err = harness.run(*command)
            if status != 0:
                self.skipTest(f"{command[0]}: {err}")
        try:
            device = os.stat(mount).st_dev
            with limits.writes(f"{os.major(device)}:{os.minor(device)}", 1 << 20) as cgroup:
                _, diagnosis = self.diagnose("latency:fsync", FSYNC, self.require(cgroup), mount / "log")
        finally:
            harness.run("umount", mount)
        found = self.first(diagnosis)
        self.assertRegex(found["rule"], "io-limit-.*")
        self.assertEqual(found["cgroup"], cgroup.path)
        slow, cause = self.finding(diagnosis, "fsync-slow")
        self.assertEqual(cause, found["rule"])
        self.assertTrue(slow["object"].endswith("/log"), slow)
        self.assertIn("fsync", " ".join(slow["slow_calls"][0]["frames"]))

    def test_a_peer_resets_connections(self):
        port, diagnosis = self.diagnose(f"latency:read,{TCP}", RESET)
        found = self.first(diagnosis)
        self.assertEqual((found["rule"], found["object"]), ("peer-resets", f"127.0.0.1:{port.strip()}"))
        _, cause = self.finding(diagnosis, "connection-reset")
        self.assertEqual(cause, "peer-resets")

    def test_dns_does_not_answer(self):
        _, diagnosis = self.diagnose("latency:dns", SILENT_DNS)
        if any(re.search(r"\bdns\b", gap) for gap in diagnosis["not_seen"]):
            self.skipTest("queries cannot be recorded here")
        found = self.first(diagnosis)
        self.assertEqual(found["rule"], "dns-timeout")
        self.assertEqual(found["object"], "db.local at 127.0.0.53:53")

    def test_a_healthy_program_has_no_finding(self):
        # Other programs of this machine may use its CPUs and its disk.
        rules = [f"{rule}=60s" for rule in ("run-queue-slow", "block-slow", "open-slow", "fsync-slow")]
        _, diagnosis = self.diagnose(ALL, HEALTHY, self.dir / "file", rules=[*rules, "run-queue-time=off"])
        self.assertEqual(diagnosis["findings"], [])
        fine = [one["rule"] for one in diagnosis["fine"]]
        for rule in ("connect-failure", "disk-full", "open-slow", "run-queue-slow"):
            self.assertIn(rule, fine)


harness.require()
harness.main()
