// SPDX-License-Identifier: Apache-2.0
#include "convert/model/profile_copier.h"

#include <ranges>

namespace perftape::convert {

ProfileCopier::ProfileCopier(const Profile& from, ProfileBuilder& to)
    : from_(from),
      to_(to),
      texts_(from.texts().size(), kUnknown),
      mappings_(from.mappings().size(), kUnknown),
      functions_(from.functions().size(), kUnknown),
      locations_(from.locations().size(), kUnknown),
      stacks_(from.stacks().size(), kUnknown),
      threads_(from.threads().size(), kUnknown),
      events_(from.events().size(), kUnknown),
      labels_(from.labels().size(), kUnknown) {
  // The empty entries have the same ids in all profiles.
  texts_[0] = mappings_[0] = stacks_[0] = threads_[0] = labels_[0] = 0;
}

template <class Id, class Make>
Id ProfileCopier::Once(Copies& copies, Id id, Make make) {
  if (copies[id.index] == kUnknown) Remember(copies, id, Id(make()));
  return {copies[id.index]};
}

StringId ProfileCopier::Copy(StringId id) {
  return Once(texts_, id, [&] { return to_.Add(from_.text(id)); });
}

MappingId ProfileCopier::Copy(MappingId id) {
  return Once(mappings_, id, [&] {
    Mapping mapping = from_[id];
    mapping.filename = Copy(mapping.filename);
    mapping.build_id = Copy(mapping.build_id);
    return to_.Add(mapping);
  });
}

FunctionId ProfileCopier::Copy(FunctionId id) {
  return Once(functions_, id, [&] {
    Function function = from_[id];
    function.name = Copy(function.name);
    function.system_name = Copy(function.system_name);
    function.filename = Copy(function.filename);
    return to_.Add(function);
  });
}

LocationId ProfileCopier::Copy(LocationId id) {
  return Once(locations_, id, [&] {
    Location location = from_[id];
    location.mapping = Copy(location.mapping);
    lines_.assign(location.lines.begin(), location.lines.end());
    for (Line& line : lines_) line.function = Copy(line.function);
    location.lines = lines_;
    return to_.Add(location);
  });
}

StackId ProfileCopier::Copy(StackId id) {
  callees_.clear();
  for (; stacks_[id.index] == kUnknown; id = from_[id].caller) callees_.push_back(id);
  StackId copy = {stacks_[id.index]};
  for (const StackId callee : callees_ | std::views::reverse) {
    copy = to_.Push(copy, Copy(from_[callee].leaf));
    Set(callee, copy);
  }
  return copy;
}

ThreadId ProfileCopier::Copy(ThreadId id) {
  return Once(threads_, id, [&] {
    Thread thread = from_[id];
    thread.comm = Copy(thread.comm);
    return to_.Add(thread);
  });
}

EventId ProfileCopier::Copy(EventId id) {
  return Once(events_, id, [&] {
    Event event = from_[id];
    event.name = Copy(event.name);
    event.unit = Copy(event.unit);
    return to_.Add(event);
  });
}

LabelsId ProfileCopier::Copy(LabelsId id) {
  return Once(labels_, id, [&] {
    std::vector<Label> labels(from_[id].begin(), from_[id].end());
    for (Label& label : labels) {
      label = {Copy(label.key), Copy(label.text), label.number, Copy(label.unit)};
    }
    return to_.Add(labels);
  });
}

Sample ProfileCopier::Copy(const Sample& sample) {
  return {.stack = Copy(sample.stack),
          .thread = Copy(sample.thread),
          .event = Copy(sample.event),
          .labels = Copy(sample.labels),
          .count = sample.count,
          .period = sample.period,
          .first_ms = sample.first_ms};
}

}  // namespace perftape::convert
