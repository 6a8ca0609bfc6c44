// SPDX-License-Identifier: Apache-2.0
#include "convert/export/to_script.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "convert/export/rank.h"
#include "convert/export/sample_plan.h"
#include "convert/export/to_pprof.h"
#include "convert/frames/frame_table.h"
#include "convert/model/label_keys.h"
#include "convert/model/mappings_without_files.h"
#include "convert/model/sample_thread.h"
#include "formats/base/text.h"
#include "formats/base/unknown_name.h"
#include "formats/perfdata/converted.h"
#include "formats/script/escape.h"
#include "formats/script/frame_line.h"
#include "formats/script/head_line.h"
#include "formats/script/header.h"

namespace perftape::convert {
namespace {

constexpr std::uint64_t kNsPerMicrosecond = 1'000;
constexpr std::uint64_t kNsPerMillisecond = 1'000'000;
// perf script needs a frame.
constexpr script::Frame kNoFrame = {.symbol = kUnknownName, .dso = kUnknownName};

// Whether a sample has no thread, as PlanSamples writes it.
bool IsNoThread(const PlannedThread& thread) {
  return thread.pid == perfdata::kNoThread && thread.tid == perfdata::kNoThread &&
         thread.comm.empty();
}

// Plans the samples. Those of equal time and thread are sorted by the event's name, because a text
// does not keep the order of events.
SamplePlan PlanText(const Profile& profile, const ScriptOptions& options) {
  SamplePlan plan = PlanSamples(profile, RankAll(profile), options.most_samples, options.event);
  std::ranges::stable_sort(plan.samples, {}, [&](const PlannedSample& planned) {
    const Event& event = profile[profile.samples()[planned.sample].event];
    return std::tuple(planned.time_ns, planned.thread, profile.text(event.name),
                      profile.text(event.unit));
  });
  return plan;
}

class ScriptExport {
 public:
  ScriptExport(const Profile& profile, const ScriptOptions& options, OutputFile& out)
      : profile_(profile), out_(out), plan_(PlanText(profile, options)) {}

  Result<ScriptReport> Run() &&;

 private:
  void LookThrough();
  script::Header MakeHeader() const;
  Status AddSample(const PlannedSample& planned);
  void SetHead(const PlannedSample& planned);
  void SetStack(StackId stack);
  void AppendLocation(const Location& location, AddressKind kind);
  std::uint64_t AddressOf(const Location& location, AddressKind kind) const;
  std::uint64_t PeriodOf(const Sample& sample) const;

