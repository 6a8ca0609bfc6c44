# SPDX-License-Identifier: Apache-2.0
"""perftape-serve: what was recorded is in its answers exactly, by pod and by reader, as folded stacks,
pprof, pages and metrics, over TCP and a unix socket."""

import collections
import fcntl
import http.client
import os
import re
import shutil
import signal
import socket
import subprocess
import threading

import harness
import process_context_test
import served
from cgroups import COMM, GETPPID


def by_comm(folded):
    counts = collections.Counter()
    for stack, count in folded.items():
        counts[stack.split(";")[0]] += count
    return counts


def service_folded(service, headers, **parameters):
    """As Service.folded, with headers."""
    counts = collections.Counter()
    for line in service.get("/flamegraph/collapsed", headers=headers, **parameters).body.decode().splitlines():
        stack, _, count = line.rpartition(" ")
        counts[stack] += int(count)
    return counts


class ServeTest(served.ServeTest):
    def test_each_call_is_in_the_answers_of_both_sockets(self):
        service = self.serve("-e", GETPPID, "--comm", COMM, "--window", "300ms")
        self.call(("", COMM, 1000))
        self.assertEqual(by_comm(service.folded()), {COMM: 1000})
        self.assertEqual(by_comm(service.folded(event=GETPPID, since="5m")), {COMM: 1000})
        answer = service.request("/flamegraph/collapsed", connection=served.UnixConnection(service.unix))
        self.assertEqual(sum(int(line.split()[-1]) for line in answer.body.splitlines()), 1000)
        # The next counts only.
        before = service.folded(reset="true")
        self.call(("", COMM, 70))
        self.assertEqual((sum(before.values()), sum(service.folded().values())), (1000, 70))

    def test_counts_are_those_of_the_pod(self):
        web, database = self.pod_groups()
        service = self.serve("-e", GETPPID, "--comm", COMM, "--window", "300ms", under=self.pods_under())
        self.call((web, COMM, 300), (database, COMM, 200), ("", COMM, 100))
        pod = dict(scope="pod", namespace="shop")
        self.assertEqual(by_comm(service.folded(pod="web-0", **pod)), {COMM: 300})
        self.assertEqual(by_comm(service.folded(pod="db-0", **pod)), {COMM: 200})
        self.assertEqual(by_comm(service.folded(pod="none", **pod)), {})
        self.assertEqual(by_comm(service.folded(scope="node")), {COMM: 600})
        counts = {key: value for key, value in service.metrics().items() if "event_samples_total" in key}
        name = 'perftape_event_samples_total{event="' + GETPPID + '",namespace="%s",pod="%s"}'
        self.assertEqual(counts, {name % ("shop", "web-0"): 300, name % ("shop", "db-0"): 200, name % ("", ""): 100})

    def test_counts_are_those_of_the_unit_or_the_service(self):
        program = self.dir / "published"
        subprocess.run(["cc", "-O1", "-o", program, process_context_test.SOURCE], check=True)
        service = self.serve("-e", f"cpu-clock,{GETPPID}", "-F", "199", "--comm", COMM, "--comm", "published", "--window", "300ms")
        self.call((self.group("system.slice/web.service/worker"), COMM, 30), ("", COMM, 7))
        status, _, err = harness.run(program, "memfd", process_context_test.CART, "publish", "spin=1")
        self.assertEqual(status, 0, err)
        self.assertEqual(by_comm(service.folded(unit="web.service", event=GETPPID)), {COMM: 30})
        self.assertEqual(by_comm(service.folded(event=GETPPID)), {COMM: 37})
        self.assertEqual(set(by_comm(service.folded(service="cart"))), {"published"})
        self.assertGreater(len(service.get("/debug/pprof/profile", service="cart", since="1m").body),
                           len(service.get("/debug/pprof/profile", service="none", since="1m").body))
        for other in ({"unit": "none.service"}, {"service": "none"}, {"service": "cart", "unit": "web.service"}):
            self.assertEqual(by_comm(service.folded(**other)), {})
        self.assertEqual(service.get("/flamegraph", unit="none.service").status, 200)

    def test_a_binary_that_only_its_container_has_is_named(self):
        service = self.serve("-F", "499", "--comm", "contained", "--window", "300ms")
        status, _, err = harness.run(
            *self.after_mounts(f"mount -t tmpfs tmpfs /mnt && cp {harness.BURNER} /mnt/contained"),
            "/mnt/contained", "--seconds", "2")
        self.assertEqual(status, 0, err)
        stacks = service.folded()
        named = sum(count for stack, count in stacks.items() if ";main;burn_" in stack)
        self.assertGreater(named, sum(stacks.values()) // 2, stacks)

    def test_offsets_are_those_of_perf(self):
        service = self.serve("-e", GETPPID, "--comm", COMM, "--window", "300ms")
        answers = []
        thread = threading.Thread(target=lambda: answers.append(service.get("/perf.data", seconds=2)))
        thread.start()
        calls = 0
        while thread.is_alive():  # it takes a moment until the recording begins
            self.call(("", COMM, 100))
            calls += 100
        (self.dir / "perf.data").write_bytes(answers[0].body)
        status, out, err = harness.run("perf", "script", "-i", self.dir / "perf.data", "-F", "ip,sym,symoff",
                                       env=harness.perf_environment())
        self.assertEqual(status, 0, err)
        theirs = set(re.findall(r"(?m)^\s+[0-9a-f]+ (\S+\+0x[0-9a-f]+)$", re.sub(r"@@\w[\w.]*", "", out)))
        stacks = service.folded(offsets="true")
        self.assertEqual(by_comm(stacks), {COMM: calls})
        ours = {frame for stack in stacks for frame in stack.split(";") if "+0x" in frame}
        self.assertTrue(len(ours) > 3 and ours <= theirs, (ours, theirs))
        self.assertFalse([stack for stack in service.folded() if "+0x" in stack])

    def test_readers_that_reset_at_the_same_time_get_each_count_once(self):
        service = self.serve("-e", GETPPID, "--comm", COMM, "--window", "200ms")
        total, lock, is_over = collections.Counter(), threading.Lock(), threading.Event()

        def read():
            while not is_over.is_set():
                counts = by_comm(service.folded(reset="true"))
                with lock:
                    total.update(counts)

        readers = [threading.Thread(target=read) for _ in range(10)]
        for reader in readers:
            reader.start()
        for _ in range(5):
            self.call(("", COMM, 700), ("", COMM, 300))
        is_over.set()
        for reader in readers:
            reader.join()
        total.update(by_comm(service.folded(reset="true")))
        self.assertEqual(total, {COMM: 5000})

    def test_the_next_seconds_are_a_pprof_and_a_page(self):
        harness.require("go")
        self.spawn(harness.BURNER, "--seconds", "600", stdout=subprocess.DEVNULL)
        service = self.serve("-F", "199", "--window", "1s")
        url = f"http://127.0.0.1:{service.port}/debug/pprof/profile?seconds=1"
        status, out, err = harness.run("go", "tool", "pprof", "-timeout", "60", "-top", url,
                                       env=dict(os.environ, HOME=str(self.dir), PPROF_TMPDIR=str(self.dir)))
        self.assertEqual(status, 0, err)
        self.assertIn("Type: cpu", out)
        self.assertIn("burn_", out)
        page = service.get("/flamegraph", since="1m", event="cpu")
        self.assertEqual((page.status, page.headers["Content-Type"]), (200, "text/html; charset=utf-8"))
        self.assertIn(b"Content-Security-Policy", page.body)
        (self.dir / "p.pb.gz").write_bytes(service.get("/debug/pprof/profile", since="1m", labels="comm").body)
        status, out, err = harness.run(harness.CONVERT, self.dir / "p.pb.gz", "--to", "folded", "-o", "-")
        self.assertEqual(status, 0, err)
        self.assertIn("perftape-burner;", out)

    def test_pprof_names_the_amounts_of_each_kind_of_event(self):
        harness.require("go")
        shutil.copy("/bin/sh", self.dir / COMM)
        self.spawn(self.dir / COMM, "-c", "while :; do read x < /etc/passwd; sleep 0.01; done")
        service = self.serve("-e", f"cpu-clock,offcpu,latency:read/min=1us/,page-faults/period=1/,{GETPPID}",
                             "-F", "199", "--comm", COMM, "--window", "300ms")
        self.call(("", COMM, 1000))
        types = {"profile": "cpu", "offcpu": r"offcpu-(disk-|runnable-)?time", "latency:read": "latency:read",
                 "page-faults": "page-faults", GETPPID: GETPPID}
        for event, shown in types.items():
            with self.subTest(event):
                self.assertRegex(self.pprof_of(service, event), rf"(?m)^Type: {shown}$")

    def pprof_of(self, service, event):
        """What go tool pprof prints of the event, as soon as there are samples."""
        while True:
            (self.dir / "p.pb.gz").write_bytes(service.get(f"/debug/pprof/{event}", since="1m").body)
            status, out, err = harness.run("go", "tool", "pprof", "-top", self.dir / "p.pb.gz",
                                           env=dict(os.environ, HOME=str(self.dir), PPROF_TMPDIR=str(self.dir)))
            self.assertEqual(status, 0, err)
            if " of 0 total" not in out:
                return out

    def test_a_recording_of_its_own_is_a_perf_data_with_symbols(self):
        token = self.dir / "token"
        token.write_text("0123456789abcdef")
        token.chmod(0o600)
        authorization = {"Authorization": "Bearer 0123456789abcdef"}
        burner = self.spawn(harness.BURNER, "--seconds", "600", stdout=subprocess.DEVNULL)
        service = self.serve("-e", f"cpu-clock,{GETPPID}", "--token-file", token)
        service_folded(service, authorization)  # it records now
        self.call(("", f"{COMM}-2", 100))
        answer = service.request(f"/record?seconds=1&frequency=499&pid={burner.pid}", "POST", authorization)
        self.assertEqual(answer.status, 200, answer)
        (self.dir / "perf.data").write_bytes(answer.body)
        counts, _ = harness.perf_report(self.dir / "perf.data", "comm,sym")
        self.assertTrue(all(name.startswith(("perftape-burner|", "burn-")) for name in counts), counts)
        self.assertTrue(any("burn_" in name for name in counts), counts)
        self.assertGreater(sum(counts.values()), 20)  # of up to 499
        status, out, err = harness.run(harness.BUNDLE, "list", self.dir / "perf.data")
        self.assertEqual(status, 0, err)
        self.assertIn("perftape-burner", out)
        # With the events of the service, beside its own windows.
        answer = service.request(f"/perf.data?seconds=0.5&event={GETPPID}", headers=authorization)
        self.assertEqual(answer.status, 200, answer)
        (self.dir / "perf.data").write_bytes(answer.body)
        self.assertEqual(harness.run(harness.INSPECT, "--validate", self.dir / "perf.data")[0], 0)
        self.assertEqual(by_comm(service_folded(service, authorization, event=GETPPID))[f"{COMM}-2"], 100)
        for target, method, status in (("/record?seconds=1", "GET", 405), ("/record?seconds=301", "POST", 400),
                                       ("/record", "POST", 400), ("/perf.data?seconds=1&pid=1", "GET", 400),
                                       ("/record?seconds=1&frequency=10000", "POST", 400),
                                       ("/record?seconds=1&pid=2147483647", "POST", 500),
                                       ("/perf.data?seconds=1&event=oom", "GET", 404)):
            self.assertEqual(service.request(target, method, authorization).status, status, target)
        self.assertEqual(service.request("/record?seconds=1", "POST").status, 401)

    def test_recordings_need_a_token_and_few_are_made_at_once(self):
        service = self.serve("-e", GETPPID)
        self.assertEqual(service.request("/record?seconds=1", "POST").status, 403)
        answers = []
        threads = [threading.Thread(target=lambda: answers.append(service.get("/perf.data", seconds=1).status))
                   for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertIn(200, answers)
        self.assertIn(503, answers)
        self.assertEqual(set(answers), {200, 503})

    def test_a_client_that_leaves_ends_its_recording(self):
        token = self.dir / "token"
        served.replace(token, "0123456789abcdef")
        authorization = "Authorization: Bearer 0123456789abcdef"
        service = self.serve("-e", GETPPID, "--token-file", token, "--directory", self.dir / "files")
        requests = (f"GET /perf.data?seconds=300 HTTP/1.1\r\nHost: localhost\r\n{authorization}\r\n\r\n",
                    f"POST /record?seconds=300 HTTP/1.1\r\nHost: localhost\r\n{authorization}\r\n"
                    "Content-Length: 4\r\n\r\nbody")
        leaving = [service.raw() for _ in requests]
        for sock, request in zip(leaving, requests):
            sock.sendall(request.encode())

        def status():
            return service.request("/perf.data?seconds=0.2", headers=dict([authorization.split(": ")])).status

        served.wait_for(lambda: len(list((self.dir / "files").glob("recording.*/*"))) == 2)
        self.assertEqual(status(), 503)
        for sock in leaving:
            sock.close()
        served.wait_for(lambda: "perftape-once" not in service.children())
        served.wait_for(lambda: status() == 200)  # the server is told soon after
        self.assertEqual(status(), 200)
        self.assertEqual(list((self.dir / "files").glob("recording.*")), [])
        self.assertEqual(self.stop(service), (0, ""))

    def test_wrong_requests_are_told_what_is_wrong(self):
        service = self.serve("-e", GETPPID)
        for path, status, text in (("/flamegraph/collapsed?even=x", 400, "unknown parameter: even"),
                                   ("/flamegraph/collapsed?event=tcpreset", 404, GETPPID),
                                   ("/debug/pprof/heap", 404, GETPPID), ("/nothing", 404, "no such path"),
                                   ("/healthz?x=1", 400, "unknown parameter: x"),
                                   ("/flamegraph?seconds=-1", 400, "seconds=-1")):
            answer = service.get(path)
            self.assertEqual(answer.status, status, path)
            self.assertIn(text, answer.body.decode())
        self.assertEqual(service.get("/healthz").body, b"ok\n")
        self.assertIn(b"/debug/pprof/", service.get("/").body)
        head = service.request("/metrics", method="HEAD")
        self.assertEqual((head.status, head.body), (200, b""))
        self.assertGreater(int(head.headers["Content-Length"]), 100)
        self.assertEqual(service.request("/metrics", method="POST").status, 405)
        # pprof asks so for addresses without a name.
        connection = service.connection()
        connection.request("POST", "/debug/pprof/symbol", body="0x1+0x2")
        self.assertEqual(connection.getresponse().read(), b"num_symbols: 0\n")
        connection.close()

    def test_reload_records_other_events_and_keeps_the_history(self):
        config = self.dir / "serve.conf"
        config.write_text(f"event = {GETPPID}\ncomm = {COMM}\nwindow = 300ms\n")
        service = self.serve("--config", config)
        self.call(("", COMM, 100))
        config.write_text("event = nonsense:event:x:y/\n")
        service.process.send_signal(signal.SIGHUP)
        self.assertEqual(by_comm(service.folded()), {COMM: 100})
        config.write_text(f"event = context-switches\nevent = {GETPPID}\ncomm = {COMM}\n")
        service.process.send_signal(signal.SIGHUP)
        served.wait_for(lambda: service.get("/debug/pprof/context-switches", since="1s").status == 200)
        self.call(("", COMM, 50))
        self.assertEqual(by_comm(service.folded(event=GETPPID)), {COMM: 150})
        status, err = self.stop(service)
        self.assertEqual(status, 0, err)
        self.assertIn("SIGHUP: the old options stay: --config: ", err)
        self.assertEqual(err.count("\n"), 1, err)

    def test_it_ends_without_a_trace(self):
        service = self.serve("-e", GETPPID, "--directory", self.dir / "files")
        self.assertTrue((self.dir / "files").is_dir())
        self.assertEqual((self.dir / "files").stat().st_mode & 0o777, 0o700)
        status, err = self.stop(service)
        self.assertEqual((status, err), (0, ""))
        self.assertFalse((self.dir / "files").exists() or service.unix.exists())

    def test_a_killed_service_leaves_nothing_after_the_next_start(self):
        for options, under in ((("--directory", self.dir / "files"), ()),
                               ((), ("env", f"RUNTIME_DIRECTORY={self.dir}"))):
            with self.subTest(options):
                service = self.serve("-e", GETPPID, *options, under=under)
                service.process.kill()
                service.process.communicate()
                if "--directory" not in options:  # else the next service waits itself
                    served.wait_for(self.no_process_holds_a_lock)
                left = self.directories()
                again = self.serve("-e", GETPPID, *options, under=under)
                (inode,) = self.directories()
                self.assertNotIn(inode, left)
                self.assertEqual(self.stop(again), (0, ""))
                self.assertEqual(self.directories(), set())

    def no_process_holds_a_lock(self):
        """The service's other processes end soon after it, and have its lock until then."""
        for path in self.dir.glob("*/perftape-serve.lock"):
            with open(path, "rb") as lock:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    return False
        return True

    def directories(self):
        """The inodes of the directories of services."""
        return {path.parent.stat().st_ino for path in self.dir.glob("*/perftape-serve.lock")}

    def test_options_that_cannot_be_recorded_do_not_replace_others(self):
        config = self.dir / "serve.conf"
        config.write_text(good := f"event = {GETPPID}\ncomm = {COMM}\nwindow = 300ms\n")
        service = self.serve("--config", config)
        self.call(("", COMM, 100))
        recorder = service.children()["perftape-record"]
        wrong = ("event = nosuch\n", "event = uprobe:/nosuch:x\n", good + "cgroup = /none\n", good + "container = 0d0d\n")
        for count, text in enumerate(wrong, 1):
            config.write_text(text)
            service.process.send_signal(signal.SIGHUP)
            lines = iter(service.process.stderr.readline, "")
            self.assertTrue(any("the old options stay" in line for line in lines), (text, count))
        self.call(("", COMM, 10))
        self.assertEqual(by_comm(service.folded()), {COMM: 110})
        self.assertEqual(service.children()["perftape-record"], recorder)
        self.assertEqual(self.stop(service), (0, ""))

    def test_a_process_that_was_killed_is_started_again_and_the_history_stays(self):
        service = self.serve("-e", GETPPID, "--comm", COMM, "--window", "300ms")
        self.call(("", COMM, 30))
        self.assertEqual(sum(service.folded(reset="true", event=GETPPID).values()), 30)
        calls = 30
        for name in ("perftape-record", "perftape-import", "perftape-http"):
            self.call(("", COMM, 100))
            calls += 100
            self.assertEqual(by_comm(service.folded(since="5m")), {COMM: calls})
            old, begun = service.children()[name], self.recorded_since(service)
            os.kill(old, signal.SIGKILL)
            served.wait_for(lambda: service.children().get(name, old) != old)
            has_gap = name == "perftape-record"
            served.wait_for(lambda: self.has_gap_since(service, begun) == has_gap)
            self.call(("", COMM, 7))
            calls += 7
            self.assertEqual(by_comm(service.folded(since="5m")), {COMM: calls}, name)
            self.assertEqual(by_comm(service.folded(event=GETPPID)), {COMM: calls - 30}, name)
        status, err = self.stop(service)
        self.assertEqual(status, 0, err)
        self.assertEqual(err.count("has ended by signal 9: starting it again"), 3, err)

    def recorded_since(self, service):
        """None while nothing is recorded."""
        try:
            return service.metrics().get(f'perftape_event_start_time_seconds{{event="{GETPPID}"}}')
        except (OSError, http.client.HTTPException):  # of the server that was killed
            return None

    def has_gap_since(self, service, begun):
        """None while nothing is recorded. Each server computes Unix time from a clock of its own start."""
        since = self.recorded_since(service)
        return since and abs(since - begun) > 0.1

    def test_what_follows_the_readiness_is_recorded(self):
        receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        receiver.bind(str(self.dir / "notify"))
        process = self.spawn(served.SERVE, "--listen", self.dir / "serve.sock", "-e", GETPPID, "--comm", COMM,
                             env=dict(os.environ, NOTIFY_SOCKET=str(self.dir / "notify")), stderr=subprocess.DEVNULL)
        receiver.settimeout(harness.TIMEOUT_S)
        self.assertEqual(receiver.recv(100), b"READY=1")
        self.call(("", COMM, 50))
        service = served.Service(process, 0, self.dir / "serve.sock")
        get = lambda path: service.request(path, connection=served.UnixConnection(service.unix))
        self.assertEqual(get("/readyz").status, 200)
        self.assertIn(b'perftape_event_start_time_seconds{event="' + GETPPID.encode() + b'"}', get("/metrics").body)
        self.assertEqual(sum(int(line.split()[-1]) for line in get("/flamegraph/collapsed").body.splitlines()), 50)


if __name__ == "__main__":
    harness.require("perf")
    harness.main()
