# SPDX-License-Identifier: Apache-2.0
"""perftape-serve --push pyroscope=URL: a receiver that decodes requests as Pyroscope does
(pkg/distributor/distributor.go, Push; pkg/validation/validate.go) gets what was recorded exactly, and
finds nothing to refuse. Receivers that fail lose nothing beyond the queue."""

import collections
import gzip
import os
import re
import shutil
import subprocess
import sys
import time

import harness
import process_context_test
import pushes
import served
from cgroups import COMM, GETPPID
from pushes import DROPPED

sys.path.append(str(pushes.RECEIVER.parents[1] / "interop"))
import pprof_reader  # noqa: E402

PATH = "/push.v1.PusherService/Push"
LABEL_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
METRIC_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")  # ":" is between the parts of a type of profiles
SERIES = GETPPID.replace(":", "_")
NAMED = f"ü{COMM}"
SWITCHES = "context-switches"
SAMPLES = ("samples", "count")
LABELS = ("namespace", "pod", "container", "unit", "comm")


class Push:
    """What Pyroscope reads of a PushRequest."""

    def __init__(self, body):
        (series,) = [value for number, value in pprof_reader.fields(body) if number == 1]
        parts = list(pprof_reader.fields(series))
        pairs = [pprof_reader.message(value) for number, value in parts if number == 1]
        self.labels = {pair(1).decode(): pair(2).decode() for pair in pairs}
        assert len(self.labels) == len(pairs), pairs
        (sample,) = [value for number, value in parts if number == 2]
        self.pprof = pprof_reader.message(sample)(1)
        self.profile = pprof_reader.read(self.pprof)

    def counts(self):
        return counts_in(self.profile)


def counts_in(profile):
    """{values of LABELS and pid: samples}"""
    column = profile.types.index(SAMPLES)
    counts = collections.Counter()
    for sample in profile.samples:
        counts[tuple(sample.labels.get(key) for key in (*LABELS, "pid"))] += sample.values[column]
    return counts


