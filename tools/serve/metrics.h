// SPDX-License-Identifier: Apache-2.0
// The numbers of /metrics, as Prometheus text 0.0.4 or OpenMetrics 1.0: what was recorded by event
// and pod, what was lost, latencies, and what the service itself uses.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "convert/model/profile.h"
#include "formats/bundle/recording_notes.h"
#include "tools/serve/history.h"
#include "tools/serve/push/push_counts.h"
#include "tools/serve/window.h"

namespace perftape::serve {

enum class MetricsFormat : std::uint8_t { kPrometheus, kOpenMetrics };

// Chooses by the header Accept.
MetricsFormat FormatFor(std::string_view accept);
std::string_view ContentTypeOf(MetricsFormat format);

// Of the parts of the service that do not count here.
struct ServiceNumbers {
  HistoryCounts history = {};
  const PushCounts* push = nullptr;  // null: nothing is pushed
  std::uint64_t server_cpu_ns = 0;
  std::uint64_t requests = 0, refused = 0, connections = 0, accept_failures = 0;
  double start_seconds = 0;  // since 1970
  struct Recorded {
    double since_seconds = 0;  // since 1970, without a gap
    std::vector<std::string> events = {};
  };
  Recorded recorded = {};  // no events: nothing is recorded
};

// Thread-safe.
class Metrics {
 public:
  // After so many pods, further ones are counted together, as pod "other".
  static constexpr std::size_t kMostPods = 500;

  // Counts a window. `profile` is that of the window.
  void Add(const ImportedWindow& window, const convert::Profile& profile);

  std::string Text(const ServiceNumbers& numbers, MetricsFormat format) const;

 private:
  struct PodName {
    std::string pod_namespace = {}, pod = {};
    auto operator<=>(const PodName&) const = default;
  };
  struct EventCount {
    std::int64_t samples = 0, nanoseconds = 0;
    bool has_time = false;
  };
  // Powers of 4 microseconds, 1 us to 17 s, and the sum of all.
  static constexpr std::size_t kBuckets = 13;
  struct Latency {
    std::array<std::uint64_t, kBuckets> counts = {};  // each includes those before
    std::uint64_t count = 0, sum_ns = 0, errors = 0;
  };
  using ByEvent = std::map<std::tuple<std::string, PodName>, EventCount>;
  using ByProbe = std::map<std::tuple<std::string, PodName>, Latency>;

  PodName Known(PodName pod);
  void AddLatency(const bundle::RecordingNotes& notes);

  mutable std::mutex mutex_;  // of what follows
  std::map<PodName, bool> pods_;
  ByEvent events_;
  ByProbe latencies_;
  std::map<std::string, std::uint64_t> lost_;  // samples by cause
  std::uint64_t windows_ = 0, failed_windows_ = 0, uncounted_calls_ = 0;
  std::uint64_t recorder_cpu_ns_ = 0, importer_cpu_ns_ = 0;
};

}  // namespace perftape::serve
