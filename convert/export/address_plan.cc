// SPDX-License-Identifier: Apache-2.0
#include "convert/export/address_plan.h"

#include <tsl/robin_map.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <ranges>
#include <set>
#include <tuple>

#include "convert/model/mappings_without_files.h"
#include "formats/base/bytes_hash.h"
#include "formats/elf/elf_writer.h"
#include "formats/perfdata/abi.h"
#include "formats/perfdata/converted.h"

namespace perftape::convert {
namespace {

// Allocates free ranges of an address space.
class AddressAllocator {
 public:
  static constexpr std::uint64_t kPage = 0x1000;
  // The highest address to use. Callers are written as this plus 1, which is still below the
  // context markers (PERF_CONTEXT_MAX).
  static constexpr std::uint64_t kLast = perfdata::kContextMax - 2;

  // Reserves a range. Returns false if part of it is in use or outside the address space.
  bool Reserve(std::uint64_t start, std::uint64_t size);
  // Reserves a free range above 4 GiB, with the same offset within a page as `like`. Returns
  // nothing if none is free.
  std::optional<std::uint64_t> Allocate(std::uint64_t size, std::uint64_t like);

 private:
  std::map<std::uint64_t, std::uint64_t> ends_;  // by start
  std::uint64_t next_ = std::uint64_t{1} << 32;  // Allocate starts to search here
};

bool AddressAllocator::Reserve(std::uint64_t start, std::uint64_t size) {
  if (size == 0 || start > kLast || size > kLast - start) return false;
  const auto above = ends_.lower_bound(start + size);
  if (above != ends_.begin() && std::prev(above)->second > start) return false;
  ends_.emplace(start, start + size);
  return true;
}

std::optional<std::uint64_t> AddressAllocator::Allocate(std::uint64_t size, std::uint64_t like) {
  const std::uint64_t behind_all = ends_.empty() ? 0 : std::prev(ends_.end())->second;
  for (const std::uint64_t from : {next_, behind_all}) {
    const std::uint64_t start = (from / kPage + 1) * kPage + like % kPage;
    if (start < from || !Reserve(start, size)) continue;
    next_ = start + size;
    return start;
  }
  return std::nullopt;
}

// Returns which locations are in the stack of a sample.
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

// The sort order of the addresses: user functions first, then kernel functions. The path is that of
// a symbol file; empty for functions that KSYMBOL records name.
struct FunctionKey {
  MappingType type = {};
  std::string_view path = {}, name = {};
  auto operator<=>(const FunctionKey&) const = default;
};

}  // namespace

class AddressPlan::Maker {
 public:
  Maker(const Profile& profile, const Ranks& ranks, NamesIn names_in, AddressPlan& plan)
      : profile_(profile),
        ranks_(ranks),
        names_in_(names_in),
        plan_(plan),
        used_(UsedLocations(profile)) {}

  void Run() {
    CountFunctions();
    PlanMappings();
    PlanFunctions();
    PlanFrames();
  }

 private:
  template <class Visitor>
  void ForEachUsed(Visitor visit) const {
    for (std::uint32_t i = 0; i < used_.size(); ++i) {
      if (used_[i]) visit(LocationId{i}, profile_.locations()[i]);
    }
  }

  FunctionKey KeyOf(const Location& location, std::string_view name) {
    const MappingType type = profile_[location.mapping].type;
    const bool in_file = type == MappingType::kUser && names_in_ == NamesIn::kSymbolFiles;
    return {.type = type, .path = in_file ? PathOf(location.mapping) : "", .name = name};
  }

  std::string_view PathOf(MappingId mapping) {
    const auto [known, is_new] = paths_.try_emplace(mapping);
    if (is_new) {
      known.value() =
          plan_.own_names_.emplace_back(SymbolFilePath(profile_.text(profile_[mapping].filename)));
    }
    return known->second;
  }

  // The same name as in folded stacks.
  std::string_view NameOfFile(MappingId mapping) {
    const auto [known, is_new] = file_names_.try_emplace(mapping);
    if (is_new) {
      known.value() = plan_.own_names_.emplace_back(
          NameOfUnresolved(profile_.text(profile_[mapping].filename)));
    }
    return known->second;
  }

