# SPDX-License-Identifier: Apache-2.0
"""Shared by the tests of pushes: a test that starts perftape-serve and a receiver (push_receiver.py)."""

import json
import pathlib
import time

import push_receiver
import served
from cgroups import COMM, GETPPID

RECEIVER = pathlib.Path(push_receiver.__file__)
DROPPED = 'perftape_push_dropped_samples_total{cause="%s"}'


class Receiver:
    def __init__(self, process, folder, port):
        self.process, self.folder, self.port = process, folder, port

    def requests(self):
        """[(headers, body)] so far, in their order."""
        files = sorted(self.folder.glob("*.body"), key=lambda path: int(path.stem))
        return [(json.loads(path.with_suffix(".headers").read_text()), path.read_bytes())
                for path in files]

    def delivered(self):
        return [body for headers, body in self.requests() if headers["answer"] in ("0", "200", "partial")]


class PushTest(served.ServeTest):
    def receiver(self, *options):
        folder = self.dir / f"receiver{time.monotonic_ns()}"
        folder.mkdir()
        process = self.spawn(served.DEBIAN_PYTHON, RECEIVER, folder, *options)
        served.wait_for(lambda: (folder / "port").exists() or process.poll() is not None)
        if process.poll() == 77:
            self.skipTest("no python3-grpcio")
        return Receiver(process, folder, int((folder / "port").read_text()))

    def push_to(self, *target):
        return self.serve("-e", GETPPID, "--comm", COMM, "--window", "300ms", *target)

    def wait_for_samples(self, service, name, count):
        served.wait_for(lambda: service.metrics().get(name, 0) >= count)
