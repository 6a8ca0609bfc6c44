# SPDX-License-Identifier: Apache-2.0
"""Checks a static perftape, which `cmake --build --preset static` has built: alone in a root
directory with only /proc and /sys, it records, and converts to the same bytes as the dynamic tools.

PERFTAPE_STATIC_FILE names the file; the default is build/static/bin/perftape.
PERFTAPE_STATIC_ROOT names a directory whose files are copied into the root directory, such as an
unpacked root file system of another distribution."""

import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(SOURCE / "tests/kernel"))
import harness  # noqa: E402

FILE = pathlib.Path(os.environ.get("PERFTAPE_STATIC_FILE", SOURCE / "build/static/bin/perftape")).resolve()
ROOT = os.environ.get("PERFTAPE_STATIC_ROOT")
MOST_BYTES = 8_000_000
VERBS = ("record", "doctor", "report", "convert", "inspect", "recover", "symbolize", "perf", "bundle", "view")


def run(*words, **options):
    done = subprocess.run([str(word) for word in words], stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=harness.TIMEOUT_S, check=False, **options)
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


class StaticFile(unittest.TestCase):
    """The file itself, and how it starts."""

    def test_is_small(self):
        self.assertLess(FILE.stat().st_size, MOST_BYTES)

    def test_needs_no_library_and_no_loader(self):
        _, out, _ = run("readelf", "--wide", "--program-headers", FILE)
        self.assertNotRegex(out, "INTERP|DYNAMIC")
        self.assertIn("LOAD", out)

    def test_opens_no_file_to_start(self):
        if shutil.which("strace") is None:
            self.skipTest("strace is not installed")
        _, _, trace = run("strace", "-e", "trace=%file", FILE, "convert", "--version")
        opened = set(re.findall(r'open(?:at)?\(.*?"(.*?)"', trace))
        self.assertLessEqual(opened, {"/sys/devices/system/cpu/online"}, trace)  # the C library

    def test_has_its_checksum_beside_it(self):
        digest = hashlib.sha256(FILE.read_bytes()).hexdigest()
        self.assertEqual(pathlib.Path(f"{FILE}.sha256").read_text(), f"{digest}  {FILE.name}\n")

    def test_lists_what_it_consists_of(self):
        document = json.loads(pathlib.Path(f"{FILE}.spdx.json").read_text())
        self.assertEqual(document["spdxVersion"], "SPDX-2.3")
        packages = {package["SPDXID"]: package for package in document["packages"]}
        digest = hashlib.sha256(FILE.read_bytes()).hexdigest()
        self.assertEqual(packages["SPDXRef-perftape"]["checksums"][0]["checksumValue"], digest)
        linked = {relation["relatedSpdxElement"] for relation in document["relationships"]
                  if relation["relationshipType"] == "STATIC_LINK"}
        self.assertEqual(linked, packages.keys() - {"SPDXRef-perftape"})
        for library in ("glibc", "libarchive", "libbpf", "elfutils-libelf", "zstd", "libstdc-and-libgcc"):
            self.assertRegex(packages[f"SPDXRef-{library}"]["versionInfo"], r"^\d+\.\d+")
            if shutil.which("dpkg-query"):
                self.assertRegex(packages[f"SPDXRef-{library}"]["externalRefs"][0]["referenceLocator"],
                                 r"^pkg:deb/(debian|ubuntu)/[\w.-]+@[\w.:~%-]+\?arch=source$")

    def test_is_each_tool_by_verb_and_by_name(self):
        for verb in VERBS:
            dynamic = run(harness.BIN / f"perftape-{verb}", "--help")
            self.assertEqual(run(FILE, verb, "--help"), dynamic)
            self.assertEqual(run(FILE, "help", verb), dynamic)
            self.assertEqual(run(f"perftape-{verb}", "--help", executable=FILE), dynamic)
        pprof = run(harness.BIN / "perf_to_profile", "--help")
        self.assertEqual(run("/x/perf_to_profile", "--help", executable=FILE), pprof)

    def test_is_perftape_by_any_other_name(self):
        for name in ("perftape", "perftape-x86_64", "x"):
            _, out, _ = run(name, "--version", executable=FILE)
            self.assertEqual(out, run(harness.BIN / "perftape", "--version")[1])


