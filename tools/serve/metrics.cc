// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/metrics.h"

#include <algorithm>
#include <utility>

#include "formats/base/latency_buckets.h"
#include "formats/base/text.h"
#include "formats/escape/escape.h"
#include "formats/perfdata/period_unit.h"
#include "tools/serve/profiles.h"

namespace perftape::serve {
namespace {

constexpr double kNsPerSecondOfMetrics = 1e9;

double Seconds(std::uint64_t ns) {
  return static_cast<double>(ns) / kNsPerSecondOfMetrics;
}

// The text of the metrics, one family after the other.
class MetricsText {
 public:
  explicit MetricsText(MetricsFormat format) : format_(format) {}

  // Begins a family. The name of a counter is without "_total".
  void Begin(std::string_view name, std::string_view type, std::string_view help) {
    name_ = name;
    is_counter_ = type == "counter";
    const bool has_total = is_counter_ && format_ == MetricsFormat::kPrometheus;
    const std::string family = name_ + (has_total ? "_total" : "");
    AppendFormat(text_, "# HELP {0} {1}\n# TYPE {0} {2}\n", family, help, type);
  }
  template <class Number>
  void Add(std::string_view labels, Number value) {
    AppendLine(is_counter_ ? "_total" : "", labels, value);
  }
  template <class Number>
  void AddPart(std::string_view suffix, std::string_view labels, Number value) {
    AppendLine(suffix, labels, value);
  }
  // A family of one number.
  template <class Number>
  void One(std::string_view name, std::string_view type, std::string_view help, Number value) {
    Begin(name, type, help);
    Add("", value);
  }

  std::string Finish() && {
    if (format_ == MetricsFormat::kOpenMetrics) text_ += "# EOF\n";
    return std::move(text_);
  }

 private:
  template <class Number>
  void AppendLine(std::string_view suffix, std::string_view labels, Number value) {
    text_ += name_;
    text_ += suffix;
    if (!labels.empty()) AppendFormat(text_, "{{{}}}", labels);
    AppendFormat(text_, " {}\n", value);
  }

