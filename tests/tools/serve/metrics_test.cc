// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/metrics.h"

#include <gmock/gmock.h>

#include "tests/tools/serve/profile_of_pods.h"

namespace perftape::serve {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string TextAfter(const ImportedWindow& window, const convert::Profile& profile,
                      MetricsFormat format = MetricsFormat::kPrometheus) {
  Metrics metrics;
  metrics.Add(window, profile);
  return metrics.Text({}, format);
}

TEST(Metrics, CountsByEventAndPod) {
  const std::string text = TextAfter(
      {}, ProfileOfPods({{.pod = "a", .count = 2}, {.event = "cpu-clock", .pod = "", .count = 3}}));
  EXPECT_THAT(text, HasSubstr("perftape_event_samples_total{event=\"skb:kfree_skb\",namespace="
                              "\"shop\",pod=\"a\"} 2\n"));
  EXPECT_THAT(
      text,
      HasSubstr("perftape_event_samples_total{event=\"cpu-clock\",namespace=\"\",pod=\"\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("perftape_event_time_seconds_total{event=\"cpu-clock\",namespace="
                              "\"\",pod=\"\"} 3e-06\n"));
}

TEST(Metrics, CountersOfOpenMetricsHaveNoTotalInTheNameOfTheFamily) {
  const std::string prometheus = TextAfter({}, convert::Profile());
  EXPECT_THAT(prometheus,
              HasSubstr("# TYPE perftape_windows_total counter\nperftape_windows_total 1\n"));
  EXPECT_THAT(prometheus, Not(HasSubstr("# EOF")));
  const std::string open = TextAfter({}, convert::Profile(), MetricsFormat::kOpenMetrics);
  EXPECT_THAT(open, HasSubstr("# TYPE perftape_windows counter\nperftape_windows_total 1\n"));
  EXPECT_TRUE(open.ends_with("# EOF\n"));
  EXPECT_EQ(FormatFor("application/openmetrics-text;version=1.0.0,text/plain"),
            MetricsFormat::kOpenMetrics);
  EXPECT_EQ(FormatFor("*/*"), MetricsFormat::kPrometheus);
}

TEST(Metrics, BucketsOfLatenciesAreCumulative) {
  ImportedWindow window;
  // 2^12 ns and 2^14 ns are in the buckets that begin there (latency_buckets.h).
  window.notes.latency = {{.probe = "read",
                           .cgroup = "/x",
                           .count = 3,
                           .sum_ns = 5000,
                           .errors = {{.number = 5, .count = 1}},
                           .buckets = {{.number = 44, .count = 2}, {.number = 52, .count = 1}}}};
  window.notes.containers = {{.cgroup = "/x", .pod_namespace = "shop", .pod = "a"}};
  const std::string text = TextAfter(window, convert::Profile());
  const std::string labels = "{probe=\"read\",namespace=\"shop\",pod=\"a\"";
  EXPECT_THAT(text, HasSubstr("_bucket" + labels + ",le=\"4.096e-06\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("_bucket" + labels + ",le=\"1.6384e-05\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("_bucket" + labels + ",le=\"6.5536e-05\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("_bucket" + labels + ",le=\"+Inf\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("_count" + labels + "} 3\n"));
  EXPECT_THAT(text, HasSubstr("perftape_call_errors_total" + labels + "} 1\n"));
}

TEST(Metrics, NamesOfLabelsAreEscaped) {
  EXPECT_THAT(TextAfter({}, ProfileOfPods({{.pod = "a\"\\\n"}})),
              HasSubstr("pod=\"a\\\"\\\\\\n\""));
}

TEST(Metrics, PodsBeyondTheLimitAreCountedTogether) {
  Metrics metrics;
  for (std::size_t i = 0; i < Metrics::kMostPods + 3; ++i) {
    const std::string pod = "p" + std::to_string(i);
    metrics.Add({}, ProfileOfPods({{.pod = pod}}));
  }
  EXPECT_THAT(metrics.Text({}, MetricsFormat::kPrometheus),
              HasSubstr("namespace=\"\",pod=\"other\"} 3\n"));
}

}  // namespace
}  // namespace perftape::serve