  const Profile& profile_;
  OutputFile& out_;
  const SamplePlan plan_;
  std::vector<std::string> comms_;   // by thread of the plan
  std::vector<std::string> events_;  // escaped, by EventId
  script::TimeDigits digits_ = script::TimeDigits::kMicroseconds;
  std::uint64_t written_ = 0;
  script::Head head_;
  std::string stack_;
  std::string text_;  // not written yet
  ScriptReport report_;
};

Result<ScriptReport> ScriptExport::Run() && {
  LookThrough();
  script::AppendHeader(text_, MakeHeader());
  for (const PlannedSample& planned : plan_.samples) TRY(AddSample(planned));
  TRY(out_.Write(text_));
  return std::move(report_);
}

// Finds what the text cannot contain, and the names in it.
void ScriptExport::LookThrough() {
  report_.negative_samples = plan_.negative;
  report_.uncounted_samples = plan_.uncounted;
  report_.joined_counts = plan_.joined;
  for (const PlannedThread& thread : plan_.threads) {
    const std::string_view comm = !thread.comm.empty() ? thread.comm
                                  : IsNoThread(thread) ? script::kNoThreadComm
                                                       : kUnknownName;
    comms_.push_back(script::WritableComm(comm));
    if (comms_.back() != comm) ++report_.changed_comms;
  }
  for (const Event& event : profile_.events()) {
    script::AppendEscaped(events_.emplace_back(), profile_.text(event.name), " ");
  }
  std::set<std::string_view> lost_labels;
  std::set<std::string_view> rounded;
  for (const PlannedSample& planned : plan_.samples) {
    if (planned.time_ns % kNsPerMicrosecond != 0) digits_ = script::TimeDigits::kNanoseconds;
    const Sample& sample = profile_.samples()[planned.sample];
    const Event& event = profile_[sample.event];
    if (event.decimals != 0) rounded.insert(profile_.text(event.name));
    for (const Label& label : profile_[sample.labels]) {
      const std::string_view key = profile_.text(label.key);
      const bool has_field = key == kCpuLabel || key == kTimestampLabel ||
                             (IsThreadLabel(key) && sample.thread == ThreadId{});
      if (!has_field) lost_labels.insert(key);
    }
  }
  report_.lost_labels.assign(lost_labels.begin(), lost_labels.end());
  report_.rounded_events.assign(rounded.begin(), rounded.end());
}

script::Header ScriptExport::MakeHeader() const {
  script::Header header = {.writer = script::Writer::kPerftape,
                           .comments = profile_.metadata().comments};
  std::set<std::uint32_t> used;
  for (const PlannedSample& planned : plan_.samples) {
    used.insert(profile_.samples()[planned.sample].event.index);
  }
  for (const std::uint32_t index : used) {
    const Event& event = profile_[EventId{index}];
    header.events.push_back({.name = std::string(profile_.text(event.name)),
                             .unit = std::string(profile_.text(event.unit)),
                             .is_plain = event.values == EventValues::kPlain});
  }
  std::ranges::sort(header.events, {}, [](const script::HeaderEvent& event) {
    return std::tie(event.name, event.unit);
  });
  return header;
}

Status ScriptExport::AddSample(const PlannedSample& planned) {
  constexpr std::size_t kLarge = 65536;
  SetHead(planned);
  const Sample& sample = profile_.samples()[planned.sample];
  SetStack(sample.stack);
  const std::uint64_t period = PeriodOf(sample);
  for (std::uint64_t i = 0; i < planned.records; ++i) {
    head_.period = period / planned.records + (i < period % planned.records ? 1 : 0);
    head_.time_ns = plan_.has_times ? planned.time_ns : ++written_ * kNsPerMillisecond;
    script::AppendHead(text_, head_, digits_);
    text_ += stack_;
    if (text_.size() < kLarge) continue;
    TRY(out_.Write(text_));
    text_.clear();
  }
  return {};
}

void ScriptExport::SetHead(const PlannedSample& planned) {
  const Sample& sample = profile_.samples()[planned.sample];
  const SampleThread thread = ThreadOf(profile_, sample);
  // An unknown pid is left out. An unknown thread of a process is -1, as perf prints it.
  head_ = {.comm = comms_[planned.thread],
           .pid = thread.pid,
           .tid = thread.tid.value_or(thread.pid ? script::kNoId : perfdata::kNoThread),
           .event = events_[sample.event.index]};
  if (!thread.pid && !thread.tid) head_.pid = perfdata::kNoThread;
  const Label* cpu = FindLabel(profile_, sample.labels, kCpuLabel);
  if (cpu != nullptr && cpu->text == StringId{})
    head_.cpu = static_cast<std::uint32_t>(cpu->number);
}

// Rounds a value with decimals, halves away from 0.
std::uint64_t ScriptExport::PeriodOf(const Sample& sample) const {
  const auto period = static_cast<std::uint64_t>(sample.period);
  std::uint64_t scale = 1;
  for (unsigned i = 0; i < profile_[sample.event].decimals; ++i) scale *= 10;
  return period / scale + (period % scale * 2 >= scale && scale > 1 ? 1 : 0);
}

// Sets stack_ to the lines of a stack and the empty line after them.
void ScriptExport::SetStack(StackId stack) {
  stack_.clear();
  if (stack == StackId{}) script::AppendFrame(stack_, kNoFrame);
  for (AddressKind kind = AddressKind::kInstruction; stack != StackId{};
       stack = profile_[stack].caller) {
    AppendLocation(profile_[profile_[stack].leaf], kind);
    kind = profile_.CallerAddress(stack);
  }
  stack_ += '\n';
}

void ScriptExport::AppendLocation(const Location& location, AddressKind kind) {
  const std::string_view dso = profile_.text(profile_[location.mapping].filename);
  script::Frame frame = {.address = AddressOf(location, kind)};
  for (std::size_t i = 0; i + 1 < location.lines.size(); ++i) {
    frame.symbol = profile_.text(profile_[location.lines[i].function].name);
    frame.is_inlined = true;
    script::AppendFrame(stack_, frame);
  }
  const bool has_name =
      !location.lines.empty() && HasName(profile_, location, location.lines.back());
  frame.symbol =
      has_name ? profile_.text(profile_[location.lines.back().function].name) : kUnknownName;
  frame.dso = dso.empty() ? kUnknownName : dso;
  frame.is_inlined = false;
  script::AppendFrame(stack_, frame);
}

// 0 stands for no address, so a return address of 0 stays 0.
std::uint64_t ScriptExport::AddressOf(const Location& location, AddressKind kind) const {
  const bool is_kernel = profile_[location.mapping].type == MappingType::kKernel;
  const std::uint64_t address =
      is_kernel ? profile_.AddressOf(location).value : location.offset.value;
  const bool has_next = address != 0 && address != std::numeric_limits<std::uint64_t>::max();
  return address + (kind == AddressKind::kReturn && has_next ? 1 : 0);
}

}  // namespace

std::vector<std::string> LossLines(const ScriptReport& report) {
  std::vector<std::string> lines;
  const auto count = [&](std::uint64_t number, std::string_view what) {
    if (number > 0) lines.push_back(fmt::format("{} {}", number, what));
  };
  count(report.negative_samples, "samples with a value below 0 are left out");
  count(report.uncounted_samples, "samples have a period but no count: they count as one each");
  count(report.joined_counts, "counted samples share a sample of the text with others");
  if (report.changed_comms > 0) {
    lines.push_back(
        fmt::format("comms changed so that readers of the text recognize them (a '_' is added, or "
                    "replaces blanks): {}",
                    report.changed_comms));
  }
  for (const std::string& event : report.rounded_events) {
    lines.push_back(event + ": rounded, because the text has only whole numbers");
  }
  if (!report.lost_labels.empty()) {
    lines.push_back(fmt::format("labels that the text of perf script cannot contain: {}",
                                Joined(report.lost_labels, ", ")));
  }
  return lines;
}

Result<ScriptReport> WriteScript(const Profile& profile, const ScriptOptions& options,
                                 OutputFile& out) {
  return ScriptExport(profile, options, out).Run();
}

}  // namespace perftape::convert
