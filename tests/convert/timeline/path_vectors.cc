// SPDX-License-Identifier: Apache-2.0
#include "tests/convert/timeline/path_vectors.h"

#include <fmt/core.h>

#include <map>
#include <tuple>
#include <utility>

#include <nlohmann/json.hpp>

#include "convert/model/task_event.h"
#include "convert/timeline/switches.h"
#include "tests/convert/timeline/recorded_threads.h"

namespace perftape::timeline {
namespace {

using nlohmann::json;

// Makes the recording of one vector.
class VectorMaker {
 public:
  explicit VectorMaker(const json& table) : table_(table) {}

  void Add(const json& record) {
    if (record.contains("wait")) return AddWait(record);
    if (record.contains("wakes")) return AddWakeup(record);
    if (record.contains("runs")) {
      return recorded_.Ran(Thread(record.at("thread")), record.at("at"), Stack(record.at("runs")));
    }
    if (record.contains("short")) {
      return recorded_.SleptShortly(Thread(record.at("thread")), record.at("at"),
                                    record.at("short"));
    }
    if (record.contains("leaves")) return AddSwitch(record);
    if (record.contains("waking")) {
      const std::int64_t woken = IdsOf(record.at("waking")).second;
      return recorded_.Hit(Thread(record.at("thread")), kWakingEvent, record.at("at"),
                           {recorded_.Number("field:pid", woken)});
    }
    if (record.contains("switch")) return AddSwitchRecord(record);
    AddTaskEvent(record);
  }

  PathVector Make(const json& vector) {
    PathVector made = {.name = vector.at("name")};
    for (const json& record : vector.at("records")) Add(record);
    for (const json& walk : vector.at("walks")) {
      made.walks.push_back({.thread = walk.at("thread"),
                            .time = {.start = walk.at("from"), .end = walk.at("to")},
                            .steps = walk.value("steps", std::vector<std::string>()),
                            .explained_ns = walk.value("explained", 0)});
    }
    if (vector.contains("read")) {
      options_.window = {.first = vector.at("read").at(0), .last = vector.at("read").at(1)};
    }
    made.profile = recorded_.Make();
    made.options = std::move(options_);
    return made;
  }

 private:
  using Ids = std::pair<std::uint32_t, std::uint32_t>;  // pid and tid

  Ids IdsOf(const std::string& comm) const { return table_.at("threads").at(comm).get<Ids>(); }

  convert::ThreadId Thread(const std::string& comm) {
    const auto [pid, tid] = IdsOf(comm);
    return recorded_.Thread(comm, pid, tid);
  }

  // Equal texts are one stack.
  convert::StackId Stack(const json& functions) {
    const auto [known, is_new] = stacks_.try_emplace(functions.dump());
    if (is_new) {
      const auto names = functions.get<std::vector<std::string>>();
      known->second = recorded_.Calls(std::vector<std::string_view>(names.begin(), names.end()));
    }
    return known->second;
  }

  void AddWait(const json& record) {
    const convert::ThreadId thread = Thread(record.at("thread"));
    const std::int64_t start = record.at("from"), end = record.at("to");
    const std::string state = record.at("wait");
    const convert::StackId stack = Stack(record.value("in", table_.at("stacks").at(state)));
    if (state == "runnable") return recorded_.WaitedForCpu(thread, start, end, stack);
    if (state == "disk") return recorded_.WaitedForDisk(thread, start, end, stack);
    recorded_.Slept(thread, start, end, stack);
  }

  void AddWakeup(const json& record) {
    const convert::ThreadId waker = Thread(record.at("thread"));
    const std::int64_t at = record.at("at"), since = record.at("since");
    const convert::StackId stack = Stack(table_.at("wakers").at(record.value("by", "thread")));
    recorded_.Woke(waker, at, IdsOf(record.at("wakes")).second, since, stack);
  }

  // The states are those of include/linux/sched.h.
  void AddSwitch(const json& record) {
    static const std::map<std::string, std::int64_t> kStates = {
        {"preempted", 0x100}, {"sleep", 1}, {"disk", 2}};
    recorded_.Hit(Thread(record.at("thread")), kSwitchEvent, record.at("at"),
                  {recorded_.Number("prev_state", kStates.at(record.at("leaves"))),
                   recorded_.Number("next_pid", IdsOf(record.at("to")).second)});
  }

  void AddSwitchRecord(const json& record) {
    const auto [pid, tid] = IdsOf(record.at("thread"));
    const std::string type = record.at("switch");
    options_.switches.push_back({.time_ns = record.at("at"),
                                 .pid = pid,
                                 .tid = tid,
                                 .is_in = type == "in",
                                 .is_preempted = type == "preempted"});
  }

  void AddTaskEvent(const json& record) {
    const bool is_fork = record.contains("starts");
    const auto [pid, tid] = IdsOf(record.at(is_fork ? "starts" : "exit"));
    convert::TaskEvent event = {
        .type = is_fork ? convert::TaskEvent::Type::kFork : convert::TaskEvent::Type::kExit,
        .time_ns = record.at("at"),
        .pid = pid,
        .tid = tid};
    if (is_fork) std::tie(event.parent_pid, event.parent_tid) = IdsOf(record.at("thread"));
    options_.events.push_back(event);
  }

  const json& table_;
  RecordedThreads recorded_;
  TimelineOptions options_;
  std::map<std::string, convert::StackId> stacks_;
};

std::string_view CommOf(const Timeline& timeline, std::uint32_t thread) {
  const convert::Profile& profile = timeline.profile();
  return profile.text(profile[timeline.threads()[thread].thread].comm);
}

std::string WayTo(const Timeline& timeline, const CriticalPath& path, std::uint32_t handover) {
  if (handover == kNone) return "";
  const Handover& last = path.handovers[handover];
  return fmt::format("{}{}{}", WayTo(timeline, path, last.outer), CommOf(timeline, last.thread),
                     last.is_birth ? "+" : ">");
}

}  // namespace

std::vector<PathVector> ReadPathVectors(std::string_view text) {
  const json table = json::parse(text);
  std::vector<PathVector> vectors;
  for (const json& vector : table.at("vectors")) {
    vectors.push_back(VectorMaker(table).Make(vector));
  }
  return vectors;
}

std::uint32_t ThreadNamed(const Timeline& timeline, std::string_view comm) {
  for (std::uint32_t i = 0; i < timeline.threads().size(); ++i) {
    if (CommOf(timeline, i) == comm) return i;
  }
  return kNone;
}

std::vector<std::string> TextsOf(const Timeline& timeline, const CriticalPath& path) {
  std::vector<std::string> texts;
  for (const Step& step : path.steps) {
    std::string text = fmt::format("{}-{} {}{} {}", step.time.start, step.time.end,
                                   WayTo(timeline, path, step.handover),
                                   CommOf(timeline, step.thread), NameOf(step.reason));
    if (step.short_waits != 0) text += fmt::format(" {} short", step.short_waits);
    texts.push_back(std::move(text));
  }
  return texts;
}

}  // namespace perftape::timeline
