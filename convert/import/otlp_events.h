// SPDX-License-Identifier: Apache-2.0
// The events of an OTLP file: what the values of each of its profiles are.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>

#include "convert/import/otlp_tables.h"
#include "convert/model/profile.h"
#include "convert/model/profile_builder.h"
#include "formats/base/result.h"
#include "formats/otlp/messages.h"

namespace perftape::convert {

enum class OtlpRole : std::uint8_t {
  kCounts,      // the numbers of samples of a sampled event
  kPeriodSums,  // its sums of periods
  kPlain,
};

struct OtlpEvent {
  OtlpRole role = OtlpRole::kPlain;
  std::string_view name = {};
  std::string_view unit = {};                         // of the periods
  std::uint64_t period = 0;                           // nominal
  std::optional<ValueType> foreign_period_type = {};  // of plain values
  std::int64_t foreign_period = 0;
};

class OtlpEvents {
 public:
  // Returns what a profile is. Its texts are of the file.
  OtlpEvent Describe(const otlp::ProfileHeader& header, OtlpTables& tables) const;

  // Counts and sums of one event may be in different profiles. Call it for all profiles, before
  // the next functions.
  void Note(const OtlpEvent& event);

  // Decides what is known only after all profiles: values with the type of their period are sums if
  // there are counts.
  OtlpEvent Settled(OtlpEvent event) const;

  // Returns the numbers of a sample with this value. A sum counts as one sample if there are no
  // counts.
  Sample NumbersOf(const OtlpEvent& event, std::int64_t value) const;

 private:
  using Key = std::tuple<std::string_view, std::string_view>;  // name and unit

  std::set<Key> counts_, sums_;
};

}  // namespace perftape::convert
