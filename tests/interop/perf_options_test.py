#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each option of perf record has a row in perftape-record: it works, it is already so, or it is refused with a reason.
So has each of perf script in perftape-script.

    perf_options_test.py --bin build/dev/bin

The options are those that `perf record -h` and `perf script -h` of the installed perf prints, if there is one, and those of perf 6.1 and
7.3 in testdata/perf-options. A new option of perf fails the test. Options that are not refused are given to
perftape-record with --dry-run, so nothing is recorded, and to perftape-script with a file that does not exist. Prints
how many are refused.
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import unittest

LISTS = pathlib.Path(__file__).parents[2] / "testdata" / "perf-options"
# A value for each option that needs one.
VALUES = {"--call-graph": "fp", "--cgroup": "/", "--clockid": "mono", "--control": "fd:0", "--count": "1000", "--cpu": "0", "--event": "cs",
          "--freq": "99", "--max-size": "1M", "--mmap-pages": "64", "--off-cpu-thresh": "5", "--output": "x.data",
          "--pid": "1", "--realtime": "1", "--switch-max-files": "2", "--synth": "all", "--tid": "1", "--uid": "0"}
# Others that an option needs beside it.
BESIDE = {"--switch-max-files": ["--switch-output"]}
MOST_REFUSED = 40
# The same of perf script.
SCRIPT_VALUES = {"--cpu": "0", "--demangle": "simple", "--fields": "comm", "--input": "no such file", "--max-stack": "3",
                 "--pid": "1", "--tid": "1", "--time": "0,1"}
record = None
script = None


def options_in(text):
    """The options of perf's help, each as a tuple of its spellings."""
    rows = re.findall(r"^    (?:-(\w), |-(\w)(?= )|    )(?:--([\w-]+))?", text, re.MULTILINE)
    rows = [(letter or only, name) for letter, only, name in rows if letter or only or name]
    return [tuple([f"-{letter}"] * bool(letter) + [f"--{name}"] * bool(name)) for letter, name in rows]


def all_options(verb="record"):
    """The options of a verb in all versions of perf, sorted."""
    lists = [[tuple(line.split()) for line in path.read_text().splitlines()] for path in LISTS.glob(f"{verb}-*.txt")]
    if shutil.which("perf"):
        shown = subprocess.run(["perf", verb, "-h"], capture_output=True, text=True, check=False)
        lists.append(options_in(shown.stdout + shown.stderr))
    assert len(lists) >= 2 and all(len(options) > 60 for options in lists), lists
    return sorted({spellings for options in lists for spellings in options})


def run(*words, tool=None):
    shown = subprocess.run([tool or record, *words], capture_output=True, text=True, timeout=60, check=False,
                           stdin=subprocess.DEVNULL)
    return shown.returncode, shown.stderr


def rows_of_help(tool):
    """The rows of --help-all: the spellings, and whether the next word is an argument."""
    shown = subprocess.run([tool, "--help-all"], capture_output=True, text=True, check=True).stdout
    rows = re.findall(r"^  (-\w|  )(?:[, ] (--[\w-]+))?( [A-Z]\S*)?", shown, re.MULTILINE)
    return [([letter.strip(), name], bool(argument)) for letter, name, argument in rows]


class PerfOptions(unittest.TestCase):
    def test_each_has_a_verdict(self):
        needs_argument = {spelling: needed for spellings, needed in rows_of_help(record) for spelling in spellings}
        verdicts = {}
        for spellings in all_options():
            for spelling in spellings:
                self.assertIn(spelling, needs_argument, f"{spellings} has no row")
                key = spellings[-1]
                verdicts[key] = self.verdict(spelling, key, needs_argument[spelling])
        by_verdict = {name: sorted(key for key, verdict in verdicts.items() if verdict == name)
                      for name in ("works", "already so", "refused")}
        for name, keys in by_verdict.items():
            print(f"{len(keys)} {name}: {' '.join(keys)}")
        self.assertLessEqual(len(by_verdict["refused"]), MOST_REFUSED)

    def verdict(self, spelling, key, needs_argument):
        argument = [VALUES.get(key, "1")] if needs_argument else []
        status, err = run("-v", spelling, *argument, *BESIDE.get(key, []), "--dry-run", "true")
        if f"{spelling} is not supported: " in err:
            self.assertEqual(status, 2, err)
            return "refused"
        self.assertEqual(status, 0, f"{spelling}: {err}")
        return "already so" if err.startswith(f"perftape-record: {spelling}: ") else "works"

    def test_an_option_can_be_taken_back(self):
        names = {spellings[-1][2:] for spellings in all_options() if spellings[-1].startswith("--")}
        words = [f"--{name[3:] if name.startswith('no-') else f'no-{name}'}" for name in sorted(names - {"dry-run"})]
        status, err = run(*words, "--dry-run", "true")
        self.assertEqual(status, 0, err)
        status, err = run("-W", "-i", "-F", "fast", "--no-weight", "--inherit", "--no-freq", "--dry-run", "true")
        self.assertEqual(status, 0, err)

    def test_names_can_be_abbreviated(self):
        for words in (["--fr", "9"], ["--buildid-m", "--no-buildid-m"], ["--all-c"], ["--dry"]):
            perf_takes_it = words != ["--all-c"]
            status, err = run(*words, "--dry-run", "true")
            self.assertEqual(status, 0 if perf_takes_it else 2, err)


class ScriptOptions(unittest.TestCase):
    def test_each_has_a_verdict(self):
        needs_argument = {spelling: needed for spellings, needed in rows_of_help(script) for spelling in spellings}
        refused = set()
        for spellings in all_options("script"):
            key = spellings[-1]
            for spelling in spellings:
                argument = [SCRIPT_VALUES.get(key, "1")] if needs_argument.get(spelling) else []
                operand = [] if key == "--input" else ["no such file"]
                status, err = run(spelling, *argument, *operand, tool=script)
                if f"{spelling} is not supported: " in err:
                    self.assertEqual(status, 2, err)
                    refused.add(key)
                else:
                    self.assertEqual(status, 1, f"{spelling}: {err}")
                    self.assertIn("no such file", err)
        print(f"{len(refused)} of perf script are refused: {' '.join(sorted(refused))}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    arguments, rest = parser.parse_known_args()
    record = str(pathlib.Path(arguments.bin).resolve() / "perftape-record")
    script = str(pathlib.Path(arguments.bin).resolve() / "perftape-script")
    unittest.main(argv=[__file__, *rest])
