# SPDX-License-Identifier: Apache-2.0
"""Tests `cmake --install`: the tools, which run from there, their completions, man pages,
schemas, README and licences.

    tests/tools/install_test.py BUILD_DIRECTORY
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
CACHE = (BUILD / "CMakeCache.txt").read_text()
HAS_SERVE = "PERFTAPE_SERVE:BOOL=ON" in CACHE
TOOLS = ["perftape", *(f"perftape-{verb}" for verb in (
    "bundle", "convert", "doctor", "inspect", "perf", "record", "recover", "report", "script", "symbolize",
    "view")),
    *(["perftape-serve"] if HAS_SERVE else [])]
UNITS = {"perftape-record@.service", *(["perftape-serve.service"] if HAS_SERVE else [])}
PAGES = {*(f"{tool}.1" for tool in TOOLS), "perf_to_profile.1",
         *(f"perftape{topic}.7" for topic in ("", "-symbols", "-from-perf", "-from-samply", "-from-pprof"))}
DOCUMENTS = {"README.md", "REFERENCE.md", "CHANGELOG.md", "LICENSE", "LICENSE.GPL-2.0", "LICENSE.BSD-2-Clause"}


def has_pandoc():
    return "PERFTAPE_PANDOC:FILEPATH=/" in CACHE


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.prefix = pathlib.Path(cls.directory.name)
        subprocess.run(["cmake", "--install", BUILD, "--prefix", cls.prefix], check=True,
                       stdout=subprocess.DEVNULL)

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    def names_in(self, directory):
        return {path.name for path in (self.prefix / directory).iterdir()}

    def test_the_tools_but_nothing_of_the_tests(self):
        self.assertEqual(self.names_in("bin"), {*TOOLS, "perf_to_profile"})

    def test_perf_is_not_in_the_path(self):
        done = subprocess.run([self.prefix / "lib/perftape/perf", "--version"], check=True, capture_output=True,
                              text=True)
        self.assertRegex(done.stdout, r"^perf version 6\.1\.0 \(perftape [0-9.]+\)\n$")

    def test_a_verb_is_found_beside_the_installed_perftape(self):
        done = subprocess.run([self.prefix / "bin/perftape", "convert", "--version"], check=True,
                              capture_output=True, text=True)
        self.assertIn("perftape-convert", done.stdout)

    def test_services_only_of_the_installed_tools(self):
        self.assertEqual(self.names_in("lib/systemd/system"), UNITS)

    def test_help_names_the_tools_that_are_installed(self):
        done = subprocess.run([self.prefix / "bin/perftape", "help"], check=True, capture_output=True, text=True)
        verbs = done.stdout.split("\nVerbs:\n")[1].split("\n\n")[0]
        self.assertEqual({f"perftape-{line.split()[0]}" for line in verbs.splitlines() if line.startswith("  ")
                          and not line.startswith("   ")}, set(TOOLS) - {"perftape"})

    def test_each_tool_has_a_completion_that_each_shell_accepts(self):
        for shell, directory, name in (("bash", "bash-completion/completions", "{}"),
                                       ("zsh", "zsh/vendor-completions", "_{}"),
                                       ("fish", "fish/vendor_completions.d", "{}.fish")):
            directory = self.prefix / "share" / directory
            self.assertEqual({path.name for path in directory.iterdir()},
                             {name.format(tool) for tool in TOOLS})
            for path in directory.iterdir() if shutil.which(shell) else ():
                subprocess.run([shell, "-n", path], check=True)

    def test_readme_changelog_and_licences(self):
        self.assertLessEqual(DOCUMENTS, self.names_in("share/doc/perftape"))

    def test_the_schemas_of_json(self):
        sources = pathlib.Path(__file__).parents[2] / "tools/schemas"
        self.assertEqual(self.names_in("share/perftape/schemas"), {path.name for path in sources.iterdir()})

    def test_each_tool_has_a_man_page_and_one_has_the_examples(self):
        if has_pandoc():
            for section in ("1", "7"):
                self.assertEqual(self.names_in(f"share/man/man{section}"),
                                 {page for page in PAGES if page.endswith(section)})
        else:
            self.assertLessEqual({f"{page}.md" for page in PAGES},
                                 self.names_in("share/doc/perftape"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
