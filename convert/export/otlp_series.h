// SPDX-License-Identifier: Apache-2.0
// Maps the events of a profile to profiles of OTLP: one for plain values, one or two for a sampled
// event.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "convert/export/otlp_dictionary.h"
#include "convert/model/profile.h"
#include "formats/otlp/messages.h"

namespace perftape::convert {

enum class OtlpValues : std::uint8_t { kSampleCounts, kPeriodSums, kPlain };

struct OtlpSeries {
  EventId event = {};
  OtlpValues values = OtlpValues::kPlain;
  otlp::ProfileHeader header = {};  // without the facts that all profiles of the file have
};

// Returns the type by which receivers know the periods of an event: "cpu", "off_cpu", or the name.
std::string_view OtlpTypeOf(std::string_view event_name);

// In the order of the events.
std::vector<OtlpSeries> OtlpSeriesOf(const Profile& profile, OtlpDictionary& dictionary);

}  // namespace perftape::convert
