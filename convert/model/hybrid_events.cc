// SPDX-License-Identifier: Apache-2.0
#include "convert/model/hybrid_events.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <utility>

#include "convert/model/profile_builder.h"
#include "convert/model/profile_copier.h"

namespace perftape::convert {
namespace {

bool IsPmuOfCores(std::string_view pmu) {
  constexpr std::array<std::string_view, 3> kIntel = {"cpu_core", "cpu_atom", "cpu_lowpower"};
  constexpr std::array<std::string_view, 3> kArm = {"armv8_", "armv9_", "apple_"};
  return std::ranges::find(kIntel, pmu) != kIntel.end() ||
         std::ranges::any_of(kArm, [&](std::string_view start) { return pmu.starts_with(start); });
}

// Events that are one on all cores.
struct CommonKind {
  std::string name;
  std::string_view unit;
  EventValues values = {};
  std::uint8_t decimals = 0;
  auto operator<=>(const CommonKind&) const = default;
};

CommonKind KindOf(const Profile& profile, const Event& event) {
  return {.name = NameOnAllCores(profile.text(event.name)),
          .unit = profile.text(event.unit),
          .values = event.values,
          .decimals = event.decimals};
}

// Returns how many events of the profile are of each kind; none if no two are of one kind.
std::map<CommonKind, int> CommonKinds(const Profile& profile) {
  std::map<CommonKind, int> kinds;
  for (const Event& event : profile.events()) {
    CommonKind kind = KindOf(profile, event);
    if (!kind.name.empty()) ++kinds[std::move(kind)];
  }
  std::erase_if(kinds, [](const auto& entry) { return entry.second < 2; });
  return kinds;
}

}  // namespace

std::string NameOnAllCores(std::string_view event) {
  const std::size_t first = event.find('/');
  const std::size_t last = event.rfind('/');
  if (first == last || !IsPmuOfCores(event.substr(0, first))) return {};
  const std::string_view name = event.substr(first + 1, last - first - 1);
  const std::string_view modifiers = event.substr(last + 1);
  // Raw codes ("event=0x3c") mean another event on each PMU.
  if (name.empty() || name.find_first_of("=,/") != std::string_view::npos) return {};
  std::string common(name);
  if (!modifiers.empty()) {
    if (!modifiers.starts_with(':')) common += ':';
    common += modifiers;
  }
  return common;
}

Profile JoinHybridEvents(const Profile& profile) {
  const std::map<CommonKind, int> kinds = CommonKinds(profile);
  if (kinds.empty()) return profile;
  ProfileBuilder builder;
  ProfileCopier copier(profile, builder);
  std::map<CommonKind, EventId> joined;
  for (std::uint32_t i = 0; i < profile.events().size(); ++i) {
    const Event& event = profile.events()[i];
    const CommonKind kind = KindOf(profile, event);
    if (!kinds.contains(kind)) {
      copier.Copy(EventId{i});
      continue;
    }
    // The nominal period is known only if it is the same on all cores, which no profile says.
    const auto [known, is_new] = joined.emplace(kind, EventId{});
    if (is_new) {
      known->second = builder.Add(Event{.name = builder.Add(kind.name),
                                        .unit = builder.Add(kind.unit),
                                        .values = event.values,
                                        .decimals = event.decimals});
    }
    copier.Set(EventId{i}, known->second);
  }
  for (const Sample& sample : profile.samples()) builder.Add(copier.Copy(sample));
  Metadata metadata = profile.metadata();
  if (std::string common = NameOnAllCores(metadata.default_value); !common.empty()) {
    metadata.default_value = std::move(common);
  }
  builder.SetMetadata(std::move(metadata));
  return std::move(builder).Finish();
}

}  // namespace perftape::convert
