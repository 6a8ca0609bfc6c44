#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every header includes what it names: check_header_names.py [ROOT].

A header that uses a type or a constant of another of our headers must include it, also through others, or
declare it. The same for names of the standard library. The compiler checks all of it (check_headers.py),
but takes minutes; this check takes a second."""
import collections
import re

from check_arrows import INCLUDE
from check_headers import reached
from sources import code_files, code_of, finish, root_argument

# The names of the standard library that our headers use, by header.
STANDARD = {
    "algorithm": "clamp find ranges",
    "array": "array to_array",
    "atomic": "atomic",
    "bit": "bit_cast bit_width byteswap endian popcount",
    "chrono": "chrono",
    "concepts": "convertible_to derived_from integral invocable same_as",
    "condition_variable": "condition_variable",
    "cstddef": "byte max_align_t to_integer",
    "cstdint": "int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t uintptr_t",
    "cstdio": "fprintf snprintf",
    "cstdlib": "abort getenv",
    "cstring": "memchr memcmp memcpy",
    "deque": "deque",
    "expected": "expected unexpected",
    "filesystem": "filesystem",
    "fstream": "ofstream",
    "functional": "equal_to function less",
    "future": "async future launch",
    "limits": "numeric_limits",
    "list": "list",
    "map": "erase_if map multimap",
    "memory": "make_shared make_unique shared_ptr unique_ptr weak_ptr",
    "mutex": "lock_guard mutex once_flag unique_lock",
    "numeric": "accumulate",
    "optional": "nullopt optional",
    "ostream": "ios ostream streamsize",
    "random": "minstd_rand random_device",
    "set": "set",
    "span": "as_bytes span",
    "stdexcept": "runtime_error",
    "stop_token": "stop_callback stop_source stop_token",
    "string": "stoi string to_string",
    "string_view": "string_view string_view_literals",
    "system_error": "error_code system_error",
    "thread": "thread",
    "tuple": "tie tuple",
    "type_traits": "has_unique_object_representations_v is_arithmetic_v is_constructible_v is_enum_v "
                   "is_integral_v is_same_v is_trivially_copyable_v remove_const_t remove_cvref_t type_identity underlying_type_t",
    "unordered_map": "unordered_map unordered_multimap",
    "unordered_set": "unordered_set",
    "utility": "exchange to_underlying",
    "variant": "get_if variant",
    "vector": "vector",
}
HEADER_OF = {name: header for header, names in STANDARD.items() for name in names.split()}
# Each header of a container has these.
EVERYWHERE = frozenset("bad_alloc begin declval end forward hash initializer_list max min move pair prev ptrdiff_t size "
                       "size_t swap".split())
# Other headers that have a name.
ALSO_IN = {"abort": {"memory"}, "byte": {"span"}, "error_code": {"filesystem"}, "ios": {"fstream"}, "less": {"map"},
           "runtime_error": {"filesystem", "string"}, "streamsize": {"fstream"}, "string": {"filesystem"},
           "string_view": {"string"}, "tuple": {"map"}}
STD_NAME = re.compile(r"\bstd::(\w+)")

# What begins in the first column is in a namespace.
TYPE = re.compile(r"^(?:class|struct|enum class|enum|union|concept) +([A-Z]\w+)(?= *(?:final)? *[:{]| *= )|^using +([A-Z]\w+) *=",
                  re.MULTILINE)
CONSTANT = re.compile(r"^inline constexpr [^=;()]*?\b(k[A-Z]\w+)(?: *=|\[|\{)", re.MULTILINE)
# Functions, members, enumerators and parameters of templates may have the name of a type elsewhere.
OTHER_USE = re.compile(r"\b(\w+)\(|^ +(?:struct|class|enum class|enum|using|friend \w+) +(\w+)|^ +(k\w+)(?: = [^;{]*?)?,|"
                       r"\b(k\w+) *[,}]|\b(?:class|typename)(?:\.\.\.)? +(\w+) *[,>=]", re.MULTILINE)
DECLARED = re.compile(r"^(?:class|struct|enum class|enum) +(\w+)(?: *: *[\w:]+)?;", re.MULTILINE)
WORD = re.compile(r"(?<![\w.])(?:[A-Z]|k[A-Z])\w+\b")


def defined_in(code):
    return {name for names in TYPE.findall(code) for name in names if name} | set(CONSTANT.findall(code))


def homes_of(codes):
    """Returns the header of each name that means one thing in all headers."""
    definitions = collections.defaultdict(list)
    other_uses = set()
    for header, code in codes.items():
        for name in defined_in(code):
            definitions[name].append(header)
        other_uses.update(name for names in OTHER_USE.findall(code) for name in names if name)
    return {name: headers[0] for name, headers in definitions.items() if len(headers) == 1 and name not in other_uses}


def complaints_of(header, codes, includes, angled, homes):
    """Yields what a header names without a header that has it."""
    included = set().union(*(angled.get(path, set()) for path in includes[header]))
    for name in sorted(set(STD_NAME.findall(codes[header])) - EVERYWHERE):
        wanted = HEADER_OF.get(name)
        if wanted is None:
            yield f"{header}: uses std::{name}: add it to STANDARD in check_header_names.py"
        elif not ({wanted} | ALSO_IN.get(name, set())) & included:
            yield f"{header}: uses std::{name} without <{wanted}>"
    for name in sorted(set(WORD.findall(codes[header])) - set(DECLARED.findall(codes[header]))):
        if name in homes and homes[name] not in includes[header]:
            yield f"{header}: uses {name} without {homes[name]}"


def main():
    root = root_argument()
    headers = [str(path) for path in code_files(root) if path.suffix == ".h" and path.parts[0] != "bpf"]
    texts = {header: (root / header).read_text(errors="replace") for header in headers}
    codes = {header: code_of(text) for header, text in texts.items()}
    homes = homes_of(codes)
    includes = {header: reached(root, header) for header in headers}
    angled = {header: {name for _, name in INCLUDE.findall(text) if name} for header, text in texts.items()}
    finish([complaint for header in headers
            for complaint in complaints_of(header, codes, includes, angled, homes)])


if __name__ == "__main__":
    main()
