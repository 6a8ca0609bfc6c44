// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/converted.h"

namespace perftape::perfdata {
namespace {

constexpr std::uint64_t kMark = 0x6570'6174'6672'6570;  // "perftape" in a little-endian file

// config2: { u8 flags; u8 decimals; u16 zero[3]; }
constexpr std::uint64_t kPlain = 1, kTimesMadeUp = 2, kArchMadeUp = 4;
constexpr unsigned kDecimalsShift = 8;
constexpr std::uint64_t kKnownBits =
    kPlain | kTimesMadeUp | kArchMadeUp | std::uint64_t{0xff} << kDecimalsShift;

}  // namespace

void MarkConverted(const ConvertedEvent& event, EventAttr& attr) {
  attr.config1 = kMark;
  attr.config2 = (event.is_plain ? kPlain : 0) | (event.times_made_up ? kTimesMadeUp : 0) |
                 (event.arch_made_up ? kArchMadeUp : 0) |
                 std::uint64_t{event.decimals} << kDecimalsShift;
}

std::optional<ConvertedEvent> ConvertedEventOf(const EventAttr& attr) {
  if (attr.config1 != kMark || (attr.config2 & ~kKnownBits) != 0) return std::nullopt;
  return ConvertedEvent{.is_plain = (attr.config2 & kPlain) != 0,
                        .decimals = static_cast<std::uint8_t>(attr.config2 >> kDecimalsShift),
                        .times_made_up = (attr.config2 & kTimesMadeUp) != 0,
                        .arch_made_up = (attr.config2 & kArchMadeUp) != 0};
}

}  // namespace perftape::perfdata
