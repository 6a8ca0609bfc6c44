# SPDX-License-Identifier: Apache-2.0
"""Recordings of cgroups, containers and threads by name. Each program makes a known number of system
calls, which a tracepoint counts, so the counts are exact: in perf report and in perftape-convert."""

import json
import os
import signal
import subprocess

import cgroups
import harness
from cgroups import EVENTS, GETPPID, PYTHON, report

# Of no containers of other tests. Both begin with the same two digits.
ID, OTHER_ID = "7e5b" + 60 * "b", "7e99" + 60 * "c"


class Scope(cgroups.CgroupTest):
    def record_calls(self, *arguments, **options):
        """{key of cgroup and comm: calls}."""
        self.record("-q", "-e", EVENTS, "-o", "perf.data", *arguments, **options)
        return dict(report(self.dir / "perf.data", "cgroup,comm")[GETPPID])

    def test_perf_report_counts_the_calls_of_each_cgroup(self):
        one, two = self.group("one"), self.group("two/inner")
        counts = self.record_calls("--all-cgroups", *self.calls((one, "alpha", 1000), (two, "beta", 3000)))
        self.assertEqual(counts[f"{self.path('one')}|alpha"], 1000)
        self.assertEqual(counts[f"{self.path('two/inner')}|beta"], 3000)

    def test_convert_agrees_with_perf_report(self):
        one, two = self.group("one"), self.group("two/inner")
        self.record("-q", "-e", EVENTS, "-o", "perf.data", "--all-cgroups",
                    *self.calls((one, "alpha", 1000), (two, "beta", 3000)))
        by_cgroup = report(self.dir / "perf.data", "cgroup")
        for name in ("one", "two/inner"):
            status, out, err = harness.run(
                harness.CONVERT, "-q", "-f", "--no-symbols", "--json", "perf.data", "--cgroup",
                self.path(name), "-o", "out.pb.gz", cwd=self.dir)
            self.assertEqual(status, 0, err)
            kept = {event["name"]: event["kept"]["samples"] for event in json.loads(out)["events"]}
            for event in ("context-switches", GETPPID):
                self.assertEqual(kept.get(event, 0), by_cgroup[event][self.path(name)], event)

    def test_a_cgroup_is_recorded_with_those_below_it(self):
        inner, outer, other = self.group("web/inner"), self.group("web"), self.group("other")
        programs = self.calls((inner, "inner", 300), (outer, "outer", 200), (other, "other", 100))
        expected = {f"{self.path('web/inner')}|inner": 300, f"{self.path('web')}|outer": 200}
        identity = os.stat(outer).st_ino
        for name in (self.path("web"), f"{self.top}/web", outer, identity):
            counts = self.record_calls("--cgroup", name, *programs)
            self.assertEqual({key: counts.get(key) for key in expected}, expected, name)
            self.assertFalse([key for key in counts if not key.startswith(self.path("web"))], counts)

    def test_any_of_several_cgroups_is_recorded(self):
        groups = [self.group(name) for name in ("a", "b", "c")]
        programs = self.calls(*((group, group.name, 100) for group in groups))
        counts = self.record_calls("-G", self.path("a"), "-G", self.path("b"), *programs)
        self.assertEqual([counts.get(f"{self.path(name)}|{name}", 0) for name in "abc"], [100, 100, 0])

    def test_a_cgroup_made_while_recording_has_its_name(self):
        self.group("web")
        late = self.mount / self.top / "web/late"
        counts = self.record_calls("-G", self.path("web"), "--", "sh", "-c",
                                   f"mkdir {late}; {PYTHON} {self.dir}/program.py {late} late 50")
        self.assertEqual(counts.get(f"{self.path('web/late')}|late"), 50, counts)

    def test_a_cgroup_of_version_1_is_recorded(self):
        mount = cgroups.version_1()
        if mount is None:
            self.skipTest("no writable cgroup v1 hierarchy")
        inner, other = self.group("only1/inner", mount), self.group("other1", mount)
        counts = self.record_calls("-G", self.path("only1"),
                                   *self.calls((inner, "inner", 300), (other, "other", 100)))
        self.assertEqual(counts.get(f"{self.path('only1/inner')}|inner"), 300, counts)
        self.assertFalse([key for key in counts if "other" in key], counts)

    def enter_and_call(self, group, comm):
        return self.spawn(PYTHON, self.dir / "program.py", group, comm, 10**12)

    def follow_a_cgroup_made_again(self, mount):
        """Returns the recorder's messages. A service that is restarted has a new cgroup of the same path."""
        group, data = self.group("service", mount), self.dir / f"{mount.name}.data"
        recorder = self.spawn(harness.RECORD, "-F", "199", "--no-bundle", "-G", self.path("service"),
                              "-o", data, stderr=subprocess.PIPE, text=True)
        first = self.enter_and_call(group, "first")
        self.wait_for_samples(data, 20)
        first.kill()
        first.wait()
        cgroups.remove(group)
        self.group("service", mount)
        second = self.enter_and_call(group, "second")
        self.wait_for_samples(data, harness.committed_samples(data) + 20)
        recorder.send_signal(signal.SIGINT)
        _, messages = recorder.communicate()
        second.kill()
        second.wait()
        counts = report(data, "comm")
        for comm in ("first", "second"):
            self.assertGreater(sum(counts[event][comm] for event in counts), 0, counts)
        return messages

    def test_a_cgroup_that_is_made_again_is_recorded(self):
        for mount in filter(None, (self.mount, cgroups.version_1())):
            with self.subTest(mount=mount):
                self.assertIn(f"the cgroup {self.path('service')} was removed and created again",
                              self.follow_a_cgroup_made_again(mount))
                cgroups.remove(mount / self.top / "service")

    def test_a_container_is_found_by_the_beginning_of_its_id(self):
        for directory in (f"docker/{ID}", f"machine.slice/libpod-{ID}.scope",
                          f"kubepods.slice/pod1.slice/cri-containerd-{ID}.scope"):
            inner, other = self.group(f"{directory}/inner"), self.group(f"docker/{OTHER_ID}")
            counts = self.record_calls("--container", ID[:4],
                                       *self.calls((inner, "inside", 300), (other, "outside", 100)))
            self.assertEqual(counts.get(f"{self.path(directory)}/inner|inside"), 300, counts)
            self.assertFalse([key for key in counts if "outside" in key], counts)
            os.rmdir(inner)
            os.rmdir(inner.parent)

    def test_a_pod_is_found_by_its_name(self):
        uid = "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0"
        slice_of_pod = f"kubepods.slice/kubepods-pod{uid.replace('-', '_')}.slice"
        for directory in (f"kubepods/burstable/pod{uid}", slice_of_pod):
            inside, other = self.group(f"{directory}/{ID}"), self.group(f"kubepods/pod-other/{OTHER_ID}")
            # A mount namespace hides the directory from other programs.
            counts = self.record_calls(
                "--pod", "shop/web-*", *self.calls((inside, "inside", 300), (other, "outside", 100)),
                under=self.after_mounts(
                    f"mount -t tmpfs tmpfs /var/log && mkdir -p /var/log/pods/shop_web-0_{uid} /var/log/containers "
                    f"&& touch /var/log/containers/web-0_shop_nginx-{ID}.log"))
            self.assertEqual(counts.get(f"{self.path(directory)}/{ID}|inside"), 300, counts)
            self.assertFalse([key for key in counts if "outside" in key], counts)
            # The names are in the file.
            status, out, err = harness.run(
                harness.BIN / "perftape-report", "perf.data", "--json", "--event", GETPPID, "--by", "pod,label:container",
                cwd=self.dir)
            self.assertEqual(status, 0, err)
            groups = json.loads(out)["events"][0]["by"]
            self.assertEqual([(one["name"], one["amount"]["samples"]) for one in groups["pod"]],
                             [("shop/web-0", 300)])
            self.assertEqual([one["name"] for one in groups["label container"]], ["nginx"])

    def test_threads_are_selected_by_name(self):
        programs = self.calls(("", "worker-1", 100), ("", "worker-22", 200), ("", "other", 400))
        for globs, expected in ((["worker-?"], {"worker-1": 100}),
                                (["worker-*"], {"worker-1": 100, "worker-22": 200}),
                                (["w*[!2]", "oth[a-f]r"], {"worker-1": 100, "other": 400})):
            arguments = [word for glob in globs for word in ("--comm", glob)]
            self.record("-q", "-e", EVENTS, "-o", "perf.data", *arguments, *programs)
            counts = report(self.dir / "perf.data", "comm")[GETPPID]
            self.assertEqual(dict(counts), expected)

    def test_all_parts_of_the_scope_must_hold(self):
        one, two = self.group("one"), self.group("two")
        programs = self.calls((one, "alpha", 100), (one, "beta", 200), (two, "alpha", 400))
        counts = self.record_calls("-G", self.path("one"), "--comm", "alpha", *programs)
        self.assertEqual(counts, {f"{self.path('one')}|alpha": 100})
        sleeper = self.spawn("sleep", "60")
        self.record("-q", "-e", EVENTS, "-o", "perf.data", "-G", self.path("one"), "-p", sleeper.pid,
                    *programs)
        self.assertEqual(report(self.dir / "perf.data", "comm")[GETPPID], {})

    def test_processes_have_their_namespaces(self):
        self.record("-q", "-e", EVENTS, "--namespaces", "-o", "perf.data", "--", "unshare", "--cgroup",
                    PYTHON, str(self.dir / "program.py"), "", "shared", "100")
        host = os.stat("/proc/self/ns/cgroup")
        keys = report(self.dir / "perf.data", "cgroup_id,comm")[GETPPID]
        (key, count), = [(key, count) for key, count in keys.items() if key.endswith("shared")]
        self.assertEqual(count, 100)
        self.assertRegex(key, rf"^{host.st_dev}/0x[0-9a-f]+\|")
        self.assertNotIn(f"{host.st_ino:#x}|", key)
        self.record("-q", "-e", EVENTS, "--namespaces", "-a", "-o", "perf.data",
                    *self.calls(("", "plain", 100)))
        keys = report(self.dir / "perf.data", "cgroup_id,comm")[GETPPID]
        self.assertEqual(keys[f"{host.st_dev}/{host.st_ino:#x}|plain"], 100)

    def test_hotspots_parser_reads_samples_with_cgroups(self):
        if not os.path.exists(harness.PERFPARSER):
            self.skipTest("hotspot is not installed")
        one = self.group("one")
        self.record("-q", "-e", EVENTS, "--all-cgroups", "-o", "perf.data", *self.calls((one, "alpha", 500)))
        expected = sum(sum(counts.values()) for counts in report(self.dir / "perf.data", "comm").values())
        status, out, err = harness.run("timeout", "60", harness.PERFPARSER, "--print-stats", "--input",
                                       self.dir / "perf.data")
        self.assertEqual(status, 0, err)
        self.assertIn(f"samples: {expected}\n", out + err)

    def test_what_is_not_there_is_an_error_before_anything_is_written(self):
        self.group("database")
        self.group(f"docker/{ID}")
        self.group(f"docker/{OTHER_ID}")
        for arguments, message in (
                (("-G", self.path("databse")), f"did you mean {self.path('database')}?"),
                (("--container", ID[:2]), "several containers in"),
                (("--container", "4711aa"), "has this id in its name"),
                (("--comm", "0123456789abcdef"), "keeps only 15 bytes")):
            status, _, err = harness.run(harness.RECORD, *arguments, "true", cwd=self.dir)
            self.assertEqual(status, 1)
            self.assertIn(message, err)
            self.assertFalse((self.dir / "perf.data").exists())


if __name__ == "__main__":
    harness.require("perf")
    harness.main()
