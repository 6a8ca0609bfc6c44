#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every file includes what it names: check_names.py [ROOT].

A file that uses a type, a constant or a function of one of our headers must include that header, also through
others, or declare the name. The same for names of the standard library. Only a name that means one thing in all
headers is checked. The compiler checks everything (check_alone.py), but takes minutes; this check takes seconds.
Builds that compile several files together do not see a missing include."""
import collections
import re

from check_arrows import INCLUDE
from check_alone import reached
from sources import code_files, code_of, finish, root_argument

# The names of the standard library that our headers use, and the most frequent ones of other files, by header.
STANDARD = {
    "algorithm": "clamp find ranges",
    "array": "array to_array",
    "atomic": "atomic",
    "charconv": "from_chars to_chars",
    "bit": "bit_cast bit_width byteswap endian popcount",
    "chrono": "chrono",
    "compare": "weak_ordering",
    "concepts": "convertible_to derived_from floating_point integral invocable same_as signed_integral unsigned_integral",
    "condition_variable": "condition_variable",
    "cstddef": "byte max_align_t nullptr_t to_integer",
    "cstdint": "int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t uintptr_t",
    "cstdio": "fprintf snprintf",
    "cstdlib": "abort getenv strtoull system",
    "cstring": "memchr memcmp memcpy memmove memset strerror strlen",
    "deque": "deque",
    "expected": "expected unexpected",
    "filesystem": "filesystem",
    "fstream": "ifstream ofstream",
    "functional": "greater equal_to function less",
    "future": "async future launch",
    "limits": "numeric_limits",
    "list": "list",
    "map": "map multimap",
    "memory": "make_shared make_unique shared_ptr unique_ptr weak_ptr",
    "mutex": "lock_guard mutex once_flag unique_lock",
    "numeric": "accumulate exclusive_scan gcd inclusive_scan iota partial_sum",
    "optional": "nullopt optional",
    "ostream": "ios ostream streamsize",
    "random": "minstd_rand random_device",
    "set": "set",
    "span": "as_bytes as_writable_bytes span",
    "stdexcept": "runtime_error",
    "stop_token": "stop_callback stop_source stop_token",
    "string": "stoi string to_string",
    "string_view": "string_view string_view_literals",
    "system_error": "error_code system_error",
    "sstream": "istringstream ostringstream",
    "thread": "jthread thread",
    "tuple": "tie tuple",
    "type_traits": "has_unique_object_representations_v is_arithmetic_v is_constructible_v is_enum_v "
                   "is_integral_v is_same_v is_trivially_copyable_v make_signed_t make_unsigned_t remove_const_t remove_cvref_t "
                   "type_identity underlying_type_t",
    "unordered_map": "unordered_map unordered_multimap",
    "unordered_set": "unordered_set",
    "utility": "exchange to_underlying",
    "variant": "get_if holds_alternative variant visit",
    "vector": "vector",
}
HEADER_OF = {name: header for header, names in STANDARD.items() for name in names.split()}
# Each header of a container has these.
EVERYWHERE = frozenset("bad_alloc begin declval end erase_if forward hash initializer_list max min move pair prev ptrdiff_t size "
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
# Functions, members and parameters of templates may have the name of a type elsewhere, and enumerators that of a constant.
OTHER_USE = re.compile(r"\b(\w+)\(|^ +(?:struct|class|enum class|enum|using|friend \w+) +(\w+)|"
                       r"\b(?:class|typename)(?:\.\.\.)? +(\w+) *[,>=]", re.MULTILINE)
ENUMERATION = re.compile(r"\benum\b[^;{}()]*\{([^}]*)\}")
ENUMERATOR = re.compile(r"\bk[A-Z]\w+")
MEMBER_CONSTANT = re.compile(r"^ +static constexpr [^=;()]*?\b(k[A-Z]\w+)(?: *=|\[|\{)", re.MULTILINE)
DECLARED = re.compile(r"^(?:class|struct|enum class|enum) +(\w+)(?: *: *[\w:]+)?;", re.MULTILINE)
WORD = re.compile(r"(?<![\w.])(?:[A-Z]|k[A-Z])\w+\b")
# What a file defines for itself, anywhere in it; a constant also behind another one or as a parameter of a template.
OWN_CONSTANT = re.compile(r"\bconst(?:expr|init)? [^=;()]*?\b(k[A-Z]\w+)(?: *=|\[|\{)|,\s+(k[A-Z]\w+) = |"
                          r"\w (k[A-Z]\w+)[,>]")
OWN_NAME = re.compile(r"\b(?:auto|class|struct|enum class|enum|using) +([A-Z]\w+)")

# A function of a namespace begins in the first column, as a matcher of GoogleTest does. A member is indented.
FUNCTION = re.compile(r"^(?:MATCHER\w*\(([A-Z]\w+)|(?!MATCHER)[^\n(= #}/][^\n(=]*?\b([A-Z]\w+)\()", re.MULTILINE)
MEMBER = re.compile(r"^ +[^\n(=]*?\b([A-Z]\w+)\(", re.MULTILINE)
CALL = re.compile(r"(?<![\w.>:])([A-Z]\w+)\(|(?<![\w.>])\w+::([A-Z]\w+)\(")
# A name after a type is declared, unless the word before it is no type.
DECLARED_FUNCTION = re.compile(r"([\w>&*\]]+)[ \n]+[&*]*([A-Z]\w+)\(")
NO_TYPES = frozenset("return co_return throw case else new and or not".split())


def names_in(found):
    """Returns the names that a pattern with several groups has found."""
    return {name for names in found for name in names if name}


def other_uses_in(code):
    """Returns the names that stand for something else than a type or constant of a namespace."""
    enumerators = {name for body in ENUMERATION.findall(code) for name in ENUMERATOR.findall(body)}
    return names_in(OTHER_USE.findall(code)) | enumerators | set(MEMBER_CONSTANT.findall(code))


def defined_in(code):
    return names_in(TYPE.findall(code)) | set(CONSTANT.findall(code))


def own_constants_in(code):
    return names_in(OWN_CONSTANT.findall(code))


def own_names(code):
    """Returns what a file that is no header declares or defines."""
    return defined_in(code) | other_uses_in(code) | set(OWN_NAME.findall(code))


def homes_of(codes):
    """Returns the header of each type and constant whose name means one thing in all headers."""
    definitions = collections.defaultdict(list)
    other_uses = set()
    for header, code in codes.items():
        for name in defined_in(code):
            definitions[name].append(header)
        other_uses |= other_uses_in(code)
    return {name: headers[0] for name, headers in definitions.items() if len(headers) == 1 and name not in other_uses}


def function_homes_of(codes):
    """Returns the header of each function whose name means one thing in all headers."""
    headers = collections.defaultdict(set)
    for header, code in codes.items():
        for name in names_in(FUNCTION.findall(code)):
            headers[name].add(header)
    members = {name for code in codes.values() for name in MEMBER.findall(code)}
    return {name: min(found) for name, found in headers.items() if len(found) == 1 and name not in members}


def standard_complaints(path, code, included):
    """Yields the names of the standard library that no included header has."""
    for name in sorted(set(STD_NAME.findall(code)) - EVERYWHERE):
        wanted = HEADER_OF.get(name)
        if wanted is None:
            if path.endswith(".h"):
                yield f"{path}: uses std::{name}: add it to STANDARD in check_names.py"
        elif not ({wanted} | ALSO_IN.get(name, set())) & included:
            yield f"{path}: uses std::{name} without <{wanted}>"


def complaints_of(path, code, included, homes, function_homes):
    """Yields what a file names without one of our headers that has it."""
    declared = set(DECLARED.findall(code)) | own_constants_in(code)
    if not path.endswith(".h"):
        declared |= own_names(code)
    for name in sorted(set(WORD.findall(code)) - declared):
        if name in homes and homes[name] not in included:
            yield f"{path}: uses {name} without {homes[name]}"
    functions = {name for before, name in DECLARED_FUNCTION.findall(code) if before not in NO_TYPES}
    functions |= names_in(FUNCTION.findall(code)) | set(OWN_NAME.findall(code))
    for name in sorted(names_in(CALL.findall(code)) - functions):
        if name in function_homes and function_homes[name] not in included:
            yield f"{path}: calls {name} without {function_homes[name]}"


def main():
    root = root_argument()
    files = [str(path) for path in code_files(root) if path.suffix != ".c" and path.parts[0] != "bpf"]
    texts = {path: (root / path).read_text(errors="replace") for path in files}
    codes = {path: code_of(text) for path, text in texts.items()}
    header_codes = {path: code for path, code in codes.items() if path.endswith(".h")}
    homes, function_homes = homes_of(header_codes), function_homes_of(header_codes)
    angled = {path: {name for _, name in INCLUDE.findall(text) if name} for path, text in texts.items()}
    complaints = []
    for path in files:
        included = reached(root, path)
        standard = set().union(*(angled.get(other, set()) for other in included))
        complaints += standard_complaints(path, codes[path], standard)
        complaints += complaints_of(path, codes[path], included, homes, function_homes)
    finish(complaints)


if __name__ == "__main__":
    main()
