// SPDX-License-Identifier: Apache-2.0
// The programs that read perf.data. They do not all accept the same files, so a finding names the
// set of readers that it breaks.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace perftape::perfdata {

enum class Readers : std::uint16_t {
  kNone = 0,
  kPerf510 = 1 << 0,     // in Debian 11
  kPerf61 = 1 << 1,      // in Debian 12; was run on files made for the rules
  kPerf612 = 1 << 2,     // in Debian 13
  kPerf73 = 1 << 3,      // in Debian's trixie-backports; checks each record before it uses it
  kPerfInject = 1 << 4,  // `perf inject` of any of these, which writes the records that it reads
  kHotspot = 1 << 5,     // perfparser of hotspot 1.3; was run on files made for the rules
  kQuipper = 1 << 6,     // perf_data_converter, which pprof and autofdo use
  kSamply = 1 << 7,      // with the library linux-perf-data
};

constexpr Readers operator|(Readers a, Readers b) {
  return static_cast<Readers>(std::to_underlying(a) | std::to_underlying(b));
}

// Whether the two sets have a reader in common.
constexpr bool Overlap(Readers a, Readers b) {
  return (std::to_underlying(a) & std::to_underlying(b)) != 0;
}

// The versions of perf that do not check records before they use them.
inline constexpr Readers kOldPerf = Readers::kPerf510 | Readers::kPerf61 | Readers::kPerf612;
inline constexpr Readers kAnyPerf = kOldPerf | Readers::kPerf73 | Readers::kPerfInject;
inline constexpr Readers kEveryReader =
    kAnyPerf | Readers::kHotspot | Readers::kQuipper | Readers::kSamply;

struct NamedReader {
  Readers reader;
  std::string_view name;
};
inline constexpr auto kNamedReaders =
    std::to_array<NamedReader>({{Readers::kPerf510, "perf-5.10"},
                                {Readers::kPerf61, "perf-6.1"},
                                {Readers::kPerf612, "perf-6.12"},
                                {Readers::kPerf73, "perf-7.3"},
                                {Readers::kPerfInject, "perf-inject"},
                                {Readers::kHotspot, "hotspot"},
                                {Readers::kQuipper, "quipper"},
                                {Readers::kSamply, "samply"}});

}  // namespace perftape::perfdata
