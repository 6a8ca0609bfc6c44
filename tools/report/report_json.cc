// SPDX-License-Identifier: Apache-2.0
#include "tools/report/report_json.h"

#include <ranges>
#include <utility>

#include <nlohmann/json.hpp>

#include "tools/common/cli/json_text.h"
#include "tools/common/profiles/symbol_json.h"
#include "tools/report/sections.h"

namespace perftape::report_tool {
namespace {

using convert::FrameId;
using nlohmann::ordered_json;
using summarize::Amount;

// Writes the numbers of one event.
class EventWriter {
 public:
  EventWriter(const Contents& contents, const EventContents& event)
      : contents_(contents), event_(event) {}

  ordered_json Write(const ReportPlan& plan) const {
    const convert::Profile& profile = contents_.profile;
    const convert::Event& event = profile[event_.event];
    ordered_json json = {{"name", profile.text(event.name)},
                         {"unit", profile.text(event.unit)},
                         {"weights", event_.has_periods ? "periods" : "samples"},
                         {"total", AmountJson(event_.total)},
                         {"distinct_stacks", event_.quality.distinct},
                         {"average_frames", event_.quality.average_frames},
                         {"unnamed", AmountJson(event_.quality.unnamed)},
                         {"unnamed_root", AmountJson(event_.quality.with_unnamed_root)},
                         {"warnings", event_.warnings}};
    if (event.decimals != 0) json["decimals"] = event.decimals;
    json["functions"] = FunctionsJson(plan.functions);
    if (!event_.wakeups.empty()) json["wakeups"] = WakeupsJson(plan.functions);
    if (plan.stacks != 0) json["stacks"] = StacksJson();
    for (const GroupTable& group : event_.groups) json["by"][NameOf(group.by)] = GroupJson(group);
    if (plan.tree) json["tree"] = TreeJson();
    if (plan.lines) json["lines"] = LinesJson();
    return json;
  }

 private:
  ordered_json AmountJson(const Amount& amount) const {
    return {{"samples", amount.samples},
            {"weight", amount.weight},
            {"percent", summarize::PercentOf(amount, event_.total)}};
  }

  ordered_json FrameJson(FrameId frame) const {
    ordered_json json = {{"function", contents_.frames.NameOf(frame)}};
    const std::string_view binary = contents_.profile.text(contents_.frames[frame].dso);
    if (!binary.empty()) json["binary"] = binary;
    return json;
  }

  ordered_json FunctionsJson(std::size_t most) const {
    auto list = ordered_json::array();
    for (const summarize::FunctionAmounts& function : event_.functions | std::views::take(most)) {
      ordered_json one = FrameJson(function.frame);
      one["self"] = AmountJson(function.self);
      one["total"] = AmountJson(function.inclusive);
      list.push_back(std::move(one));
    }
    return list;
  }

  static ordered_json ThreadJson(const summarize::NamedThread& thread) {
    ordered_json json = {{"comm", thread.comm}};
    json["tid"] = thread.tid ? ordered_json(*thread.tid) : ordered_json(nullptr);
    return json;
  }

  ordered_json WakeupsJson(std::size_t most) const {
    auto list = ordered_json::array();
    for (const summarize::Wakeups& one : event_.wakeups | std::views::take(most)) {
      list.push_back({{"waker", ThreadJson(one.waker)},
                      {"woken", ThreadJson(one.woken)},
                      {"amount", AmountJson(one.amount)}});
    }
    return list;
  }

  ordered_json StacksJson() const {
    auto list = ordered_json::array();
    for (const StackShare& stack : event_.stacks) {
      auto frames = ordered_json::array();
      for (const FrameId frame : stack.frames) frames.push_back(contents_.frames.NameOf(frame));
      list.push_back({{"amount", AmountJson(stack.amount)}, {"frames", std::move(frames)}});
    }
    return list;
  }

  ordered_json GroupJson(const GroupTable& group) const {
    auto list = ordered_json::array();
    for (const summarize::GroupAmount& one : group.groups) {
      list.push_back({{"name", one.name}, {"amount", AmountJson(one.amount)}});
    }
    return list;
  }

  ordered_json TreeJson() const {
    auto list = ordered_json::array();
    for (const TreeRow& row : event_.tree) {
      ordered_json one = {{"depth", row.depth}};
      one.update(FrameJson(row.frame));
      one["total"] = AmountJson(row.total);
      one["self"] = AmountJson(row.self);
      list.push_back(std::move(one));
    }
    return list;
  }

  ordered_json LinesJson() const {
    auto list = ordered_json::array();
    for (const summarize::LineAmounts& line : event_.lines) {
      ordered_json one = FrameJson(line.frame);
      one["filename"] = line.filename;
      one["line"] = line.number;
      one["self"] = AmountJson(line.self);
      one["total"] = AmountJson(line.inclusive);
      list.push_back(std::move(one));
    }
    return list;
  }

  const Contents& contents_;
  const EventContents& event_;
};

ordered_json InputsJson(const ReadContents& read) {
  auto list = ordered_json::array();
  for (const convert::InputReport& input : read.inputs) {
    ordered_json one = {{"name", input.name},
                        {"format", input.format},
                        {"samples", input.read.samples},
                        {"lost_samples", input.read.lost_samples},
                        {"lost_records", input.read.lost_records},
                        {"problems", input.read.problems}};
    if (const convert::TimeHistogram& histogram = input.read.histogram;
        !histogram.samples.empty()) {
      one["histogram"] = {{"first_ns", histogram.first_ns},
                          {"last_ns", histogram.last_ns},
                          {"samples", histogram.samples}};
    }
    list.push_back(std::move(one));
  }
  return list;
}

}  // namespace

std::string ReportJson(const Contents& contents, const ReadContents& read, const ReportPlan& plan) {
  ordered_json json = {{"inputs", InputsJson(read)},
                       {"comments", contents.profile.metadata().comments},
                       {"symbols", cli::SymbolsJson(read.symbols)},
                       {"events", ordered_json::array()}};
  for (const EventContents& event : contents.events) {
    json["events"].push_back(EventWriter(contents, event).Write(plan));
  }
  return cli::JsonText(json, cli::JsonLayout::kIndented);
}

}  // namespace perftape::report_tool
