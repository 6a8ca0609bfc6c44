#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every header compiles alone, also if it is included twice.

    check_headers.py ROOT [--compiler g++] [--cache FILE]

The cache contains a digest of each correct header and of all our headers that it includes: a second
run only compiles what changed. Of bpf/, only wire.h is for user space. It includes nothing, so the
check adds the kernel's types. The build of the skeletons compiles the rest.
"""
import argparse
import hashlib
import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from check_arrows import INCLUDE
from sources import code_files, finish

FLAGS = ["-std=c++23", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x", "c++", "-"]


def digest(root, header, compiler):
    """Returns a digest of the header and of all our headers that it reaches."""
    seen, waiting = set(), [header]
    while waiting:
        path = waiting.pop()
        if path in seen or not (root / path).is_file():
            continue
        seen.add(path)
        text = (root / path).read_text(errors="replace")
        waiting += [quoted for quoted, _ in INCLUDE.findall(text) if quoted]
    content = b"".join(path.encode() + (root / path).read_bytes() for path in sorted(seen))
    return hashlib.sha256(content + " ".join([compiler] + FLAGS).encode()).hexdigest()


def compile_alone(root, header, compiler):
    before = "#include <linux/types.h>\n" if header == "bpf/wire.h" else ""
    twice = f'{before}#include "{header}"\n#include "{header}"\n'
    done = subprocess.run([compiler, f"-I{root}"] + FLAGS, input=twice, text=True,
                          capture_output=True)
    return [] if done.returncode == 0 else [f"{header} does not compile alone:\n{done.stderr}"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root", type=Path)
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--cache", type=Path)
    options = parser.parse_args()
    root = options.root.resolve()
    headers = [str(path) for path in code_files(root) if path.suffix == ".h"]
    headers = [path for path in headers if not path.startswith("bpf/") or path == "bpf/wire.h"]

    digests = {header: digest(root, header, options.compiler) for header in headers}
    passed = {}
    if options.cache and options.cache.is_file():
        passed = json.loads(options.cache.read_text())
    changed = [header for header in headers if passed.get(header) != digests[header]]
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda h: compile_alone(root, h, options.compiler), changed))
    complaints = [complaint for result in results for complaint in result]

    failed = {header for header, result in zip(changed, results) if result}
    if options.cache:
        options.cache.parent.mkdir(parents=True, exist_ok=True)
        good = {header: d for header, d in digests.items() if header not in failed}
        options.cache.write_text(json.dumps(good, indent=1))
    print(f"{len(headers)} headers, {len(changed)} compiled")
    finish(complaints)


if __name__ == "__main__":
    main()
