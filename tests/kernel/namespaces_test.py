# SPDX-License-Identifier: Apache-2.0
"""A recorder inside its own pid, mount and cgroup namespaces, and one with two capabilities only."""

import os
import re
import shutil
import subprocess

import cgroups
import harness
from cgroups import COMM, GETPPID, PYTHON, report

NOBODY = 65534
ONLY_TWO = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
            "--inh-caps=-all,+bpf,+perfmon", "--ambient-caps=-all,+bpf,+perfmon",
            "--bounding-set=-all,+bpf,+perfmon")


class Namespaces(cgroups.CgroupTest):
    """The namespaces begin in the cgroup `pod`. Their cgroup file system is mounted at `inside`."""

    def setUp(self):
        super().setUp()
        self.need_mount_namespace()
        self.pod = self.group("pod")
        self.group("pod/web")
        self.inside = self.dir / "inside"
        self.inside.mkdir()

    def run_inside(self, script):
        """Returns (status, stderr)."""
        enter = (f"echo 0 > {self.pod}/cgroup.procs && exec unshare --pid --fork --mount --mount-proc --cgroup "
                 f"sh -c \"$0\"")
        mount = f"mount -t cgroup2 none {self.inside} && "
        status, _, err = harness.run("sh", "-c", enter, mount + script, cwd=self.dir)
        return status, err

    def call(self, group, comm, count):
        return f"{PYTHON} {self.dir}/program.py '{group}' {comm} {count}"

    def test_a_command_has_the_ids_and_cgroups_of_the_namespaces(self):
        late = self.inside / "late"
        status, err = self.run_inside(
            f"{harness.RECORD} -q -o perf.data -e {GETPPID} --all-cgroups -- sh -c '"
            f"{self.call(self.inside / 'web', 'early', 100)}; mkdir {late}; {self.call(late, 'late', 50)}; :'"
            .replace("''", '""'))
        self.assertEqual((status, err), (0, ""))
        counts = report(self.dir / "perf.data", "cgroup,comm")[GETPPID]
        self.assertEqual(counts["/web|early"], 100, counts)
        self.assertEqual(counts["/late|late"], 50, counts)
        pids = {int(re.match(r"\d+", key).group()) for key in report(self.dir / "perf.data", "pid")[GETPPID]}
        self.assertLess(max(pids), 100, pids)

    def test_a_cgroup_is_selected_by_its_path_there(self):
        web = self.inside / "web"
        calls = f"sh -c '{self.call(web, 'inner', 100)}; {self.call(self.inside, 'outer', 50)}'"
        for name in ("web", web):
            status, err = self.run_inside(
                f"{harness.RECORD} -q -o perf.data -e {GETPPID} --cgroup {name} -- {calls}")
            self.assertEqual((status, err), (0, ""))
            self.assertEqual(dict(report(self.dir / "perf.data", "cgroup,comm")[GETPPID]), {"/web|inner": 100})
        status, err = self.run_inside(f"{harness.RECORD} -G {self.top} true")
        self.assertEqual(status, 1)
        self.assertIn(f"no such cgroup in {self.inside}", err)

    def test_the_whole_system_is_recorded_with_a_warning(self):
        outside = self.spawn("sh", "-c", f"while [ ! -e {self.dir}/end ]; do "
                                         f"{self.call('', 'outside', 20)}; done")
        status, err = self.run_inside(
            f"{harness.RECORD} -o perf.data -a -e {GETPPID} --all-cgroups -- sh -c 'sleep 1; "
            f"{self.call(self.inside / 'web', 'inner', 100)}'")
        (self.dir / "end").touch()
        outside.wait(harness.TIMEOUT_S)
        self.assertEqual(status, 0, err)
        self.assertEqual(err.count("processes outside it are recorded with the id -1"), 1, err)
        self.assertEqual(err.count("cgroups outside it have no names"), 1, err)
        counts = report(self.dir / "perf.data", "cgroup,comm")[GETPPID]
        self.assertEqual(counts["/web|inner"], 100, counts)
        # perf's name for the id of a cgroup that no record names.
        self.assertGreater(sum(count for key, count in counts.items() if key.startswith("unknown|")), 20)


class TwoCapabilities(harness.RecordingTest):
    def setUp(self):
        super().setUp()
        if shutil.which("setpriv") is None:
            self.skipTest("setpriv is not installed")
        # The directory of the tools may not be open to others.
        self.tool = self.dir / "perftape-record"
        shutil.copy(harness.RECORD, self.tool)
        os.chmod(self.dir, 0o777)

    def run_tool(self, *arguments):
        done = subprocess.run([*ONLY_TWO, str(self.tool), *map(str, arguments)], cwd=self.dir, text=True,
                              capture_output=True, timeout=harness.TIMEOUT_S, check=False)
        return done.returncode, done.stderr

    def test_record_the_clock_of_a_cgroup_and_of_names(self):
        mount = cgroups.version_2()
        scope = ["--cgroup", mount] if mount else []
        burn = f"printf {COMM} > /proc/self/comm; i=0; while [ $i -lt 500000 ]; do i=$((i+1)); done"
        status, err = self.run_tool("-o", "perf.data", *scope, "--comm", "*" + COMM[1:], "--", "sh", "-c", burn)
        self.assertIn(status, (0, 3), err)  # 3: the kernel throttled it
        os.chown(self.dir / "perf.data", 0, 0)  # perf reads only its user's files
        counts = report(self.dir / "perf.data", "comm")["cpu-clock"]
        self.assertEqual(set(counts), {COMM}, err)
        self.assertGreater(counts[COMM], 5)

    def test_say_what_tracepoints_need(self):
        status, err = self.run_tool("-e", GETPPID, "true")
        self.assertEqual(status, 1)
        self.assertIn("run it as root, or grant CAP_DAC_READ_SEARCH", err)
        self.assertFalse((self.dir / "perf.data").exists())

    def test_one_of_them_is_not_enough_for_programs(self):
        for missing, name, expected in (("bpf", "CAP_BPF", 0), ("perfmon", "CAP_PERFMON", 1)):
            words = [word.replace(f",+{missing}", "") for word in ONLY_TWO]
            status, _, err = harness.run(*words, self.tool, "-a", "--duration", "1", cwd=self.dir)
            self.assertEqual(status, expected, err)
            self.assertIn(f"{name} is missing", err)


if __name__ == "__main__":
    harness.require("perf", "unshare")
    harness.main()
