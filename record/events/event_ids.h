// SPDX-License-Identifier: Apache-2.0
// The kernel's ids of the events that were opened, one for each event and CPU: what a SAMPLE and a
// trailer name their event by.
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
  // `event` is the place of its attribute in the file, from 0. An id for the same event and CPU
  // takes the place of the former one.
  void Add(std::uint32_t event, std::uint32_t cpu, std::uint64_t id);

  std::optional<std::uint64_t> Find(std::uint32_t event, std::uint32_t cpu) const;

  // The ids of an event, by CPU: what the file's attribute table lists.
  std::vector<std::uint64_t> IdsOf(std::uint32_t event) const;

  // The events of CPUs that are not there yet get ids of ours, so that the file's attribute table,
  // which is written first, has one for each. Call it after the others were added.
  void Reserve(std::uint32_t event, std::span<const int> cpus);

  // An event that was opened anew for a CPU: its records carry `kernel_id`, the file goes on with
  // the id that the event has on this CPU. Nothing happens where it has none.
  void AddAlias(std::uint64_t kernel_id, std::uint32_t event, std::uint32_t cpu);
  bool has_aliases() const { return !aliases_.empty(); }

  // In a record as the kernel wrote it, which ends with a trailer that ends with IDENTIFIER: the
  // ids of events that were opened anew become those of the file.
  void ReplaceAliases(std::span<std::byte> record) const;

  // Appends ID_INDEX records that list all ids, as many as it takes (2,046 ids fit into one). perf
  // refuses an id that no attribute has, so the file's attributes must have them all.
  Status AppendIndex(std::vector<std::byte>& out) const;

 private:
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> ids_;  // by event, then CPU
  std::map<std::uint64_t, std::uint64_t> aliases_;  // the kernel's id, the file's
};

}  // namespace perftape::record
