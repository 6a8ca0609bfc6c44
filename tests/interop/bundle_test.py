#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks our bundles with perf: a recording without its binary gets its names after plain tar or
perftape-bundle extracted the bundle. Tarballs of perf archive work with perftape-bundle, too."""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = """
#include <time.h>
static volatile unsigned long sum;
__attribute__((noinline)) void spin_for_the_bundle(void) { for (int i = 0; i < 1000; ++i) sum += i; }
int main(void) {
  struct timespec now, start;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
  do {
    for (int i = 0; i < 1000; ++i) spin_for_the_bundle();
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  } while ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000 < 500);
}
"""


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


class Judge:
    def __init__(self, options, work):
        self.bundle = options.bin.resolve() / "perftape-bundle"
        self.make = options.make.resolve()
        self.work = work
        self.environment = dict(os.environ, HOME=str(work / "home"), DEBUGINFOD_URLS="")
        (work / "home").mkdir()

    def run(self, *words, **more):
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | more
        done = subprocess.run([str(word) for word in words], cwd=self.work, text=True,
                              env=self.environment, timeout=120, **pipes)
        if done.returncode != 0:
            sys.exit(f"{words}: status {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def record(self):
        (self.work / "spin.c").write_text(SOURCE)
        self.run("gcc", "-O1", "-Wl,--build-id=sha1", "-o", "spin", "spin.c")
        try:
            self.run("perf", "--buildid-dir", self.work / "perfs", "record", "-q", "-e", "cpu-clock",
                     "-F", "999", "-o", "perf.data", "./spin")
        except SystemExit as refused:
            skip(f"perf cannot record here: {refused}")

    def names(self, cache):
        """Returns how many samples have the function's name, and how many there are, in perf
        report."""
        fields = self.run("perf", "--buildid-dir", cache, "script", "-i", "perf.data", "-F", "ip,sym")
        names = fields.split("\n")
        return sum("spin_for_the_bundle" in name for name in names), len(names) - 1

    def must_name(self, cache, what):
        named, samples = self.names(cache)
        if samples < 50 or named < samples * 0.8:
            sys.exit(f"{what}: perf names {named} of {samples} samples")
        report = self.run("perf", "--buildid-dir", cache, "report", "-i", "perf.data", "--stdio")
        if "spin_for_the_bundle" not in report:
            sys.exit(f"{what}: perf report does not have the function:\n{report}")
        print(f"{what}: perf names {named} of {samples} samples")

    def annotates(self, cache):
        """Returns whether perf shows the function's code, which only the binary has."""
        text = self.run("perf", "--buildid-dir", cache, "annotate", "--stdio", "-i", "perf.data",
                        "-s", "spin_for_the_bundle")
        return "ret" in text.split()

    def must_leave_annotate_alone(self):
        """A bundle on its own machine: extract hides no binary, and clean uncovers those that plain
        tar has hidden."""
        subprocess.run([self.bundle, "create", "-q", "-o", "slim.tar.zst", "perf.data"],
                       cwd=self.work, env=self.environment, check=False)
        cache = self.work / "annotated"
        if not self.annotates(cache):
            sys.exit("perf annotate shows no code without a bundle: this test would show nothing")
        messages = self.run(self.bundle, "extract", "-C", cache, "slim.tar.zst", stderr=subprocess.STDOUT)
        if "skipped: this machine already has" not in messages or not self.annotates(cache):
            sys.exit(f"perftape-bundle extract hides the binary from perf annotate:\n{messages}")
        self.run(self.bundle, "clean", "--buildid-dir", cache)
        if list(cache.iterdir()):
            sys.exit(f"perftape-bundle clean leaves {list(cache.rglob('*'))}")

        self.run("tar", "-xf", "slim.tar.zst", "-C", cache, "--exclude", "manifest.json")
        if self.annotates(cache):
            sys.exit("perf annotate finds code in a slim copy: this test shows nothing")
        messages = self.run(self.bundle, "clean", "--buildid-dir", cache, stderr=subprocess.STDOUT)
        if list(cache.iterdir()) or not self.annotates(cache):
            sys.exit(f"perftape-bundle clean leaves what plain tar wrote:\n{messages}")
        print("perf annotate shows code beside a bundle")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True, type=Path)
    parser.add_argument("--make", required=True, type=Path, help="make_bundle of tests/support")
    options = parser.parse_args()
    for tool in ("perf", "gcc", "objdump", "tar", "zstd"):
        if not shutil.which(tool):
            skip(f"no {tool} here")
    with tempfile.TemporaryDirectory(prefix="perftape-bundle-") as name:
        work = Path(name).resolve()
        judge = Judge(options, work)
        judge.record()
        judge.must_leave_annotate_alone()
        judge.run(judge.make, "bundle.tar.zst", "spin")
        (work / "spin").rename(work / "moved-away")
        if judge.names(work / "empty")[0] != 0:
            sys.exit("perf finds the names without the bundle: this test would show nothing")

        (work / "by-tar").mkdir()
        judge.run("tar", "-xf", "bundle.tar.zst", "-C", "by-tar")
        judge.must_name(work / "by-tar", "plain tar")
        judge.run(judge.bundle, "verify", "bundle.tar.zst")
        judge.run(judge.bundle, "extract", "-C", "by-us", "bundle.tar.zst")
        judge.must_name(work / "by-us", "perftape-bundle extract")

        before = (work / "perf.data").read_bytes()
        judge.run(judge.bundle, "embed", "bundle.tar.zst", "perf.data")
        judge.run(judge.bundle, "extract", "-C", "embedded", "perf.data")
        judge.must_name(work / "embedded", "embedded in the recording")
        judge.run(judge.bundle, "strip", "perf.data")
        if (work / "perf.data").read_bytes() != before:
            sys.exit("strip does not give the bytes from before")

        judge.run("perf", "--buildid-dir", work / "perfs", "archive", "perf.data")
        judge.run(judge.bundle, "verify", "perf.data.tar.bz2")
        judge.run(judge.bundle, "extract", "-C", "from-archive", "perf.data.tar.bz2")
        judge.must_name(work / "from-archive", "perf archive")


if __name__ == "__main__":
    main()