  std::string_view NameOf(const Location& location, const Line& line) {
    return HasName(profile_, location, line) ? profile_.text(profile_[line.function].name)
                                             : NameOfFile(location.mapping);
  }

  // Reserves addresses for the largest possible number of functions: one for each name.
  void CountFunctions() {
    std::uint64_t most = 0;
    ForEachUsed([&](LocationId, const Location& location) {
      most += std::max<std::uint64_t>(location.lines.size(), 1);
    });
    kernel_addresses_.Reserve(perfdata::kFirstUserFunction, most * perfdata::kFunctionSize);
    kernel_addresses_.Reserve(perfdata::kFirstKernelFunction, most * perfdata::kFunctionSize);
  }

  // Plans the mappings of frames without a name. They keep their addresses if these are free:
  // mappings of several processes may overlap.
  void PlanMappings() {
    std::set<std::tuple<std::uint32_t, std::uint32_t>> by_rank;
    ForEachUsed([&](LocationId, const Location& location) {
      if (!location.lines.empty()) return;
      if (location.mapping != MappingId{}) {
        by_rank.emplace(ranks_.mappings[location.mapping.index], location.mapping.index);
      } else if (location.offset.value <= AddressAllocator::kLast) {
        user_addresses_.Reserve(location.offset.value, 1);
      }
    });
    for (const auto& [rank, mapping] : by_rank) PlanMapping(MappingId{mapping});
  }

  void PlanMapping(MappingId id) {
    const Mapping& mapping = profile_[id];
    if (mapping.limit <= mapping.start) return;
    const std::uint64_t size = mapping.limit - mapping.start;
    AddressAllocator& addresses =
        mapping.type == MappingType::kKernel ? kernel_addresses_ : user_addresses_;
    std::optional<std::uint64_t> start = mapping.start;
    if (!addresses.Reserve(*start, size)) start = addresses.Allocate(size, mapping.start);
    if (!start) return;
    planned_mappings_.emplace(id, static_cast<std::uint32_t>(plan_.mappings_.size()));
    plan_.mappings_.push_back(
        {.start = *start,
         .size = size,
         .file_offset = mapping.file_offset,
         .filename = profile_.text(mapping.filename),
         .build_id = BuildId::FromHex(profile_.text(mapping.build_id)).value_or(BuildId{}),
         .type = mapping.type});
  }

  void PlanFunctions() {
    std::vector<FunctionKey> keys;
    ForEachUsed([&](LocationId, const Location& location) {
      for (const Line& line : location.lines) {
        keys.push_back(KeyOf(location, NameOf(location, line)));
      }
      if (location.lines.empty() && !Unnamed(location)) {
        ++plan_.displaced_;
        keys.push_back(KeyOf(location, NameOfFile(location.mapping)));
      }
    });
    std::ranges::sort(keys);
    const auto repeated = std::ranges::unique(keys);
    keys.erase(repeated.begin(), repeated.end());

    std::uint64_t next[] = {perfdata::kFirstUserFunction, perfdata::kFirstKernelFunction};
    for (auto key = keys.begin(); key != keys.end();) {
      const auto file = key;
      while (key != keys.end() && key->path == file->path) ++key;
      if (!file->path.empty() && PlanInFile({file, key})) continue;
      for (const FunctionKey& function : std::span(file, key)) {
        std::uint64_t& address = next[function.type == MappingType::kKernel ? 1 : 0];
        PlanAt(function, address, {.mode = perfdata::CpuMode::kKernel});
        plan_.functions_.push_back({.address = address, .name = function.name});
        address += perfdata::kFunctionSize;
      }
    }
  }

