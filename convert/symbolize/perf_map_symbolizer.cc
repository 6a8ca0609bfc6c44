// SPDX-License-Identifier: Apache-2.0
#include "convert/symbolize/perf_map_symbolizer.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "formats/base/symbol_limits.h"
#include "formats/perfdata/mapping_name.h"

namespace perftape::symbolize {

std::vector<std::uint32_t> ProcessesWithPerfMaps(const convert::Profile& profile) {
  const bool has_jit =
      std::ranges::any_of(profile.mappings(), [&](const convert::Mapping& mapping) {
        const std::string_view filename = profile.text(mapping.filename);
        return !filename.empty() && perfdata::MayHoldJitCode(filename);
      });
  if (!has_jit) return {};
  std::set<std::uint32_t> pids;
  for (const convert::Thread& thread : profile.threads()) pids.insert(thread.pid);
  std::erase_if(pids, [](std::uint32_t pid) { return !MayHavePerfMap(pid); });
  return {pids.begin(), pids.end()};
}

Result<Resolution> PerfMapSymbolizer::Resolve(const convert::Profile& profile,
                                              convert::MappingId id,
                                              std::span<const FileOffset> offsets) {
  const convert::Mapping& mapping = profile[id];
  const std::optional<std::uint32_t> owner = perfdata::PidOfPerfMap(profile.text(mapping.filename));
  Resolution resolution;
  for (const FileOffset offset : offsets) {
    const RuntimeAddress address{mapping.start + (offset.value - mapping.file_offset)};
    const Pids pids = owner ? Pids{*owner} : OwnersOf(profile, id, offset);
    perf_map::PerfMap::Found named;
    Miss miss = Miss::kNoFile;
    bool differ = false;
    for (const std::uint32_t pid : pids) {
      const Opened& opened = MapOf(pid);
      if (!opened.map) {
        // Most memory without a file is not JIT code, and most compilers write no map.
        const bool is_plain = opened.map.error().code == ErrorCode::kNotFound;
        if (!is_plain && resolution.problem.empty()) resolution.problem = opened.source;
        continue;
      }
      miss = Miss::kNoSymbol;
      const perf_map::PerfMap::Found found = opened.map->Find(address);
      if (found.name.empty()) continue;
      differ = differ || (!named.name.empty() && named.name != found.name);
      named = found;
      if (resolution.source.empty()) resolution.source = opened.source;
    }
    if (differ) resolution.problem = "the maps of several processes name it differently";
    if (named.name.empty() || differ) {
      resolution.answers.push_back({.miss = miss});
    } else {
      resolution.answers.push_back(
          {.frames = {{.name = named.name}}, .symbol_offset = named.offset});
    }
  }
  if (resolution.source.empty()) {
    for (const auto& [pid, opened] : maps_) {
      if (!opened.map && resolution.tried.size() < 3) resolution.tried.push_back(opened.source);
    }
  }
  return resolution;
}

const PerfMapSymbolizer::Opened& PerfMapSymbolizer::MapOf(std::uint32_t pid) {
  const auto known = maps_.find(pid);
  if (known != maps_.end()) return known->second;
  auto file = FindPerfMap(pid, search_path_);
  if (file && file->bytes.size() > symbol_limits::kAllJitFiles - bytes_read_) {
    file = Fail(ErrorCode::kUnsupported, file->source + ": left out: perf maps have more than " +
                                             std::to_string(symbol_limits::kAllJitFiles) +
                                             " bytes in all");
  }
  if (!file) {
    std::string tried = file.error().message;
    return maps_
        .emplace(pid, Opened{.map = Fail(std::move(file).error()), .source = std::move(tried)})
        .first->second;
  }
  bytes_read_ += file->bytes.size();
  return maps_
      .emplace(pid, Opened{.map = perf_map::PerfMap::Parse(std::string(AsText(file->bytes))),
                           .source = std::move(file->source)})
      .first->second;
}

const PerfMapSymbolizer::Pids& PerfMapSymbolizer::OwnersOf(const convert::Profile& profile,
                                                           convert::MappingId mapping,
                                                           FileOffset offset) {
  static const Pids kNone;
  const bool is_same = owners_of_ && owners_of_->samples().data() == profile.samples().data();
  if (!is_same) CollectOwners(profile);
  const auto found = owners_.find({mapping, offset});
  return found == owners_.end() ? kNone : found->second;
}

void PerfMapSymbolizer::CollectOwners(const convert::Profile& profile) {
  owners_.clear();
  owners_of_ = profile;  // a copy, so that no other profile can have the same address
  std::map<std::uint32_t, std::vector<convert::StackId>> sampled;  // stacks, by pid
  for (const convert::Sample& sample : profile.samples()) {
    sampled[profile[sample.thread].pid].push_back(sample.stack);
  }
  std::vector<bool> is_jit;
  for (const convert::Mapping& mapping : profile.mappings()) {
    is_jit.push_back(perfdata::MayHoldJitCode(profile.text(mapping.filename)));
  }
  is_jit[0] = false;  // no mapping
  // Stops at callers that were visited from another stack of the same process.
  constexpr std::uint64_t kNever = ~std::uint64_t{0};
  std::vector<std::uint64_t> seen_by(profile.stacks().size(), kNever);
  const auto climb = [&](std::uint32_t pid, convert::StackId at) {
    for (; at != convert::StackId{} && seen_by[at.index] != pid; at = profile[at].caller) {
      seen_by[at.index] = pid;
      const convert::Location& location = profile[profile[at].leaf];
      if (!is_jit[location.mapping.index]) continue;
      Pids& pids = owners_[{location.mapping, location.offset}];
      if (pids.empty() || pids.back() != pid) pids.push_back(pid);
    }
  };
  for (const auto& [pid, stacks] : sampled) {
    for (const convert::StackId stack : stacks) climb(pid, stack);
  }
}

}  // namespace perftape::symbolize
