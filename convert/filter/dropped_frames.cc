// SPDX-License-Identifier: Apache-2.0
#include "convert/filter/dropped_frames.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convert/filter/name_patterns.h"
#include "convert/model/profile_builder.h"
#include "convert/model/profile_copier.h"

namespace perftape::convert {
namespace {

// Removes the parameters of a function, as pprof does before it compares.
std::string_view WithoutParameters(std::string_view name) {
  if (name.starts_with('.')) name.remove_prefix(1);  // a function descriptor of PowerPC
  for (std::size_t at = name.find('('); at != name.npos; at = name.find('(', at + 1)) {
    const std::string_view rest = name.substr(at);
    const bool is_operator = name.substr(0, at).ends_with("operator");
    if (!rest.starts_with("(anonymous namespace)") && !is_operator) return name.substr(0, at);
  }
  return name;
}

// pprof shows names without template arguments, so the expressions have none.
std::string WithoutArguments(std::string_view name) {
  if (name.find("operator") != name.npos) return std::string(name);
  std::string plain;
  int depth = 0;
  for (const char c : name) {
    if (c == '<') ++depth;
    if (depth == 0) plain += c;
    if (c == '>' && depth > 0) --depth;
  }
  return plain;
}

class FrameRules {
 public:
  static Result<FrameRules> Read(const Metadata& metadata) {
    FrameRules rules;
    TRY_ASSIGN(rules.drop_, NameRegex::Compile("^(?:" + metadata.drop_frames + ")$"));
    if (!metadata.keep_frames.empty()) {
      TRY_ASSIGN(rules.keep_, NameRegex::Compile("^(?:" + metadata.keep_frames + ")$"));
    }
    return rules;
  }

  bool Drops(std::string_view function) const {
    const std::string_view name = WithoutParameters(function);
    return Matches(name) || Matches(WithoutArguments(name));
  }

 private:
  bool Matches(std::string_view name) const {
    return !name.empty() && drop_->Find(name) && !(keep_ && keep_->Find(name));
  }

  std::optional<NameRegex> drop_, keep_;
};

class FrameDropper {
 public:
  FrameDropper(const Profile& profile, const FrameRules& rules)
      : from_(profile), copier_(profile, to_) {
    for (const Function& function : profile.functions()) {
      is_dropped_.push_back(rules.Drops(profile.text(function.name)));
    }
  }

  Profile Run() && {
    CutStacks();
    for (std::uint32_t i = 0; i < from_.events().size(); ++i) copier_.Copy(EventId{i});
    for (const Sample& sample : from_.samples()) to_.Add(copier_.Copy(sample));
    Metadata metadata = from_.metadata();
    metadata.drop_frames.clear();
    metadata.keep_frames.clear();
    to_.SetMetadata(std::move(metadata));
    return std::move(to_).Finish();
  }

 private:
  // The number of lines that stay: those that called the outermost dropped function.
  std::size_t KeptLines(const Location& location) const {
    for (std::size_t kept = 0; kept < location.lines.size(); ++kept) {
      const Line& line = location.lines[location.lines.size() - 1 - kept];
      if (is_dropped_[line.function.index]) return kept;
    }
    return location.lines.size();
  }

  LocationId CutLocation(LocationId id, std::size_t kept) {
    std::vector<Line> lines;
    const Location& location = from_[id];
    for (const Line& line : location.lines.last(kept)) {
      lines.push_back(
          {.function = copier_.Copy(line.function), .column = line.column, .number = line.number});
    }
    Location cut = location;
    cut.mapping = copier_.Copy(location.mapping);
    cut.lines = lines;
    return to_.Add(cut);
  }

  void CutStacks() {
    struct State {
      StackId copy = {};
      bool has_caller = false;  // a frame that is not dropped
      bool is_cut = false;
    };
    std::vector<State> states(from_.stacks().size());
    for (std::uint32_t i = 1; i < states.size(); ++i) {
      const Stack& stack = from_[StackId{i}];
      State state = states[stack.caller.index];
      if (!state.is_cut) {
        const Location& location = from_[stack.leaf];
        const std::size_t kept = KeptLines(location);
        const bool is_whole = kept == location.lines.size();
        state.is_cut = !is_whole && state.has_caller;
        state.has_caller |= is_whole;
        if (is_whole || (kept == 0 && !state.is_cut)) {
          state.copy = to_.Push(state.copy, copier_.Copy(stack.leaf));
        } else if (kept != 0) {
          state.copy = to_.Push(state.copy, CutLocation(stack.leaf, kept));
        }
      }
      states[i] = state;
      copier_.Set(StackId{i}, state.copy);
    }
  }

  const Profile& from_;
  ProfileBuilder to_;
  ProfileCopier copier_;
  std::vector<bool> is_dropped_;  // by function
};

}  // namespace

Result<Profile> WithoutDroppedFrames(const Profile& profile) {
  if (profile.metadata().drop_frames.empty()) return profile;
  auto rules = FrameRules::Read(profile.metadata());
  if (!rules) return Fail(InContext("drop_frames and keep_frames", std::move(rules).error()));
  return FrameDropper(profile, *rules).Run();
}

}  // namespace perftape::convert
