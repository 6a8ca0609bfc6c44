# SPDX-License-Identifier: Apache-2.0
"""Tests recordings of root without BPF programs: --sampler kernel, and a machine without BTF. perf
reads each file without a complaint and finds the same programs."""

import os
import shutil

import harness

FUNCTIONS = ("burn_matrix", "burn_hash", "burn_sort")
KERNEL = ("--sampler", "kernel")


class Sampler(harness.RecordingTest):
    def recorded(self, name, *arguments, under=()):
        """Returns the messages of a recorder that succeeds, and what perf report counts."""
        data = self.dir / name
        _, err = self.record("-o", data, "-F", "499", *arguments, under=under)
        status, out, complaints = harness.run(harness.INSPECT, "--validate", data)
        self.assertEqual((status, complaints), (0, ""), out)
        counts, complaints = harness.perf_report(data)
        self.assert_complains_of_losses_only(complaints, data)
        return err, counts

    def assert_burner(self, counts):
        named = harness.without_mode(counts)
        for function in FUNCTIONS:
            self.assertGreater(named.get(function, 0), 10, counts)

    def burn(self, name, *arguments, **options):
        return self.recorded(name, *arguments, "--", harness.BURNER, "--seconds", "1", **options)

    def test_a_command(self):
        err, counts = self.burn("command.data", *KERNEL)
        self.assertIn("no BPF programs are used: --sampler kernel", err)
        self.assert_burner(counts)

    def test_the_whole_system(self):
        err, counts = self.burn("system.data", *KERNEL, "-a")
        self.assertIn("frame pointers", err)
        self.assert_burner(counts)
        self.assertTrue(any(name.startswith("[k]") for name in counts), counts)

    def test_call_chains_of_kernel_and_user_code(self):
        self.burn("chains.data", *KERNEL, "-a", "--call-graph", "fp")
        _, out, _ = harness.run("perf", "script", "-F", "comm,ip,sym", "-i", self.dir / "chains.data",
                                env=harness.perf_environment())
        stacks = [stack for stack in out.split("\n\n") if "burn_matrix" in stack]
        self.assertTrue(any("matrix_worker" in stack for stack in stacks), out[:2000])

    def test_copies_of_stacks(self):
        _, counts = self.burn("dwarf.data", *KERNEL, "-a", "--call-graph", "dwarf,4096")
        self.assert_burner(counts)
        status, out, err = harness.run(harness.CONVERT, self.dir / "dwarf.data",
                                       "--to", "folded")
        self.assertEqual(status, 0, err)
        self.assertRegex(out, r"matrix_worker.*;burn_matrix")

    def test_tracepoints_on_all_cpus(self):
        _, counts = self.burn("switches.data", *KERNEL, "-a", "-e", "sched:sched_switch,cpu-clock")
        self.assert_burner(counts)
        stats = harness.perf_stats(self.dir / "switches.data")
        self.assertGreater(stats["SAMPLE"], 100, stats)
        _, out, _ = harness.run("perf", "script", "-F", "event,cpu,trace", "-i", self.dir / "switches.data",
                                env=harness.perf_environment())
        switches = [line for line in out.splitlines() if "sched:sched_switch" in line]
        self.assertGreater(len(switches), 10)
        self.assertTrue(all("prev_comm=" in line for line in switches), switches[:3])

    def test_without_btf(self):
        under = self.after_mounts("mount -t tmpfs none /sys/kernel/btf")
        err, counts = self.burn("old.data", "-a", under=under)
        self.assertRegex(err, "no BPF programs are used: .*/sys/kernel/btf/vmlinux is absent")
        self.assert_burner(counts)
        status, _, err = harness.run(*under, harness.RECORD, "-o", self.dir / "no.data", "--sampler", "bpf",
                                     "--", "true")
        self.assertEqual(status, 1)
        self.assertIn("BTF", err)
        status, _, err = harness.run(*under, harness.RECORD, "-o", self.dir / "no.data", "-e", "offcpu",
                                     "--", "true")
        self.assertEqual(status, 1)
        self.assertRegex(err, "event 'offcpu': off-CPU time needs eBPF: .*BTF")
        _, out, _ = harness.run(*under, harness.DOCTOR)
        self.assertIn("works without BPF programs", out)

    def test_one_capability(self):
        """As in a container that is given no more than CAP_PERFMON."""
        if shutil.which("setpriv") is None:
            self.skipTest("setpriv is not installed")
        os.chmod(self.dir, 0o777)
        capabilities = "-all,+perfmon"
        under = ["setpriv", "--bounding-set", capabilities, "--inh-caps", capabilities]
        data = self.dir / "perfmon.data"
        _, err = self.record("-o", data, "-F", "499", "-a", "--", harness.BURNER, "--seconds", "1", under=under)
        self.assertRegex(err, "no BPF programs are used: .*CAP_BPF")
        counts, complaints = harness.perf_report(data)
        self.assertIn("Kernel address maps", complaints, "they need CAP_SYSLOG")
        self.assert_burner(counts)


def main():
    harness.require("perf", "unshare")
    harness.main()


if __name__ == "__main__":
    main()
