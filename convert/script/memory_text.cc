// SPDX-License-Identifier: Apache-2.0
#include "convert/script/memory_text.h"

#include <fmt/core.h>

#include <span>
#include <string_view>
#include <utility>

#include "convert/script/number_text.h"

namespace perftape::listing {
namespace {

std::string JoinedBits(std::uint64_t bits, std::span<const std::string_view> names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if ((bits >> i & 1) == 0) continue;
    if (!text.empty()) text += " or ";
    text += names[i];
  }
  return text;
}

constexpr std::string_view kOperations[] = {"N/A", "LOAD", "STORE", "PFETCH", "EXEC"};
constexpr std::string_view kLevels[] = {
    "N/A",
    "HIT",
    "MISS",
    "L1",
    "LFB/MAB",
    "L2",
    "L3",
    "Local RAM",
    "Remote RAM (1 hop)",
    "Remote RAM (2 hops)",
    "Remote Cache (1 hop)",
    "Remote Cache (2 hops)",
    "I/O",
    "Uncached",
};
constexpr std::string_view kSnoops[] = {"N/A", "None", "Hit", "Miss", "HitM"};
constexpr std::string_view kFurtherSnoops[] = {"Fwd", "Peer"};
constexpr std::string_view kTlbs[] = {"N/A", "HIT", "MISS", "L1", "L2", "Walker", "Fault"};
constexpr std::string_view kHops[] = {"N/A", "core, same node", "node, same socket",
                                      "socket, same board", "board"};
constexpr std::uint64_t kNotAvailable = 1, kHit = 2, kMiss = 4;  // of levels and TLBs

std::string LevelNumberText(std::uint64_t number) {
  constexpr std::pair<std::uint64_t, std::string_view> kNames[] = {
      {0xb, "Any cache"}, {0xc, "LFB/MAB"}, {0xd, "RAM"}, {0xe, "PMEM"}, {0xf, "N/A"}};
  for (const auto& [known, name] : kNames) {
    if (known == number) return std::string(name);
  }
  return fmt::format("L{}", number);
}

std::string OrNone(std::string text) {
  return text.empty() ? "N/A" : text;
}

std::string WithOutcome(std::string text, std::uint64_t bits) {
  if ((bits & kHit) != 0) text += " hit";
  if ((bits & kMiss) != 0) text += " miss";
  return text;
}

// The fields of union perf_mem_data_src, from bit 0.
struct DataSource {
  explicit DataSource(std::uint64_t word)
      : operation(word & 0x1f),
        level(word >> 5 & 0x3fff),
        snoop(word >> 19 & 0x1f),
        lock(word >> 24 & 3),
        tlb(word >> 26 & 0x7f),
        level_number(word >> 33 & 0xf),
        remote(word >> 37 & 1),
        further_snoop(word >> 38 & 3),
        blocked(word >> 40 & 7),
        hops(word >> 43 & 7) {}
  std::uint64_t operation, level, snoop, lock, tlb, level_number, remote, further_snoop, blocked,
      hops;
};

std::string OperationText(std::uint64_t bits) {
  for (std::size_t i = 0; i < std::size(kOperations); ++i) {
    if ((bits >> i & 1) != 0) return std::string(kOperations[i]);
  }
  return "No";
}

std::string LevelText(const DataSource& source, Style style) {
  constexpr std::uint64_t kNoNumber = 0xf;
  std::string text = source.remote != 0 ? "Remote " : "";
  if (source.hops != 0) {
    text += source.hops < std::size(kHops) ? kHops[source.hops] : kHops[0];
    text += ' ';
  }
  // The number says more than the older bits, which newer versions print only without it.
  const bool has_number = source.level_number != 0 && source.level_number != kNoNumber;
  std::string levels = has_number && style == Style::kPerf73
                           ? ""
                           : JoinedBits(source.level & ~(kHit | kMiss), kLevels);
  if (source.level_number != 0) {
    if (!levels.empty()) levels += " or ";
    levels += LevelNumberText(source.level_number);
  }
  return WithOutcome(OrNone(text + levels), source.level);
}

std::string SnoopText(const DataSource& source) {
  std::string text = JoinedBits(source.snoop, kSnoops);
  const std::string further = JoinedBits(source.further_snoop, kFurtherSnoops);
  if (!text.empty() && !further.empty()) text += " or ";
  return OrNone(text + further);
}

std::string LockText(std::uint64_t bits) {
  constexpr std::uint64_t kLocked = 2;
  if ((bits & kNotAvailable) != 0) return "N/A";
  return (bits & kLocked) != 0 ? "Yes" : "No";
}

std::string BlockText(std::uint64_t bits) {
  constexpr std::uint64_t kData = 2, kAddress = 4;
  if (bits == 0 || (bits & kNotAvailable) != 0) return " N/A";
  std::string text = (bits & kData) != 0 ? " Data" : "";
  return (bits & kAddress) != 0 ? text + " Addr" : text;
}

}  // namespace

void AppendDataSource(std::string& out, std::uint64_t data_src, Style style) {
  const DataSource source(data_src);
  out += "|OP " + OperationText(source.operation);
  out += "|LVL " + LevelText(source, style);
  out += "|SNP " + SnoopText(source);
  out += "|TLB " + WithOutcome(OrNone(JoinedBits(source.tlb & ~(kHit | kMiss), kTlbs)), source.tlb);
  out += "|LCK " + LockText(source.lock);
  out += "|BLK " + BlockText(source.blocked);
}

void AppendPageSize(std::string& out, std::uint64_t size) {
  constexpr std::string_view kUnits = "BKMGTPE";
  if (size == 0) {
    out += "N/A";
    return;
  }
  std::size_t unit = 0;
  for (; unit + 1 < kUnits.size() && size >= 1024; ++unit) size /= 1024;
  AppendNumber(out, size);
  out += kUnits[unit];
}

}  // namespace perftape::listing
