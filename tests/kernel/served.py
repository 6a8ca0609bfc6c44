# SPDX-License-Identifier: Apache-2.0
"""Shared by the tests of perftape-serve: a test that starts the service and sends requests."""

import collections
import contextlib
import http.client
import pathlib
import re
import signal
import socket
import subprocess
import time
import urllib.parse

import cgroups
import harness

SERVE = str(harness.BIN / "perftape-serve")
ID = "6d1c" * 16  # of no container of scope_test.py
DEBIAN_PYTHON = "/usr/bin/python3"  # whose python3-grpcio is for this version only
OTHER_ID = "77bc" * 16
POD, OTHER_POD = "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0", "1a1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0"
Answer = collections.namedtuple("Answer", "status headers body")


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("unix", timeout=60)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(60)
        self.sock.connect(str(self.path))


class Service:
    """A running perftape-serve."""

    def __init__(self, process, port, unix):
        self.process, self.port, self.unix = process, port, unix

    def connection(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)

    def request(self, target, method="GET", headers=None, connection=None):
        connection = connection or self.connection()
        connection.request(method, target, headers=headers or {})
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return Answer(answer.status, answer.headers, body)

    def get(self, path, headers=None, **parameters):
        query = urllib.parse.urlencode(parameters)
        return self.request(path + ("?" + query if query else ""), headers=headers)

    def folded(self, **parameters):
        """{stack: count} of /flamegraph/collapsed. On a busy machine the recorder may not answer in
        time, so that the status is 503; a client asks again, and so does this."""
        answers = []

        def is_answered():
            answers.append(self.get("/flamegraph/collapsed", **parameters))
            return answers[-1].status != 503

        wait_for(is_answered)
        answer = answers[-1]
        assert answer.status == 200, answer
        counts = collections.Counter()
        for line in answer.body.decode(errors="replace").splitlines():
            stack, _, count = line.rpartition(" ")
            counts[stack] += int(count)
        return counts

    def metrics(self):
        """{name with labels: value}"""
        lines = self.get("/metrics").body.decode().splitlines()
        return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines
                if not line.startswith("#")}

    def raw(self):
        """A connection without a client."""
        sock = socket.create_connection(("127.0.0.1", self.port), timeout=60)
        return sock

    def children(self):
        """{name: pid} of its processes."""
        pid = self.process.pid
        names = {}
        for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it has just ended
                names[pathlib.Path(f"/proc/{child}/comm").read_text().strip()] = int(child)
        return names


class ServeTest(cgroups.CgroupTest):
    def serve(self, *options, under=()):
        """Starts the service at a free port and a unix socket, and returns it when it records."""
        unix = self.dir / "serve.sock"
        process = self.spawn(*under, SERVE, "--listen", "127.0.0.1:0", "--listen", unix, *options,
                             stderr=subprocess.PIPE, text=True)
        lines = []
        while not any(str(unix) in line for line in lines):
            line = process.stderr.readline()
            self.assertTrue(line, "".join(lines))
            lines.append(line)
        port = int(re.search(r"http://127.0.0.1:(\d+)", "".join(lines))[1])
        service = Service(process, port, unix)
        self.wait_until_recording(service)
        return service

    def pods_under(self):
        """A mount namespace in which the names of the pods of pod_groups are known: web-0 and db-0."""
        return self.after_mounts(
            "mount -t tmpfs tmpfs /var/log && mkdir -p /var/log/containers "
            f"/var/log/pods/shop_web-0_{POD} /var/log/pods/shop_db-0_{OTHER_POD} "
            f"&& touch /var/log/containers/web-0_shop_nginx-{ID}.log")

    def pod_groups(self):
        return (self.group(f"kubepods/burstable/pod{POD}/{ID}"),
                self.group(f"kubepods/burstable/pod{OTHER_POD}/{OTHER_ID}"))

    def wait_until_recording(self, service):
        """A request that needs a window is answered when the recorder runs."""
        wait_for(lambda: service.request("/flamegraph/collapsed?since=1s",
                                         connection=UnixConnection(service.unix)).status in (200, 401))

    def stop(self, service):
        service.process.send_signal(signal.SIGTERM)
        _, err = service.process.communicate(timeout=harness.TIMEOUT_S)
        return service.process.returncode, err

    def call(self, *programs):
        """Runs programs (group, comm, calls)."""
        status, _, err = harness.run(*self.calls(*programs)[1:])
        self.assertEqual(status, 0, err)


def replace(path, text):
    """Replaces a secret at once, as those who rotate them do."""
    new = path.with_suffix(".new")
    new.touch(0o600)
    new.write_text(text)
    new.rename(path)


def wait_for(condition):
    deadline = time.monotonic() + harness.TIMEOUT_S
    while not condition():
        assert time.monotonic() < deadline, "what is waited for does not come"
        time.sleep(0.05)
