#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every function of our sources has a caller outside of tests.

    check_callers.py ROOT [--optimized] [--libraries ARCHIVE... --tools EXECUTABLE...]

All tools are linked with --gc-sections from objects with a section per function. So a function that
is in no tool is called by none. Inline functions are only compiled where they are called, so these
are found by name: one that occurs once outside of tests/, at its definition, has no caller. With
--optimized, the compiler may have inlined any function into its callers: one that is in no tool has
no caller if its name occurs only twice, at its declaration and its definition. Without it, as in the
preset dev, the check finds more.
"""
import argparse
import collections
import re
import subprocess
from pathlib import Path

from sources import code_files, code_of, finish

# Called by the language: constructors, destructors, operators.
IMPLICIT = re.compile(r"(?:^|::)(~?\w+)(?:\[abi:\w+\])?(?:<.*>)?::~?\1\(|operator|~")
DEFINITION = re.compile(r"(?<![\w.>:])(?P<name>[A-Za-z_]\w*)\s*\([^;{}()]*(?:\([^()]*\)[^;{}()]*)*\)\s*"
                        r"(?:const\b\s*)?(?:noexcept\b\s*)?(?:override\b\s*)?(?:->[^{;]*)?\{")
# The name of a function in what c++filt prints.
NAME = re.compile(r"(~?\w+)(?:\[abi:\w+\])*(?:<.*>)?(?:\(|$)")
# `name(` or `Class::name`, also of a template.
CALL_OR_REFERENCE = re.compile(r"\b([A-Za-z_]\w*)(?=\s*\(|\s*<[\w:., *&]*>\s*\()|(?<=::)([A-Za-z_]\w*)(?!\s*(?:\(|::))")
KEYWORDS = {"if", "for", "while", "switch", "catch", "return", "sizeof", "alignof", "decltype", "requires",
            "constexpr", "noexcept", "assert", "static_assert", "defined"}
# Called by templates of the standard library, or by the compiler.
CALLED_BY_NAME = {"begin", "end", "allocate", "deallocate", "what", "operator", "main", "format", "parse"}


def defined(path, strong):
    """Returns {symbol: name as in the source} of the functions that a file defines."""
    listed = subprocess.run(["nm", "--defined-only", path], check=True, capture_output=True, text=True)
    types = "T" if strong else "TtWVu"
    symbols = [line.split()[2] for line in listed.stdout.splitlines()
               if len(line.split()) == 3 and line.split()[1] in types]
    names = subprocess.run(["c++filt"], input="\n".join(symbols), check=True, capture_output=True, text=True)
    return dict(zip(symbols, names.stdout.splitlines()))


def uncalled_functions(libraries, tools, may_be_inlined):
    """Yields functions with external linkage that are in no tool, unless may_be_inlined(name)."""
    in_tools = set()
    for tool in tools:
        in_tools |= defined(tool, strong=False).keys()
    for library in libraries:
        for symbol, name in sorted(defined(library, strong=True).items(), key=lambda item: item[1]):
            if (symbol not in in_tools and name.startswith("perftape::") and not IMPLICIT.search(name)
                    and not may_be_inlined(name)):
                yield f"{Path(library).name}: no tool calls {name}"


def occurrences(sources):
    """Returns how often each name is declared, defined, called or referred to."""
    count = collections.Counter()
    for code in sources.values():
        count.update(call or reference for call, reference in CALL_OR_REFERENCE.findall(code))
    return count


def uncalled_inline_functions(sources, count):
    """Yields functions defined in headers whose name occurs nowhere else."""
    definitions = {}
    for path, code in sources.items():
        if path.suffix != ".h" or path.name.endswith(".bpf.h"):
            continue
        for found in DEFINITION.finditer(code):
            if code[:found.start("name")].endswith("operator "):
                continue  # a conversion
            if found["name"] not in KEYWORDS | CALLED_BY_NAME and not found["name"].endswith("_"):
                definitions[found["name"]] = f"{path}:{code.count(chr(10), 0, found.start()) + 1}"
    for name, where in sorted(definitions.items(), key=lambda item: item[1]):
        if count[name] == 1:
            yield f"{where}: nothing but tests calls {name}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path)
    parser.add_argument("--optimized", action="store_true")
    parser.add_argument("--libraries", nargs="*", default=[])
    parser.add_argument("--tools", nargs="*", default=[])
    arguments = parser.parse_args()
    root = arguments.root.resolve()
    sources = {path: code_of((root / path).read_text(errors="replace"))
               for path in code_files(root) if path.parts[0] != "tests"}
    count = occurrences(sources)

    def may_be_inlined(name):
        return arguments.optimized and count[NAME.search(name)[1]] > 2

    complaints = list(uncalled_inline_functions(sources, count))
    complaints += uncalled_functions(arguments.libraries, arguments.tools, may_be_inlined)
    finish(complaints)


if __name__ == "__main__":
    main()
