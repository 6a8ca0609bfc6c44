#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Summarizes the JUnit file of a ctest run: the number of tests, skipped tests with reasons, failed
tests, and tests that passed at the second try only. A GoogleTest program that ran all of its tests
has a file of its own beside it, in gtest/, with each of them.

    summary.py build/dev/tests.xml build/dev/tests.log

The log is ctest's output: the JUnit file has no first tries. Status 1 if a test without the label
`root` or `timing` needed a second try: no other program can have caused that.
"""
import json
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections import defaultdict


def why_skipped(case):
    """Returns the reason of a skip: the text of GTEST_SKIP(), or the last line of a script."""
    output = (case.findtext("system-out") or "").strip()
    own_words = re.search(r": Skipped\n(.+?)\n(?:\n|\[)", output, re.DOTALL)
    if own_words:
        return " ".join(own_words.group(1).split())
    lines = [line for line in output.splitlines() if line.strip()]
    last = lines[-1].strip() if lines else "it does not say why"
    return re.sub(r"^\S+: skipped: ", "", last)


def tests_of(case, directory):
    """Yields (name, reason of a skip or None, whether it failed) of a test of CTest, or of each of
    the tests of its program."""
    name, failed = case.get("name"), case.get("status") == "fail"
    program = directory / f"{name}.xml"
    if not program.exists():
        skipped = case.get("status") in ("notrun", "disabled")
        yield name, why_skipped(case) if skipped else None, failed
        return
    inner_failed = False
    for inner in ElementTree.parse(program).getroot().iter("testcase"):
        skip = inner.find("skipped")
        # The message begins with the place in the source.
        reason = skip.get("message").split("\n", 1)[-1] if skip is not None else None
        is_failure = inner.find("failure") is not None
        inner_failed |= is_failure
        yield (f"{inner.get('classname')}.{inner.get('name')}",
               " ".join(reason.split()) if reason is not None else None, is_failure)
    if failed and not inner_failed:  # it crashed, or a sanitizer ended it
        yield name, None, True


def second_tries(cases, log):
    """Returns the names of the tests that failed and then passed."""
    failed = set(re.findall(r"Test +#\d+: (\S+) \.*\*\*\*(?!Skipped|Not Run)", log))
    return [name for case in cases if case.get("status") == "run" and (name := case.get("name")) in failed]


def disturbed_tests(directory):
    """Returns the names of the tests of this build that other programs of the machine can disturb."""
    shown = subprocess.run(["ctest", "--test-dir", directory, "--show-only=json-v1", "-L", "^(root|timing)$"],
                           check=True, capture_output=True, text=True).stdout
    return {test["name"] for test in json.loads(shown)["tests"]}


def main():
    path = pathlib.Path(sys.argv[1])
    log = pathlib.Path(sys.argv[2]).read_text(errors="replace")
    cases = ElementTree.parse(path).getroot().findall("testcase")
    second = second_tries(cases, log)
    unsteady = sorted(set(second) - disturbed_tests(path.parent)) if second else []
    tests = [test for case in cases for test in tests_of(case, path.parent / "gtest")]
    failed = [name for name, _, is_failure in tests if is_failure]
    skipped = defaultdict(list)
    for name, reason, _ in tests:
        if reason is not None:
            skipped[reason].append(name)
    skipped_count = sum(len(names) for names in skipped.values())

    print(f"\n{len(tests)} tests: {len(tests) - skipped_count - len(failed)} passed, "
          f"{skipped_count} skipped, {len(failed)} failed")
    for reason, names in sorted(skipped.items()):
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        print(f"  skipped: {names[0]}{more}: {reason}")
    for name in failed:
        print(f"  failed:  {name}")
    for name in second:
        print(f"  passed at the second try{', which only root tests have' if name in unsteady else ''}: {name}")
    return bool(unsteady)


if __name__ == "__main__":
    sys.exit(main())
