// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/push/pyroscope_payload.h"

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "convert/export/otlp_series.h"
#include "convert/export/to_pprof.h"
#include "convert/model/label_keys.h"
#include "convert/model/profile_builder.h"
#include "convert/model/profile_copier.h"
#include "convert/model/profile_facts.h"
#include "convert/model/sample_thread.h"
#include "formats/otlp/conventions.h"
#include "formats/perfdata/period_unit.h"
#include "formats/pprof/gzip.h"
#include "formats/pyroscope/push_request.h"

namespace perftape::serve {
namespace {

using convert::Event;
using convert::EventId;
using convert::Label;
using convert::Profile;
using convert::ProfileBuilder;
using convert::ProfileCopier;
using convert::Sample;
using convert::Thread;

using Indexes = std::span<const std::uint32_t>;  // of samples

constexpr std::string_view kOwnService = "perftape";

// What all samples of a series have.
struct SeriesKey {
  std::string type = {};          // of the periods
  std::string_view unit = {};     // of the periods
  std::string_view service = {};  // empty: not known

  auto operator<=>(const SeriesKey&) const = default;
};

// The payloads of one series.
class SeriesPayloads {
 public:
  SeriesPayloads(const Profile& profile, const SeriesKey& key, const PyroscopeLimits& limits,
                 std::vector<Payload>& payloads)
      : profile_(profile),
        type_(key.type),
        unit_(key.unit),
        service_(key.service.empty() ? kOwnService : key.service),
        limits_(limits),
        payloads_(payloads) {}

  Status Append(Indexes samples) {
    const bool may_divide = samples.size() > 1;
    if (may_divide && samples.size() > limits_.samples) return Divide(samples);
    TRY_ASSIGN(
        const std::vector<std::byte> plain,
        convert::EncodePprof(PartOf(samples), {.compression = convert::PprofCompression::kNone}));
    if (may_divide && plain.size() > limits_.bytes) return Divide(samples);
    TRY_ASSIGN(const std::vector<std::byte> file, pprof::Gzip(plain));
    const std::string request = pyroscope::EncodePushRequest(SeriesOf(AsText(file)));
    const Bytes body = AsBytes(request);
    payloads_.push_back({.body = {body.begin(), body.end()}, .samples = CountOf(samples)});
    ++parts_;
    return {};
  }

 private:
  Status Divide(Indexes samples) {
    const std::size_t middle = samples.size() / 2;
    TRY(Append(samples.first(middle)));
    return Append(samples.subspan(middle));
  }

  pyroscope::Series SeriesOf(std::string_view file) const {
    const bool is_cpu = type_ == otlp::kCpuType;
    pyroscope::Series series = {
        .labels = {{.name = "__name__", .value = is_cpu ? "process_cpu" : std::string_view(type_)},
                   {.name = "__delta__", .value = "false"},  // the values are no running totals
                   {.name = "service_name", .value = service_},
                   {.name = "pyroscope_spy", .value = "perftape"}},
        .pprof = file};
    const std::string_view host = convert::FactOf(profile_.metadata(), convert::kHostnameComment);
    if (!host.empty()) series.labels.push_back({.name = "host_name", .value = host});
    return series;
  }

  std::uint64_t CountOf(Indexes samples) const {
    std::uint64_t count = 0;
    for (const std::uint32_t i : samples)
      count += static_cast<std::uint64_t>(profile_.samples()[i].count);
    return count;
  }

  bool HasPeriods(Indexes samples) const {
    return std::ranges::any_of(samples, [&](std::uint32_t i) {
      return unit_ != perfdata::kCount ||
             profile_.samples()[i].period != profile_.samples()[i].count;
    });
  }

  // The samples with plain values, whose types have the names of Pyroscope.
  Profile PartOf(Indexes samples) const {
    ProfileBuilder builder;
    ProfileCopier copier(profile_, builder);
    const auto add_event = [&](std::string_view type, std::string_view unit) {
      return builder.Add(Event{.name = builder.Add(type),
                               .unit = builder.Add(unit),
                               .values = convert::EventValues::kPlain});
    };
    const EventId counts = add_event(otlp::kSamplesType, perfdata::kCount);
    const bool has_periods = HasPeriods(samples);
    const EventId periods = has_periods ? add_event(type_, unit_) : counts;
    for (const std::uint32_t i : samples) {
      const Sample& sample = profile_.samples()[i];
      copier.Set(sample.event, counts);
      Sample copy = copier.Copy(sample);
      copy.thread = ThreadOf(profile_[sample.thread], copier, builder);
      copy.labels = LabelsOf(sample, copier, builder);
      copy.count = 0;
      copy.period = sample.count;
      builder.Add(copy);
      if (!has_periods) continue;
      copy.event = periods;
      copy.period = sample.period;
      builder.Add(copy);
    }
    const Event& event = profile_[profile_.samples()[samples.front()].event];
    builder.SetMetadata(MetadataOfPart(event));
    return std::move(builder).Finish();
  }

  static convert::ThreadId ThreadOf(const Thread& thread, ProfileCopier& copier,
                                    ProfileBuilder& builder) {
    return builder.Add(
        Thread{.pid = thread.pid, .tid = convert::kUnknownId, .comm = copier.Copy(thread.comm)});
  }

  convert::LabelsId LabelsOf(const Sample& sample, ProfileCopier& copier,
                             ProfileBuilder& builder) const {
    std::vector<Label> labels;
    for (const Label& label : profile_[sample.labels]) {
      if (!convert::IsContainerLabel(profile_.text(label.key))) continue;
      labels.push_back({.key = copier.Copy(label.key), .text = copier.Copy(label.text)});
    }
    return builder.Add(labels);
  }

  // Parts of a window differ in time: of profiles of a series at the same time, in milliseconds,
  // Pyroscope regards all but one as copies.
  convert::Metadata MetadataOfPart(const Event& event) const {
    constexpr std::int64_t kMillisecond = 1'000'000;
    const convert::Metadata& of_all = profile_.metadata();
    convert::Metadata metadata = {.duration_ns = of_all.duration_ns,
                                  .period_type = {{.name = type_, .unit = std::string(unit_)}},
                                  .period = static_cast<std::int64_t>(event.period)};
    if (of_all.start_time_ns)
      metadata.start_time_ns = *of_all.start_time_ns + parts_ * kMillisecond;
    return metadata;
  }

  const Profile& profile_;
  const std::string& type_;
  const std::string_view unit_, service_;
  const PyroscopeLimits& limits_;
  std::vector<Payload>& payloads_;
  std::int64_t parts_ = 0;
};

SeriesKey KeyOf(const Profile& profile, const Sample& sample) {
  const Event& event = profile[sample.event];
  const Label* const service = convert::FindLabel(profile, sample.labels, otlp::kServiceName);
  return {.type = pyroscope::ValidName(convert::OtlpTypeOf(profile.text(event.name))),
          .unit = profile.text(event.unit),
          .service = service != nullptr ? profile.text(service->text) : std::string_view()};
}

}  // namespace

Result<std::vector<Payload>> PyroscopePayloadsOf(const Profile& profile,
                                                 const PyroscopeLimits& limits) {
  std::map<SeriesKey, std::vector<std::uint32_t>> all_series;
  for (std::uint32_t i = 0; i < profile.samples().size(); ++i)
    all_series[KeyOf(profile, profile.samples()[i])].push_back(i);
  std::vector<Payload> payloads;
  for (const auto& [key, samples] : all_series)
    TRY(SeriesPayloads(profile, key, limits, payloads).Append(samples));
  return payloads;
}

}  // namespace perftape::serve
