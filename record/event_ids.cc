// SPDX-License-Identifier: Apache-2.0
#include "record/event_ids.h"

#include "formats/perfdata/record.h"

namespace perftape {
namespace {

constexpr std::size_t kWordsPerEntry = 4;
// struct perf_record_id_index: the header, the count, then the entries.
constexpr std::size_t kEntriesPerRecord =
    (perfdata::kMaxRecordSize - sizeof(perfdata::RecordHeader) - sizeof(std::uint64_t)) /
    (kWordsPerEntry * sizeof(std::uint64_t));

Status AppendRecord(std::vector<std::uint64_t>& words, std::vector<std::byte>& out) {
  if (words.empty()) return {};
  TRY(perfdata::Encode(perfdata::IdIndex{.words = WordArray(words)}, 0, out));
  words.clear();
  return {};
}

}  // namespace

void EventIds::Add(std::uint32_t event, std::uint32_t cpu, std::uint64_t id) {
  ids_[{event, cpu}] = id;
}

std::optional<std::uint64_t> EventIds::Find(std::uint32_t event, std::uint32_t cpu) const {
  const auto found = ids_.find({event, cpu});
  if (found == ids_.end()) return std::nullopt;
  return found->second;
}

std::vector<std::uint64_t> EventIds::IdsOf(std::uint32_t event) const {
  std::vector<std::uint64_t> ids;
  for (auto at = ids_.lower_bound({event, 0}); at != ids_.end() && at->first.first == event; ++at) {
    ids.push_back(at->second);
  }
  return ids;
}

Status EventIds::AppendIndex(std::vector<std::byte>& out) const {
  constexpr std::uint64_t kAnyThread = UINT64_MAX;  // these events watch CPUs
  std::vector<std::uint64_t> words;
  std::uint64_t index = 0;
  std::uint32_t last_event = 0;
  for (const auto& [place, id] : ids_) {
    const auto [event, cpu] = place;
    if (event != last_event) index = 0;
    last_event = event;
    words.insert(words.end(), {id, index++, cpu, kAnyThread});
    if (words.size() == kEntriesPerRecord * kWordsPerEntry) TRY(AppendRecord(words, out));
  }
  return AppendRecord(words, out);
}

}  // namespace perftape
