// SPDX-License-Identifier: Apache-2.0
#include "record/rings/event_ids.h"

#include <algorithm>
#include <cstring>

#include "formats/perfdata/record.h"

namespace perftape::record {
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

std::vector<std::pair<std::uint32_t, std::uint64_t>> EventIds::Of(std::uint32_t event) const {
  std::vector<std::pair<std::uint32_t, std::uint64_t>> ids;
  for (auto at = ids_.lower_bound({event, 0}); at != ids_.end() && at->first.first == event; ++at) {
    ids.emplace_back(at->first.second, at->second);
  }
  return ids;
}

std::vector<std::uint64_t> EventIds::IdsOf(std::uint32_t event) const {
  std::vector<std::uint64_t> ids;
  for (const auto& [cpu, id] : Of(event)) ids.push_back(id);
  return ids;
}

void EventIds::Reserve(std::uint32_t event, std::span<const int> cpus) {
  std::uint64_t last = 0;
  for (const auto& [event_and_cpu, id] : ids_) last = std::max(last, id);
  for (const int cpu : cpus) {
    const bool is_new = ids_.try_emplace({event, static_cast<std::uint32_t>(cpu)}, last + 1).second;
    if (is_new) ++last;
  }
}

void EventIds::AddAlias(std::uint64_t kernel_id, std::uint32_t event, std::uint32_t cpu) {
  if (const std::optional<std::uint64_t> id = Find(event, cpu)) aliases_[kernel_id] = *id;
}

void EventIds::ReplaceAliases(std::span<std::byte> record) const {
  const auto replace = [&](std::size_t offset) {
    std::uint64_t id = 0;
    if (offset + sizeof id > record.size()) return;
    std::memcpy(&id, record.data() + offset, sizeof id);
    const auto found = aliases_.find(id);
    if (found != aliases_.end()) std::memcpy(record.data() + offset, &found->second, sizeof id);
  };
  perfdata::RecordHeader header{};
  if (record.size() < sizeof header + sizeof(std::uint64_t)) return;
  std::memcpy(&header, record.data(), sizeof header);
  if (header.type == perfdata::RecordType::kSample) return replace(sizeof header);
  replace(record.size() - sizeof(std::uint64_t));
  if (header.type == perfdata::RecordType::kLost) {
    replace(sizeof header);  // { u64 id; ... }
  } else if (header.type == perfdata::RecordType::kThrottle ||
             header.type == perfdata::RecordType::kUnthrottle) {
    replace(sizeof header + 8);   // { u64 time; u64 id;
    replace(sizeof header + 16);  //   u64 stream_id; }
  }
}

Status EventIds::AppendIndex(std::vector<std::byte>& out) const {
  constexpr std::uint64_t kAnyThread = UINT64_MAX;  // the events are per CPU
  std::vector<std::uint64_t> words;
  std::uint64_t index = 0;
  std::uint32_t last_event = 0;
  for (const auto& [event_and_cpu, id] : ids_) {
    const auto [event, cpu] = event_and_cpu;
    if (event != last_event) index = 0;
    last_event = event;
    words.insert(words.end(), {id, index++, cpu, kAnyThread});
    if (words.size() == kEntriesPerRecord * kWordsPerEntry) TRY(AppendRecord(words, out));
  }
  return AppendRecord(words, out);
}

}  // namespace perftape::record
