#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Installs libperftape from a build tree and builds the programs of tests/consumer outside of it.

    libperftape_test.py --build BUILD_DIRECTORY [--compiler g++]

They are built with CMake's find_package, and linked with pkg-config, without a flag of ours. perf opens the recording
that a program writes; the names that another finds in a bundle are at the addresses that readelf shows.
"""
import argparse
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ("count_samples", "name_addresses", "write_recording")
OPTIONS = argparse.ArgumentParser()
OPTIONS.add_argument("--build", type=Path, required=True)
OPTIONS.add_argument("--compiler", default="g++")

# The binary whose functions the recording has.
SOURCE = """
namespace shop { int price(int n) { return n + 1; } int rebate(int n) { return n - 1; } }
int main(int argc, char**) { return shop::price(argc) - shop::rebate(argc) - 2; }
"""


def run(*command, **more):
    """Returns what a command prints; a failure shows its messages."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, **more)
    if done.returncode != 0:
        raise AssertionError(f"{command}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def read_symbols(binary):
    """Returns {name: offset in the file} of the functions of a binary, from readelf."""
    code = re.search(r"LOAD\s+(\w+) (\w+) \w+ \w+ \w+ R E", run("readelf", "-lW", binary))
    shift = int(code[2], 16) - int(code[1], 16)
    rows = re.findall(r"^\s*\d+: (\w+)\s+\d+ FUNC\s+\w+\s+\w+\s+\d+ (\S+)$", run("readelf", "-sWC", binary), re.M)
    rows += re.findall(r"^\s*\d+: (\w+)\s+\d+ FUNC\s+\w+\s+\w+\s+\d+ (shop::\w+)\(int\)$",
                       run("readelf", "-sWC", binary), re.M)
    return {name: int(address, 16) - shift for address, name in rows if int(address, 16)}


class Library(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.directory = Path(temporary.name)
        cls.prefix = cls.directory / "prefix"
        run("cmake", "--install", OPTIONS.build, "--component", "libperftape-dev", "--prefix", cls.prefix)
        cls.libraries = next(cls.prefix.glob("lib*/**/libperftape.a")).parent
        cls.environment = os.environ | {"PKG_CONFIG_PATH": str(cls.libraries / "pkgconfig")}
        cls.consumer = cls.directory / "consumer"
        run("cmake", "-G", "Ninja", "-S", ROOT / "tests/consumer", "-B", cls.consumer, f"-DCMAKE_PREFIX_PATH={cls.prefix}",
            f"-DCMAKE_CXX_COMPILER={OPTIONS.compiler}", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON",
            "-DCMAKE_CXX_COMPILER_LAUNCHER=", "-DCMAKE_CXX_FLAGS=")
        run("cmake", "--build", cls.consumer, "--parallel", "2")
        (cls.directory / "shop.cc").write_text(SOURCE)
        run(OPTIONS.compiler, "-O0", "-Wl,--build-id", "shop.cc", "-o", "shop", cwd=cls.directory)
        cls.binary = cls.directory / "shop"
        cls.recording = cls.directory / "perf.data"
        cls.written = int(run(cls.consumer / "write_recording", cls.binary, cls.recording).split()[0])

    @classmethod
    def flags(cls, kind):
        return run("pkg-config", kind, "perftape", env=cls.environment).split()

    def test_no_flag_of_ours_reaches_a_program(self):
        commands = (self.consumer / "compile_commands.json").read_text()
        self.assertNotRegex(commands, r" -W| -f| -g| -D(?!FMT_)| -include|pch")
        self.assertNotIn(str(OPTIONS.build.resolve()), commands)
        self.assertIn(str(self.prefix / "include/perftape"), commands)

    def test_links_by_pkg_config(self):
        objects = next(self.consumer.rglob("name_addresses.cc.o"))
        run(OPTIONS.compiler, objects, "-o", "linked", *self.flags("--libs"), cwd=self.directory)
        self.assertIn("usage:", subprocess.run([self.directory / "linked"], capture_output=True, text=True).stderr)

    def test_installed_files_name_no_path_of_the_build(self):
        for path in self.prefix.rglob("*"):
            if path.suffix in (".cmake", ".pc", ".h"):
                text = path.read_text()
                self.assertNotIn(str(OPTIONS.build.resolve()), text, path)
                self.assertNotIn(str(ROOT), text, path)

    def test_every_public_header_compiles(self):
        headers = (ROOT / "tools/packaging/libperftape/public_headers.txt").read_text().split()
        source = "".join(f'#include "{header}"\n' for header in headers)
        run(OPTIONS.compiler, "-std=c++23", *self.flags("--cflags"), "-fsyntax-only", "-Wall", "-Wextra", "-Werror",
            "-x", "c++", "-", input=source, cwd=self.directory)

    def test_the_lines_of_the_readme_compile_as_pasted(self):
        readme = (ROOT / "tools/packaging/libperftape/README.md").read_text()
        code = [block for block in re.findall(r"((?:^(?:    .*)?\n)+)", readme, re.M) if "#include <" in block]
        self.assertEqual(len(code), 1)
        run(OPTIONS.compiler, "-std=c++23", *self.flags("--cflags"), "-fsyntax-only", "-x", "c++", "-",
            input=code[0], cwd=self.directory)

    def test_counts_samples_by_comm(self):
        self.assertGreaterEqual(self.written, 3)
        self.assertEqual(run(self.consumer / "count_samples", self.recording).split(), [str(self.written), "demo"])
        sample = ROOT / "testdata/perfdata/quickstart.data"
        counted = {name: int(count) for count, name in
                   re.findall(r"(\d+) (\S+)", run(self.consumer / "count_samples", sample))}
        self.assertIn("burn-matrix", counted)

    @unittest.skipUnless(shutil.which("perf"), "perf is missing")
    def test_perf_opens_what_a_program_writes(self):
        report = run("perf", "report", "-i", self.recording, "--stdio", "-s", "comm,sym",
                     env=os.environ | {"HOME": str(self.directory)}, stdin=subprocess.DEVNULL)
        for function in ("main", "shop::price", "shop::rebate"):
            self.assertRegex(report, rf"demo\s+\[\.\] {function}")

    def test_names_addresses_from_a_bundle(self):
        bundle = self.directory / "symbols.tar"
        run(OPTIONS.build / "bin/perftape-bundle", "create", self.recording, "-o", bundle)
        binary = self.binary.rename(self.directory / "moved")  # the bundle is enough
        offsets = read_symbols(binary)
        binary.rename(self.binary)
        wanted = ("main", "shop::price", "shop::rebate")
        named = run(self.consumer / "name_addresses", bundle, self.binary,
                    *(hex(offsets[name] + 1) for name in wanted), "0xffffff")
        self.assertEqual([line.split()[1] for line in named.splitlines()], [*wanted, "??"])


if __name__ == "__main__":
    OPTIONS, rest = OPTIONS.parse_known_args()
    unittest.main(argv=[__file__, *rest])
