// SPDX-License-Identifier: Apache-2.0
#include "convert/export/address_plan.h"

#include <tsl/robin_map.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <ranges>
#include <set>
#include <tuple>

#include "formats/perfdata/converted.h"

namespace perftape {
namespace {

constexpr std::uint64_t kPage = 0x1000;

// The last address that a chain can hold, in a caller too, for which readers take 1 off.
constexpr std::uint64_t kLastAddress = perfdata::kContextMax - 2;

// Locations that samples lead to.
std::vector<bool> UsedLocations(const Profile& profile) {
  std::vector<bool> locations(profile.locations().size());
  std::vector<bool> stacks(profile.stacks().size());
  for (const Sample& sample : profile.samples()) {
    for (StackId at = sample.stack; at != StackId{} && !stacks[at.index]; at = profile[at].caller) {
      stacks[at.index] = true;
      locations[profile[at].leaf.index] = true;
    }
  }
  return locations;
}

// What of an address space is taken.
class Room {
 public:
  // False where some of it is taken already.
  bool Take(std::uint64_t start, std::uint64_t size) {
    if (size == 0 || start > kLastAddress || size > kLastAddress - start) return false;
    const auto above = ends_.lower_bound(start + size);
    if (above != ends_.begin() && std::prev(above)->second > start) return false;
    ends_.emplace(start, start + size);
    return true;
  }

  // A place that begins as far behind the start of a page as `like` does.
  std::optional<std::uint64_t> TakeAnywhere(std::uint64_t size, std::uint64_t like) {
    constexpr std::uint64_t kHigh = std::uint64_t{1} << 32;
    const std::uint64_t behind = ends_.empty() ? 0 : std::prev(ends_.end())->second;
    for (const std::uint64_t from : {std::max(kHigh, next_), behind}) {
      const std::uint64_t start = (from / kPage + 1) * kPage + like % kPage;
      if (start < from || !Take(start, size)) continue;
      next_ = start + size;
      return start;
    }
    return std::nullopt;
  }

 private:
  std::map<std::uint64_t, std::uint64_t> ends_;  // by start
  std::uint64_t next_ = 0;
};

// In the order of their addresses: first the user's, then the kernel's.
using FunctionKey = std::tuple<MappingKind, std::string_view>;

}  // namespace

class AddressPlan::Maker {
 public:
  Maker(const Profile& profile, const Ranks& ranks, AddressPlan& plan)
      : profile_(profile), ranks_(ranks), plan_(plan), used_(UsedLocations(profile)) {}

  void Run() {
    CountFunctions();
    PlaceMappings();
    PlaceFunctions();
    PlaceFrames();
  }

 private:
  template <class Visitor>
  void ForEachUsed(Visitor visit) const {
    for (std::uint32_t i = 0; i < used_.size(); ++i) {
      if (used_[i]) visit(LocationId{i}, profile_.locations()[i]);
    }
  }

  MappingKind KindOf(const Location& location) const { return profile_[location.mapping].kind; }

  // As folded stacks name it, too.
  std::string_view NameOfFile(MappingId mapping) {
    const std::string_view file = BaseName(profile_.text(profile_[mapping].filename));
    if (file.empty()) return "[unknown]";
    if (file.front() == '[') return file;
    const auto [known, is_new] = file_names_.try_emplace(mapping);
    if (is_new) known.value() = plan_.own_names_.emplace_back("[" + std::string(file) + "]");
    return known->second;
  }

  std::string_view NameOf(const Location& location, const Line& line) {
    const std::string_view name = profile_.text(profile_[line.function].name);
    if (!name.empty()) return name;
    // Only a folded file has frames that are meant to be empty.
    const std::string_view file = profile_.text(profile_[location.mapping].filename);
    return file == "[folded]" ? name : NameOfFile(location.mapping);
  }

  // How much room the functions need at most: one for each name.
  void CountFunctions() {
    std::uint64_t most = 0;
    ForEachUsed([&](LocationId, const Location& location) {
      most += std::max<std::uint64_t>(location.lines.size(), 1);
    });
    kernel_room_.Take(perfdata::kFirstUserFunction, most * perfdata::kFunctionSize);
    kernel_room_.Take(perfdata::kFirstKernelFunction, most * perfdata::kFunctionSize);
  }

  // Mappings of frames without a name, at their own place where that is free: those of several
  // processes may lie one over the other.
  void PlaceMappings() {
    std::set<std::tuple<std::uint32_t, std::uint32_t>> by_rank;
    ForEachUsed([&](LocationId, const Location& location) {
      if (!location.lines.empty()) return;
      if (location.mapping != MappingId{}) {
        by_rank.emplace(ranks_.mappings[location.mapping.index], location.mapping.index);
      } else if (location.offset.value <= kLastAddress) {
        user_room_.Take(location.offset.value, 1);
      }
    });
    for (const auto& [rank, mapping] : by_rank) Place(MappingId{mapping});
  }

