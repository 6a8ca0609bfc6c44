# SPDX-License-Identifier: Apache-2.0
"""Tests the promise of perftape-doctor: what it reports of a kind of event is what perftape-record
then does, for root, for users without capabilities, and for one with the two capabilities.

Nothing is compared with a fixed expectation: the machine decides, and both tools must agree."""

import functools
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile

import harness

NOBODY = ["--reuid", "65534", "--regid", "65534", "--clear-groups"]
TWO = "+bpf,+perfmon"
# Who runs the tools: the words before them.
USERS = {
    "root": [],
    "root without capabilities": ["setpriv", "--bounding-set", "-all", "--inh-caps", "-all"],
    "user with two capabilities": ["setpriv", *NOBODY, "--inh-caps", TWO, "--ambient-caps", TWO],
    "user 65534": ["setpriv", *NOBODY],
}

# Answers EPERM to bpf(2) and perf_event_open(2), as container engines do: loads the number of the
# call, compares it, and returns SECCOMP_RET_ERRNO or SECCOMP_RET_ALLOW (linux/seccomp.h).
FILTER = r"""
import ctypes, os, struct, sys
bpf, perf = {"x86_64": (321, 298), "aarch64": (280, 241)}[os.uname().machine]
program = b"".join(struct.pack("HBBI", *words) for words in (
    (0x20, 0, 0, 0), (0x15, 1, 0, bpf), (0x15, 0, 1, perf), (0x06, 0, 0, 0x00050001),
    (0x06, 0, 0, 0x7fff0000)))
text = ctypes.create_string_buffer(program)
class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p)]
prctl = ctypes.CDLL(None, use_errno=True).prctl
assert prctl(38, 1, 0, 0, 0) == 0  # PR_SET_NO_NEW_PRIVS
assert prctl(22, 2, ctypes.byref(Program(5, ctypes.addressof(text))), 0, 0) == 0  # PR_SET_SECCOMP
os.execv(sys.argv[1], sys.argv[1:])
"""


@functools.cache
def usdt_probe():
    """Returns the name of a USDT probe of a library here, or None."""
    for library in ("libstdc++", "libc"):
        status, out, _ = harness.run(harness.RECORD, "list", f"usdt:{library}:*")
        names = [line.split()[0] for line in out.splitlines() if line.startswith("usdt:")]
        if status == 0 and names:
            return names[0]
    return None