class PyroscopeTest(pushes.PushTest):
    def target(self, receiver, path=""):
        return "--push", f"pyroscope=http://127.0.0.1:{receiver.port}{path}"

    def check_valid(self, push, since):
        """Pyroscope takes it."""
        self.assertLess(len(push.labels), 30)
        self.assertTrue(METRIC_NAME.fullmatch(push.labels["__name__"]), push.labels)
        self.assertIn(push.labels["service_name"], ("perftape", "cart"))
        self.assertEqual(push.labels["__delta__"], "false")
        self.assertTrue(push.labels["host_name"])
        for name, value in push.labels.items():
            self.assertTrue(LABEL_NAME.fullmatch(name) and value and len(value) < 2048, (name, value))
        for name, _ in push.profile.types:
            self.assertNotIn("-", name)
        for sample in push.profile.samples:
            self.assertTrue(sample.locations and all(sample.locations) and all(sample.values))
            self.assertLessEqual(set(sample.labels), {*LABELS, "pid"})
        header = pprof_reader.message(gzip.decompress(push.pprof))
        self.assertLess(since - 5, header(9) / 1e9)  # time_nanos
        self.assertLess(header(9) / 1e9, time.time() + 5)
        self.assertTrue(header(10) and header(11), "no duration or type of periods")

    def pushes_of(self, receiver, since):
        """{series: [Push]}"""
        found = collections.defaultdict(list)
        for body in receiver.delivered():
            push = Push(body)
            self.check_valid(push, since)
            found[push.labels["__name__"]].append(push)
        return found

    def test_each_event_is_a_series_with_the_labels_of_its_samples(self):
        group, other = self.pod_groups()
        receiver, since = self.receiver(), time.time()
        headers = self.dir / "headers"
        headers.write_text("X-Scope-OrgID: shop\n")
        headers.chmod(0o600)
        service = self.serve("-e", f"cpu-clock,{SWITCHES}/period=1/,{GETPPID}", "-F", "199", "--window", "300ms",
                             "--otlp-headers", headers, *self.target(receiver, "/base/"), under=self.pods_under())
        self.call((group, COMM, 1000), (other, COMM, 300), ("", NAMED, 5))
        served.wait_for(lambda: sum(service.folded(event=GETPPID).values()) >= 1305)
        answer = service.get(f"/debug/pprof/{GETPPID}", since="1h", labels=",".join((*LABELS, "pid")))
        self.assertEqual(answer.status, 200, answer)
        status, err = self.stop(service)
        self.assertEqual((status, err), (0, ""))
        found = self.pushes_of(receiver, since)
        self.assertLessEqual({SERIES, "process_cpu", "context_switches"}, set(found))
        pushed = sum((push.counts() for push in found[SERIES]), collections.Counter())
        for key, count in counts_in(pprof_reader.read(answer.body)).items():
            if key[4] in (COMM, NAMED):
                self.assertEqual(pushed[key], count, key)
        by_pod = collections.Counter()
        for (namespace, pod, _, _, comm, _), count in pushed.items():
            by_pod[namespace, pod, comm] += count
        self.assertEqual(by_pod["shop", "web-0", COMM], 1000)
        self.assertEqual(by_pod["shop", "db-0", COMM], 300)
        self.assertEqual(by_pod[None, None, NAMED], 5)
        self.assertEqual(found[SERIES][0].profile.types, [SAMPLES])
        for push in found["process_cpu"]:
            self.assertEqual(push.profile.types, [SAMPLES, ("cpu", "nanoseconds")])
            for sample in push.profile.samples:
                self.assertGreater(sample.values[1], sample.values[0])
        for sent, _ in receiver.requests():
            self.assertEqual((sent["path"], sent["content-type"]), ("/base" + PATH, "application/proto"))
            self.assertEqual((sent["connect-protocol-version"], sent["x-scope-orgid"]), ("1", "shop"))
            self.assertNotIn("content-encoding", sent)

    def test_each_service_has_a_series(self):
        program = self.dir / "published"
        subprocess.run(["cc", "-O1", "-o", program, process_context_test.SOURCE], check=True)
        receiver, since = self.receiver(), time.time()
        service = self.serve("-e", f"cpu-clock,{GETPPID}", "-F", "199", "--comm", COMM, "--comm", "published", "--window",
                             "300ms", *self.target(receiver))
        status, _, err = harness.run(program, "memfd", process_context_test.CART, "publish", "spin=1")
        self.assertEqual(status, 0, err)
        self.call(("", COMM, 100))
        self.wait_for_samples(service, "perftape_push_samples_total", 101)
        self.assertEqual(self.stop(service), (0, ""))
        found = self.pushes_of(receiver, since)
        self.assertEqual({push.labels["service_name"] for push in found[SERIES]}, {"perftape"})
        comms = {comm for push in found["process_cpu"] if push.labels["service_name"] == "cart"
                 for *_, comm, _ in push.counts()}
        self.assertEqual(comms, {"published"})

    def test_what_may_be_repeated_is_repeated_and_nothing_is_lost(self):
        receiver, since = self.receiver("--answers", "503,429/1,408,die,504,200"), time.time()
        service = self.push_to(*self.target(receiver))
        self.call(("", COMM, 1000))
        self.wait_for_samples(service, "perftape_push_samples_total", 1000)
        self.call(("", COMM, 70))
        self.assertEqual(sum(service.folded().values()), 1070)
        status, err = self.stop(service)
        self.assertEqual(status, 0, err)
        self.assertIn("accepts profiles again", err)
        counts = sum((push.counts() for push in self.pushes_of(receiver, since)[SERIES]), collections.Counter())
        self.assertEqual(sum(counts.values()), 1070)
        first = receiver.requests()[0][1]
        self.assertEqual([body for _, body in receiver.requests()][:6], [first] * 6)

    def test_what_is_refused_is_counted_and_not_repeated(self):
        receiver, since = self.receiver("--answers", "400,200"), time.time()
        service = self.push_to(*self.target(receiver))
        self.call(("", COMM, 500))
        self.wait_for_samples(service, DROPPED % "refused", 1)
        refused = service.metrics()[DROPPED % "refused"]
        self.call(("", COMM, 300))
        _, err = self.stop(service)
        self.assertIn("refused a request, which is dropped: status 400", err)
        counts = sum((push.counts() for push in self.pushes_of(receiver, since)[SERIES]), collections.Counter())
        self.assertEqual(sum(counts.values()), 800 - refused)

    def test_go_reads_the_pprof(self):
        if shutil.which("go") is None:
            self.skipTest("no go")
        receiver = self.receiver()
        service = self.push_to(*self.target(receiver))
        self.call(("", COMM, 1000))
        self.wait_for_samples(service, "perftape_push_samples_total", 1000)
        self.stop(service)
        for number, body in enumerate(receiver.delivered()):
            (self.dir / f"{number}.pb.gz").write_bytes(Push(body).pprof)
        status, out, err = harness.run("go", "tool", "pprof", "-top", *sorted(self.dir.glob("*.pb.gz")),
                                       env=dict(os.environ, HOME=str(self.dir), PPROF_TMPDIR=str(self.dir)))
        self.assertEqual(status, 0, err)
        self.assertRegex(out, r"of 1000 total|1000, 100% of 1000")


if __name__ == "__main__":
    harness.require(served.SERVE)
    harness.main()