  void Place(MappingId id) {
    const Mapping& mapping = profile_[id];
    if (mapping.limit <= mapping.start) return;
    const std::uint64_t size = mapping.limit - mapping.start;
    Room& room = mapping.kind == MappingKind::kKernel ? kernel_room_ : user_room_;
    std::optional<std::uint64_t> start = mapping.start;
    if (!room.Take(*start, size)) start = room.TakeAnywhere(size, mapping.start);
    if (!start) return;
    placed_.emplace(id, static_cast<std::uint32_t>(plan_.mappings_.size()));
    plan_.mappings_.push_back(
        {.start = *start,
         .size = size,
         .file_offset = mapping.file_offset,
         .filename = profile_.text(mapping.filename),
         .build_id = BuildId::FromHex(profile_.text(mapping.build_id)).value_or(BuildId{}),
         .kind = mapping.kind});
  }

  void PlaceFunctions() {
    std::vector<FunctionKey> keys;
    ForEachUsed([&](LocationId, const Location& location) {
      for (const Line& line : location.lines) {
        keys.emplace_back(KindOf(location), NameOf(location, line));
      }
      if (location.lines.empty() && !Unnamed(location)) {
        ++plan_.displaced_;
        keys.emplace_back(KindOf(location), NameOfFile(location.mapping));
      }
    });
    std::ranges::sort(keys);
    const auto repeated = std::ranges::unique(keys);
    keys.erase(repeated.begin(), repeated.end());

    std::uint64_t next[] = {perfdata::kFirstUserFunction, perfdata::kFirstKernelFunction};
    for (const auto& [kind, name] : keys) {
      std::uint64_t& address = next[kind == MappingKind::kKernel ? 1 : 0];
      addresses_.emplace(FunctionKey{kind, name}, address);
      plan_.functions_.push_back({.address = address, .name = name});
      address += perfdata::kFunctionSize;
    }
  }

  // A frame that keeps its address, where it can.
  std::optional<PlacedFrame> Unnamed(const Location& location) const {
    const std::uint64_t offset = location.offset.value;
    if (location.mapping == MappingId{}) {
      if (offset > kLastAddress) return std::nullopt;
      return PlacedFrame{.is_kept = true, .address = offset};
    }
    const auto placed = placed_.find(location.mapping);
    if (placed == placed_.end()) return std::nullopt;
    const PlacedMapping& mapping = plan_.mappings_[placed->second];
    if (offset < mapping.file_offset || offset - mapping.file_offset >= mapping.size) {
      return std::nullopt;
    }
    const bool is_kernel = mapping.kind == MappingKind::kKernel;
    return PlacedFrame{.mode = is_kernel ? perfdata::CpuMode::kKernel : perfdata::CpuMode::kUser,
                       .is_kept = true,
                       .mapping = placed->second,
                       .address = mapping.start + (offset - mapping.file_offset)};
  }

  // 1 behind its start, where it is in the function for those who take 1 off, and for all others.
  PlacedFrame Named(MappingKind kind, std::string_view name) const {
    return {.mode = perfdata::CpuMode::kKernel,
            .address = addresses_.at(FunctionKey{kind, name}) + 1};
  }

  void PlaceFrames() {
    plan_.first_frame_.assign(used_.size() + 1, 0);
    ForEachUsed([&](LocationId id, const Location& location) {
      for (const Line& line : location.lines) {
        plan_.frames_.push_back(Named(KindOf(location), NameOf(location, line)));
      }
      if (location.lines.empty()) {
        const auto kept = Unnamed(location);
        plan_.frames_.push_back(kept ? *kept
                                     : Named(KindOf(location), NameOfFile(location.mapping)));
      }
      plan_.first_frame_[id.index + 1] = plan_.frames_.size();
    });
    for (std::size_t i = 1; i < plan_.first_frame_.size(); ++i) {
      plan_.first_frame_[i] = std::max(plan_.first_frame_[i], plan_.first_frame_[i - 1]);
    }
  }

  struct KeyHash {
    std::size_t operator()(const FunctionKey& key) const {
      return std::hash<std::string_view>{}(std::get<1>(key)) +
             static_cast<std::size_t>(std::get<0>(key));
    }
  };
  struct IdHash {
    std::size_t operator()(MappingId id) const { return id.index; }
  };

  const Profile& profile_;
  const Ranks& ranks_;
  AddressPlan& plan_;
  std::vector<bool> used_;
  Room user_room_, kernel_room_;
  tsl::robin_map<MappingId, std::uint32_t, IdHash> placed_;  // in the plan's mappings
  tsl::robin_map<MappingId, std::string_view, IdHash> file_names_;
  tsl::robin_map<FunctionKey, std::uint64_t, KeyHash> addresses_;
};

AddressPlan::AddressPlan(const Profile& profile, const Ranks& ranks) {
  Maker(profile, ranks, *this).Run();
}

}  // namespace perftape