class Doctor(harness.RecordingTest):
    def setUp(self):
        super().setUp()
        self.dir.chmod(0o777)
        # Others may not reach the directory of the build.
        public = pathlib.Path(self._stack.enter_context(tempfile.TemporaryDirectory()))
        public.chmod(0o755)
        self.burner = shutil.copy(harness.BURNER, public)

    def diagnose(self, prefix):
        """Returns (status, report) of the doctor."""
        status, out, err = harness.run(*prefix, harness.DOCTOR, "--json", cwd=self.dir)
        self.assertEqual(err, "")
        self.assertIn(status, (0, 1))
        return status, json.loads(out)

    def try_to_record(self, prefix, event):
        """Returns (status, stderr) of the recorder."""
        words = [event] if event.startswith("--") else ["-e", event]
        status, _, err = harness.run(*prefix, harness.RECORD, "-q", "--no-bundle", "-a", *words,
                                     "--duration", "0.05", cwd=self.dir)
        for file in self.dir.iterdir():
            file.unlink()
        return status, err

    def event_of(self, example):
        """Returns an event for -e, or an option, for what the doctor prints, or None."""
        binary = f"{self.burner}:main"
        return {"uprobe": f"uprobe:{binary}", "uretprobe": f"uretprobe:{binary}",
                "usdt": usdt_probe(), "kprobe": "kprobe:vfs_fsync_range",
                "kretprobe": "kretprobe:vfs_fsync_range", "fentry": "fentry:vfs_fsync_range",
                "fexit": "fexit:vfs_fsync_range"}.get(example.partition(":")[0], example)

    def assert_agreement(self, prefix):
        status, report = self.diagnose(prefix)
        messages = {finding["name"]: finding["message"] for finding in report["findings"]}
        self.assertEqual(status == 0, report["default_recording_works"])
        self.assertEqual(report["events"][0]["example"], "cpu-clock")
        for event in report["events"]:
            name = self.event_of(event["example"])
            if name is None:
                continue
            with self.subTest(event=name):
                recorded, err = self.try_to_record(prefix, name)
                self.assertEqual(recorded == 0, event["works"], f"{event}\n{err}")
                if not event["works"]:
                    self.assert_same_text(event, messages, err)
        return report

    def assert_same_text(self, event, messages, err):
        """Checks that the recorder's error has a text of the doctor. The doctor lists more: what
        the recorder would miss next."""
        texts = [messages[name] for name in event["findings"]] + [event.get("reason", "")]
        self.assertTrue(any(text and text in err for text in texts), f"{event}\n{err}")

    def test_root(self):
        self.assert_agreement(USERS["root"])

    def test_root_without_capabilities(self):
        report = self.assert_agreement(USERS["root without capabilities"])
        self.assertFalse(report["default_recording_works"])

    def test_a_user_with_the_two_capabilities(self):
        report = self.assert_agreement(USERS["user with two capabilities"])
        self.assertTrue(report["default_recording_works"])

    def test_a_user(self):
        report = self.assert_agreement(USERS["user 65534"])
        self.assertFalse(report["default_recording_works"])
        names = {finding["name"] for finding in report["findings"]}
        self.assertIn("capabilities", names)

    def test_a_user_namespace(self):
        if harness.run("unshare", "-Ur", "true")[0] != 0:
            self.skipTest("no user namespaces")
        prefix = ["unshare", "-Ur"]
        status, report = self.diagnose(prefix)
        self.assertEqual(status, 1)
        self.assertEqual(report["events"][0]["findings"], ["user-namespace"])
        recorded, err = self.try_to_record(prefix, "cpu-clock")
        self.assertEqual(recorded, 1)
        self.assert_same_text(report["events"][0],
                              {f["name"]: f["message"] for f in report["findings"]}, err)

    def test_a_filter_of_system_calls(self):
        prefix = [sys.executable, "-c", FILTER]
        status, report = self.diagnose(prefix)
        self.assertEqual(status, 1)
        self.assertIn("system-call-filter", report["events"][0]["findings"])
        recorded, err = self.try_to_record(prefix, "cpu-clock")
        self.assertEqual(recorded, 1)
        self.assert_same_text(report["events"][0],
                              {f["name"]: f["message"] for f in report["findings"]}, err)

    def test_a_low_limit_of_open_files(self):
        prefix = ["prlimit", "--nofile=12:12"]
        status, report = self.diagnose(prefix)
        self.assertEqual(status, 1)
        self.assertIn("open-files", report["events"][0]["findings"])
        self.assertEqual(self.try_to_record(prefix, "cpu-clock")[0], 1)

    def test_the_commands_mend_what_is_missing(self):
        """Runs the command that grants capabilities, on copies of the tools."""
        if os.statvfs(self.dir).f_flag & os.ST_NOSUID:
            self.skipTest("the temporary directory is mounted with nosuid")
        tools = self.dir / "bin"
        tools.mkdir(mode=0o755)
        for tool in (harness.DOCTOR, harness.RECORD):
            shutil.copy(tool, tools)
        user = USERS["user 65534"]
        _, out, _ = harness.run(*user, tools / "perftape-doctor", "--json")
        findings = {finding["name"]: finding for finding in json.loads(out)["findings"]}
        command = findings["capabilities"]["command"]
        self.assertIn(str(tools / "perftape-record"), command)
        status, _, err = harness.run("sh", "-c", re.sub(r"^sudo ", "", command))
        if status != 0:
            self.skipTest(f"no file capabilities here: {err}")
        status, _, err = harness.run(*user, tools / "perftape-record", "-q", "--no-bundle", "-a",
                                     "-o", "mended.data", "--duration", "0.05", cwd=self.dir)
        self.assertEqual(status, 0, err)
        # The doctor's own file has no capabilities.
        status, out, err = harness.run(*user, tools / "perftape-doctor", "--json")
        self.assertEqual((status, err), (0, ""))
        self.assertTrue(json.loads(out)["default_recording_works"])
        status, out, err = harness.run(*user, tools / "perftape-doctor", "-q")
        self.assertEqual((status, out, err), (0, "", ""))
        status, out, err = harness.run(*user, tools / "perftape-doctor")
        self.assertRegex(out, r"cpu-clock +works")

    def test_nothing_is_left_behind(self):
        events = pathlib.Path("/sys/kernel/tracing/uprobe_events")
        before = events.read_text() if events.exists() else ""
        status, _ = self.diagnose(USERS["root"])
        self.assertEqual(status, 0)
        self.assertEqual(os.listdir(self.dir), [])
        self.assertEqual(events.read_text() if events.exists() else "", before)


if __name__ == "__main__":
    harness.require("setpriv", "prlimit", "unshare")
    harness.main()
