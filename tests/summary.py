#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Summarizes the JUnit file of a ctest run: the number of tests, skipped tests with reasons, and
failed tests.

    summary.py build/dev/tests.xml
"""
import re
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


def main():
    cases = ElementTree.parse(sys.argv[1]).getroot().findall("testcase")
    failed = [case.get("name") for case in cases if case.get("status") == "fail"]
    skipped = defaultdict(list)
    for case in cases:
        if case.get("status") in ("notrun", "disabled"):
            skipped[why_skipped(case)].append(case.get("name"))
    skipped_count = sum(len(names) for names in skipped.values())

    print(f"\n{len(cases)} tests: {len(cases) - skipped_count - len(failed)} passed, "
          f"{skipped_count} skipped, {len(failed)} failed")
    for reason, names in sorted(skipped.items()):
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        print(f"  skipped: {names[0]}{more}: {reason}")
    for name in failed:
        print(f"  failed:  {name}")


if __name__ == "__main__":
    main()
