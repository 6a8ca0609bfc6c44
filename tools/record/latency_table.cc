// SPDX-License-Identifier: Apache-2.0
#include "tools/record/latency_table.h"

#include <fmt/core.h>

#include "formats/base/latency_buckets.h"
#include "formats/base/text.h"
#include "formats/json/write.h"
#include "tools/common/cli/json_schema.h"

namespace perftape::record_tool {
namespace {

using record::LatencyInterval;

// "1.250 ms"
std::string DurationText(double ns) {
  if (ns < 1e3) return fmt::format("{:.0f} ns", ns);
  if (ns < 1e6) return fmt::format("{:.3f} us", ns / 1e3);
  if (ns < 1e9) return fmt::format("{:.3f} ms", ns / 1e6);
  return fmt::format("{:.3f} s", ns / 1e9);
}

double Quantile(const LatencyInterval& probe, double quantile) {
  return LatencyQuantile(probe.buckets, quantile, probe.max_ns);
}

}  // namespace

std::string LatencyTable(std::span<const LatencyInterval> probes) {
  std::string text = fmt::format("{:<20} {:>10} {:>8} {:>12} {:>12} {:>12} {:>12}\n", "probe",
                                 "calls", "errors", "p50", "p95", "p99", "max");
  for (const LatencyInterval& probe : probes) {
    text += fmt::format("{:<20} {:>10} {:>8}", probe.probe, probe.count, probe.errors);
    if (probe.max_ns > 0) {
      for (const double quantile : {0.5, 0.95, 0.99}) {
        text += fmt::format(" {:>12}", DurationText(Quantile(probe, quantile)));
      }
      text += fmt::format(" {:>12}", DurationText(static_cast<double>(probe.max_ns)));
    }
    text += '\n';
  }
  return text;
}

std::string LatencyJsonLine(std::span<const LatencyInterval> probes) {
  json::Value line = {cli::SchemaMember(cli::kRecordLatencySchema),
                      {"latency", json::Value::EmptyList()}};
  for (const LatencyInterval& probe : probes) {
    line["latency"].push_back({{"probe", probe.probe},
                               {"calls", probe.count},
                               {"errors", probe.errors},
                               {"sum_ns", probe.sum_ns},
                               {"p50_ns", Quantile(probe, 0.5)},
                               {"p95_ns", Quantile(probe, 0.95)},
                               {"p99_ns", Quantile(probe, 0.99)},
                               {"max_ns", probe.max_ns}});
  }
  return json::Text(line, json::Layout::kOneLine);
}

}  // namespace perftape::record_tool
