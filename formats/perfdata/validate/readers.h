// SPDX-License-Identifier: Apache-2.0
// The programs that read perf.data and differ in what they accept. A finding names the set of
// readers that it breaks.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace perftape::perfdata {

enum class Readers : std::uint16_t {
  kNone = 0,
  kPerf510 = 1 << 0,     // Debian 11's
  kPerf61 = 1 << 1,      // Debian 12's; tried
  kPerf612 = 1 << 2,     // Debian 13's
  kPerfNewest = 1 << 3,  // of Linux 7, which checks each record before it believes it
  kPerfInject = 1 << 4,  // `perf inject` of any of these: it writes again what it reads
  kHotspot = 1 << 5,     // perfparser of hotspot 1.3; tried
  kQuipper = 1 << 6,     // perf_data_converter, and with it pprof and autofdo
  kSamply = 1 << 7,      // the crate linux-perf-data
};

constexpr Readers operator|(Readers a, Readers b) {
  return static_cast<Readers>(std::to_underlying(a) | std::to_underlying(b));
}

// Whether they have a reader in common.
constexpr bool Overlap(Readers a, Readers b) {
  return (std::to_underlying(a) & std::to_underlying(b)) != 0;
}

// perf before it checked records by itself.
inline constexpr Readers kOldPerf = Readers::kPerf510 | Readers::kPerf61 | Readers::kPerf612;
inline constexpr Readers kAnyPerf = kOldPerf | Readers::kPerfNewest | Readers::kPerfInject;
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
                                {Readers::kPerfNewest, "perf-newest"},
                                {Readers::kPerfInject, "perf-inject"},
                                {Readers::kHotspot, "hotspot"},
                                {Readers::kQuipper, "quipper"},
                                {Readers::kSamply, "samply"}});

}  // namespace perftape::perfdata
