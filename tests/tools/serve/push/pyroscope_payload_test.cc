// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/push/pyroscope_payload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "convert/import/from_pprof.h"
#include "convert/model/label_keys.h"
#include "tests/convert/profile_lines.h"
#include "tests/support/bytes_input.h"
#include "tests/tools/serve/profile_of_pods.h"

namespace perftape::serve {
namespace {

using convert::SampleLines;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

// The pprof of a request: it begins as every gzip does, and is the last field.
convert::Profile ProfileIn(const Payload& payload) {
  const std::string_view text = AsText(payload.body);
  const Bytes file = AsBytes(text.substr(text.find("\x1f\x8b")));
  BytesInput input({file.begin(), file.end()});
  convert::ImportReport report;
  return convert::ReadPprof(input, {}, report).value();
}

std::vector<std::string> TypesOf(const convert::Profile& profile) {
  std::vector<std::string> types;
  for (const convert::Event& event : profile.events())
    types.push_back(std::string(profile.text(event.name)) + "/" +
                    std::string(profile.text(event.unit)));
  return types;
}

TEST(PyroscopePayloadsOf, MakesASeriesOfEachEvent) {
  const std::vector<Payload> payloads =
      PyroscopePayloadsOf(ProfileOfPods({{.event = "cpu-clock", .count = 5},
                                         {.event = "skb:kfree_skb", .count = 3},
                                         {.event = "skb:kfree_skb", .pod = "b", .count = 4},
                                         {.event = "offcpu-time", .count = 2}}))
          .value();
  ASSERT_EQ(payloads.size(), 3U);
  EXPECT_THAT(AsText(payloads[0].body), HasSubstr("process_cpu"));
  EXPECT_THAT(AsText(payloads[1].body), HasSubstr("off_cpu"));
  EXPECT_THAT(AsText(payloads[2].body), HasSubstr("skb_kfree_skb"));
  for (const Payload& payload : payloads) EXPECT_THAT(AsText(payload.body), HasSubstr("perftape"));
  EXPECT_EQ(payloads[0].samples, 5U);
  EXPECT_EQ(payloads[2].samples, 7U);
  EXPECT_THAT(TypesOf(ProfileIn(payloads[0])), ElementsAre("samples/count", "cpu/nanoseconds"));
}

// Pyroscope would take all but one of several profiles with the same labels and time for copies.
TEST(PyroscopePayloadsOf, JoinsEventsOfOneSeries) {
  const std::vector<Payload> payloads =
      PyroscopePayloadsOf(ProfileOfPods({{.event = "offcpu-time", .count = 5},
                                         {.event = "offcpu-disk-time", .count = 3},
                                         {.event = "offcpu-runnable-time", .count = 2}}))
          .value();
  ASSERT_EQ(payloads.size(), 1U);
  EXPECT_EQ(payloads[0].samples, 10U);
  EXPECT_THAT(SampleLines(ProfileIn(payloads[0])),
              ElementsAre(StartsWith("off_cpu app/7 f"), StartsWith("samples app/7 f")));
}

TEST(PyroscopePayloadsOf, NamesTheAmountsOfEachKindOfEvent) {
  const auto types = [](std::string_view event) {
    const auto payloads = PyroscopePayloadsOf(ProfileOfPods({{.event = event, .count = 2}}));
    return TypesOf(ProfileIn(payloads->at(0)));
  };
  EXPECT_THAT(types("cpu-clock"), ElementsAre("samples/count", "cpu/nanoseconds"));
  EXPECT_THAT(types("offcpu-time"), ElementsAre("samples/count", "off_cpu/nanoseconds"));
  EXPECT_THAT(types("latency:read"), ElementsAre("samples/count", "latency_read/nanoseconds"));
  EXPECT_THAT(types("skb:kfree_skb"), ElementsAre("samples/count"));
  EXPECT_THAT(types("page-faults"), ElementsAre("samples/count"));
}

TEST(PyroscopePayloadsOf, MakesASeriesOfEachService) {
  const std::vector<Payload> payloads =
      PyroscopePayloadsOf(ProfileOfPods({{.count = 5},
                                         {.pod = "b", .count = 1},
                                         {.count = 3, .label = {"service.name", "cart"}},
                                         {.count = 2, .label = {"service.name", "pay"}},
                                         {.count = 1, .label = {"service.version", "2"}}}))
          .value();
  ASSERT_EQ(payloads.size(), 3U);
  EXPECT_EQ(payloads[0].samples, 7U);
  EXPECT_EQ(payloads[1].samples, 3U);
  EXPECT_EQ(payloads[2].samples, 2U);
  EXPECT_THAT(AsText(payloads[1].body), HasSubstr("service_name\x12\x04"
                                                  "cart"));
  EXPECT_THAT(AsText(payloads[2].body), HasSubstr("service_name\x12\x03"
                                                  "pay"));
  EXPECT_THAT(AsText(payloads[0].body), HasSubstr("service_name\x12\x08"
                                                  "perftape"));
}

TEST(PyroscopePayloadsOf, KeepsTheLabelsThatNameASample) {
  const Payload payload = PyroscopePayloadsOf(ProfileOfPods({{}})).value().at(0);
  const convert::Profile profile = ProfileIn(payload);
  const convert::Sample& sample = profile.samples().front();
  std::set<std::string> keys;
  for (const convert::Label& label : profile[sample.labels]) keys.emplace(profile.text(label.key));
  EXPECT_THAT(keys, ElementsAre("namespace", "pod"));
  EXPECT_EQ(profile[sample.thread].pid, 7U);
  EXPECT_EQ(profile.text(profile[sample.thread].comm), "app");
}

TEST(PyroscopePayloadsOf, DividesALargeProfileIntoOnesOfOtherTimes) {
  std::vector<PodSample> samples;
  std::vector<std::string> names;
  for (int i = 0; i < 40; ++i) names.push_back("function" + std::to_string(i));
  for (const std::string& name : names) samples.push_back({.function = name, .count = 3});
  convert::ProfileBuilder builder(ProfileOfPods(samples));
  builder.SetMetadata({.start_time_ns = 1'000'000'000});
  const convert::Profile profile = std::move(builder).Finish();
  EXPECT_EQ(PyroscopePayloadsOf(profile)->size(), 1U);
  for (const PyroscopeLimits& limits :
       {PyroscopeLimits{.bytes = 900}, PyroscopeLimits{.samples = 7}}) {
    const std::vector<Payload> payloads = PyroscopePayloadsOf(profile, limits).value();
    EXPECT_GT(payloads.size(), 1U);
    std::int64_t count = 0;
    std::uint64_t told = 0;
    std::set<std::int64_t> times;
    for (const Payload& payload : payloads) {
      const convert::Profile part = ProfileIn(payload);
      EXPECT_LE(part.samples().size(), limits.samples);
      for (const convert::Sample& sample : part.samples()) count += sample.period;
      told += payload.samples;
      times.insert(part.metadata().start_time_ns.value() / 1'000'000);
    }
    EXPECT_EQ(count, 120);
    EXPECT_EQ(told, 120U);
    EXPECT_EQ(times.size(), payloads.size());
    EXPECT_EQ(*times.begin(), 1000);
  }
  // A single sample is never divided.
  EXPECT_EQ(PyroscopePayloadsOf(profile, {.bytes = 1})->size(), names.size());
}

TEST(PyroscopePayloadsOf, HasNothingWithoutSamples) {
  EXPECT_TRUE(PyroscopePayloadsOf(ProfileOfPods({}))->empty());
}

}  // namespace
}  // namespace perftape::serve
