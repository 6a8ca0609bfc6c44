// SPDX-License-Identifier: Apache-2.0
// Limits for the files that names are read from. Other users choose the sizes of these files: the
// owner of a sampled process writes its perf map and its binary, and a sparse file of many
// gigabytes costs nothing to make. Holes count with the size that they are read as. A file beyond a
// limit is left out and reported.
#pragma once

#include <cstdint>
#include <string>

namespace perftape {
inline namespace base {

namespace symbol_limits {

inline constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
inline constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

// A perf map: node --perf-basic-prof writes some 10 MiB, and 100 MiB in weeks.
inline constexpr std::uint64_t kPerfMap = 256 * kMiB;
// A jitdump has the compiled code, too.
inline constexpr std::uint64_t kJitDump = kGiB;
// Perf maps and jitdumps of one recording in all.
inline constexpr std::uint64_t kAllJitFiles = 2 * kGiB;
// Those of a distribution's kernel have 10 to 20 MiB.
inline constexpr std::uint64_t kKallsyms = 256 * kMiB;
// Symbol tables and their strings in one file, and what a bundle keeps of it. Chromium's, which are
// among the largest, have some 300 MiB.
inline constexpr std::uint64_t kSymbolTables = kGiB;
// A debug file that is known only by a checksum of all of it.
inline constexpr std::uint64_t kChecksummed = 4 * kGiB;
// A bundle in all.
inline constexpr std::uint64_t kBundle = 4 * kGiB;
// The last two where debug information or whole binaries were asked for.
inline constexpr std::uint64_t kWholeFile = 16 * kGiB;
inline constexpr std::uint64_t kWholeBundle = 64 * kGiB;
// Headers of sections, or of segments, in one ELF file.
inline constexpr std::uint32_t kElfHeaders = 1 << 18;

}  // namespace symbol_limits

// Why a file is left out: "of 17179869184 bytes, more than the 268435456 that are read".
inline std::string MoreThanIsRead(std::uint64_t size, std::uint64_t limit) {
  return "of " + std::to_string(size) + " bytes, more than the " + std::to_string(limit) +
         " that are read";
}

}  // namespace base
}  // namespace perftape