  MetricsFormat format_;
  std::string text_, name_;
  bool is_counter_ = false;
};

constexpr std::size_t kFirstExponent = 10;  // 2^10 ns is about a microsecond

void AppendPushes(const PushCounts& counts, MetricsText& text) {
  text.One("perftape_push_requests", "counter", "Requests that the receiver accepted.",
           counts.requests.load());
  text.One("perftape_push_samples", "counter", "Samples in these requests.", counts.samples.load());
  text.One("perftape_push_rejected_profiles", "counter",
           "Profiles that the receiver rejected in requests that it accepted.",
           counts.rejected_profiles.load());
  text.One("perftape_push_retries", "counter", "Requests that must be sent again.",
           counts.retries.load());
  text.Begin("perftape_push_dropped_samples", "counter",
             "Samples that were not delivered, by cause.");
  for (std::size_t cause = 0; cause < kPushDrops; ++cause) {
    std::string label;
    AppendFormat(label, "cause=\"{}\"", NameOf(static_cast<PushDrop>(cause)));
    text.Add(label, counts.dropped_samples[cause].load());
  }
  text.One("perftape_push_queue_bytes", "gauge", "The size of the waiting requests.",
           counts.queue_bytes.load());
}

// The upper end of a bucket of /metrics.
std::uint64_t BucketEndNs(std::size_t index) {
  return std::uint64_t{1} << (kFirstExponent + 2 * index);
}

}  // namespace

MetricsFormat FormatFor(std::string_view accept) {
  return accept.contains("application/openmetrics-text") ? MetricsFormat::kOpenMetrics
                                                         : MetricsFormat::kPrometheus;
}

std::string_view ContentTypeOf(MetricsFormat format) {
  return format == MetricsFormat::kOpenMetrics
             ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
             : "text/plain; version=0.0.4; charset=utf-8";
}

Metrics::PodName Metrics::Known(PodName pod) {
  if (pods_.contains(pod)) return pod;
  if (pods_.size() >= kMostPods) return {.pod_namespace = "", .pod = "other"};
  pods_.emplace(pod, true);
  return pod;
}

void Metrics::Add(const ImportedWindow& window, const convert::Profile& profile) {
  const std::lock_guard lock(mutex_);
  ++windows_;
  failed_windows_ = window.failed_windows;
  recorder_cpu_ns_ = window.recorder_cpu_ns;
  importer_cpu_ns_ = window.importer_cpu_ns;
  for (const convert::Sample& sample : profile.samples()) {
    const convert::Event& event = profile[sample.event];
    const PodOfSample of = PodOf(profile, sample);
    PodName pod =
        Known({.pod_namespace = std::string(of.pod_namespace), .pod = std::string(of.pod)});
    EventCount& count = events_[{std::string(profile.text(event.name)), std::move(pod)}];
    count.samples += sample.count;
    count.has_time |= profile.text(event.unit) == perfdata::kNanoseconds;
    if (count.has_time) count.nanoseconds += sample.period;
  }
  for (const bundle::NotedLoss& loss : window.notes.lost) lost_[loss.cause] += loss.count;
  AddLatency(window.notes);
}

void Metrics::AddLatency(const bundle::RecordingNotes& notes) {
  std::map<std::string_view, const bundle::NotedContainer*> containers;
  for (const bundle::NotedContainer& one : notes.containers) containers[one.cgroup] = &one;
  for (const bundle::NotedLatency& noted : notes.latency) {
    PodName pod;
    if (const auto found = containers.find(noted.cgroup); found != containers.end())
      pod = {.pod_namespace = found->second->pod_namespace, .pod = found->second->pod};
    Latency& latency = latencies_[{noted.probe, Known(std::move(pod))}];
    latency.count += noted.count;
    latency.sum_ns += noted.sum_ns;
    for (const bundle::NotedCount& error : noted.errors) latency.errors += error.count;
    for (const bundle::NotedCount& bucket : noted.buckets) {
      const std::uint64_t end_ns = LatencyBucketEnd(static_cast<std::size_t>(bucket.number));
      for (std::size_t i = 0; i < kBuckets; ++i) {
        if (end_ns <= BucketEndNs(i)) latency.counts[i] += bucket.count;
      }
    }
  }
  for (const bundle::NotedLatencyLoss& loss : notes.latency_lost) uncounted_calls_ += loss.count;
}

std::string Metrics::Text(const ServiceNumbers& numbers, MetricsFormat format) const {
  const std::lock_guard lock(mutex_);
  MetricsText text(format);
  const auto labels = [](std::string_view name, const auto& key) {
    const auto& [what, pod] = key;
    std::string line;
    AppendFormat(line, "{}=\"{}\",namespace=\"{}\",pod=\"{}\"", name, escape::MetricsLabel(what),
                 escape::MetricsLabel(pod.pod_namespace), escape::MetricsLabel(pod.pod));
    return line;
  };
  text.Begin("perftape_event_samples", "counter", "Samples by event and pod.");
  for (const auto& [key, count] : events_) text.Add(labels("event", key), count.samples);
  text.Begin("perftape_event_time_seconds", "counter",
             "The time that the samples of events that measure time stand for.");
  for (const auto& [key, count] : events_) {
    if (count.has_time)
      text.Add(labels("event", key),
               static_cast<double>(count.nanoseconds) / kNsPerSecondOfMetrics);
  }
  text.Begin("perftape_lost_samples", "counter", "Samples that are in no profile, by cause.");
  for (const auto& [cause, count] : lost_) {
    std::string label;
    AppendFormat(label, "cause=\"{}\"", escape::MetricsLabel(cause));
    text.Add(label, count);
  }
  text.Begin("perftape_call_duration_seconds", "histogram", "Calls of latency probes, by pod.");
  for (const auto& [key, latency] : latencies_) {
    const std::string label = labels("probe", key);
    for (std::size_t i = 0; i < kBuckets; ++i) {
      std::string of_bucket = label;
      AppendFormat(of_bucket, ",le=\"{}\"", Seconds(BucketEndNs(i)));
      text.AddPart("_bucket", of_bucket, latency.counts[i]);
    }
    text.AddPart("_bucket", label + ",le=\"+Inf\"", latency.count);
    text.AddPart("_count", label, latency.count);
    text.AddPart("_sum", label, Seconds(latency.sum_ns));
  }
  text.Begin("perftape_call_errors", "counter", "Failed calls of latency probes, by pod.");
  for (const auto& [key, latency] : latencies_) text.Add(labels("probe", key), latency.errors);
  text.One("perftape_uncounted_calls", "counter", "Calls of latency probes in no histogram.",
           uncounted_calls_);

  text.Begin("perftape_cpu_seconds", "counter", "CPU time of the processes of the service.");
  text.Add("process=\"recorder\"", Seconds(recorder_cpu_ns_));
  text.Add("process=\"importer\"", Seconds(importer_cpu_ns_));
  text.Add("process=\"server\"", Seconds(numbers.server_cpu_ns));
  text.One("perftape_windows", "counter", "Windows of the recording that were read.", windows_);
  text.One("perftape_failed_windows", "counter", "Windows that could not be read.",
           failed_windows_);
  text.Begin("perftape_event_start_time_seconds", "gauge",
             "The time since which the event is recorded without a gap, in Unix time.");
  for (const std::string& event : numbers.recorded.events) {
    std::string label;
    AppendFormat(label, "event=\"{}\"", escape::MetricsLabel(event));
    text.Add(label, numbers.recorded.since_seconds);
  }
  const HistoryCounts& history = numbers.history;
  text.One("perftape_history_windows", "gauge", "Windows in memory.", history.windows);
  text.One("perftape_history_bytes", "gauge", "The size of the windows in memory.", history.bytes);
  text.One("perftape_history_seconds", "gauge", "The time that the windows in memory cover.",
           Seconds(history.end_ns - history.start_ns));
  text.One("perftape_history_merged_windows", "counter",
           "Windows that were merged with others to save memory.", history.merged);
  text.One("perftape_history_dropped_windows", "counter",
           "Windows that were dropped because of their age or to save memory.", history.dropped);
  if (numbers.push != nullptr) AppendPushes(*numbers.push, text);
  text.One("perftape_http_requests", "counter", "Requests.", numbers.requests);
  text.One("perftape_http_refused_connections", "counter", "Connections above the limit.",
           numbers.refused);
  text.One("perftape_http_accept_failures", "counter",
           "Attempts to accept a connection that failed, for lack of descriptors or memory.",
           numbers.accept_failures);
  text.One("perftape_http_connections", "gauge", "Open connections.", numbers.connections);
  text.One("perftape_start_time_seconds", "gauge", "The start of the service, in Unix time.",
           numbers.start_seconds);
  return std::move(text).Finish();
}

}  // namespace perftape::serve
