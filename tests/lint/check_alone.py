#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every C++ file compiles alone, and a header also if it is included twice.

    check_alone.py ROOT [--compiler g++] [--commands compile_commands.json] [--cache FILE]

Builds that compile several files together do not see a missing include. The commands of a build name the
directories of generated headers and the definitions; without them only headers are compiled.

The cache contains a digest of each correct file and of all our headers that it includes: a second
run only compiles what changed. A file may be compiled after a header that it includes itself:
it is still alone. So chains of headers are compiled at once, and those that many others include are
precompiled. Of bpf/, only wire.h is for user space. It includes nothing, so the
check adds the kernel's types. The build of the skeletons compiles the rest.
"""
import argparse
import collections
import hashlib
import itertools
import json
import shlex
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from check_arrows import INCLUDE
from sources import code_files, finish

FLAGS = ["-std=c++23"]
# Definitions that only one file of several gets.
OF_ONE_FILE = ("-DKERNEL_WALK_", "-D__TARGET_ARCH_", "-DPERFTAPE_TOOL=")
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


def digest(root, files, compiler):
    content = b"".join(path.encode() + (root / path).read_bytes() for path in sorted(files))
    return hashlib.sha256(content + " ".join([*compiler, *FLAGS]).encode()).hexdigest()


def words_of_build(commands):
    """Returns the directories and definitions that the commands of a build name."""
    words = set()
    for entry in json.loads(commands.read_text()):
        command = shlex.split(entry["command"])
        words |= {word for word in command if word.startswith(("-I", "-D")) and not word.startswith(OF_ONE_FILE)}
        words |= {f"-I{directory}" for option, directory in itertools.pairwise(command) if option == "-isystem"}
    return sorted(words)


def choose_precompiled(changed, includes):
    """Returns, by file, the header that is precompiled for it. Some have none.

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


def chains(headers, includes):
    """Returns the files in lists. In each list, every file includes the one before it."""
    left = set(headers)
    lists = []
    for header in sorted(headers, key=lambda header: (-len(includes[header]), header)):
        chain = []
        while header in left:
            left.remove(header)
            chain.insert(0, header)
            header = max(left & includes[header], default=None,
                         key=lambda other: (len(includes[other]), other))
        if chain:
            lists.append(chain)
    return lists


def precompile(root, base, compiler, directory):
    """Returns the name that includes the precompiled header. (clang reads the header itself.)"""
    name = base.replace("/", ".")
    (directory / name).write_text(f'#include "{base}"\n')
    subprocess.run([*compiler, f"-I{root}", *FLAGS,
                    "-x", "c++-header", directory / name, "-o", directory / f"{name}.gch"],
                   check=False, capture_output=True)
    return name


def compile_chain(root, chain, compiler, directory, precompiled):
    """Returns complaints by file, each of which is compiled alone if the chain has an error."""
    before = f'#include "{precompiled}"\n' if precompiled else ""
    if "bpf/wire.h" in chain:
        before += "#include <linux/types.h>\n"
    text = before + "".join(f'#include "{path}"\n' * (2 if path.endswith(".h") else 1) for path in chain)
    done = subprocess.run([*compiler, f"-I{directory}", f"-I{root}", *FLAGS, "-fsyntax-only", "-x", "c++", "-"],
                          input=text, text=True, capture_output=True)
    if done.returncode == 0:
        return {}
    if len(chain) == 1:
        return {chain[0]: f"{chain[0]} does not compile alone:\n{done.stderr}"}
    complaints = {}
    for header in chain:
        complaints |= compile_chain(root, [header], compiler, directory, None)
    return complaints or {chain[-1]: f"{chain} do not compile together:\n{done.stderr}"}


def compile_all(root, headers, includes, compiler):
    """Returns complaints by file."""
    base_of = choose_precompiled(headers, includes)
    bases = sorted(set(base_of.values()))
    complaints = {}
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(2) as pool:
        directory = Path(name)
        precompiled = dict(zip(bases, pool.map(
            lambda base: precompile(root, base, compiler, directory), bases)))
        tasks = [(chain, precompiled.get(base)) for base in [*bases, None]
                 for chain in chains([header for header in headers if base_of.get(header) == base],
                                     includes)]
        for found in pool.map(
                lambda task: compile_chain(root, task[0], compiler, directory, task[1]), tasks):
            complaints |= found
    return complaints


def is_for_user_space(path):
    """The kernel's part, and the tests that compile it for this machine, need the kernel's types and definitions."""
    return not path.startswith(("bpf/", "tests/bpf/")) or path == "bpf/wire.h"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root", type=Path)
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--commands", type=Path)
    parser.add_argument("--cache", type=Path)
    options = parser.parse_args()
    root = options.root.resolve()
    compiler = [options.compiler, *(words_of_build(options.commands) if options.commands else [])]
    endings = (".h", ".cc") if options.commands else (".h",)
    files = [str(path) for path in code_files(root) if path.suffix in endings and is_for_user_space(str(path))]

    includes = {path: reached(root, path) for path in files}
    digests = {path: digest(root, includes[path], compiler) for path in files}
    passed = {}
    if options.cache and options.cache.is_file():
        passed = json.loads(options.cache.read_text())
    changed = [path for path in files if passed.get(path) != digests[path]]
    complaints = compile_all(root, changed, includes, compiler)

    if options.cache:
        options.cache.parent.mkdir(parents=True, exist_ok=True)
        good = {path: d for path, d in digests.items() if path not in complaints}
        options.cache.write_text(json.dumps(good, indent=1))
    print(f"{len(files)} files, {len(changed)} compiled")
    finish([complaints[path] for path in sorted(complaints)])


if __name__ == "__main__":
    main()
