# SPDX-License-Identifier: Apache-2.0
"""Checks what a running recorder may still do: its capabilities, in all threads, and its seccomp
filter. What it needs after the start must still work: files of other users, deleted files, the
kernel's symbols, ending the command."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

import harness

OTHER_USER = 12345
# CAP_KILL, CAP_IPC_LOCK, CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH, CAP_SYSLOG, CAP_PERFMON, CAP_BPF,
# CAP_CHECKPOINT_RESTORE.
KEPT = sum(1 << number for number in (5, 14, 19, 2, 34, 38, 39, 40))
ALWAYS_REFUSED = {"clone3"}  # the C library uses clone instead


def status_of(task):
    """Returns the fields of a /proc/.../status."""
    text = pathlib.Path(task, "status").read_text()
    return dict(re.findall(r"^(\w+):\t(.*)$", text, re.MULTILINE))


class Privileges(harness.RecordingTest):
    def start_recorder(self, *arguments):
        """Starts a recorder and returns it when it has installed its filter."""
        recorder = self.spawn(harness.RECORD, *arguments, cwd=self.dir, stderr=subprocess.PIPE,
                              text=True)
        deadline = time.monotonic() + harness.TIMEOUT_S
        while status_of(f"/proc/{recorder.pid}")["Seccomp"] != "2":
            self.assertIsNone(recorder.poll())
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        return recorder

    def finish(self, recorder):
        recorder.send_signal(signal.SIGINT)
        _, err = recorder.communicate(timeout=harness.TIMEOUT_S)
        self.assertEqual(recorder.returncode, 0, err)
        return err

    def assert_threads_have_no_more(self, recorder):
        """Returns how many threads the recorder has."""
        tasks = list(pathlib.Path(f"/proc/{recorder.pid}/task").iterdir())
        for task in tasks:
            status = status_of(task)
            for field in ("CapPrm", "CapEff", "CapInh", "CapAmb"):
                self.assertEqual(int(status[field], 16) & ~KEPT, 0, f"{task}: {field}")
            self.assertEqual(status["NoNewPrivs"], "1")
            self.assertEqual(status["Seccomp"], "2")
        return len(tasks)

    def test_all_threads_give_up_privileges(self):
        recorder = self.start_recorder("-a", "-q", "-o", "perf.data")
        self.assert_threads_have_no_more(recorder)
        self.finish(recorder)

    def test_threads_that_ran_before_give_them_up(self):
        """They complete files and load unwind tables."""
        self.spawn(harness.BURNER, "--seconds", "60", stdout=subprocess.DEVNULL)
        recorder = self.start_recorder("-a", "-q", "--call-graph", "eh", "--switch-output=1s",
                                       "-o", "perf.%n")
        self.assertGreaterEqual(self.assert_threads_have_no_more(recorder), 4)
        nice = [os.getpriority(os.PRIO_PROCESS, int(task))
                for task in os.listdir(f"/proc/{recorder.pid}/task")]
        self.assertEqual(nice.count(-20), 1, "one thread copies records out of rings")
        nice.remove(-20)
        self.assertEqual(set(nice), {os.getpriority(os.PRIO_PROCESS, 0)},
                         "a thread whose work other users choose is more urgent than they are")
        time.sleep(1.5)
        self.finish(recorder)
        for file in self.dir.glob("perf.*"):
            _, err = harness.perf_report(file, sort="comm")
            self.assertEqual(err, "", file)

    def test_command_at_a_switch_keeps_its_privileges(self):
        own = status_of("/proc/self")
        self.record("-a", "-q", "-o", "r.%n", "--switch-output=1s", "--duration", "2",
                    "--exec-on-switch", "cat /proc/self/status >> status; echo >> names")
        names = (self.dir / "names").read_text().split()
        self.assertIn("r.1", [pathlib.Path(name).name for name in names])
        command = dict(re.findall(r"^(\w+):\t(.*)$", (self.dir / "status").read_text(),
                                  re.MULTILINE))
        for field in ("CapPrm", "CapEff", "CapBnd", "NoNewPrivs", "Seccomp", "SigBlk"):
            self.assertEqual(command[field], own[field], field)

    def test_kernel_without_addresses_is_one_function_and_one_warning(self):
        """CAP_BPF and CAP_PERFMON suffice to record. Without CAP_SYSLOG the kernel hides addresses."""
        kernel = pathlib.Path("/proc/sys/kernel")
        if (int((kernel / "kptr_restrict").read_text()) == 0
                and int((kernel / "perf_event_paranoid").read_text()) <= 1):
            self.skipTest("this kernel hides its addresses from nobody")
        self.dir.chmod(0o777)
        has = "+bpf,+perfmon"
        status, _, err = harness.run(
            "setpriv", "--reuid=12345", "--regid=12345", "--clear-groups", f"--inh-caps={has}",
            f"--ambient-caps={has}", f"--bounding-set=-all,{has}", harness.RECORD, "-o", "perf.data",
            "--", "dd", "if=/dev/zero", "of=/dev/null", "bs=64k", "count=200000", cwd=self.dir)
        self.assertEqual(status, 0, err)
        self.assertEqual(len(re.findall("hide.* addresses", err)), 1, err)
        status, out, err = harness.run(harness.BIN / "perftape-report", self.dir / "perf.data")
        self.assertEqual(status, 0, err)
        self.assertRegex(out, r" \[kernel\] +\[kernel\]\n")
        self.assertEqual((out + err).count("recorded without CAP_SYSLOG: no kernel names"), 1)
        self.assertNotIn("[unknown]", out)

    def test_old_files_in_a_directory_of_another_user_are_deleted(self):
        foreign = self.dir / "foreign"
        foreign.mkdir(mode=0o700)
        os.chown(foreign, OTHER_USER, OTHER_USER)
        recorder = self.start_recorder("-a", "-q", "-o", "foreign/r.%n", "--switch-output=1s",
                                       "--keep-files", "2")
        deadline = time.monotonic() + harness.TIMEOUT_S
        while not (foreign / "r.3").exists():
            self.assertIsNone(recorder.poll())
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)
        self.finish(recorder)
        names = {file.name for file in foreign.iterdir()}
        self.assertEqual(len(names), 2, names)
        self.assertNotIn("r.1", names)

    def test_summary_is_written_to_a_directory_of_another_user(self):
        foreign = self.dir / "foreign"
        foreign.mkdir(mode=0o700)
        os.chown(foreign, OTHER_USER, OTHER_USER)
        self.record("-q", "-o", "perf.data", "--json", "foreign/summary", "--", "true")
        self.assertTrue((foreign / "summary").exists())

    def test_command_keeps_its_privileges(self):
        own = status_of("/proc/self")
        self.record("-q", "-o", "perf.data", "--", "sh", "-c",
                    "sleep 0.5; cat /proc/self/status > status")
        command = dict(re.findall(r"^(\w+):\t(.*)$", (self.dir / "status").read_text(),
                                  re.MULTILINE))
        for field in ("CapPrm", "CapEff", "CapBnd", "NoNewPrivs", "Seccomp"):
            self.assertEqual(command[field], own[field], field)

    def test_option_keeps_them(self):
        own = int(status_of("/proc/self")["CapPrm"], 16)
        recorder = self.spawn(harness.RECORD, "-a", "-q", "--no-sandbox", "-o", "perf.data",
                              cwd=self.dir, stderr=subprocess.PIPE, text=True)
        self.wait_for_file(self.dir / "perf.data", recorder)
        time.sleep(0.5)
        status = status_of(f"/proc/{recorder.pid}")
        self.assertEqual((status["Seccomp"], int(status["CapPrm"], 16)), ("0", own))
        self.finish(recorder)

    def test_deleted_binary_of_another_user_has_its_symbols(self):
        """It is in a directory that only its user may read, and is deleted while it runs."""
        private = self.dir / "private"
        private.mkdir()
        program = private / "program"
        shutil.copy(harness.BURNER, program)
        for path in (private, program):
            os.chown(path, OTHER_USER, OTHER_USER)
            path.chmod(0o700)
        self.dir.chmod(0o711)
        # Of that user alone: files of other tests would be read first.
        recorder = self.start_recorder("-u", str(OTHER_USER), "-F", "99", "-o", "perf.data")
        victim = self.spawn(program, "--seconds", "3", user=OTHER_USER, group=OTHER_USER, extra_groups=[],
                            stdout=subprocess.DEVNULL)
        program.unlink()
        victim.wait(timeout=harness.TIMEOUT_S)
        err = self.finish(recorder)
        status, out, _ = harness.run(harness.BUNDLE, "list", "--json", self.dir / "perf.data")
        self.assertEqual(status, 0)
        self.assertRegex(out, r'private/program', err)
        entry = next(part for part in out.split("{") if "private/program" in part)
        self.assertNotIn('"missing"', entry)

    def test_compressed_recording_of_this_machine_has_names(self):
        """The converters find the binaries of this machine for it without --local."""
        self.record("-q", "--no-bundle", "-o", "perf.data", "--", harness.BURNER, "--seconds", "0.5")
        subprocess.run(["gzip", "--keep", "perf.data"], cwd=self.dir, check=True)
        folded = {}
        for name in ("perf.data", "perf.data.gz"):
            status, _, err = harness.run(harness.CONVERT, "-q", name, "-o", name + ".folded",
                                         cwd=self.dir)
            self.assertEqual((status, err), (0, ""))
            folded[name] = (self.dir / (name + ".folded")).read_text()
        self.assertEqual(folded["perf.data.gz"], folded["perf.data"])
        self.assertIn("burn", folded["perf.data"])

    def test_output_is_private_and_no_link_of_another_user_is_followed(self):
        self.record("-q", "-o", "perf.data", "--", "true")
        self.assertEqual((self.dir / "perf.data").stat().st_mode & 0o777, 0o600)
        shared = self.dir / "shared"
        shared.mkdir()
        shared.chmod(0o1777)
        link, victim = shared / "perf.data", self.dir / "victim"
        victim.write_text("of root")
        link.symlink_to(victim)
        os.chown(link, OTHER_USER, OTHER_USER, follow_symlinks=False)
        os.chown(shared, 0, 0)
        status, _, err = harness.run(harness.RECORD, "-q", "-o", link, "--", "true", cwd=self.dir)
        self.assertEqual(status, 1)
        self.assertIn("symbolic link of another user", err)
        self.assertEqual(victim.read_text(), "of root")

    def test_ends_a_command_of_another_user(self):
        recorder = self.start_recorder("-q", "-o", "perf.data", "--", "setpriv", "--reuid",
                                       OTHER_USER, "--clear-groups", "sleep", "100")
        recorder.send_signal(signal.SIGTERM)
        recorder.communicate(timeout=10)
        self.assertNotEqual(recorder.returncode, None)

    def assert_no_call_is_refused(self, *arguments):
        if shutil.which("strace") is None:
            self.skipTest("strace is not installed")
        log = self.dir / "strace"
        harness.run("strace", "-f", "-qq", "-o", log, harness.RECORD, "-a", "-F", "99", "-q",
                    *arguments, cwd=self.dir)
        text = log.read_text()
        after = text[text.rindex("SECCOMP_SET_MODE_FILTER"):].splitlines()
        refused, unfinished = {}, {}
        for line in after:
            thread = line.partition(" ")[0]
            if line.endswith("<unfinished ...>"):
                unfinished[thread] = line
            call = re.search(r"\b(\w+)(?:\(| resumed>).*= -1 (?:EPERM|ENOSYS|EACCES) ", line)
            if call is None or call[1] in ALWAYS_REFUSED:
                continue
            whole = unfinished.get(thread, "") + line if " resumed>" in line else line
            # The kernel itself refuses it of a process with more capabilities than the test has.
            if not re.search(r'openat\(\d+, "\d+/maps"', whole):
                refused.setdefault(call[1], whole)
        self.assertEqual(refused, {})

    def test_no_call_is_refused(self):
        self.assert_no_call_is_refused("-z", "-o", "perf.data", "--duration", "1")

    def test_no_call_of_a_rotating_recording_is_refused(self):
        self.assert_no_call_is_refused(
            "-o", "r.%n", "--switch-output=1s", "--keep-files", "1", "--reserve-space", "1M",
            "--call-graph", "eh", "--json", "summary", "--duration", "3")


if __name__ == "__main__":
    harness.require("perf", "setpriv")
    harness.main()
