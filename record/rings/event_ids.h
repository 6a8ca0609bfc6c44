// SPDX-License-Identifier: Apache-2.0
// The kernel's ids of the open events, one for each event and CPU. A SAMPLE and a trailer name
// their event by this id.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "formats/base/result.h"

namespace perftape::record {

class EventIds {
 public:
  // Sets the id of an event on a CPU. `event` is the index of its attribute in the file.
  void Add(std::uint32_t event, std::uint32_t cpu, std::uint64_t id);

  std::optional<std::uint64_t> Find(std::uint32_t event, std::uint32_t cpu) const;

  // Returns the CPUs of an event, in ascending order, each with its id.
  std::vector<std::pair<std::uint32_t, std::uint64_t>> Of(std::uint32_t event) const;
  // Returns these ids, for the file's attribute table.
  std::vector<std::uint64_t> IdsOf(std::uint32_t event) const;

  // Adds invented ids of an event for the CPUs that have none, because the file's attribute table
  // is written before these CPUs come online. Call it after all Add.
  void Reserve(std::uint32_t event, std::span<const int> cpus);

  // An event was opened again on a CPU, or for another task, and its records carry `kernel_id`.
  // ReplaceAliases replaces this id by the one that the event has in the file. No effect if the
  // event has none.
  void AddAlias(std::uint64_t kernel_id, std::uint32_t event, std::uint32_t cpu);
  bool has_aliases() const { return !aliases_.empty(); }

  // Replaces the aliases in a record of the kernel. A SAMPLE must begin with IDENTIFIER. Another
  // record must end with a trailer that ends with IDENTIFIER.
  void ReplaceAliases(std::span<std::byte> record) const;

  // Appends ID_INDEX records that list all ids; one record holds 2,046. perf rejects an id that no
  // attribute in the file has.
  Status AppendIndex(std::vector<std::byte>& out) const;

 private:
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> ids_;  // by event, then CPU
  std::map<std::uint64_t, std::uint64_t> aliases_;  // the kernel's id to the file's
};

}  // namespace perftape::record
