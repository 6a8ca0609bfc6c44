// SPDX-License-Identifier: Apache-2.0
#include "tools/inspect/data_source_text.h"

#include <fmt/format.h>

#include <span>
#include <string_view>

namespace perftape::inspect {
namespace {

// Names by bit, or by number.
enum class Coding : std::uint8_t { kBits, kNumber };

struct Field {
  std::string_view name;
  unsigned shift = 0, width = 0;
  Coding coding = Coding::kBits;
  std::span<const std::string_view> names;
};

constexpr std::string_view kOps[] = {"na", "load", "store", "prefetch", "exec"};
constexpr std::string_view kLevels[] = {"na",       "hit",      "miss",    "L1",       "LFB",
                                        "L2",       "L3",       "loc_ram", "rem_ram1", "rem_ram2",
                                        "rem_cce1", "rem_cce2", "IO",      "uncached"};
constexpr std::string_view kSnoops[] = {"na", "none", "hit", "miss", "hitm"};
constexpr std::string_view kLocks[] = {"na", "locked"};
constexpr std::string_view kTlbs[] = {"na", "hit", "miss", "L1", "L2", "walker", "fault"};
// L0 was added after Linux 7.3, L2_MHB and MSC in 6.6 and 6.19.
constexpr std::string_view kLevelNumbers[] = {"",    "L1",  "L2",       "L3",  "L4", "L2_MHB",
                                              "MSC", "L0",  "uncached", "CXL", "IO", "any_cache",
                                              "LFB", "RAM", "PMEM",     "na"};
constexpr std::string_view kSnoopsX[] = {"forward", "peer"};
constexpr std::string_view kBlocks[] = {"na", "data", "address"};
constexpr std::string_view kRemotes[] = {"", "yes"};
constexpr std::string_view kHops[] = {"", "core", "node", "socket", "board"};
// Added after Linux 7.3; MEMORY_RANGES says which memory the regions are.
constexpr std::string_view kRegions[] = {"",
                                         "reserved",
                                         "local_shared",
                                         "local_non_shared",
                                         "other_io",
                                         "other_shared",
                                         "other_non_shared",
                                         "mmio",
                                         "mem0",
                                         "mem1",
                                         "mem2",
                                         "mem3",
                                         "mem4",
                                         "mem5",
                                         "mem6",
                                         "mem7"};

// union perf_mem_data_src
constexpr Field kFields[] = {
    {"op", 0, 5, Coding::kBits, kOps},
    {"lvl", 5, 14, Coding::kBits, kLevels},
    {"snoop", 19, 5, Coding::kBits, kSnoops},
    {"lock", 24, 2, Coding::kBits, kLocks},
    {"dtlb", 26, 7, Coding::kBits, kTlbs},
    {"lvl_num", 33, 4, Coding::kNumber, kLevelNumbers},
    {"remote", 37, 1, Coding::kNumber, kRemotes},
    {"snoopx", 38, 2, Coding::kBits, kSnoopsX},
    {"blk", 40, 3, Coding::kBits, kBlocks},
    {"hops", 43, 3, Coding::kNumber, kHops},
    {"region", 46, 5, Coding::kNumber, kRegions},
};

std::string ValueText(const Field& field, std::uint64_t value) {
  if (field.coding == Coding::kNumber) {
    const bool has_name = value < field.names.size();
    return has_name ? std::string(field.names[value]) : fmt::format("{}", value);
  }
  std::string text;
  for (unsigned bit = 0; bit < field.width; ++bit) {
    if ((value >> bit & 1) == 0) continue;
    if (!text.empty()) text += '+';
    text += bit < field.names.size() ? std::string(field.names[bit]) : fmt::format("bit{}", bit);
  }
  return text;
}

}  // namespace

std::string DataSourceText(std::uint64_t data_src) {
  std::string text;
  for (const Field& field : kFields) {
    const std::uint64_t value = data_src >> field.shift & ((std::uint64_t{1} << field.width) - 1);
    if (value == 0) continue;
    if (!text.empty()) text += '|';
    text += fmt::format("{}={}", field.name, ValueText(field, value));
  }
  return text;
}

}  // namespace perftape::inspect
