// SPDX-License-Identifier: Apache-2.0
// Explains where to find a function that a program or library does not have.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace perftape::record {

class ProbedBinary;

// Returns a message for a function that `binary` does not have. It names the library that has it,
// if the binary loads one, and otherwise similar names. Opens the libraries that the binary needs.
std::string ExplainMissing(const ProbedBinary& binary, std::string_view name);

// Returns "PATH is a script ..." with its interpreter; nothing if the file is not a script.
std::optional<std::string> DescribeScript(const std::filesystem::path& path);

// Returns a note on the libraries that glibc 2.34 moved into libc, if `library` is one of them
// ("libpthread", "libdl.so.2"); otherwise an empty text. Source: glibc's NEWS for 2.34.
std::string NoteOnMovedLibrary(std::string_view library);

}  // namespace perftape::record
