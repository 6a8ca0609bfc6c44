# SPDX-License-Identifier: Apache-2.0
"""perftape-serve --otlp: receivers of OTLP profiles get what was recorded exactly, by HTTP and gRPC,
with and without TLS. Receivers that fail lose nothing beyond the queue, and the recorder nothing."""

import collections
import http.client
import importlib
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

import harness
import push_receiver
import pushes
import served
from cgroups import COMM
from pushes import DROPPED

PROTO = pushes.RECEIVER.parents[1] / "interop"
DEBIAN = "/usr/lib/python3/dist-packages"


class OtlpTest(pushes.PushTest):
    pb2 = None

    def push(self, url, *options):
        return self.push_to("--otlp", url, *options)

    def calls_in(self, bodies):
        """{comm: samples} of requests."""
        counts = collections.Counter()
        for body in bodies:
            data = self.pb2.ProfilesData()
            data.ParseFromString(body)
            tables = data.dictionary
            text = tables.string_table
            for resource in data.resource_profiles:
                for scope in resource.scope_profiles:
                    for profile in scope.profiles:
                        self.assertEqual(text[profile.sample_type.unit_strindex], "count")
                        for sample in profile.samples:
                            names = [tables.attribute_table[index] for index in sample.attribute_indices]
                            comm = [each.value.string_value for each in names
                                    if text[each.key_strindex] == "thread.name"]
                            counts[comm[0]] += sum(sample.values) or len(sample.timestamps_unix_nano)
        return counts

    def check_delivery(self, url, receiver, *options):
        """All calls arrive, those of the last window, too."""
        service = self.push(url, *options)
        self.call(("", COMM, 1000))
        self.wait_for_samples(service, "perftape_push_samples_total", 1000)
        self.call(("", COMM, 70))
        counts = service.folded()
        status, err = self.stop(service)
        self.assertEqual((status, sum(counts.values())), (0, 1070), err)
        self.assertEqual(self.calls_in(receiver.delivered()), {COMM: 1070})
        return err

    def test_each_call_arrives_by_http(self):
        receiver = self.receiver()
        headers = self.dir / "headers"
        headers.write_text("# of a tenant\nX-Scope-OrgID: shop\nAuthorization: Bearer of-the-test\n")
        headers.chmod(0o600)
        self.check_delivery(f"http://127.0.0.1:{receiver.port}", receiver, "--otlp-headers", headers)
        for sent, _ in receiver.requests():
            self.assertEqual(sent["path"], push_receiver.PATH)
            self.assertEqual(sent["content-type"], "application/x-protobuf")
            self.assertEqual(sent["content-encoding"], "gzip")
            self.assertEqual((sent["x-scope-orgid"], sent["authorization"]), ("shop", "Bearer of-the-test"))

    def test_new_headers_count_after_sighup_and_bad_ones_do_not(self):
        receiver = self.receiver()
        headers = self.dir / "headers"
        served.replace(headers, "Authorization: Bearer one\n")
        service = self.push(f"http://127.0.0.1:{receiver.port}", "--otlp-headers", headers)

        def call_until(value):
            calls = 0
            while receiver.requests()[-1:] == [] or receiver.requests()[-1][0]["authorization"] != value:
                self.call(("", COMM, 10))
                calls += 10
            return calls

        calls = call_until("Bearer one")
        served.replace(headers, "Authorization: Bearer two\n")
        service.process.send_signal(signal.SIGHUP)
        calls += call_until("Bearer two")
        served.replace(headers, "Bearer three\n")
        service.process.send_signal(signal.SIGHUP)
        self.assertRegex(service.process.stderr.readline(), f"SIGHUP: {headers}:1: is not a header.*; the old content stays")
        self.call(("", COMM, 10))
        self.assertEqual(self.stop(service), (0, ""))
        self.assertEqual(receiver.requests()[-1][0]["authorization"], "Bearer two")
        self.assertEqual(self.calls_in(receiver.delivered()), {COMM: calls + 10})

    def test_new_certificates_count_after_sighup(self):
        key, cert = self.certificate()
        receiver = self.receiver("--cert", cert, "--key", key)
        right = cert.read_text()
        self.certificate()
        service = self.push(f"https://localhost:{receiver.port}", "--otlp-ca", cert)
        self.call(("", COMM, 10))
        self.wait_for_samples(service, "perftape_push_retries_total", 1)
        served.replace(cert, right[:len(right) // 2])
        service.process.send_signal(signal.SIGHUP)
        served.wait_for(lambda: f"SIGHUP: {cert}: has no complete certificate" in
                        service.process.stderr.readline())
        self.assertEqual(service.metrics()["perftape_push_samples_total"], 0)
        served.replace(cert, right)
        service.process.send_signal(signal.SIGHUP)
        self.wait_for_samples(service, "perftape_push_samples_total", 10)
        status, err = self.stop(service)
        self.assertEqual(status, 0, err)
        self.assertIn("accepts profiles again", err)
        self.assertEqual(self.calls_in(receiver.delivered()), {COMM: 10})

    def test_each_call_arrives_by_grpc(self):
        receiver = self.receiver("--grpc")
        self.check_delivery(f"grpc://127.0.0.1:{receiver.port}", receiver)

    def certificate(self):
        key, cert = self.dir / "key.pem", self.dir / "cert.pem"
        status, _, err = harness.run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                                     "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
                                     "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
                                     "-keyout", key, "-out", cert)
        self.assertEqual(status, 0, err)
        return key, cert

    def test_each_call_arrives_by_tls(self):
        key, cert = self.certificate()
        for scheme, *grpc in (("https",), ("grpcs", "--grpc")):
            with self.subTest(scheme):
                receiver = self.receiver("--cert", cert, "--key", key, *grpc)
                self.check_delivery(f"{scheme}://localhost:{receiver.port}", receiver, "--otlp-ca", cert)

    def test_an_unknown_certificate_gets_nothing(self):
        key, cert = self.certificate()
        receiver = self.receiver("--cert", cert, "--key", key)
        service = self.push(f"localhost:{receiver.port}")
        self.call(("", COMM, 10))
        self.wait_for_samples(service, "perftape_push_retries_total", 1)
        _, err = self.stop(service)
        self.assertIn("certificate", err)
        self.assertIn("10 samples were not delivered", err)
        self.assertEqual(receiver.requests(), [])

    def test_what_may_be_repeated_is_repeated(self):
        for scheme, answers, *grpc in (
                ("http", "503,429/1,502/date:2,die,504,200"),
                ("grpc", "14,8/1,1,0", "--grpc")):
            with self.subTest(scheme):
                receiver = self.receiver("--answers", answers, *grpc)
                err = self.check_delivery(f"{scheme}://127.0.0.1:{receiver.port}", receiver)
                self.assertIn("accepts profiles again", err)
                first = receiver.requests()[0][1]
                repeated = answers.count(",")
                self.assertEqual([body for _, body in receiver.requests()][:repeated + 1],
                                 [first] * (repeated + 1))

    def test_what_is_refused_is_not_repeated(self):
        for scheme, answers, *grpc in (("http", "400,200"), ("grpc", "8,0", "--grpc")):
            with self.subTest(scheme):
                receiver = self.receiver("--answers", answers, *grpc)
                service = self.push(f"{scheme}://127.0.0.1:{receiver.port}")
                self.call(("", COMM, 500))
                self.wait_for_samples(service, DROPPED % "refused", 1)
                refused = service.metrics()[DROPPED % "refused"]
                self.call(("", COMM, 300))
                _, err = self.stop(service)
                self.assertIn("refused a request", err)
                self.assertEqual(sum(self.calls_in(receiver.delivered()).values()), 800 - refused)

    def test_a_partial_success_is_told(self):
        for scheme, *grpc in (("http",), ("grpc", "--grpc")):
            with self.subTest(scheme):
                receiver = self.receiver("--answers", "partial/3", *grpc)
                service = self.push(f"{scheme}://127.0.0.1:{receiver.port}")
                self.call(("", COMM, 10))
                self.wait_for_samples(service, "perftape_push_rejected_profiles_total", 3)
                _, err = self.stop(service)
                self.assertIn("rejected 3 profiles: not all", err)

    def test_a_receiver_that_hangs_costs_the_queue_and_no_sample_of_the_recorder(self):
        receiver = self.receiver("--answers", "hang")
        service = self.push(f"http://127.0.0.1:{receiver.port}", "--otlp-queue", "4K")
        calls = 0
        while not service.metrics()[DROPPED % "queue_full"]:
            self.call(("", COMM, 10))
            calls += 10
        metrics = service.metrics()
        self.assertEqual(metrics["perftape_push_samples_total"], 0)
        self.assertLessEqual(metrics["perftape_push_queue_bytes"], 4 << 10)
        self.assertEqual(sum(value for name, value in metrics.items() if "lost_samples" in name), 0)
        self.assertEqual(sum(service.folded().values()), calls)
        receiver.process.kill()
        status, err = self.stop(service)
        self.assertEqual(status, 0, err)
        self.assertIn("samples were not delivered", err)

    def test_a_process_that_was_killed_is_started_again_and_pushes_go_on(self):
        receiver = self.receiver()
        service = self.push(f"http://127.0.0.1:{receiver.port}")
        calls = 0
        for name in ("perftape-push", "perftape-import", "perftape-http", "perftape-push"):
            self.call(("", COMM, 100))
            calls += 100
            self.wait_for_samples(service, "perftape_push_samples_total", calls)
            old = service.children()[name]
            os.kill(old, signal.SIGKILL)
            served.wait_for(lambda: service.children().get(name, old) != old)
            if name == "perftape-http":
                served.wait_for(lambda: self.is_answering(service))
        self.call(("", COMM, 100))
        self.wait_for_samples(service, "perftape_push_samples_total", calls + 100)
        self.assertEqual(sum(service.folded().values()), calls + 100)
        status, err = self.stop(service)
        self.assertEqual(status, 0, err)
        self.assertEqual(self.calls_in(receiver.delivered()), {COMM: calls + 100})

    def test_what_waited_in_a_process_that_was_killed_is_counted(self):
        receiver = self.receiver()
        receiver.process.kill()
        receiver.process.wait()
        service = self.push(f"http://127.0.0.1:{receiver.port}")
        self.call(("", COMM, 100))
        self.wait_for_samples(service, "perftape_push_retries_total", 1)
        os.kill(service.children()["perftape-push"], signal.SIGKILL)
        self.wait_for_samples(service, DROPPED % "killed", 100)
        status, err = self.stop(service)
        self.assertEqual(status, 0, err)

    def is_answering(self, service):
        try:
            return service.get("/healthz").status == 200
        except (OSError, http.client.HTTPException):  # of the server that was killed
            return False

    def test_the_process_that_pushes_has_no_privileges(self):
        receiver = self.receiver()
        service = self.push(f"http://127.0.0.1:{receiver.port}")
        pid = service.children()["perftape-push"]
        status = dict(line.split(":\t", 1) for line in
                      pathlib.Path(f"/proc/{pid}/status").read_text().splitlines())
        self.assertEqual(status["Uid"].split(), ["65534"] * 4)
        self.assertEqual(int(status["CapPrm"], 16), 0)
        self.assertEqual(status["NoNewPrivs"], "1")
        self.assertEqual(status["Seccomp"], "2")


if __name__ == "__main__":
    harness.require(served.SERVE, "protoc", "openssl")
    os.environ.setdefault("PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION", "python")
    with tempfile.TemporaryDirectory() as generated:
        sys.path += [generated, DEBIAN]
        subprocess.run(["protoc", f"--proto_path={PROTO}", f"--python_out={generated}",
                        "otlp_profiles.proto"], check=True)
        try:
            OtlpTest.pb2 = importlib.import_module("otlp_profiles_pb2")
        except ImportError as error:
            harness.skip(str(error))
        harness.main()
