#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the shell lines of the workflows in tools/packaging/ci in a project with two commits: the second one makes a
function slower, or not."""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from chroot import ROOT, require, skip

try:
    import yaml
except ImportError:
    skip("python3-yaml is not installed")

BIN = pathlib.Path(os.environ.get("PERFTAPE_BIN_DIR", ROOT / "build/dev/bin")).resolve()
FOLDER = ROOT / "tools/packaging/ci"
REGRESSION = 3  # the exit status of perftape-report --fail-on
PROGRAM = """
volatile unsigned sink;
__attribute__((noinline)) void parse(void) { for (unsigned i = 0; i < %d * 1000000u; i++) sink += i; }
__attribute__((noinline)) void print(void) { for (unsigned i = 0; i < 150 * 1000000u; i++) sink ^= i; }
int main(void) { parse(); print(); return 0; }
"""
MAKEFILE = "app: app.c\n\t$(CC) -O1 -g -fno-omit-frame-pointer $< -o $@\n"
# Programs that the workflows call to install something.
STUBS = {"sudo": 'exec "$@"', "curl": "exit 0", "apt-get": "exit 0"}


class Project:
    """A repository with two commits, and stubs on the PATH."""

    def __init__(self, directory, before, after):
        self.folder = directory / "project"
        self.folder.mkdir()
        stubs = directory / "stubs"
        stubs.mkdir()
        for name, line in STUBS.items():
            (stubs / name).write_text(f"#!/bin/sh\n{line}\n")
            (stubs / name).chmod(0o755)
        self.variables = os.environ | {"PATH": f"{stubs}:{BIN}:{os.environ['PATH']}", "HOME": str(directory)}
        self.git("init", "-q")
        (self.folder / "Makefile").write_text(MAKEFILE)
        self.base = self.commit(before)
        self.commit(after)

    def git(self, *words):
        return subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *words], check=True,
                              cwd=self.folder, env=self.variables, capture_output=True, text=True).stdout

    def commit(self, millions):
        (self.folder / "app.c").write_text(PROGRAM % millions)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", f"parse takes {millions}")
        return self.git("rev-parse", "HEAD").strip()

    def run(self, script, variables):
        """Runs lines as both services do; returns the status and what they print."""
        done = subprocess.run(["bash", "-eo", "pipefail", "-c", script], cwd=self.folder,
                              env=self.variables | {name: str(value) for name, value in variables.items()},
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return done.returncode, done.stdout


def github_steps(project):
    """Yields (name, script, variables) of the steps, as GitHub runs them."""
    workflow = yaml.safe_load((FOLDER / "github.yml").read_text())
    assert workflow["defaults"]["run"]["shell"] == "bash"
    common = workflow["env"] | {"GITHUB_STEP_SUMMARY": str(project.folder.parent / "summary.md"), "RECORDINGS": "3"}
    for step in workflow["jobs"]["compare"]["steps"]:
        if "run" in step:
            own = {name: re.sub(r"\$\{\{ github\.event\.pull_request\.base\.sha \}\}", project.base, value)
                   for name, value in step.get("env", {}).items()}
            yield step["name"], step["run"], common | own


def gitlab_steps(project):
    """Yields the same for GitLab, which runs all lines of a job in one shell."""
    job = yaml.safe_load((FOLDER / "gitlab.yml").read_text())["profile"]
    variables = job["variables"] | {"CI_MERGE_REQUEST_DIFF_BASE_SHA": project.base, "RECORDINGS": "3"}
    yield "before_script and script", "\n".join(job["before_script"] + job["script"]), variables


class Workflows(unittest.TestCase):
    def outcome(self, steps_of, before, after):
        """Returns the name and status of the first step that fails, or None, and all output."""
        with tempfile.TemporaryDirectory() as directory:
            project = Project(pathlib.Path(directory), before, after)
            output, failed = "", None
            for name, script, variables in steps_of(project):
                if failed:
                    break
                status, text = project.run(script, variables)
                output += f"--- {name}: {status}\n{text}"
                failed = (name, status) if status else None
            kept = {path.name for path in (project.folder / "recordings").glob("*")}
        return failed, kept, output

    def test_github(self):
        failed, kept, output = self.outcome(github_steps, 100, 250)
        self.assertEqual(failed, ("Compare", REGRESSION), output)
        self.assertIn("parse: self grew", output)
        self.assertIn("after-3.data", kept)
        failed, kept, output = self.outcome(github_steps, 100, 100)
        self.assertIsNone(failed, output)
        self.assertIn("difference.html", kept)

    def test_gitlab(self):
        failed, kept, output = self.outcome(gitlab_steps, 100, 250)
        self.assertEqual(failed and failed[1], REGRESSION, output)
        self.assertIn("difference.html", kept)
        failed, kept, output = self.outcome(gitlab_steps, 100, 100)
        self.assertIsNone(failed, output)


if __name__ == "__main__":
    require("git", "make", "gcc")
    unittest.main(verbosity=2)
