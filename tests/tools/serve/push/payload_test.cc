// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/push/payload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <map>
#include <string>

#include "convert/import/from_otlp.h"
#include "formats/base/file.h"
#include "formats/pprof/gzip.h"
#include "tests/support/bytes_input.h"
#include "tests/tools/serve/profile_of_pods.h"

namespace perftape::serve {
namespace {

constexpr std::uint64_t kLargest = 1 << 20;

// The counts of functions in all payloads.
std::map<std::string, std::int64_t> CountsIn(const std::vector<Payload>& payloads) {
  std::map<std::string, std::int64_t> counts;
  for (const Payload& payload : payloads) {
    BytesInput input(pprof::Gunzip(payload.body, kLargest).value());
    convert::ImportReport report;
    const convert::Profile profile = convert::ReadOtlp(input, {}, report).value();
    std::int64_t samples = 0;
    for (const convert::Sample& sample : profile.samples()) {
      const convert::Location& location = profile[profile[sample.stack].leaf];
      const convert::FunctionId function = location.lines.front().function;
      counts[std::string(profile.text(profile[function].name))] += sample.count;
      samples += sample.count;
    }
    EXPECT_EQ(static_cast<std::uint64_t>(samples), payload.samples);
  }
  return counts;
}

TEST(PayloadsOf, DividesALargeProfile) {
  std::vector<PodSample> samples;
  std::vector<std::string> names;
  for (int i = 0; i < 40; ++i) names.push_back("function" + std::to_string(i));
  std::map<std::string, std::int64_t> expected;
  for (const std::string& name : names) {
    samples.push_back({.function = name, .count = 3});
    expected[name] = 3;
  }
  const convert::Profile profile = ProfileOfPods(samples);
  EXPECT_EQ(PayloadsOf(profile)->size(), 1U);
  constexpr std::size_t kSmall = 1500;
  const std::vector<Payload> payloads = PayloadsOf(profile, kSmall).value();
  EXPECT_GT(payloads.size(), 1U);
  for (const Payload& payload : payloads)
    EXPECT_LE(pprof::Gunzip(payload.body, kLargest)->size(), kSmall);
  EXPECT_EQ(CountsIn(payloads), expected);
  // A single sample is never divided.
  EXPECT_EQ(PayloadsOf(profile, 1)->size(), names.size());
}

TEST(PayloadsOf, HasNothingWithoutSamples) {
  EXPECT_TRUE(PayloadsOf(ProfileOfPods({}))->empty());
}

std::vector<std::byte> StreamOf(const std::vector<Payload>& payloads) {
  const UniqueFd fd(memfd_create("payloads", MFD_CLOEXEC));
  for (const Payload& payload : payloads) EXPECT_TRUE(WritePayload(fd.get(), payload));
  const std::string text = ReadWholeFile("/proc/self/fd/" + std::to_string(fd.get())).value();
  const Bytes bytes = AsBytes(text);
  return {bytes.begin(), bytes.end()};
}

TEST(PayloadReader, PutsPiecesTogether) {
  const std::vector<std::byte> stream =
      StreamOf({{.body = std::vector<std::byte>(100, std::byte{1}), .samples = 1},
                {.body = {}, .samples = 2},
                {.body = std::vector<std::byte>(5, std::byte{3}), .samples = 3}});
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, stream.size()}) {
    PayloadReader reader;
    std::vector<std::pair<std::size_t, std::uint64_t>> taken;
    for (std::size_t at = 0; at < stream.size(); at += piece) {
      const Bytes part = Bytes(stream).subspan(at, std::min(piece, stream.size() - at));
      ASSERT_TRUE(reader.Add(part, [&](Payload payload) {
        taken.emplace_back(payload.body.size(), payload.samples);
      }));
    }
    EXPECT_THAT(taken, testing::ElementsAre(std::pair(100, 1), std::pair(0, 2), std::pair(5, 3)));
  }
}

TEST(PayloadReader, RefusesOtherBytes) {
  std::vector<std::byte> stream = StreamOf({{.body = {}, .samples = 1}});
  stream[0] ^= std::byte{1};
  PayloadReader reader;
  EXPECT_FALSE(reader.Add(stream, [](Payload) { FAIL(); }));
}

}  // namespace
}  // namespace perftape::serve
