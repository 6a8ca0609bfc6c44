#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs command-line cases: NAME.test is a bash script; the files beside it are its expected
results.

    NAME.stdout.exact   its stdout, byte for byte       NAME.stdout.glob   or line by line
    NAME.stderr.exact   its stderr, byte for byte       NAME.stderr.glob   or line by line
    NAME.exit           its exit status

A stream without such a file must be empty, a status without one must be 0. In a glob `*` matches
any part of a line, `?` one character, and a line `...` any number of lines. The script runs with
`bash -eu` in an empty directory, with the tools first in PATH, without stdin, and with
PERFTAPE_TESTDATA as the path of testdata/. Status 77 means "skipped", with the reason on stderr.

    run_case.py --bin build/dev/bin tests/cli/TOOL/NAME.test …            check
    run_case.py --bin build/dev/bin --update tests/cli/TOOL/NAME.test …   write results, for review
"""
import argparse
import difflib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77
ANY_LINES = "..."


def line_pattern(line):
    return "".join({"*": ".*", "?": "."}.get(c, re.escape(c)) for c in line)


def glob_matches(glob, text):
    parts = []
    for line in glob.splitlines():
        parts.append("(?:.*\n)*" if line == ANY_LINES else line_pattern(line) + "\n")
    if text and not text.endswith("\n"):
        text += "\n"
    return re.fullmatch("".join(parts), text) is not None


def run(script, bin_dir, testdata):
    environment = {
        "PATH": f"{bin_dir}:{os.environ.get('PATH', '/usr/bin:/bin')}",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "NO_COLOR": "1",
        "PERFTAPE_TESTDATA": str(testdata),
        "PERFTAPE_BIN_DIR": str(bin_dir),
    }
    for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "LSAN_OPTIONS"):
        if name in os.environ:
            environment[name] = os.environ[name]
    with tempfile.TemporaryDirectory(prefix="perftape-cli-") as home:
        environment["HOME"] = environment["TMPDIR"] = home
        work = Path(home, "work")
        work.mkdir()
        done = subprocess.run(["bash", "-eu", "-o", "pipefail", str(script)], cwd=work,
                              env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=120)
    return done.stdout, done.stderr, done.returncode


def expected_file(script, stream, kind):
    return script.with_suffix(f".{stream}.{kind}")


def stream_complaints(script, stream, got):
    glob_file = expected_file(script, stream, "glob")
    if glob_file.exists():
        glob = glob_file.read_text()
        if glob_matches(glob, got.decode(errors="backslashreplace")):
            return []
        want = glob.encode()
    else:
        exact_file = expected_file(script, stream, "exact")
        want = exact_file.read_bytes() if exact_file.exists() else b""
        if want == got:
            return []
    diff = difflib.unified_diff(want.decode(errors="backslashreplace").splitlines(),
                                got.decode(errors="backslashreplace").splitlines(),
                                f"expected {stream}", f"actual {stream}", lineterm="")
    return list(diff) or [f"{stream} differs in its last line end"]


def check(script, bin_dir, testdata):
    stdout, stderr, status = run(script, bin_dir, testdata)
    if status == SKIPPED:
        print(f"{script.parent.name}/{script.stem}: skipped: {stderr.decode(errors='replace').strip()}")
        return SKIPPED
    complaints = stream_complaints(script, "stdout", stdout)
    complaints += stream_complaints(script, "stderr", stderr)
    exit_file = script.with_suffix(".exit")
    wanted_status = int(exit_file.read_text()) if exit_file.exists() else 0
    if status != wanted_status:
        complaints.append(f"exit status {status}, expected {wanted_status}")
    for complaint in complaints:
        print(f"{script.parent.name}/{script.stem}: {complaint}")
    return 1 if complaints else 0


def update_stream(script, stream, got):
    glob_file = expected_file(script, stream, "glob")
    exact_file = expected_file(script, stream, "exact")
    if glob_file.exists():
        if not glob_matches(glob_file.read_text(), got.decode(errors="backslashreplace")):
            print(f"{glob_file.name} does not match; mend it by hand, it got:\n{got.decode()}")
    elif got:
        exact_file.write_bytes(got)
    else:
        exact_file.unlink(missing_ok=True)


def update(script, bin_dir, testdata):
    stdout, stderr, status = run(script, bin_dir, testdata)
    update_stream(script, "stdout", stdout)
    update_stream(script, "stderr", stderr)
    if status != 0:
        script.with_suffix(".exit").write_text(f"{status}\n")
    else:
        script.with_suffix(".exit").unlink(missing_ok=True)
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=Path, help="where the tools are")
    parser.add_argument("--update", action="store_true", help="write the expectations")
    parser.add_argument("cases", nargs="+", type=Path)
    options = parser.parse_args()
    testdata = Path(__file__).resolve().parents[2] / "testdata"
    one = update if options.update else check
    statuses = [one(case.resolve(), options.bin.resolve(), testdata) for case in options.cases]
    failed = [status for status in statuses if status not in (0, SKIPPED)]
    if failed:
        return 1
    return SKIPPED if SKIPPED in statuses else 0


if __name__ == "__main__":
    sys.exit(main())