  // Returns false if there are no free addresses for the file.
  bool PlanInFile(std::span<const FunctionKey> functions) {
    constexpr std::uint64_t kPage = AddressAllocator::kPage;
    const std::uint64_t size = (functions.size() * elf::kFunctionSize / kPage + 1) * kPage;
    const std::optional<std::uint64_t> start = user_addresses_.Allocate(size, 0);
    if (!start) return false;
    GeneratedSymbolFile& file =
        plan_.symbol_files_.emplace_back(GeneratedSymbolFile{.path = functions[0].path});
    const auto mapping = static_cast<std::uint32_t>(plan_.mappings_.size());
    std::uint64_t address = *start;
    for (const FunctionKey& function : functions) {
      PlanAt(function, address, {.mode = perfdata::CpuMode::kUser, .mapping = mapping});
      file.names.push_back(function.name);
      address += elf::kFunctionSize;
    }
    file.build_id = elf::NamedFunctionsId(file.names);
    plan_.mappings_.push_back({.start = *start,
                               .size = size,
                               .file_offset = elf::kTextOffset,
                               .filename = file.path,
                               .build_id = file.build_id});
    return true;
  }

  // The frame's address is the function's start + 1. So it is in the function for readers that
  // subtract 1, and for all others.
  void PlanAt(const FunctionKey& function, std::uint64_t address, PlannedFrame frame) {
    frame.address = address + 1;
    frame_of_.emplace(function, frame);
  }

  // Returns a frame that keeps its address; nothing if that is impossible.
  std::optional<PlannedFrame> Unnamed(const Location& location) const {
    const std::uint64_t offset = location.offset.value;
    if (location.mapping == MappingId{}) {
      if (offset > AddressAllocator::kLast) return std::nullopt;
      return PlannedFrame{.is_kept = true, .address = offset};
    }
    const auto planned = planned_mappings_.find(location.mapping);
    if (planned == planned_mappings_.end()) return std::nullopt;
    const PlannedMapping& mapping = plan_.mappings_[planned->second];
    if (offset < mapping.file_offset || offset - mapping.file_offset >= mapping.size) {
      return std::nullopt;
    }
    const bool is_kernel = mapping.type == MappingType::kKernel;
    return PlannedFrame{.mode = is_kernel ? perfdata::CpuMode::kKernel : perfdata::CpuMode::kUser,
                        .is_kept = true,
                        .mapping = planned->second,
                        .address = mapping.start + (offset - mapping.file_offset)};
  }

  void PlanFrames() {
    plan_.first_frame_.assign(used_.size() + 1, 0);
    ForEachUsed([&](LocationId id, const Location& location) {
      for (const Line& line : location.lines) {
        plan_.frames_.push_back(frame_of_.at(KeyOf(location, NameOf(location, line))));
      }
      if (location.lines.empty()) {
        const auto kept = Unnamed(location);
        plan_.frames_.push_back(kept ? *kept
                                     : frame_of_.at(KeyOf(location, NameOfFile(location.mapping))));
      }
      plan_.first_frame_[id.index + 1] = plan_.frames_.size();
    });
    for (std::size_t i = 1; i < plan_.first_frame_.size(); ++i) {
      plan_.first_frame_[i] = std::max(plan_.first_frame_[i], plan_.first_frame_[i - 1]);
    }
  }

  struct KeyHash {
    std::size_t operator()(const FunctionKey& key) const {
      const std::hash<std::string_view> hash;
      return hash(key.name) + 3 * hash(key.path) + static_cast<std::size_t>(key.type);
    }
  };

  const Profile& profile_;
  const Ranks& ranks_;
  const NamesIn names_in_;
  AddressPlan& plan_;
  std::vector<bool> used_;
  AddressAllocator user_addresses_, kernel_addresses_;
  tsl::robin_map<MappingId, std::uint32_t, BytesHash>
      planned_mappings_;  // indexes in the plan's mappings
  tsl::robin_map<MappingId, std::string_view, BytesHash> file_names_, paths_;
  tsl::robin_map<FunctionKey, PlannedFrame, KeyHash> frame_of_;
};

AddressPlan::AddressPlan(const Profile& profile, const Ranks& ranks, NamesIn names_in) {
  Maker(profile, ranks, names_in, *this).Run();
}

}  // namespace perftape::convert
