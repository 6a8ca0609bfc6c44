// SPDX-License-Identifier: Apache-2.0
// The kernel's ids of the events that were opened, one for each event and CPU: what a SAMPLE and a
// trailer name their event by.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "formats/base/result.h"

namespace perftape {

class EventIds {
 public:
  // `event` is the place of its attribute in the file, from 0. An id for the same event and CPU
  // takes the place of the former one.
  void Add(std::uint32_t event, std::uint32_t cpu, std::uint64_t id);

  std::optional<std::uint64_t> Find(std::uint32_t event, std::uint32_t cpu) const;

  // The ids of an event, by CPU: what the file's attribute table lists.
  std::vector<std::uint64_t> IdsOf(std::uint32_t event) const;

  // Appends ID_INDEX records that list all ids, as many as it takes (2,046 ids fit into one). perf
  // refuses an id that no attribute has, so the file's attributes must have them all.
  Status AppendIndex(std::vector<std::byte>& out) const;

 private:
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> ids_;  // by event, then CPU
};

}  // namespace perftape
