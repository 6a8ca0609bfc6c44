// SPDX-License-Identifier: Apache-2.0
// Size limits for the files that names are read from. Other users choose these sizes: the owner of
// a sampled process writes its perf map and its binary. A sparse file of many gigabytes costs
// nothing to create, and its holes count in full. A file beyond a limit is left out and reported.
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
// A whole bundle.
inline constexpr std::uint64_t kBundle = 4 * kGiB;
// A file and a bundle if the user asked for debug information or whole binaries.
inline constexpr std::uint64_t kWholeFile = 16 * kGiB;
inline constexpr std::uint64_t kWholeBundle = 64 * kGiB;
// Section headers, or program headers, in one ELF file.
inline constexpr std::uint32_t kElfHeaders = 1 << 18;

}  // namespace symbol_limits

// The reason in messages: "of 17179869184 bytes, more than the 268435456 that are read".
inline std::string MoreThanIsRead(std::uint64_t size, std::uint64_t limit) {
  return "of " + std::to_string(size) + " bytes, more than the " + std::to_string(limit) +
         " that are read";
}

}  // namespace base
}  // namespace perftape
