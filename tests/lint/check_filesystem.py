#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that no call of std::filesystem can throw: check_filesystem.py [ROOT]

Each call must pass a std::error_code that the same file declares. ++ of a directory_iterator
throws, however it was constructed, and a range-for calls it: loops use increment(error) instead.
Tests may throw.
"""
import re

from sources import arguments_at, code_files, code_of, finish, root_argument

FUNCTIONS = """absolute canonical copy copy_file copy_symlink create_directories create_directory
    create_directory_symlink create_hard_link create_symlink current_path equivalent exists file_size
    hard_link_count is_block_file is_character_file is_directory is_empty is_fifo is_other
    is_regular_file is_socket is_symlink last_write_time permissions proximate read_symlink relative
    remove remove_all rename resize_file space status symlink_status temp_directory_path
    weakly_canonical""".split()
# Members of directory_entry.
MEMBERS = """assign exists file_size hard_link_count is_block_file is_character_file is_directory
    is_fifo is_other is_regular_file is_socket is_symlink last_write_time refresh replace_filename
    status symlink_status""".split()
# Found by argument-dependent lookup, also without a namespace. No other function of ours or of the
# C library has such a name and arguments.
DISTINCT = """canonical create_directories create_directory create_symlink exists file_size
    is_directory is_regular_file is_symlink last_write_time read_symlink remove_all symlink_status
    weakly_canonical""".split()
ITERATOR = r"(?:recursive_)?directory_iterator"


class Source:
    def __init__(self, path, text):
        self.path, self.code = path, code_of(text)
        aliases = re.findall(r"\bnamespace\s+(\w+)\s*=\s*(?:::)?std::filesystem\s*;", self.code)
        self.scope = r"(?:::)?(?:" + "|".join(["std::filesystem", *aliases]) + ")"
        self.error_codes = set()
        for names in re.findall(r"std::error_code\s*&?\s*(\w+(?:\s*,\s*\w+)*)", self.code):
            self.error_codes.update(re.findall(r"\w+", names))
        self.iterators = set()
        for rest in re.findall(rf"\b{ITERATOR}\s+([^;]*)", self.code):
            self.iterators.update(re.findall(r"(?:^|,)\s*(\w+)\s*(?=[({{=,]|$)", rest))
        self.entries = set(re.findall(r"\bdirectory_entry\s*&?\s*(\w+)\b", self.code))

    def complain(self, at, what):
        return f"{self.path}:{self.code.count(chr(10), 0, at) + 1}: {what}"

    def takes_error_code(self, opening):
        arguments = arguments_at(self.code, opening)
        return bool(arguments) and arguments[-1] in self.error_codes

    def calls(self, pattern):
        """Yields for each matching call its offset, its name, and whether it can throw."""
        for call in re.finditer(pattern, self.code):
            yield call.start(), call["name"], not self.takes_error_code(call.end() - 1)

    def complaints(self):
        names, members = "|".join(FUNCTIONS), "|".join(MEMBERS)
        patterns = [rf"{self.scope}::(?P<name>{names})\s*\(",
                    rf"(?<![\w.>:])(?<!\bbool )(?P<name>{'|'.join(DISTINCT)})\s*\((?!\s*\))"]
        if self.iterators:
            patterns.append(rf"\b(?:{'|'.join(self.iterators)})\s*->\s*(?P<name>{members})\s*\(")
        if self.entries:
            patterns.append(rf"\b(?:{'|'.join(self.entries)})\s*\.\s*(?P<name>{members})\s*\(")
        for pattern in patterns:
            for at, name, throws in self.calls(pattern):
                if throws:
                    yield self.complain(at, f"{name} without a std::error_code throws")
        for using in re.finditer(rf"\busing\s+(?:namespace\s+std::filesystem\b"
                                 rf"|{self.scope}::(?:{names})\b)", self.code):
            yield self.complain(using.start(), "write the namespace where the function is called")
        yield from self.complaints_about_loops()

    def complaints_about_loops(self):
        for made in re.finditer(rf"\b{ITERATOR}\s*(?P<variable>\w*)\s*[({{]", self.code):
            if not arguments_at(self.code, made.end() - 1):
                continue
            if not self.takes_error_code(made.end() - 1):
                yield self.complain(made.start(), "directory_iterator without a std::error_code throws")
            elif not made["variable"]:
                yield self.complain(made.start(), "++ throws: name the directory_iterator, and use "
                                                  "increment(error)")
        for name in sorted(self.iterators):
            for step in re.finditer(rf"\+\+\s*{name}\b|\b{name}\s*\+\+|\bfor\s*\([^;()]*:\s*{name}\s*\)",
                                    self.code):
                yield self.complain(step.start(), "++ throws: use increment(error)")


def main():
    root = root_argument()
    complaints = []
    for path in code_files(root):
        if path.parts[0] in ("tests", "testdata", "bpf"):
            continue
        text = (root / path).read_text(errors="replace")
        if "filesystem" in text:
            complaints += Source(path, text).complaints()
    finish(complaints)


if __name__ == "__main__":
    main()
