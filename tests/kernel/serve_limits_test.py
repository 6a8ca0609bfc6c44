# SPDX-License-Identifier: Apache-2.0
"""The limits of perftape-serve: who may ask, what a client can keep, memory, and what the process that
answers may do."""

import collections
import os
import pathlib
import re
import signal
import socket
import subprocess
import threading
import time

import harness
import served
from cgroups import COMM, GETPPID

TOKEN = "0123456789abcdef0123"
STORM = "while :; do /bin/true; sleep 0.02; done"


def until_closed(sock):
    """Returns what arrives until the other end closes the connection."""
    received = b""
    try:
        while part := sock.recv(65536):
            received += part
    except ConnectionError:
        pass
    return received


def descriptors(service):
    return {name: len(os.listdir(f"/proc/{pid}/fd")) for name, pid in service.children().items()}


def resident_kib(service):
    """Anonymous memory: mapped files are those of the binaries that were sampled."""
    return {name: int(re.search(r"RssAnon:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text())[1])
            for name, pid in service.children().items()}


class LimitsTest(served.ServeTest):
    def test_a_token_is_needed_for_all_but_health(self):
        token = self.dir / "token"
        token.write_text(TOKEN + "\n")
        token.chmod(0o600)
        service = self.serve("-e", GETPPID, "--token-file", token)
        for header in (None, "Bearer", "Bearer x", f"Bearer {TOKEN}0", f"Basic {TOKEN}"):
            headers = {"Authorization": header} if header else {}
            self.assertEqual(service.request("/metrics", headers=headers).status, 401, header)
        self.assertEqual(service.get("/healthz").status, 200)
        self.assertEqual(service.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"}).status, 200)

    def test_a_new_token_counts_after_sighup_and_a_bad_one_does_not(self):
        token = self.dir / "token"
        served.replace(token, TOKEN)
        service = self.serve("-e", GETPPID, "--token-file", token)
        served.wait_for(lambda: "perftape-record" in service.children())
        recorder = service.children()["perftape-record"]

        def status(text):
            return service.get("/metrics", headers={"Authorization": f"Bearer {text}"}).status

        other = TOKEN[::-1]
        self.assertEqual((status(TOKEN), status(other)), (200, 401))
        served.replace(token, other)
        service.process.send_signal(signal.SIGHUP)
        served.wait_for(lambda: status(other) == 200)
        self.assertEqual(status(TOKEN), 401)
        served.replace(token, "short")
        service.process.send_signal(signal.SIGHUP)
        self.assertRegex(service.process.stderr.readline(), f"SIGHUP: {token}: .*16 or more.*; the old content stays")
        self.assertEqual((status(other), status("short")), (200, 401))
        # Nothing else has changed, so what is recorded has no gap.
        self.assertEqual(service.children()["perftape-record"], recorder)
        self.assertEqual(self.stop(service), (0, ""))

    def test_names_of_other_sites_are_refused(self):
        service = self.serve("-e", GETPPID)
        for host in ("evil.example", f"evil.example:{service.port}", ""):
            self.assertEqual(service.request("/metrics", headers={"Host": host}).status, 403, host)
        for host in (f"localhost:{service.port}", f"[::1]:{service.port}", "localhost:1"):
            self.assertEqual(service.request("/metrics", headers={"Host": host}).status, 200, host)

    def test_pages_of_other_sites_change_and_start_nothing(self):
        service = self.serve("-e", GETPPID, "--comm", COMM, "--window", "300ms")
        self.call(("", COMM, 100))
        foreign = ({"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Origin": "http://evil.example"},
                   {"Origin": "null", "Sec-Fetch-Site": "same-origin"})
        own = {"Origin": f"http://127.0.0.1:{service.port}", "Sec-Fetch-Site": "same-origin"}
        for target in ("/flamegraph/collapsed?reset=true", "/flamegraph?reset=true", "/perf.data?seconds=1",
                       "/debug/pprof/profile?seconds=1", "/debug/pprof/profile", "/flamegraph?seconds=3600"):
            for headers in foreign:
                self.assertIn(service.request(target, headers=headers).status, (403, 404), target)
            self.assertIn(service.request(target, method="HEAD").status, (405, 404), target)
        self.assertEqual(service.request("/flamegraph", headers=foreign[0]).status, 200)
        self.assertEqual(sum(service.folded(reset="true").values()), 100)
        self.call(("", COMM, 10))
        answer = service.request("/flamegraph/collapsed?reset=true", method="POST", headers=own)
        self.assertEqual(sum(int(line.split()[-1]) for line in answer.body.splitlines()), 10)

    def test_an_open_address_needs_a_token_and_a_word_about_tls(self):
        token = self.dir / "token"
        token.write_text(TOKEN)
        token.chmod(0o600)
        for options, text in (((), "--token-file"), (("--token-file", token), "--without-tls")):
            status, _, err = harness.run(served.SERVE, "--listen", "0.0.0.0:0", *options)
            self.assertEqual(status, 2)
            self.assertIn(text, err)

    def test_what_a_client_sends_is_limited(self):
        service = self.serve("-e", GETPPID)
        for request, status in ((b"GET / HTTP/1.1\r\nX: " + b"x" * 9000 + b"\r\n\r\n", b"431"),
                                (b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n12345", b"413"),
                                (b"PUT / HTTP/1.1\r\nHost: localhost\r\n\r\n", b"405"), (b"nonsense\r\n\r\n", b"400")):
            with service.raw() as sock:
                sock.sendall(request)
                received = until_closed(sock)
                # A connection that ends with unread bytes may lose its answer.
                self.assertTrue(received == b"" or received.startswith(b"HTTP/1.1 " + status), received)
        with service.raw() as sock:
            try:
                for _ in range(1000):
                    sock.sendall(b"x" * 100_000)
                self.fail("100 MB without a line end were accepted")
            except ConnectionError:
                pass

    def test_slow_clients_are_disconnected(self):
        service = self.serve("-e", GETPPID)
        with service.raw() as silent, service.raw() as slow, service.raw() as unread:
            unread.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            slow.setblocking(False)
            slow.send(b"GET / HTTP/1.1\r\n")
            unread.setblocking(False)
            wait = 0
            while int(service.metrics()["perftape_http_connections"]) > 1:
                wait += 1
                for sock, text in ((slow, b"X: y\r\n"), (unread, b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" * 100)):
                    try:
                        sock.send(text)
                    except OSError:  # the buffer is full, or the connection is closed
                        pass
                time.sleep(0.1)
            self.assertGreater(wait, 10)
            self.assertEqual(until_closed(silent), b"")

    def test_connections_above_the_limit_are_refused(self):
        service = self.serve("-e", GETPPID)
        connections = [service.raw() for _ in range(260)]
        try:
            refused = [until_closed(sock) for sock in connections[200:]]
            self.assertTrue(any(answer.startswith(b"HTTP/1.1 503") for answer in refused), refused)
        finally:
            for sock in connections:
                sock.close()
        served.wait_for(lambda: service.get("/healthz").status == 200)

    def test_many_requests_at_once_are_answered(self):
        service = self.serve("-e", GETPPID, "--comm", COMM, "--window", "1s")
        self.call(("", COMM, 100))
        connections = [service.raw() for _ in range(150)]
        for sock in connections:
            sock.sendall(b"GET /flamegraph/collapsed HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        for sock in connections:
            with sock:
                answer = until_closed(sock)
                self.assertTrue(answer.startswith(b"HTTP/1.1 200"), answer)
                self.assertEqual(sum(int(line.split()[-1]) for line in answer.partition(b"\r\n\r\n")[2].splitlines()), 100)

    def test_two_hundred_requests_at_once_are_answered_and_nothing_is_lost(self):
        service = self.serve("-e", f"cpu-clock,{GETPPID}", "--comm", COMM, "--window", "200ms")
        targets = (f"/flamegraph/collapsed?event={GETPPID}", "/debug/pprof/profile?seconds=1",
                   f"/flamegraph?event={GETPPID}", "/flamegraph/collapsed?since=1m&offsets=true", "/metrics")
        statuses = collections.Counter()

        def ask(target):
            statuses[target, service.request(target).status] += 1

        readers = [threading.Thread(target=ask, args=(targets[i % len(targets)],)) for i in range(200)]
        for reader in readers:
            reader.start()
        self.call(("", COMM, 50_000))
        for reader in readers:
            reader.join()
        self.assertEqual(statuses, {(target, 200): 40 for target in targets})
        self.assertEqual(sum(service.folded(event=GETPPID).values()), 50_000)
        lost = {name: value for name, value in service.metrics().items() if name.startswith("perftape_lost_samples")}
        self.assertEqual(sum(lost.values()), 0, lost)

    def test_memory_and_descriptors_are_flat_while_windows_are_merged_and_dropped(self):
        """An hour of windows of 10 s, compressed: three times as many windows as are kept."""
        self.spawn(harness.BURNER, "--seconds", "600", stdout=subprocess.DEVNULL)
        service = self.serve("-F", "499", "--comm", "burn*", "--call-graph", "fp", "--window", "100ms", "--memory", "1M", "--history", "3s")

        def measure(windows):
            served.wait_for(lambda: service.metrics()["perftape_windows_total"] >= windows)
            return resident_kib(service), descriptors(service)

        measure(30)
        middle, files_middle = measure(60)
        end, files_end = measure(90)
        metrics = service.metrics()
        self.assertGreater(metrics["perftape_history_dropped_windows_total"], 0)
        self.assertLessEqual(metrics["perftape_history_bytes"], (1 << 20) + (64 << 10))
        for name, kib in end.items():
            # Allocators keep some pages more or less.
            self.assertLessEqual(kib, middle[name] + 2048, (name, middle, end))
            # Windows and binaries may be on their way. One that stays open for each window would be 30.
            self.assertLessEqual(files_end[name], files_middle[name] + 10, (name, files_middle, files_end))
        print(f"resident KiB: {middle} -> {end}, descriptors: {files_middle} -> {files_end}")

    def test_memory_and_descriptors_stay_within_limits(self):
        self.spawn(harness.BURNER, "--seconds", "600", stdout=subprocess.DEVNULL)
        self.spawn("sh", "-c", STORM, stdout=subprocess.DEVNULL)
        service = self.serve("-F", "99", "--window", "100ms", "--memory", "1M")
        served.wait_for(lambda: service.metrics()["perftape_windows_total"] > 20)
        before = descriptors(service)
        served.wait_for(lambda: sum(service.metrics()[f"perftape_history_{what}_windows_total"]
                                    for what in ("merged", "dropped")) > 20)
        metrics = service.metrics()
        # The newest window may be too much until others are merged.
        self.assertLessEqual(metrics["perftape_history_bytes"], (1 << 20) + (64 << 10))
        self.assertEqual(metrics["perftape_failed_windows_total"], 0)
        # The last window is not complete.
        after = descriptors(service)
        self.assertLessEqual(after["perftape-http"], before["perftape-http"] + 2)
        self.assertLessEqual(after["perftape-import"], before["perftape-import"] + 8)
        self.assertGreater(sum(service.folded(since="1m").values()), 100)

    def test_the_importer_keeps_only_what_reading_needs(self):
        pid = self.serve("-e", GETPPID).children()["perftape-import"]
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
        # CAP_DAC_READ_SEARCH, CAP_SYS_PTRACE, CAP_SYSLOG
        self.assertEqual(re.findall(r"Cap(?:Eff|Prm):\t(\w+)", status), [f"{1 << 2 | 1 << 19 | 1 << 34:016x}"] * 2)

    def test_the_server_opens_no_file_and_has_no_privileges(self):
        harness.require("strace")
        service = self.serve("-e", f"cpu-clock,{GETPPID}", "--window", "200ms")
        pid = service.children()["perftape-http"]
        status = dict(line.split(":\t", 1) for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
                      if ":\t" in line)
        self.assertEqual(status["Uid"].split(), ["65534"] * 4)
        self.assertEqual((int(status["CapEff"], 16), int(status["CapPrm"], 16)), (0, 0))
        self.assertEqual((status["Seccomp"], status["NoNewPrivs"]), ("2", "1"))
        trace = self.dir / "trace"
        tracer = self.spawn("strace", "-f", "-p", pid, "-o", trace, "-e",
                            "trace=open,openat,openat2,creat,execve,socket,connect,unlink,unlinkat,rename,fork,vfork",
                            stderr=subprocess.PIPE)
        tracer.stderr.readline()  # attached
        for target in ("/", "/healthz", "/metrics", "/flamegraph", "/flamegraph/collapsed?reset=true",
                       "/debug/pprof/profile?seconds=1", "/flamegraph/collapsed?since=1m", "/none", "/%zz"):
            service.request(target)
        tracer.send_signal(signal.SIGINT)
        tracer.wait()
        calls = [line for line in trace.read_text().splitlines() if "(" in line and "+++" not in line]
        self.assertFalse([call for call in calls if " = -1 " not in call], calls)


if __name__ == "__main__":
    harness.require("perf")
    harness.main()
