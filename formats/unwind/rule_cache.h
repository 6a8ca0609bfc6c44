// SPDX-License-Identifier: Apache-2.0
// Remembers the rules of instructions. Stack walks meet the same return addresses again and again,
// and a table of a compiler has a million rows, most of them not in a CPU cache.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "formats/base/addresses.h"
#include "formats/unwind/rule.h"
#include "formats/unwind/table.h"

namespace perftape::unwind {

// For one thread. The tables must outlive it.
class RuleCache {
 public:
  // Returns table.Find(address).
  const Rule& Find(const Table& table, ImageAddress address) {
    Entry& entry = entries_[IndexOf(table, address)];
    if (entry.address != address || entry.table != &table) {
      entry.table = &table;
      entry.address = address;
      entry.rule = &table.Find(address);
    }
    return *entry.rule;
  }

 private:
  struct Entry {
    const Table* table = nullptr;
    ImageAddress address = {};
    const Rule* rule = nullptr;
  };
  static constexpr unsigned kBits = 12;

  static std::size_t IndexOf(const Table& table, ImageAddress address) {
    const std::uint64_t key = address.value ^ reinterpret_cast<std::uintptr_t>(&table);
    return static_cast<std::size_t>(key * 0x9e3779b97f4a7c15 >> (64 - kBits));
  }

  std::array<Entry, std::size_t{1} << kBits> entries_ = {};
};

}  // namespace perftape::unwind
