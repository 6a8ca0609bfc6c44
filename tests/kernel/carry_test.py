# SPDX-License-Identifier: Apache-2.0
"""Tests a recording on a machine without its binaries: a root directory without /proc and without
the recorded binaries, and with another file at the path of the recorded libc. perftape-convert must
print the same names there. So must plain perf, after the bundle was extracted into ~/.debug."""

import collections
import pathlib
import re
import shutil
import tempfile

import harness

LOADER = "/perftape/lib/ld.so"
# The recording itself contains the names of BPF programs, in its KSYMBOL records.
BPF_PROGRAM = re.compile(r"bpf_prog_[0-9a-f]{16}_\w+")


def libraries_of(program):
    """Returns the shared libraries that a program needs, and its loader."""
    status, out, err = harness.run("ldd", program)
    assert status == 0, err
    return [pathlib.Path(path) for path in re.findall(r"(/\S+) \(0x", out)]


class BareRoot:
    """A directory for chroot: our programs and their libraries, in directories of their own."""

    def __init__(self, path, programs):
        self.path = pathlib.Path(path)
        for directory in ("perftape/lib", "perftape/bin", "tmp", "root/.debug"):
            (self.path / directory).mkdir(parents=True)
        for program in programs:
            shutil.copy(program, self.path / "perftape/bin")
            for library in libraries_of(program):
                name = "ld.so" if library.name.startswith("ld-linux") else library.name
                shutil.copy(library, self.path / "perftape/lib" / name)

    def run(self, program, *arguments, home="/root"):
        environment = {"HOME": home, "PATH": "/perftape/bin", "LC_ALL": "C", "TERM": "dumb",
                       "PERF_CONFIG": "/dev/null"}
        return harness.run(shutil.which("chroot"), self.path, LOADER, "--library-path", "/perftape/lib",
                           "/perftape/bin/" + program, *arguments, env=environment)


def symbols_by_dso(run_perf, data):
    """Returns {"comm|dso|symbol": samples} as perf report prints them."""
    status, out, err = run_perf("report", "--stdio", "--no-children", "-g", "none", "-t", "|", "-F",
                                "sample,comm,dso,sym", "-i", data)
    assert status == 0, err
    counts = collections.Counter()
    for line in out.splitlines():
        if line.strip() and not line.startswith("#"):
            samples, _, name = line.partition("|")
            counts["|".join(part.strip() for part in name.split("|"))] += int(samples)
    return counts


class Carry(harness.RecordingTest):
    @classmethod
    def setUpClass(cls):
        cls.shared = tempfile.TemporaryDirectory()
        directory = pathlib.Path(cls.shared.name)
        cls.data, cls.bundle = directory / "perf.data", directory / "bundle.tar.zst"
        # Beside the burner, runs a program that spends its time in libc and in the kernel.
        work = f"{harness.BURNER} --seconds 2 & seq 1 2000000 | sort -n | md5sum >/dev/null; wait"
        status, _, err = harness.run(harness.RECORD, "-F", "997", "--bundle", cls.bundle, "-o",
                                     cls.data, "--", "bash", "-c", work)
        assert status == 0, err
        cls.embedded = directory / "embedded.data"
        shutil.copy(cls.data, cls.embedded)
        status, _, err = harness.run(harness.BIN / "perftape-bundle", "embed", cls.bundle,
                                     cls.embedded)
        assert status == 0, err
        cls.root = BareRoot(directory / "root", [harness.CONVERT, shutil.which("perf")])
        for data in (cls.data, cls.embedded):
            shutil.copy(data, cls.root.path)
        # The file at the path of the recorded libc is of another build.
        for libc in libraries_of(harness.CONVERT):
            if libc.name.startswith("libc.so"):
                there = cls.root.path / libc.resolve().relative_to("/")
                there.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(shutil.which("perf"), there)

    @classmethod
    def tearDownClass(cls):
        cls.shared.cleanup()

    def folded_here(self, data, *options):
        status, out, err = harness.run(harness.CONVERT, data, "--to", "folded", *options)
        self.assertEqual(status, 0, err)
        return out

    def test_convert_writes_the_same_bytes_on_both_machines(self):
        # Source lines and inlined functions come from debug files that may only exist on this
        # machine.
        status, there, err = self.root.run("perftape-convert", "/embedded.data", "--to", "folded",
                                           "--no-lines")
        self.assertEqual(status, 0, err)
        self.assertEqual(there, self.folded_here(self.embedded, "--no-lines"))
        self.assertGreater(len(there.splitlines()), 50)

    def test_the_bundle_has_all_names_of_this_machine(self):
        here = self.folded_here(self.data, "--local", "--no-lines")
        status, there, err = self.root.run("perftape-convert", "/embedded.data", "--to", "folded",
                                           "--no-lines")
        self.assertEqual(status, 0, err)
        self.assertEqual(there, here)

    def test_without_the_bundle_the_other_machine_has_no_names(self):
        status, out, err = self.root.run("perftape-convert", "/perf.data", "--to", "folded",
                                         "--show-sources", "--local", home="/nonexistent")
        self.assertEqual(status, 0, err)
        for line in out.splitlines():
            frames = line.rpartition(" ")[0].split(";")[1:]
            self.assertTrue(all(frame.startswith("[") or BPF_PROGRAM.fullmatch(frame)
                                for frame in frames), line)
        self.assertRegex(err, r"libc\.so\S*: build id \S+, but the recorded one is [0-9a-f]{40}")

    def test_perf_shows_the_same_names_on_the_other_machine(self):
        here = symbols_by_dso(
            lambda *words: harness.run("perf", *words, env=harness.perf_environment()), self.data)
        untar = harness.run("tar", "-xf", self.bundle, "-C", self.root.path / "root/.debug")
        self.assertEqual(untar[0], 0, untar[2])
        there = symbols_by_dso(lambda *words: self.root.run("perf", *words), "/perf.data")
        # Without a cache perf cannot name the vdso, not even here; in the other root it has one.
        for counts in (here, there):
            for name in [name for name in counts if "|[vdso]|" in name]:
                del counts[name]
        self.assertEqual(there - here, here - there)
        self.assertTrue(any("burn_matrix" in name for name in there))


if __name__ == "__main__":
    harness.require("perf", "ldd", "chroot", "tar", "zstd")
    harness.require_sample_rate(997)
    harness.main()
