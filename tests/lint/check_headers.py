#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every header compiles alone, also if it is included twice.

    check_headers.py ROOT [--compiler g++] [--cache FILE]

The cache contains a digest of each correct header and of all our headers that it includes: a second
run only compiles what changed. Some headers that many others include are precompiled. A header is
compiled after one of them only if it includes that one itself, so it is still alone. Of bpf/, only wire.h is for user space. It includes nothing, so the
check adds the kernel's types. The build of the skeletons compiles the rest.
"""
import argparse
import collections
import hashlib
import json
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from check_arrows import INCLUDE
from sources import code_files, finish

FLAGS = ["-std=c++23", "-Wall", "-Wextra", "-Werror"]
MOST_PRECOMPILED = 12
LEAST_SAVED = 50  # headers that need not be read again


def reached(root, header):
    """Returns the header and all our headers that it includes, also through others."""
    seen, waiting = set(), [header]
    while waiting:
        path = waiting.pop()
        if path in seen or not (root / path).is_file():
            continue
        seen.add(path)
        text = (root / path).read_text(errors="replace")
        waiting += [quoted for quoted, _ in INCLUDE.findall(text) if quoted]
    return seen


def digest(root, headers, compiler):
    content = b"".join(path.encode() + (root / path).read_bytes() for path in sorted(headers))
    return hashlib.sha256(content + " ".join([compiler] + FLAGS).encode()).hexdigest()


def choose_precompiled(changed, includes):
    """Returns, by header, the one that is precompiled for it. Some have none.

    Chooses the header that saves most, again and again."""
    bases = {header: includes[header] & includes.keys() - {header} for header in changed}
    saved = collections.defaultdict(int)  # by header, with what is chosen so far
    chosen = {}
    for _ in range(MOST_PRECOMPILED):
        gains = collections.Counter()
        for header in changed:
            for base in bases[header]:
                gains[base] += max(0, len(includes[base]) - saved[header])
        base = max(gains, key=lambda header: (gains[header], header), default=None)
        if gains[base] < LEAST_SAVED:
            break
        for header in changed:
            if base in bases[header] and len(includes[base]) > saved[header]:
                chosen[header], saved[header] = base, len(includes[base])
    return chosen


def precompile(root, base, compiler, directory):
    """Returns the name that includes the precompiled header. (clang reads the header itself.)"""
    name = base.replace("/", ".")
    (directory / name).write_text(f'#include "{base}"\n')
    subprocess.run([compiler, f"-I{root}"] + FLAGS +
                   ["-x", "c++-header", directory / name, "-o", directory / f"{name}.gch"],
                   check=False, capture_output=True)
    return name


def compile_alone(root, header, compiler, directory, precompiled):
    before = "#include <linux/types.h>\n" if header == "bpf/wire.h" else ""
    if precompiled:
        before = f'#include "{precompiled}"\n'
    twice = f'{before}#include "{header}"\n#include "{header}"\n'
    done = subprocess.run([compiler, f"-I{directory}", f"-I{root}"] + FLAGS +
                          ["-fsyntax-only", "-x", "c++", "-"],
                          input=twice, text=True, capture_output=True)
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

    includes = {header: reached(root, header) for header in headers}
    digests = {header: digest(root, includes[header], options.compiler) for header in headers}
    passed = {}
    if options.cache and options.cache.is_file():
        passed = json.loads(options.cache.read_text())
    changed = [header for header in headers if passed.get(header) != digests[header]]
    bases = choose_precompiled(changed, includes)
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(2) as pool:
        directory = Path(name)
        names = sorted(set(bases.values()))
        precompiled = dict(zip(names, pool.map(
            lambda base: precompile(root, base, options.compiler, directory), names)))
        results = list(pool.map(
            lambda header: compile_alone(root, header, options.compiler, directory,
                                         precompiled.get(bases.get(header))), changed))
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
