#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Loads our pprof, folded stacks, text of perf script and speedscope files in speedscope, in a headless
Chromium. No error may appear, and functions and totals must be those of the input.

    speedscope_test.py --bin build/dev/bin [--speedscope FOLDER]

FOLDER is dist/release of the npm package speedscope: from $PERFTAPE_SPEEDSCOPE, or from npm's
global packages. Skipped (77) if it or chromium is missing. Neither is installed for the test,
because chromium is larger than all other dependencies. The test uses no network: the page is a
local file, and no host name is resolved.
"""
import argparse
import base64
import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SKIPPED = 77

WHY = Path(__file__).resolve().parents[2] / "testdata/perfdata/why.perf-script.txt.gz"
FOLDED = b"main;work;inner 6\nmain;work 3\nmain;other 1\n"
SHOWN = {"main": ("10", "0"), "work": ("9", "3"), "inner": ("6", "6"), "other": ("1", "1")}

# speedscope refuses a file with an alert; this adds the alert to the page.
PAGE = """
window.alert = (message) => {
  const alert = document.createElement("p");
  alert.textContent = "ALERT " + message;
  document.body.appendChild(alert);
};
speedscope.loadFileFromBase64(%s, %s);
"""
CHROMIUM = ["chromium", "--headless", "--no-sandbox", "--use-angle=swiftshader",
            "--enable-unsafe-swiftshader", "--allow-file-access-from-files", "--no-first-run",
            "--disable-background-networking", "--disable-component-update",
            "--host-resolver-rules=MAP * ~NOTFOUND", "--virtual-time-budget=15000", "--dump-dom"]
ROW = re.compile(r"<td[^>]*>([\d.]+[a-zµ]*) \([^<]*<div.*?<td[^>]*>([\d.]+[a-zµ]*) \(.*?</span>([^<]*)</td>", re.S)


def find_speedscope(named):
    folders = [named, os.environ.get("PERFTAPE_SPEEDSCOPE")]
    if shutil.which("npm"):
        done = subprocess.run(["npm", "root", "-g"], capture_output=True, text=True, check=False)
        folders.append(str(Path(done.stdout.strip()) / "speedscope" / "dist" / "release"))
    found = [Path(folder) for folder in folders if folder and Path(folder, "index.html").is_file()]
    return found[0].resolve() if found else None


class SpeedscopeShows(unittest.TestCase):
    bin = None
    speedscope = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "in.folded").write_bytes(FOLDED)

    def convert(self, source, target, *options):
        done = subprocess.run([self.bin / "perftape-convert", source, "-o", target, *options],
                              capture_output=True, cwd=self.folder, check=False)
        self.assertEqual(done.returncode, 0, done.stderr.decode())

    def page_of(self, name):
        """Returns the page as it is after a file has been loaded."""
        content = base64.b64encode((self.folder / name).read_bytes()).decode()
        loader = self.folder / "load.js"
        loader.write_text(PAGE % (json.dumps(name), json.dumps(content)))
        url = f"file://{self.speedscope}/index.html#localProfilePath={loader}&view=sandwich"
        done = subprocess.run([*CHROMIUM, f"--user-data-dir={self.folder / 'chromium'}", url],
                              capture_output=True, timeout=120, check=True)
        return done.stdout.decode()

    def functions_of(self, name, title):
        """Returns total and self of each function that the page of a file shows."""
        page = self.page_of(name)
        self.assertNotIn("ALERT", page)
        self.assertIn(f"<title>{title} - speedscope</title>", page)
        return {html.unescape(function): (total, own) for total, own, function in ROW.findall(page)}

    def check_page(self, name, title=None):
        self.assertEqual(self.functions_of(name, title or name), SHOWN)

    def test_our_pprof(self):
        self.convert("in.folded", "out.pb.gz")
        self.check_page("out.pb.gz")

    def test_our_folded_stacks(self):
        self.convert("in.folded", "one.pb.gz")
        self.convert("one.pb.gz", "out.folded")
        self.check_page("out.folded")

    def test_our_speedscope_files(self):
        self.convert("in.folded", "out.speedscope.json")
        self.check_page("out.speedscope.json", title="samples")

    def test_our_callgrind_files(self):
        self.convert("in.folded", "callgrind.out.1")
        shown = self.functions_of("callgrind.out.1", title="callgrind.out.1")
        self.assertEqual(shown.pop("[all]"), ("10", "0"))
        self.assertEqual(shown, SHOWN)

    def test_our_text_of_perf_script(self):
        # speedscope weighs a sample by its distance in time from the ones beside it, with halves
        # at both ends.
        (self.folder / "in.txt").write_text("".join(
            f"app 7/7 [000] {10 + i}.000000: 5 cycles: \n"
            f"\t 30 {leaf} (/bin/my app)\n\t 20 work+0x2 (/bin/my app)\n\t 10 main (/bin/my app)\n\n"
            for i, leaf in enumerate(["inner", "inner", "inner", "other", "other"])))
        self.convert("in.txt", "out.linux-perf.txt")
        shown = self.functions_of("out.linux-perf.txt", title="app pid: 7 tid: 7")
        self.assertEqual(shown, {"main": ("4.00s", "0.00ns"), "work": ("4.00s", "0.00ns"),
                                 "inner": ("2.50s", "2.50s"), "other": ("1.50s", "1.50s")})

    def test_our_text_of_perf_script_without_times(self):
        (self.folder / "in.folded").write_text("main;f 1\nmain;g 1\nmain;h 1\n")
        self.convert("in.folded", "out.linux-perf.txt")
        page = self.page_of("out.linux-perf.txt")
        self.assertNotIn("ALERT", page)
        self.assertIn("[no-thread]", page)

    def test_a_critical_path(self):
        self.convert(WHY, "path.folded", "--path")
        self.convert(WHY, "path.speedscope.json", "--path")
        lines = [line.rpartition(" ") for line in
                 (self.folder / "path.folded").read_text().splitlines()]
        shown = self.functions_of("path.speedscope.json", title="critical-path")
        for function in ("run_job", "use_result", "[runnable]"):
            total = sum(int(ns) for stack, _, ns in lines if function in stack.split(";"))
            self.assertEqual(shown[function][0], f"{total / 1e6:.2f}ms")

    def test_functions_with_odd_names(self):
        names = ["<script>alert(1)</script>", 'a"b\\c', "x</td>", "recursive", "\u202etxt"]
        lines = [f"{name};recursive;recursive 4\n" for name in names]
        (self.folder / "odd.folded").write_text("".join(lines))
        self.convert("odd.folded", "odd.speedscope.json")
        shown = self.functions_of("odd.speedscope.json", title="samples")
        self.assertEqual(shown.pop("recursive"), ("20", "20"))
        self.assertEqual(shown, {name: ("4", "0") for name in names if name != "recursive"})

    def test_a_message_if_a_file_is_no_profile(self):
        (self.folder / "none.bin").write_bytes(b"\x01\x02\x03")
        self.assertIn("ALERT", self.page_of("none.bin"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=Path)
    parser.add_argument("--speedscope")
    options, rest = parser.parse_known_args()
    SpeedscopeShows.bin = options.bin.resolve()
    SpeedscopeShows.speedscope = find_speedscope(options.speedscope)
    if shutil.which("chromium") is None:
        print("chromium is not on the PATH")
        return SKIPPED
    if SpeedscopeShows.speedscope is None:
        print("no speedscope: PERFTAPE_SPEEDSCOPE names dist/release of the npm package")
        return SKIPPED
    done = unittest.main(argv=[sys.argv[0], *rest], exit=False)
    return 0 if done.result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
