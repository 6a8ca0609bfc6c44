// SPDX-License-Identifier: Apache-2.0
// The budget of each file that names and unwind tables are read from. Other users choose what these
// files contain: the owner of a sampled process writes its perf map and its binary. A sparse file
// of many gigabytes costs nothing to create, and its holes count in full. Everything beyond a limit
// is left out and reported.
#pragma once

#include <cstdint>
#include <string>

namespace perftape {
inline namespace base {

namespace symbol_limits {

inline constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
inline constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

// A perf map. node --perf-basic-prof writes about 10 MiB, and 100 MiB in weeks.
inline constexpr std::uint64_t kPerfMap = 256 * kMiB;
// A jitdump. It also contains the compiled code.
inline constexpr std::uint64_t kJitDump = kGiB;
// All perf maps and jitdumps of one recording together.
inline constexpr std::uint64_t kAllJitFiles = 2 * kGiB;
// A kallsyms file. Those of distribution kernels have 10 to 20 MiB.
inline constexpr std::uint64_t kKallsyms = 256 * kMiB;
// The symbol tables of one file with their strings, and the part of it that a bundle keeps.
// Chromium's, which are among the largest, have about 300 MiB.
inline constexpr std::uint64_t kSymbolTables = kGiB;
// A debug file that is identified only by a checksum of the whole file.
inline constexpr std::uint64_t kChecksummed = 4 * kGiB;
// A file without a build id that is identified by a hash of all its bytes, and all of them in one
// bundle. A larger file is identified by its path and number only.
inline constexpr std::uint64_t kHashedFile = 512 * kMiB;
inline constexpr std::uint64_t kAllHashedFiles = kGiB;
// A file that is copied because its file system may never answer (FUSE, NFS), and all of them in
// one recording.
inline constexpr std::uint64_t kCopiedFile = 512 * kMiB;
inline constexpr std::uint64_t kAllCopiedFiles = 4 * kGiB;
// A file that is compressed as a whole, such as a kernel module, when it is expanded.
inline constexpr std::uint64_t kExpandedFile = kGiB;
// A whole bundle.
inline constexpr std::uint64_t kBundle = 4 * kGiB;
// A file and a bundle if the user asked for debug information or whole binaries.
inline constexpr std::uint64_t kWholeFile = 16 * kGiB;
inline constexpr std::uint64_t kWholeBundle = 64 * kGiB;
// Section headers, or program headers, in one ELF file.
inline constexpr std::uint32_t kElfHeaders = 1 << 18;
// Sections of one kind that are read in one ELF file. Linkers write one or two; more sections can
// name the same bytes again and again.
inline constexpr std::size_t kSameSections = 32;
// The bytes of a section's name. Names of C++ functions (-ffunction-sections) have some hundreds.
inline constexpr std::size_t kSectionName = 4096;
// All names of the symbols of one ELF file together. Symbols can share a long name.
inline constexpr std::uint64_t kSymbolNames = 2 * kGiB;
// The code of a procedure linkage table. Chromium's has 0.1 MiB.
inline constexpr std::uint64_t kLinkageTable = 64 * kMiB;
// All notes of one ELF file that are searched for its build id.
inline constexpr std::uint64_t kNotes = kMiB;

// The unwind table of one binary. Chromium's, which is among the largest, is made of 30 MiB of call
// frame information: 800,000 functions, 4 million rows and some hundred rules.
inline constexpr std::uint64_t kFrameBytes = 256 * kMiB;
inline constexpr std::size_t kFrameFunctions = std::size_t{1} << 22;
inline constexpr std::size_t kFrameRows = std::size_t{1} << 24;
inline constexpr std::size_t kFrameRules = std::size_t{1} << 12;
// The code without call frame information for which rules are derived.
inline constexpr std::uint64_t kUndescribedCode = 4 * kMiB;
// The symbol tables, with their strings, that are read to find the functions in such code.
inline constexpr std::uint64_t kUndescribedSymbols = 128 * kMiB;
// The unwind tables of all binaries that a recorder keeps in memory.
inline constexpr std::uint64_t kAllTables = 512 * kMiB;
// Linkers merge equal common entries (CIE), so that a dozen is left.
inline constexpr std::size_t kFrameCommonEntries = std::size_t{1} << 14;
// One common entry, and one entry of a function.
inline constexpr std::uint64_t kCommonEntry = 64 << 10;
inline constexpr std::uint64_t kFunctionEntry = 16 * kMiB;
// The sections and segments that the gaps between functions are searched in, counted for each gap.
inline constexpr std::uint64_t kSearchedHeaders = std::uint64_t{1} << 28;
// The executable segments of a file in which functions are searched.
inline constexpr std::size_t kCodeSegments = 256;

}  // namespace symbol_limits

// The reason in messages: "of 17179869184 bytes, more than the limit of 268435456".
inline std::string MoreThanIsRead(std::uint64_t size, std::uint64_t limit) {
  return "of " + std::to_string(size) + " bytes, more than the limit of " + std::to_string(limit);
}

}  // namespace base
}  // namespace perftape
