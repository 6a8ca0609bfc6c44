// SPDX-License-Identifier: Apache-2.0
// Attributes for values that OTLP has no fields for. perftape writes them, import/from_otlp reads
// them, and other readers ignore them.
#pragma once

#include <string_view>

namespace perftape::convert {

// The name of the scope of profiles that perftape wrote.
inline constexpr std::string_view kOtlpScopeName = "perftape";

// Of a profile: the name of the event, and what its values are.
inline constexpr std::string_view kOtlpEvent = "perftape.event";
inline constexpr std::string_view kOtlpUnit = "perftape.unit";  // of the event's periods
inline constexpr std::string_view kOtlpValues = "perftape.values";
inline constexpr std::string_view kOtlpSampleCounts = "samples";  // of a sampled event
inline constexpr std::string_view kOtlpPeriodSums = "periods";    // of a sampled event
inline constexpr std::string_view kOtlpPlainValues = "plain";
// Of a profile: the nominal period of the event if the field has another one. 0 is unknown.
inline constexpr std::string_view kOtlpPeriod = "perftape.period";
// Of a profile: the difference between its times and the labels "timestamp_ns", in nanoseconds.
inline constexpr std::string_view kOtlpClockOffset = "perftape.clock_offset";
// Of a scope: Metadata::period_type and period.
inline constexpr std::string_view kOtlpPeriodType = "perftape.metadata.period_type";
inline constexpr std::string_view kOtlpPeriodUnit = "perftape.metadata.period_unit";
inline constexpr std::string_view kOtlpMetadataPeriod = "perftape.metadata.period";
// Of a resource: the keys of attributes that are not labels, because the writer computed them.
inline constexpr std::string_view kOtlpDerived = "perftape.derived";

}  // namespace perftape::convert
