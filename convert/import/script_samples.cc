// SPDX-License-Identifier: Apache-2.0
#include "convert/import/script_samples.h"

#include <tsl/robin_map.h>
#include <xxhash.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convert/model/mappings_without_files.h"
#include "convert/model/return_marks.h"
#include "formats/base/unknown_name.h"
#include "formats/perfdata/mapping_name.h"
#include "formats/script/deferred.h"
#include "formats/script/escape.h"

namespace perftape::convert {
namespace {

using script::Frame;

struct KeyHash {
  std::size_t operator()(const std::string& key) const {
    return XXH3_64bits(key.data(), key.size());
  }
};

bool IsKernelName(std::string_view dso) {
  switch (perfdata::SourceOf(dso)) {
    case perfdata::MappingSource::kKernel:
    case perfdata::MappingSource::kGuestKernel:
    case perfdata::MappingSource::kModule:
      return true;
    default:
      return dso.starts_with(perfdata::kKernelMappingName);
  }
}

bool IsKnown(std::string_view text) {
  return !text.empty() && text != kUnknownName;
}

// A location of the text: a frame, after the calls that were inlined into it. The last frame may be
// an inlined call, too, if the text lacks the frame that contains it.
using Group = std::span<const Frame>;

// What the address of a frame is.
enum class FrameKind : char { kInstruction = 'i', kReturn = 'r', kOuterInstruction = 'o' };

}  // namespace

void DeferredScriptSamples::Add(script::Sample& sample) {
  if (const auto cookie = script::CookieOfUserFrames(sample.head)) return Release(sample, *cookie);
  const auto cookie = script::RemoveCookie(sample.frames);
  cookie ? Hold(sample, *cookie) : sink_(sample);
}

void DeferredScriptSamples::Hold(const script::Sample& sample, std::uint64_t cookie) {
  Held held = {.cookie = cookie, .sample = sample, .texts = {}};
  const auto keep = [&](std::string_view& text) { text = held.texts.emplace_back(text); };
  keep(held.sample.head.comm);
  keep(held.sample.head.event);
  keep(held.sample.head.rest);
  for (script::Frame& frame : held.sample.frames) {
    keep(frame.symbol);
    keep(frame.dso);
    keep(frame.source_file);
    keep(frame.text);
  }
  held_[sample.head.tid].push_back(std::move(held));
}

void DeferredScriptSamples::Release(const script::Sample& user_frames, std::uint64_t cookie) {
  const auto found = held_.find(user_frames.head.tid);
  if (found == held_.end()) return;
  for (Held& held : found->second) {
    if (held.cookie != cookie) {
      PassWithoutUserFrames(held.sample);
      continue;
    }
    std::vector<script::Frame>& frames = held.sample.frames;
    frames.insert(frames.end(), user_frames.frames.begin(), user_frames.frames.end());
    sink_(held.sample);
  }
  held_.erase(found);
}

void DeferredScriptSamples::PassWithoutUserFrames(const script::Sample& sample) {
  ++without_user_frames_;
  sink_(sample);
}

void DeferredScriptSamples::Finish() {
  for (const auto& [tid, samples] : held_) {
    for (const Held& held : samples) PassWithoutUserFrames(held.sample);
  }
  held_.clear();
}

struct ScriptStacks::State {
  struct Known {
    LocationId location = {};
    bool is_kernel = false;
    bool is_unmapped = false;
  };

  explicit State(ProfileBuilder& to) : builder(to) {}

  const Known& Find(Group group, FrameKind kind);
  Known Make(Group group, FrameKind kind);
  MappingId AddMapping(const Frame& frame, bool is_kernel, const MappingNames& names);
  std::string NameOf(std::string_view text) const {
    return writer == script::Writer::kPerftape ? script::Unescaped(text) : std::string(text);
  }

