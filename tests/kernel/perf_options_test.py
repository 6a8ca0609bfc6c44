# SPDX-License-Identifier: Apache-2.0
"""Options of perf record that perftape-record has, too: what they do to a recording. Their attributes are those of perf
(hardware_events_test.py)."""

import os
import re

import harness


class PerfOptions(harness.RecordingTest):
    def record(self, *words, status=0):
        """Returns stdout and stderr."""
        ended, out, err = harness.run(harness.RECORD, "-q", *words, cwd=self.dir)
        self.assertEqual(ended, status, err)
        return out, err

    def comms(self, path="perf.data"):
        return {row["comm"] for row in harness.inspect_samples(self.dir / path)}

    def test_no_inherit_records_only_the_first_thread_of_the_command(self):
        script = f"ls -d / > /dev/null; {harness.BURNER} --seconds 0.2; :"
        for options, recorded in (([], {"sh", "ls"}), (["-i"], {"sh"}), (["-i", "--inherit"], {"sh", "ls"})):
            self.record(*options, "-e", "raw_syscalls:sys_enter", "--", "sh", "-c", script)
            # The process is the recorder's until its exec.
            self.assertEqual(self.comms() & {"sh", "ls"}, recorded, options)

    def test_no_inherit_records_the_threads_of_a_process_and_no_children(self):
        shell = self.spawn("sh", "-c", "while :; do ls -d / > /dev/null; done")
        self.record("-i", "-p", shell.pid, "-e", "raw_syscalls:sys_enter", "--duration", "0.3")
        self.assertEqual({row["tid"] for row in harness.inspect_samples(self.dir / "perf.data")}, {str(shell.pid)})

    def test_no_buildid_reads_nothing(self):
        self.record("-B", "--", harness.BURNER, "--seconds", "0.3")
        data = self.dir / "perf.data"
        self.assertNotIn("HEADER_BUILD_ID", harness.run(harness.INSPECT, "--records", data)[1])
        _, header, _ = harness.run("perf", "report", "--header-only", "-i", data, env=harness.perf_environment())
        self.assertRegex(header, "# missing features: .*BUILD_ID ")
        self.assertNotEqual(harness.run(harness.BUNDLE, "list", data)[0], 0)
        self.assertGreater(sum(harness.perf_report(data)[0].values()), 0)

    def test_max_size_ends_the_recording(self):
        status, _, err = harness.run(harness.RECORD, "-e", "sched:sched_switch", "-B", "--max-size", "64K", "--", "sh",
                                     "-c", "while :; do sleep 0.001; done", cwd=self.dir)
        self.assertEqual(status, 0, err)
        self.assertIn("--max-size", err)
        self.assertGreaterEqual(os.path.getsize(self.dir / "perf.data"), 64 << 10)

    def test_timestamp_filename_names_the_file_by_the_time(self):
        self.record("--timestamp-filename", "--", "true")
        files = os.listdir(self.dir)
        self.assertEqual(len(files), 1, files)
        self.assertRegex(files[0], r"\Aperf\.data\.\d{16}\Z")

    def test_realtime_is_only_for_the_recorder(self):
        if harness.run("chrt", "-f", "1", "true")[0] != 0:
            self.skipTest("SCHED_FIFO is not allowed here")
        out, _ = self.record("-r", "1", "--", "sh", "-c", "chrt -p $PPID; chrt -p $$")
        self.assertEqual(re.findall(r"SCHED_(?:FIFO|OTHER)", out), ["SCHED_FIFO", "SCHED_OTHER"])

    def test_no_bpf_event_leaves_programs_out(self):
        for options, has_them in (([], True), (["--no-bpf-event"], False)):
            self.record(*options, "--", "true")
            records = harness.run(harness.INSPECT, "--records", self.dir / "perf.data")[1]
            self.assertEqual("BPF_EVENT" in records, has_them, options)

    def test_kernel_callchains_have_no_user_frames(self):
        self.record("--kernel-callchains", "-F", "999", "--", "sh", "-c", "head -c 100M /dev/zero | cksum")
        longest = 0
        for row in harness.inspect_samples(self.dir / "perf.data"):
            if int(row["ip"], 16) >> 63 == 0:
                self.assertLessEqual(int(row["nframes"]), 1, row)
                continue
            longest = max(longest, int(row["nframes"]))
            self.assertEqual({int(address, 16) >> 63 for address in row["frames"].split(",")}, {1}, row)
        self.assertGreater(longest, 3)

    def test_all_user_and_all_kernel(self):
        for option, in_kernel in (("--all-user", {False}), ("--all-kernel", {True})):
            self.record(option, "-F", "999", "--", "sh", "-c", "head -c 200M /dev/zero | cksum")
            rows = harness.inspect_samples(self.dir / "perf.data")
            self.assertEqual({int(row["ip"], 16) >> 63 == 1 for row in rows}, in_kernel, option)

    def test_already_so_is_told_when_verbose(self):
        _, _, err = harness.run(harness.RECORD, "-vT", "-o", "x.data", "--", "true", cwd=self.dir)
        self.assertIn("perftape-record: -T: each sample has its time\n", err)

    def test_dry_run_writes_nothing(self):
        self.record("--dry-run", "--", "true")
        self.assertEqual(os.listdir(self.dir), [])


if __name__ == "__main__":
    harness.require("perf", "chrt")
    harness.main()
