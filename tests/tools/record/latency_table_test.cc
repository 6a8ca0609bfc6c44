// SPDX-License-Identifier: Apache-2.0
#include "tools/record/latency_table.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace perftape::record_tool {
namespace {

using record::LatencyInterval;
using testing::ElementsAre;

LatencyInterval Interval(std::string probe, const std::vector<std::uint64_t>& times,
                         std::uint64_t errors = 0) {
  LatencyInterval interval{.probe = std::move(probe), .count = times.size(), .errors = errors};
  for (const std::uint64_t ns : times) {
    interval.sum_ns += ns;
    interval.max_ns = std::max(interval.max_ns, ns);
    ++interval.buckets[LatencyBucketOf(ns)];
  }
  return interval;
}

std::vector<std::string> Lines(const std::vector<LatencyInterval>& probes) {
  std::vector<std::string> lines;
  const std::string text = LatencyTable(probes);
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = text.find('\n', start);
    lines.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return lines;
}

constexpr const char* kHeading =
    "probe                     calls   errors          p50          p95          p99          max";

TEST(LatencyTable, HasALineForEachProbe) {
  EXPECT_THAT(
      Lines({Interval("read", {3, 3, 3, 3}, 2), Interval("syscall=openat", {1536, 2'500'000})}),
      ElementsAre(kHeading,
                  "read                          4        2         3 ns         3 ns         3 ns "
                  "        3 ns",
                  "syscall=openat                2        0     1.792 us     2.460 ms     2.492 ms "
                  "    2.500 ms"));
}

TEST(LatencyTable, ShowsNoTimesWithoutCallsOrOfWhatIsOnlyCounted) {
  EXPECT_THAT(Lines({Interval("dns", {}), Interval("page-fault", {0, 0, 0})}),
              ElementsAre(kHeading, "dns                           0        0",
                          "page-fault                    3        0"));
}

TEST(LatencyTable, ShowsSeconds) {
  EXPECT_THAT(Lines({Interval("dns", {5'000'000'000})})[1], testing::EndsWith("      5.000 s"));
}

TEST(LatencyJsonLine, HasTheSameInNanoseconds) {
  const std::string text =
      LatencyJsonLine(std::vector{Interval("read", {3, 3}, 1), Interval("dns", {})});
  EXPECT_EQ(text.find('\n'), text.size() - 1);
  const nlohmann::json line = nlohmann::json::parse(text);
  ASSERT_EQ(line["latency"].size(), 2U);
  const nlohmann::json& read = line["latency"][0];
  EXPECT_EQ(read["probe"], "read");
  EXPECT_EQ(read["calls"], 2);
  EXPECT_EQ(read["errors"], 1);
  EXPECT_EQ(read["sum_ns"], 6);
  EXPECT_EQ(read["p99_ns"], 3);
  EXPECT_EQ(read["max_ns"], 3);
  EXPECT_EQ(line["latency"][1]["p50_ns"], 0);
}

}  // namespace
}  // namespace perftape::record_tool