  ProfileBuilder& builder;
  script::Writer writer = script::Writer::kPerf;
  std::string key;
  tsl::robin_map<std::string, Known, KeyHash> known;
  std::vector<Group> groups;
  std::uint64_t unmapped = 0;
};

MappingId ScriptStacks::State::AddMapping(const Frame& frame, bool is_kernel,
                                          const MappingNames& names) {
  const std::string dso = NameOf(frame.dso);
  const bool is_folded = IsOfFolded(dso, frame.address);
  return builder.Add(Mapping{.filename = builder.Add(dso),
                             .limit = is_folded ? 0 : std::numeric_limits<std::uint64_t>::max(),
                             .type = is_kernel ? MappingType::kKernel : MappingType::kUser,
                             .names = names});
}

ScriptStacks::State::Known ScriptStacks::State::Make(Group group, FrameKind kind) {
  const Frame& outer = group.back();
  const std::string dso = NameOf(outer.dso);
  const bool is_named =
      std::ranges::any_of(group, [](const Frame& frame) { return IsKnown(frame.symbol); });
  // The mapping of folded stacks is no file: a frame without a name has no better one.
  const bool is_mapped = IsKnown(dso) && (is_named || !IsFoldedProgram(dso));
  Known made = {.location = {}, .is_kernel = IsKernelName(dso), .is_unmapped = !is_mapped};
  MappingNames names;
  std::vector<Line> lines;
  for (const Frame& frame : group) {
    if (!IsKnown(frame.symbol)) continue;
    Function function = {.name = builder.Add(NameOf(frame.symbol))};
    if (!frame.source_file.empty()) {
      function.filename = builder.Add(frame.source_file);
      names.filenames = names.line_numbers = true;
    }
    lines.push_back({.function = builder.Add(function), .number = frame.source_line});
    names.functions = true;
    names.inline_frames |= frame.is_inlined;
  }
  Location location = {.is_outer_instruction = kind == FrameKind::kOuterInstruction,
                       .lines = lines};
  const std::uint64_t before = kind == FrameKind::kReturn ? 1 : 0;
  // perftape writes no offsets.
  const bool has_offset = writer == script::Writer::kPerf && IsKnown(outer.symbol) &&
                          outer.symbol_offset && *outer.symbol_offset >= before;
  if (has_offset) location.symbol_offset = *outer.symbol_offset - before;
  if (is_mapped) location.mapping = AddMapping(outer, made.is_kernel, names);
  location.offset = FileOffset{outer.address - (outer.address != 0 ? before : 0)};
  made.location = builder.Add(location);
  return made;
}

const ScriptStacks::State::Known& ScriptStacks::State::Find(Group group, FrameKind kind) {
  key.assign(1, static_cast<char>(kind));
  for (const Frame& frame : group) {
    key += frame.text;
    key += '\n';
    if (frame.source_line == 0) continue;
    key += frame.source_file;
    key += std::to_string(frame.source_line);
    key += '\n';
  }
  const auto found = known.find(key);
  if (found != known.end()) return found->second;
  return known.emplace(key, Make(group, kind)).first->second;
}

ScriptStacks::ScriptStacks(ProfileBuilder& builder) : state_(std::make_unique<State>(builder)) {}
ScriptStacks::~ScriptStacks() = default;

// A frame that calls another one has a return address. The first frame of the user's part does not
// call the kernel's: its address is where the kernel was entered. Neither has a function that a
// signal interrupted, nor the trampoline between it and the signal's handler.
StackId ScriptStacks::Add(std::span<const Frame> frames, script::Writer writer) {
  state_->writer = writer;
  const bool is_empty = writer == script::Writer::kPerftape && frames.size() == 1 &&
                        frames.front().address == 0 && frames.front().symbol == kUnknownName &&
                        frames.front().dso == kUnknownName;
  if (is_empty) return {};
  std::vector<Group>& groups = state_->groups;
  groups.clear();
  std::size_t begin = 0;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    // perf prints an inlined call with the address of the function that contains it. A frame of
    // another address without a name is not that function, which is missing then.
    const bool has_outer = i + 1 < frames.size() && (frames[i + 1].address == frames[i].address ||
                                                     IsKnown(frames[i + 1].symbol));
    if (frames[i].is_inlined && has_outer) continue;
    groups.push_back(frames.subspan(begin, i + 1 - begin));
    begin = i + 1;
  }
  StackId stack;
  for (std::size_t i = groups.size(); i-- > 0;) {
    const auto is_kernel = [&](std::size_t group) {
      return IsKernelName(groups[group].back().dso);
    };
    const auto is_trampoline = [&](std::size_t group) {
      return IsSignalTrampoline(groups[group].back().symbol);
    };
    FrameKind kind = FrameKind::kInstruction;
    if (i != 0 && is_kernel(i) == is_kernel(i - 1)) {
      const bool is_interrupted = is_trampoline(i) || is_trampoline(i - 1);
      kind = is_interrupted ? FrameKind::kOuterInstruction : FrameKind::kReturn;
    }
    const State::Known& found = state_->Find(groups[i], kind);
    state_->unmapped += found.is_unmapped ? 1 : 0;
    stack = state_->builder.Push(stack, found.location);
  }
  return stack;
}

std::uint64_t ScriptStacks::unmapped_frames() const {
  return state_->unmapped;
}

}  // namespace perftape::convert
