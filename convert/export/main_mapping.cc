// SPDX-License-Identifier: Apache-2.0
#include "convert/export/main_mapping.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "convert/model/saturating.h"

namespace perftape::convert {
namespace {

// Returns whether pprof would regard the mapping as the main program: it has a name, is a file and
// is not a shared library (google/pprof profile.go, massageMappings).
bool MayBeMain(const Profile& profile, const Mapping& mapping) {
  const std::string_view path = profile.text(mapping.filename);
  if (path.empty() || path.front() == '[' || path.starts_with("//")) return false;
  const std::string_view name = BaseName(path);
  const bool is_library = name.ends_with(".so") || name.contains(".so.") || name.contains(".so_");
  return mapping.type == MappingType::kUser && !is_library;
}

std::uint64_t WeightOf(const Profile& profile, const Sample& sample) {
  const bool is_sampled = profile[sample.event].values == EventValues::kSampled;
  const std::int64_t value = is_sampled ? sample.count : sample.period;
  return value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
}

}  // namespace

MappingId FindMainMapping(const Profile& profile, std::span<const std::uint32_t> order) {
  std::vector<bool> may_be_main;
  for (const Mapping& mapping : profile.mappings()) {
    may_be_main.push_back(MayBeMain(profile, mapping));
  }
  std::vector<MappingId> outermost = {{}};  // by StackId
  outermost.reserve(profile.stacks().size());
  for (const Stack& stack : profile.stacks().subspan(1)) {
    const MappingId of_caller = outermost[stack.caller.index];
    const MappingId own = profile[stack.leaf].mapping;
    const bool is_first = of_caller == MappingId{} && may_be_main[own.index];
    outermost.push_back(is_first ? own : of_caller);
  }
  std::vector<std::uint64_t> weights(profile.mappings().size());
  for (const Sample& sample : profile.samples()) {
    std::uint64_t& sum = weights[outermost[sample.stack.index].index];
    sum = AddUpToLimit(sum, WeightOf(profile, sample));
  }
  MappingId main;
  for (const std::uint32_t mapping : order) {
    if (!may_be_main[mapping]) continue;
    if (main == MappingId{} || weights[mapping] > weights[main.index]) main = {mapping};
  }
  return main;
}

}  // namespace perftape::convert
