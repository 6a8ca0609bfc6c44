// SPDX-License-Identifier: Apache-2.0
#include "convert/export/viewers/firefox_markers.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <tuple>

#include "convert/export/viewers/text_output.h"
#include "convert/model/label_keys.h"
#include "convert/model/sample_thread.h"
#include "convert/model/saturating.h"
#include "formats/base/text.h"
#include "formats/folded/count.h"
#include "formats/json/string.h"
#include "formats/perfdata/event_meanings.h"

namespace perftape::viewers {
namespace {

using convert::TaskEvent;

struct MarkerData {
  std::string_view type, key;  // of the JSON object
};

MarkerData DataOf(FirefoxMarker::Type type) {
  switch (type) {
    case FirefoxMarker::Type::kComm:
      return {.type = "Comm", .key = "comm"};
    case FirefoxMarker::Type::kWait:
      return {.type = "Wait", .key = "event"};
    case FirefoxMarker::Type::kTask:
      return {.type = "Task", .key = "comm"};
    case FirefoxMarker::Type::kLoss:
      break;
  }
  return {.type = "Loss", .key = "records"};
}

void AppendMarkerTime(std::string& out, std::int64_t time_ns) {
  constexpr unsigned kDecimals = 6;  // of milliseconds
  folded::AppendFixed(out, time_ns, kDecimals);
}

// The profiler shows a cause as a stack of the marker.
void AppendWaker(std::string& out, const FirefoxWaker& waker, const FirefoxTables& tables) {
  out += ",\"waker\":";
  json::AppendString(out, fmt::format("{} {}", waker.comm, waker.tid));
  if (waker.stack == convert::StackId{}) return;
  AppendFormat(out, ",\"cause\":{{\"tid\":{},\"time\":", waker.tid);
  AppendMarkerTime(out, waker.time_ns);
  AppendFormat(out, ",\"stack\":{}}}", tables.StackOf(waker.stack));
}

}  // namespace

const char* const kFirefoxMarkerSchema =
    R"([{"name":"Comm","tooltipLabel":"{marker.data.comm}","tableLabel":"{marker.data.comm}",)"
    R"("chartLabel":"{marker.data.comm}","display":["marker-chart","marker-table"],)"
    R"("fields":[{"key":"comm","label":"Name of the thread","format":"string"}]},)"
    R"({"name":"Wait","tooltipLabel":"{marker.name}","tableLabel":"{marker.name}",)"
    R"("chartLabel":"{marker.name}","display":["marker-chart","marker-table","timeline-overview"],)"
    R"("fields":[{"key":"event","label":"Event","format":"string"},)"
    R"({"key":"waker","label":"Woken by","format":"string"}]},)"
    R"({"name":"Task","tooltipLabel":"{marker.data.comm}","tableLabel":"{marker.data.comm}",)"
    R"("chartLabel":"{marker.data.comm}","display":["marker-chart","marker-table"],)"
    R"("fields":[{"key":"comm","label":"Program","format":"string"}]},)"
    R"({"name":"Loss","tooltipLabel":"{marker.data.records} lost",)"
    R"("tableLabel":"{marker.data.records} lost","chartLabel":"{marker.data.records} lost",)"
    R"("display":["marker-chart","marker-table","timeline-overview"],)"
    R"("fields":[{"key":"records","label":"Lost records","format":"string"}]}])";

FirefoxMarkers::FirefoxMarkers(const convert::Profile& profile, const FirefoxThreads& threads,
                               const convert::TaskEvents& events, convert::FrameTexts& texts)
    : profile_(profile), threads_(threads), texts_(texts), events_(events) {
  std::ranges::sort(events_, {}, [](const TaskEvent& event) {
    return std::tuple(event.time_ns, event.pid, event.tid, event.type, std::string_view(event.comm),
                      event.lost);
  });
  for (TaskEvent& event : events_) event.time_ns -= threads.first_time_ns;
  for (const FirefoxThread& thread : threads.threads) {
    if (thread.samples.empty()) continue;
    last_time_ns_ = std::max(last_time_ns_, thread.samples.back().time_ns);
  }
  ReadWakers();
}

// A wakeup and the wait that it ends have the same start: the time of each, less its period.
void FirefoxMarkers::ReadWakers() {
  for (const convert::Sample& sample : profile_.samples()) {
    const std::string_view event = profile_.text(profile_[sample.event].name);
    if (perfdata::FindEventMeaning(event) != &perfdata::kWakeup) continue;
    const convert::Label* const time = FindLabel(profile_, sample.labels, convert::kTimestampLabel);
    const convert::SampleThread woken = WokenThreadOf(profile_, sample);
    if (time == nullptr || !woken.tid || sample.period <= 0) continue;
    const convert::SampleThread waker = ThreadOf(profile_, sample);
    const std::int64_t time_ns = convert::SubtractUpToLimit(time->number, threads_.first_time_ns);
    const std::int64_t start_ns = convert::SubtractUpToLimit(time_ns, sample.period);
    wakers_.try_emplace({*woken.tid, start_ns},
                        FirefoxWaker{.comm = waker.comm,
                                     .tid = static_cast<std::int32_t>(waker.tid.value_or(0)),
                                     .time_ns = time_ns,
                                     .stack = sample.stack});
  }
}

std::vector<FirefoxMarker> FirefoxMarkers::Of(const FirefoxThread& thread) const {
  std::vector<FirefoxMarker> markers;
  if (!thread.is_first) return markers;
  for (const FirefoxThread& other : threads_.threads) {
    const bool is_same = other.pid == thread.pid && other.tid == thread.tid &&
                         (thread.tid != -1 || other.comm == thread.comm);
    if (is_same) AddWaits(other, markers);
  }
  if (events_.empty()) {
    AddCommChanges(thread, markers);
  } else {
    AddTasks(thread, markers);
  }
  std::erase_if(markers, [this](const FirefoxMarker& marker) {
    return marker.end_ns.value_or(marker.start_ns) < 0 || marker.start_ns > last_time_ns_;
  });
  // Losses are often counted after the last sample.
  if (&thread == threads_.threads.data()) AddLosses(markers);
  for (FirefoxMarker& marker : markers) {
    marker.start_ns = Cut(marker.start_ns);
    if (marker.end_ns) marker.end_ns = Cut(*marker.end_ns);
  }
  std::ranges::stable_sort(markers, {}, &FirefoxMarker::start_ns);
  return markers;
}

void FirefoxMarkers::AddWaits(const FirefoxThread& thread,
                              std::vector<FirefoxMarker>& markers) const {
  if (!thread.has_times || thread.samples.empty() ||
      PeriodMeaningOf(profile_, thread.event) != PeriodMeaning::kWait) {
    return;
  }
  const std::string_view event = profile_.text(profile_[thread.event].name);
  for (const FirefoxSample& sample : thread.samples) {
    if (sample.period < 0) continue;
    const std::int64_t start_ns = convert::AddUpToLimit(sample.time_ns, -sample.period);
    const auto waker = wakers_.find({thread.tid, start_ns});
    markers.push_back({.type = FirefoxMarker::Type::kWait,
                       .start_ns = start_ns,
                       .end_ns = sample.time_ns,
                       .name = texts_.Intern(event),
                       .text = std::string(event),
                       .waker = waker == wakers_.end() ? nullptr : &waker->second});
  }
}

void FirefoxMarkers::AddCommChanges(const FirefoxThread& thread,
                                    std::vector<FirefoxMarker>& markers) const {
  if (!thread.has_times) return;
  for (std::size_t i = 1; i < thread.samples.size(); ++i) {
    const FirefoxSample& sample = thread.samples[i];
    if (sample.comm == thread.samples[i - 1].comm) continue;
    markers.push_back({.type = FirefoxMarker::Type::kComm,
                       .start_ns = sample.time_ns,
                       .name = texts_.Intern("New name"),
                       .text = std::string(sample.comm)});
  }
}

// A span begins at a fork or an exec. It ends at the next exec or at the exit.
void FirefoxMarkers::AddTasks(const FirefoxThread& thread,
                              std::vector<FirefoxMarker>& markers) const {
  std::optional<std::size_t> open;  // the last span
  for (const TaskEvent& event : events_) {
    if (event.type == TaskEvent::Type::kLoss ||
        static_cast<std::int32_t>(event.tid) != thread.tid ||
        static_cast<std::int32_t>(event.pid) != thread.pid) {
      continue;
    }
    const std::int64_t time = event.time_ns;
    if (event.type == TaskEvent::Type::kComm) {
      markers.push_back({.type = FirefoxMarker::Type::kComm,
                         .start_ns = time,
                         .name = texts_.Intern("New name"),
                         .text = event.comm});
      continue;
    }
    if (open) markers[*open].end_ns = time;
    open.reset();
    if (event.type == TaskEvent::Type::kExit) continue;
    const bool is_fork = event.type == TaskEvent::Type::kFork;
    open = markers.size();
    markers.push_back({.type = FirefoxMarker::Type::kTask,
                       .start_ns = time,
                       .end_ns = std::max(last_time_ns_, time),
                       .name = texts_.Intern(is_fork ? "fork" : "exec"),
                       .text = is_fork ? std::string(thread.samples.front().comm) : event.comm});
  }
}

void FirefoxMarkers::AddLosses(std::vector<FirefoxMarker>& markers) const {
  for (const TaskEvent& event : events_) {
    if (event.type != TaskEvent::Type::kLoss) continue;
    markers.push_back({.type = FirefoxMarker::Type::kLoss,
                       .start_ns = event.time_ns,
                       .name = texts_.Intern("Lost records"),
                       .text = std::to_string(event.lost)});
  }
}

std::int64_t FirefoxMarkers::Cut(std::int64_t time_ns) const {
  return std::clamp(time_ns, std::int64_t{}, last_time_ns_);
}

Status WriteFirefoxMarkers(const std::vector<FirefoxMarker>& markers, const FirefoxTables& tables,
                           TextOutput& out) {
  AppendFormat(out.text, "{{\"length\":{}", markers.size());
  TRY(WriteColumn(out, "data", markers, [&](std::string& text, const FirefoxMarker& marker) {
    const MarkerData data = DataOf(marker.type);
    AppendFormat(text, "{{\"type\":\"{}\",\"{}\":", data.type, data.key);
    json::AppendString(text, marker.text);
    if (marker.waker != nullptr) AppendWaker(text, *marker.waker, tables);
    text += '}';
  }));
  TRY(WriteColumn(out, "name", markers, [](std::string& text, const FirefoxMarker& marker) {
    AppendNumberOrNull(text, marker.name, false);
  }));
  TRY(WriteColumn(out, "startTime", markers, [](std::string& text, const FirefoxMarker& marker) {
    AppendMarkerTime(text, marker.start_ns);
  }));
  TRY(WriteColumn(out, "endTime", markers, [](std::string& text, const FirefoxMarker& marker) {
    if (marker.end_ns) {
      AppendMarkerTime(text, *marker.end_ns);
    } else {
      text += "null";
    }
  }));
  TRY(WriteColumn(out, "phase", markers, [](std::string& text, const FirefoxMarker& marker) {
    text += marker.end_ns ? '1' : '0';
  }));
  TRY(WriteConstant(out, "category", markers, "0"));
  out.text += '}';
  return {};
}

}  // namespace perftape::viewers
