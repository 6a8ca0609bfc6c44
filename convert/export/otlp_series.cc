// SPDX-License-Identifier: Apache-2.0
#include "convert/export/otlp_series.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "convert/model/otlp_roles.h"
#include "convert/model/saturating.h"
#include "formats/otlp/conventions.h"
#include "formats/perfdata/event_meanings.h"
#include "formats/perfdata/period_unit.h"

namespace perftape::convert {
namespace {

struct EventTotals {
  std::uint64_t count = 0, period = 0;
  bool is_exact = true;  // each period is the count times the nominal period
};

// What a receiver is told of a type.
struct TypeNames {
  std::string_view type, unit;
};

bool IsOffCpu(std::string_view event) {
  const perfdata::EventMeaning* const meaning = perfdata::FindEventMeaning(event);
  return meaning == &perfdata::kOffCpuTime || meaning == &perfdata::kOffCpuDiskTime ||
         meaning == &perfdata::kOffCpuRunnableTime;
}

class SeriesPlan {
 public:
  SeriesPlan(const Profile& profile, OtlpDictionary& dictionary)
      : profile_(profile), dictionary_(dictionary), totals_(profile.events().size()) {
    for (const Sample& sample : profile.samples()) AddToTotals(sample);
  }

  std::vector<OtlpSeries> Plan() && {
    for (std::uint32_t i = 0; i < profile_.events().size(); ++i) {
      profile_.events()[i].values == EventValues::kSampled ? AddSampled({i}) : AddPlain({i});
    }
    return std::move(series_);
  }

 private:
  void AddToTotals(const Sample& sample) {
    EventTotals& totals = totals_[sample.event.index];
    totals.count = AddUpToLimit(totals.count, Magnitude(sample.count));
    totals.period = AddUpToLimit(totals.period, Magnitude(sample.period));
    const std::int64_t nominal = ToSigned(profile_[sample.event].period);
    totals.is_exact &= nominal > 0 && sample.period == MultiplyUpToLimit(sample.count, nominal) &&
                       sample.period / nominal == sample.count;
  }

  static std::uint64_t Magnitude(std::int64_t value) {
    return value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  }

  void AddSampled(EventId id) {
    const Event& event = profile_[id];
    const std::string_view name = profile_.text(event.name);
    const std::string_view unit = profile_.text(event.unit);
    if (IsOffCpu(name)) {
      const TypeNames switches = {otlp::kContextSwitchType, perfdata::kCount};
      Add(id, OtlpValues::kSampleCounts, switches, switches, 1);
      Add(id, OtlpValues::kPeriodSums, {OtlpTypeOf(name), unit}, switches, 1);
      return;
    }
    const TypeNames type = {OtlpTypeOf(name), unit};
    const EventTotals& totals = totals_[id.index];
    const std::int64_t period = event.period != 0 ? ToSigned(event.period) : MeanPeriod(totals);
    Add(id, OtlpValues::kSampleCounts, {otlp::kSamplesType, perfdata::kCount}, type, period);
    if (!totals.is_exact) Add(id, OtlpValues::kPeriodSums, type, type, period);
  }

  static std::int64_t MeanPeriod(const EventTotals& totals) {
    return std::max<std::int64_t>(
        1, ToSigned(totals.period / std::max<std::uint64_t>(1, totals.count)));
  }

  void AddPlain(EventId id) {
    const Event& event = profile_[id];
    const TypeNames type = {profile_.text(event.name), profile_.text(event.unit)};
    const std::optional<ValueType>& given = profile_.metadata().period_type;
    if (given && !given->name.empty()) {
      Add(id, OtlpValues::kPlain, type, {given->name, given->unit},
          std::max<std::int64_t>(1, profile_.metadata().period));
    } else {
      Add(id, OtlpValues::kPlain, type, type, 1);
    }
  }

  otlp::ValueType TypeOf(const TypeNames& names) {
    return {.type = dictionary_.Text(names.type), .unit = dictionary_.Text(names.unit)};
  }

  void Add(EventId id, OtlpValues values, const TypeNames& type, const TypeNames& period_type,
           std::int64_t period) {
    const Event& event = profile_[id];
    constexpr std::string_view kNames[] = {kOtlpSampleCounts, kOtlpPeriodSums, kOtlpPlainValues};
    OtlpSeries added = {.event = id, .values = values};
    added.header = {
        .sample_type = TypeOf(type), .period_type = TypeOf(period_type), .period = period};
    std::vector<otlp::Index>& attributes = added.header.attributes;
    const auto attribute = [&](std::string_view key, const otlp::AnyValue& value) {
      attributes.push_back(dictionary_.Attribute(key, value));
    };
    attribute(kOtlpEvent, {.text = profile_.text(event.name)});
    attribute(kOtlpUnit, {.text = profile_.text(event.unit)});
    attribute(kOtlpValues, {.text = kNames[std::to_underlying(values)]});
    if (ToSigned(event.period) != period) {
      attribute(kOtlpPeriod, {.integer = ToSigned(event.period)});
    }
    series_.push_back(std::move(added));
  }

  const Profile& profile_;
  OtlpDictionary& dictionary_;
  std::vector<EventTotals> totals_;
  std::vector<OtlpSeries> series_;
};

}  // namespace

std::string_view OtlpTypeOf(std::string_view event_name) {
  if (IsOffCpu(event_name)) return otlp::kOffCpuType;
  const bool is_clock = perfdata::PeriodMeaningOf(event_name) == perfdata::PeriodMeaning::kCpuTime;
  return is_clock ? otlp::kCpuType : event_name;
}

std::vector<OtlpSeries> OtlpSeriesOf(const Profile& profile, OtlpDictionary& dictionary) {
  return SeriesPlan(profile, dictionary).Plan();
}

}  // namespace perftape::convert