class AloneInARoot(unittest.TestCase):
    """The file in a root directory with /proc and /sys, which need mounts, so root."""

    @classmethod
    def setUpClass(cls):
        harness.require("unshare", "chroot")
        cls.scratch = tempfile.TemporaryDirectory()
        cls.root = pathlib.Path(cls.scratch.name, "root")
        if ROOT:
            shutil.copytree(ROOT, cls.root, symlinks=True)
        for name in ("proc", "sys"):
            (cls.root / name).mkdir(parents=True, exist_ok=True)
        shutil.copy(FILE, cls.root / "perftape")
        cls.recorded = cls.perftape("record", "-a", "-F", "499", "--duration", "2", "-o", "perf.data")

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    @classmethod
    def in_root(cls, mounts, *words):
        script = (f'cd "$0" && mount -t proc proc proc && mount --rbind /sys sys && {mounts} && '
                  'exec chroot . "$@"')
        return run("unshare", "--mount", "--", "sh", "-c", script, cls.root, *words)

    @classmethod
    def perftape(cls, *words):
        return cls.in_root("true", "/perftape", *words)

    @classmethod
    def dynamic(cls, verb, *words):
        """Runs a dynamic tool in the root. It finds its libraries below /dynamic, and no symbols."""
        tool = harness.BIN / f"perftape-{verb}"
        libraries = [os.path.realpath(path) for path in re.findall(r"(/\S+) \(0x", run("ldd", tool)[1])]
        directories = {f"/dynamic{os.path.dirname(library)}" for library in libraries}
        loader = next(library for library in libraries if "/ld-linux" in library)
        (cls.root / "dynamic").mkdir(exist_ok=True)
        return cls.in_root("mount --rbind / dynamic", f"/dynamic{loader}", "--library-path",
                           ":".join(sorted(directories)), f"/dynamic{tool}", *words)

    def converted(self, *words):
        """Checks that a conversion makes the bytes of the dynamic tool. Returns them."""
        made = []
        for tool in (self.perftape, self.dynamic):
            status, _, err = tool("convert", "-q", "perf.data", *words, "-o", "out", "--force")
            self.assertEqual((status, err), (0, ""))
            made.append((self.root / "out").read_bytes())
        self.assertEqual(made[0], made[1])
        return made[0]

    def test_records(self):
        status, _, err = self.recorded
        self.assertEqual(status, 0, err)
        self.assertRegex(err, r"perftape-record: \d+ samples, 0 lost")
        self.assertRegex(err, r"symbols of \d+ files")

    def test_converts_to_the_same_bytes(self):
        for form in ("folded", "pprof", "perf.data", "html", "speedscope"):
            with self.subTest(form=form):
                self.assertGreater(len(self.converted("--to", form)), 100)

    def test_reports_and_inspects_with_the_same_text(self):
        for words in (("report",), ("report", "--json"), ("inspect",), ("bundle", "list"), ("bundle", "verify")):
            with self.subTest(words=words):
                self.assertEqual(self.perftape(*words, "perf.data"), self.dynamic(*words, "perf.data"))

    def test_extracts_and_recovers(self):
        status, _, err = self.perftape("bundle", "extract", "-C", "/cache", "--all", "perf.data")
        self.assertEqual(status, 0, err)
        self.assertTrue(any((self.root / "cache").rglob("elf")))
        whole = (self.root / "perf.data").read_bytes()
        (self.root / "cut.data").write_bytes(whole[:len(whole) // 3])
        status, _, err = self.perftape("recover", "cut.data", "-o", "recovered.data", "--force")
        self.assertIn(status, (0, 3), err)

    def test_diagnoses_the_machine(self):
        status, out, err = self.perftape("doctor")
        self.assertEqual(status, 0, err)
        self.assertRegex(out, r"cpu-clock +works")

    def test_says_where_it_looks_for_users(self):
        status, _, err = self.perftape("record", "-u", "no such user")
        self.assertEqual(status, 2)
        self.assertRegex(err, r"'no such user' is not a user in /etc/passwd")


if __name__ == "__main__":
    if not FILE.exists():
        harness.skip(f"{FILE} does not exist: cmake --preset static && cmake --build --preset static")
    unittest.main()
