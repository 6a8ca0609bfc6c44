# SPDX-License-Identifier: Apache-2.0
"""perftape-serve --cri-socket: samples have the names of pods and containers that only the container
runtime knows. A runtime that does not answer well costs the names, and no sample."""

import json
import pathlib
import socket

import cri_runtime
import harness
import served
from cgroups import COMM, GETPPID

SLICE = "kubepods.slice/kubepods-pod{}.slice"
NO_FILES = "mount -t tmpfs tmpfs /var/log"  # none that name pods
WARNING = "no names of pods from the container runtime"


class CriTest(served.ServeTest):
    def setUp(self):
        super().setUp()
        self.socket = self.dir / "cri.sock"

    def runtime(self, answer="names"):
        process = self.spawn(served.DEBIAN_PYTHON, cri_runtime.__file__, self.socket, served.POD, served.ID,
                             "--answer", answer)
        served.wait_for(lambda: self.socket.exists() or process.poll() is not None)
        if process.poll() == 77:
            self.skipTest("no python3-grpcio")

    def container(self):
        slice_of_pod = SLICE.format(served.POD.replace("-", "_"))
        return self.group(f"{slice_of_pod}/cri-containerd-{served.ID}.scope")

    def serve_pods(self, *options):
        return self.serve("-e", GETPPID, "--comm", COMM, "--window", "300ms", "--cri-socket", self.socket,
                          *options, under=self.after_mounts(NO_FILES))

    def pod_samples(self, service, pod="web-0"):
        return sum(service.folded(scope="pod", namespace="shop", pod=pod).values())

    def wait_for_names(self, service, group):
        """Calls until the names are known."""
        calls = 0
        while not self.pod_samples(service):
            self.call((group, COMM, 10))
            calls += 10
        return calls

    def groups_of(self, service, label):
        (self.dir / "p.pb.gz").write_bytes(service.get(f"/debug/pprof/{GETPPID}", since="5m").body)
        status, out, err = harness.run(harness.BIN / "perftape-report", "p.pb.gz", "--json", "--by",
                                       f"label:{label}", cwd=self.dir)
        self.assertEqual(status, 0, err)
        groups = json.loads(out)["events"][0]["by"][f"label {label}"]
        return {one["name"]: one["amount"]["weight"] for one in groups}

    def test_names_of_a_pod_without_files(self):
        self.runtime()
        group = self.container()
        service = self.serve_pods()
        calls = self.wait_for_names(service, group)
        before = self.pod_samples(service)
        self.call((group, COMM, 300), ("", COMM, 70))
        self.assertEqual(self.pod_samples(service), before + 300)
        self.assertEqual(sum(service.folded().values()), calls + 370)
        self.assertEqual(self.groups_of(service, "container").get("nginx"), before + 300)
        status, err = self.stop(service)
        self.assertEqual((status, err), (0, ""))

    def test_a_pod_that_starts_later(self):
        self.runtime()
        service = self.serve_pods()
        self.call(("", COMM, 10))
        self.wait_for_names(service, self.container())
        self.stop(service)

    def test_a_bad_answer_costs_the_names_only(self):
        for answer, problem in (("hang", "timed out"), ("refuse", "status 7 of gRPC: not for you"),
                                ("garbage", ""), ("large", "")):
            with self.subTest(answer):
                self.runtime(answer)
                self.check_without_names(problem)
                self.socket.unlink()

    def test_a_socket_of_something_else(self):
        with socket.socket(socket.AF_UNIX) as other:
            other.bind(str(self.socket))
            other.listen()
            self.check_without_names("")

    def test_no_socket(self):
        self.check_without_names("")

    def check_without_names(self, problem):
        group = self.container()
        service = self.serve_pods()
        self.call((group, COMM, 300), ("", COMM, 70))
        self.assertEqual(sum(service.folded().values()), 370)
        self.assertEqual(self.pod_samples(service), 0)
        lines = []
        while not any(WARNING in line for line in lines):
            lines.append(service.process.stderr.readline())
            self.assertTrue(lines[-1], "".join(lines))
        self.assertIn(problem, lines[-1])
        self.call((group, COMM, 30))
        self.assertEqual(sum(service.folded().values()), 400)
        metrics = service.metrics()
        self.assertEqual(sum(value for name, value in metrics.items() if "lost_samples" in name), 0)
        status, err = self.stop(service)
        self.assertEqual(status, 0, err)
        self.assertNotIn(WARNING, err)

    def test_the_process_that_asks_has_no_privileges_and_ends(self):
        self.runtime()
        service = self.serve_pods()
        recorder = service.children()["perftape-record"]
        pid = pathlib.Path(f"/proc/{recorder}/task/{recorder}/children").read_text().split()[0]
        process = pathlib.Path(f"/proc/{pid}")
        self.assertEqual((process / "comm").read_text(), "perftape-cri\n")
        status = dict(line.split(":\t", 1) for line in (process / "status").read_text().splitlines())
        self.assertEqual(int(status["CapPrm"], 16), 0)
        self.assertEqual((status["NoNewPrivs"], status["Seccomp"]), ("1", "2"))
        self.stop(service)
        served.wait_for(lambda: not process.exists() or "Z" in (process / "stat").read_text())

    def test_units_of_systemd_are_labels(self):
        service = self.serve_pods()
        self.call((self.group("system.slice/web.service/worker"), COMM, 30), ("", COMM, 7))
        served.wait_for(lambda: sum(service.folded().values()) == 37)
        self.assertEqual(self.groups_of(service, "unit").get("web.service"), 30)
        self.stop(service)


if __name__ == "__main__":
    harness.require(served.SERVE)
    harness.main()
