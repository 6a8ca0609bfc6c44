// SPDX-License-Identifier: Apache-2.0
#include "tests/support/profile_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace perftape::convert {
namespace {

// Checks one table, and stops at the first error.
template <class T, class Check>
Status Each(std::string_view table, const std::vector<T>& entries, Check check) {
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (const char* wrong = check(entries[i], i); wrong != nullptr) {
      return Fail(ErrorCode::kCorrupt, fmt::format("{} {}: {}", table, i, wrong));
    }
  }
  return {};
}

template <class Tag, class T>
bool IsIn(Id<Tag> id, const std::vector<T>& table) {
  return id.index < table.size();
}

const char* CheckLocation(const Location& location, const ProfileTables& in) {
  if (!IsIn(location.mapping, in.mappings)) return "mapping out of range";
  for (const Line& line : location.lines) {
    if (!IsIn(line.function, in.functions)) return "function out of range";
  }
  return nullptr;
}

const char* CheckLabels(std::span<const Label> labels, const ProfileTables& in) {
  for (const Label& label : labels) {
    if (!IsIn(label.key, in.texts) || !IsIn(label.text, in.texts) || !IsIn(label.unit, in.texts)) {
      return "string out of range";
    }
  }
  const auto key = [&](const Label& label) { return in.texts[label.key.index]; };
  return std::ranges::is_sorted(labels, {}, key) ? nullptr : "not in the order of their keys";
}

const char* CheckSample(const Sample& sample, const ProfileTables& in) {
  if (!IsIn(sample.stack, in.stacks)) return "stack out of range";
  if (!IsIn(sample.thread, in.threads)) return "thread out of range";
  if (!IsIn(sample.event, in.events)) return "event out of range";
  if (!IsIn(sample.labels, in.labels)) return "labels out of range";
  return nullptr;
}

Status CheckFirst(const ProfileTables& in) {
  if (in.texts.empty() || !in.texts[0].empty()) {
    return Fail(ErrorCode::kCorrupt, "string 0: not the empty string");
  }
  if (in.mappings.empty() || in.mappings[0].start != 0 || in.mappings[0].file_offset != 0) {
    return Fail(ErrorCode::kCorrupt, "mapping 0: not the empty mapping");
  }
  if (in.stacks.empty() || in.stacks[0] != Stack{}) {
    return Fail(ErrorCode::kCorrupt, "stack 0: not the empty stack");
  }
  if (in.threads.empty() || in.threads[0].tid != 0 || in.threads[0].comm != StringId{}) {
    return Fail(ErrorCode::kCorrupt, "thread 0: not the empty thread");
  }
  if (in.labels.empty() || !in.labels[0].empty()) {
    return Fail(ErrorCode::kCorrupt, "labels 0: not the empty set");
  }
  return {};
}

Status CheckSamplesDiffer(const ProfileTables& in) {
  std::vector<std::tuple<StackId, ThreadId, EventId, LabelsId>> keys;
  keys.reserve(in.samples.size());
  for (const Sample& sample : in.samples) {
    keys.emplace_back(sample.stack, sample.thread, sample.event, sample.labels);
  }
  std::ranges::sort(keys);
  if (std::ranges::adjacent_find(keys) != keys.end()) {
    return Fail(ErrorCode::kCorrupt, "samples: two of the same stack, thread, event and labels");
  }
  return {};
}

}  // namespace

Status Validate(const ProfileTables& in) {
  TRY(CheckFirst(in));
  TRY(Each("mapping", in.mappings, [&](const Mapping& mapping, std::size_t) -> const char* {
    if (!IsIn(mapping.filename, in.texts)) return "file name out of range";
    if (!IsIn(mapping.build_id, in.texts)) return "build id out of range";
    return mapping.limit < mapping.start ? "ends before it starts" : nullptr;
  }));
  TRY(Each("function", in.functions, [&](const Function& function, std::size_t) -> const char* {
    const bool whole = IsIn(function.name, in.texts) && IsIn(function.system_name, in.texts) &&
                       IsIn(function.filename, in.texts);
    return whole ? nullptr : "string out of range";
  }));
  TRY(Each("location", in.locations,
           [&](const Location& location, std::size_t) { return CheckLocation(location, in); }));
  TRY(Each("stack", in.stacks, [&](const Stack& stack, std::size_t i) -> const char* {
    if (i == 0) return nullptr;
    if (stack.caller.index >= i) return "comes before its caller";
    return IsIn(stack.leaf, in.locations) ? nullptr : "location out of range";
  }));
  TRY(Each("thread", in.threads, [&](const Thread& thread, std::size_t) {
    return IsIn(thread.comm, in.texts) ? nullptr : "comm out of range";
  }));
  TRY(Each("event", in.events, [&](const Event& event, std::size_t) {
    return IsIn(event.name, in.texts) && IsIn(event.unit, in.texts) ? nullptr
                                                                    : "string out of range";
  }));
  TRY(Each("labels", in.labels,
           [&](std::span<const Label> labels, std::size_t) { return CheckLabels(labels, in); }));
  TRY(Each("sample", in.samples,
           [&](const Sample& sample, std::size_t) { return CheckSample(sample, in); }));
  return CheckSamplesDiffer(in);
}

}  // namespace perftape::convert
