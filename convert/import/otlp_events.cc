// SPDX-License-Identifier: Apache-2.0
#include "convert/import/otlp_events.h"

#include <algorithm>

#include "convert/model/otlp_roles.h"
#include "convert/model/saturating.h"
#include "formats/otlp/conventions.h"
#include "formats/perfdata/event_meanings.h"
#include "formats/perfdata/period_unit.h"

namespace perftape::convert {
namespace {

struct TypeTexts {
  std::string_view type, unit;
  bool operator==(const TypeTexts&) const = default;
};

TypeTexts TextsOf(const std::optional<otlp::ValueType>& type, OtlpTables& tables) {
  if (!type) return {};
  return {tables.texts().View(type->type), tables.texts().View(type->unit)};
}

std::uint64_t PeriodOf(std::int64_t period) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, period));
}

// A profile of another program.
OtlpEvent DescribeForeign(const TypeTexts& type, const TypeTexts& period_type,
                          std::int64_t period) {
  const TypeTexts samples = {otlp::kSamplesType, perfdata::kCount};
  if (type.type == otlp::kOffCpuType && type.unit == perfdata::kNanoseconds) {
    return {.role = OtlpRole::kPeriodSums, .name = perfdata::kOffCpuTime.name, .unit = type.unit};
  }
  if (type == samples && !period_type.type.empty() && period_type != type) {
    return {.role = OtlpRole::kCounts,
            .name = period_type.type,
            .unit = period_type.unit,
            .period = PeriodOf(period)};
  }
  OtlpEvent event = {.role = OtlpRole::kPlain, .name = type.type, .unit = type.unit};
  if (!period_type.type.empty()) {
    event.foreign_period_type =
        ValueType{.name = std::string(period_type.type), .unit = std::string(period_type.unit)};
    event.foreign_period = period;
  }
  return event;
}

}  // namespace

OtlpEvent OtlpEvents::Describe(const otlp::ProfileHeader& header, OtlpTables& tables) const {
  const TypeTexts type = TextsOf(header.sample_type, tables);
  const TypeTexts period_type = TextsOf(header.period_type, tables);
  const OtlpAttribute* const values = tables.FindByKey(header.attributes, kOtlpValues);
  const OtlpAttribute* const name = tables.FindByKey(header.attributes, kOtlpEvent);
  if (values == nullptr || name == nullptr) {
    return DescribeForeign(type, period_type, header.period);
  }
  OtlpEvent event = {.name = name->text, .period = PeriodOf(header.period)};
  if (const OtlpAttribute* const unit = tables.FindByKey(header.attributes, kOtlpUnit)) {
    event.unit = unit->text;
  }
  if (values->text == kOtlpSampleCounts) event.role = OtlpRole::kCounts;
  if (values->text == kOtlpPeriodSums) event.role = OtlpRole::kPeriodSums;
  const OtlpAttribute* const period = tables.FindByKey(header.attributes, kOtlpPeriod);
  if (period != nullptr && period->is_number()) {
    event.period = PeriodOf(period->labels.front().number);
  }
  return event;
}

void OtlpEvents::Note(const OtlpEvent& event) {
  if (event.role == OtlpRole::kCounts) counts_.emplace(event.name, event.unit);
  if (event.role == OtlpRole::kPeriodSums) sums_.emplace(event.name, event.unit);
  const bool may_be_sums = event.role == OtlpRole::kPlain && event.foreign_period_type &&
                           event.foreign_period_type->name == event.name &&
                           event.foreign_period_type->unit == event.unit;
  if (may_be_sums) sums_.emplace(event.name, event.unit);
}

OtlpEvent OtlpEvents::Settled(OtlpEvent event) const {
  const Key key = {event.name, event.unit};
  const bool is_sums = event.foreign_period_type && sums_.contains(key) && counts_.contains(key) &&
                       event.foreign_period_type->name == event.name &&
                       event.foreign_period_type->unit == event.unit;
  if (is_sums) {
    event.role = OtlpRole::kPeriodSums;
    event.period = PeriodOf(event.foreign_period);
    event.foreign_period_type.reset();
  }
  return event;
}

Sample OtlpEvents::NumbersOf(const OtlpEvent& event, std::int64_t value) const {
  const Key key = {event.name, event.unit};
  switch (event.role) {
    case OtlpRole::kCounts: {
      const std::int64_t sum = MultiplyUpToLimit(value, ToSigned(event.period));
      return {.count = value, .period = sums_.contains(key) ? 0 : sum};
    }
    case OtlpRole::kPeriodSums:
      return {.count = counts_.contains(key) ? 0 : 1, .period = value};
    case OtlpRole::kPlain:
      break;
  }
  return {.period = value};
}

}  // namespace perftape::convert
