#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the sandbox of the tools that read files of others, on the tools themselves.

    sandbox_test.py --bin build/dev/bin

Runs each tool under strace. It must begin the sandbox, and no call that it makes after that may be
refused. Also runs the tools as on a kernel without seccomp or without Landlock.
Skipped (status 77) without strace.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SKIPPED = 77
REFUSED = re.compile(r"\b(?P<call>\w+)\(.*= -1 (?P<error>EPERM|ENOSYS|EACCES) ")
arguments = None


def run(command, cwd, environment=None, check=True):
    done = subprocess.run(command, cwd=cwd, env=environment or os.environ, capture_output=True,
                          text=True, stdin=subprocess.DEVNULL, check=False, timeout=60)
    if check and done.returncode not in (0, 3):
        raise AssertionError(f"{command}: status {done.returncode}: {done.stderr}")
    return done


class SandboxTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="perftape-sandbox-")
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        for name in ("home", "tmp", "work"):
            (self.directory / name).mkdir()
        self.work = self.directory / "work"
        self.environment = dict(os.environ, HOME=str(self.directory / "home"),
                                TMPDIR=str(self.directory / "tmp"))
        (self.work / "in.folded").write_text("main;work 3\nmain;idle 2\n")
        run([self.tool("convert"), "in.folded", "-o", "in.data"], self.work, self.environment)

    @staticmethod
    def tool(name):
        return str(arguments.bin / f"perftape-{name}")

    def commands(self):
        """Returns a command line for each tool."""
        return {
            "inspect": [self.tool("inspect"), "in.data"],
            "samples": [self.tool("inspect"), "--samples", "--json", "in.data"],
            "validate": [self.tool("inspect"), "--validate", "in.data"],
            "recover": [self.tool("recover"), "in.data", "-f", "-o", "recovered.data"],
            "convert": [self.tool("convert"), "in.data", "-f", "-o", "out.folded"],
            "pprof": [self.tool("convert"), "in.data", "-f", "-o", "out.pb.gz"],
            "perf.data": [self.tool("convert"), "in.data", "-f", "-z", "-o", "out.data"],
            "symbolize": [self.tool("symbolize"), "in.folded", "-f", "-o", "named.folded"],
            "bundle": [self.tool("bundle"), "list", "in.data"],
        }

    def strace(self, command, *options):
        log = self.directory / "strace"
        done = run(["strace", "-f", "-qq", "-o", str(log), *options, *command], self.work,
                   self.environment, check=False)
        return done, log.read_text()

    def test_each_tool_confines_itself(self):
        for name, command in self.commands().items():
            with self.subTest(name):
                _, log = self.strace(command, "-e", "trace=landlock_restrict_self,seccomp")
                self.assertRegex(log, r"landlock_restrict_self\(.*= 0")
                self.assertRegex(log, r"seccomp\(SECCOMP_SET_MODE_FILTER, .*= 0")

    def test_no_call_of_a_tool_is_refused(self):
        # Where clone3 fails, the C library uses clone.
        expected = {"clone3"}
        for name, command in self.commands().items():
            with self.subTest(name):
                _, log = self.strace(command)
                after = log[log.rindex("SECCOMP_SET_MODE_FILTER"):]
                refused = {found["call"] for found in REFUSED.finditer(after)}
                self.assertEqual(refused - expected, set(), after)

    def test_output_is_the_same_without_the_sandbox(self):
        for name, command in self.commands().items():
            with self.subTest(name):
                inside = run(command, self.work, self.environment, check=False)
                outside = run([*command, "--no-sandbox"], self.work, self.environment, check=False)
                self.assertEqual((inside.stdout, inside.stderr, inside.returncode),
                                 (outside.stdout, outside.stderr, outside.returncode))

    def test_option_switches_it_off(self):
        for name, command in self.commands().items():
            with self.subTest(name):
                _, log = self.strace([*command, "--no-sandbox"],
                                     "-e", "trace=landlock_restrict_self,seccomp,prctl")
                self.assertNotIn("landlock_restrict_self", log)
                self.assertNotIn("SECCOMP_SET_MODE_FILTER", log)
                self.assertNotIn("PR_SET_NO_NEW_PRIVS", log)

    def test_works_where_the_kernel_lacks_a_part(self):
        faults = ("landlock_create_ruleset:error=ENOSYS", "landlock_create_ruleset:error=EOPNOTSUPP",
                  "landlock_create_ruleset:error=EPERM", "seccomp:error=EINVAL",
                  "seccomp:error=ENOSYS")
        command = self.commands()["convert"]
        run(command, self.work, self.environment)
        complete = (self.work / "out.folded").read_text()
        for fault in faults:
            with self.subTest(fault):
                (self.work / "out.folded").unlink(missing_ok=True)
                call = fault.split(":")[0]
                done, _ = self.strace(command, "-e", f"trace={call}", "-e", f"inject={fault}")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertNotIn("sandbox", done.stderr)
                self.assertEqual((self.work / "out.folded").read_text(), complete)

    def test_reports_other_errors(self):
        done, _ = self.strace(self.commands()["inspect"], "-e", "trace=landlock_restrict_self",
                              "-e", "inject=landlock_restrict_self:error=E2BIG")
        self.assertEqual(done.returncode, 1)
        self.assertIn("sandbox: landlock_restrict_self", done.stderr)

    def test_works_under_no_new_privs(self):
        if shutil.which("setpriv") is None:
            self.skipTest("setpriv is not installed")
        for name, command in self.commands().items():
            with self.subTest(name):
                plain = run(command, self.work, self.environment, check=False)
                done = run(["setpriv", "--no-new-privs", *command], self.work, self.environment,
                           check=False)
                self.assertEqual((done.stdout, done.stderr, done.returncode),
                                 (plain.stdout, plain.stderr, plain.returncode))


def main():
    global arguments
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    arguments, rest = parser.parse_known_args()
    arguments.bin = arguments.bin.resolve()
    if shutil.which("strace") is None:
        print("skipped: strace is not installed")
        sys.exit(SKIPPED)
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
