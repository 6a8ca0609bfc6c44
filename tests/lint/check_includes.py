#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that costly headers of libraries stay where they are: check_includes.py [ROOT].

A header of ours includes no header of a library, unless it is in IN_HEADERS: every file that
includes ours would compile the library again. Headers in COSTLY are only in the files that the
table names. CONTRIBUTING.md has the costs."""
import re

from sources import code_files, finish, root_argument

ROOMS = ("formats", "convert", "record", "tools")
INCLUDE = re.compile(r"^\s*#\s*include\s*<([^>]+)>", re.MULTILINE)
# Headers of the standard library, the C library and the kernel.
SYSTEM = re.compile(r"[a-z_]+(\.h)?$|(sys|linux|asm|arpa|netinet|net)/")
# These have names as the C library's, or are of the libraries.
LIBRARIES = re.compile(r"(archive|dwarf|gelf|libdeflate|libelf|lzma|sodium|xxhash|zlib|zstd)")

# A header of a library, and those of ours that may include it. None means all.
IN_HEADERS = {
    "fmt/core.h": None,
    "protozero/exception.hpp": {"formats/protobuf/field_reader.h"},
    "protozero/pbf_reader.hpp": {"formats/protobuf/field_reader.h"},
    "protozero/types.hpp": {"formats/protobuf/field_writer.h"},
    "tsl/robin_map.h": {"convert/export/frame_texts.h", "convert/frames/frame_table.h"},
    "xxhash.h": {"formats/base/bytes_hash.h"},
}

# A pattern of headers, the files that may include them, and what to use instead.
COSTLY = (
    (re.compile(r"fmt/(?!core\.h$)"), {"formats/base/text.cc"},
     "use <fmt/core.h>, and AppendFormat and Joined of formats/base/text.h"),
    (re.compile(r"regex$"), set(), "use RE2"),
)


def is_of_library(name):
    return SYSTEM.match(name) is None or LIBRARIES.match(name) is not None


def complaints_of(path, text):
    """Yields what is wrong with the includes of a file of our rooms."""
    name = path.as_posix()
    for included in INCLUDE.findall(text):
        for pattern, files, instead in COSTLY:
            if pattern.match(included) and name not in files:
                yield f"{name}: includes <{included}>: {instead}"
        if path.suffix != ".h" or not is_of_library(included):
            continue
        allowed = IN_HEADERS.get(included, set())
        if allowed is not None and name not in allowed:
            yield f"{name}: a header includes <{included}> of a library: move it to a .cc file"


def main():
    root = root_argument()
    finish([complaint for path in code_files(root) if path.parts[0] in ROOMS
            for complaint in complaints_of(path, (root / path).read_text())])


if __name__ == "__main__":
    main()
