// SPDX-License-Identifier: Apache-2.0
// The histogram of an event: its samples, added up by keys. The entries, their numbers and their
// order are those of `perf report` (tools/perf/util/hist.c).
//
//   Histogram histogram(settings, names);
//   for (Hit& hit : hits) histogram.Add(hit);
//   histogram.Sort();
//   for (const auto& entry : histogram.entries()) ...
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "convert/histogram/entry.h"
#include "convert/histogram/keys.h"

namespace perftape::histogram {

// The order of the frames of chains.
enum class ChainOrder : std::uint8_t { kCallee, kCaller };

struct Settings {
  std::vector<const Key*> sort;     // entries are sorted by the first of these, then by the next
  std::vector<const Key*> columns;  // what is shown; their text keys also separate entries
  bool adds_callees = false;        // an entry also for each function in a callchain
  bool is_hierarchy = false;        // entries of each text key are below those of the key before
  ChainMode chain_mode = ChainMode::kNone;
  ChainKey chain_key = ChainKey::kFunction;
  ChainOrder chain_order = ChainOrder::kCallee;

  // The text keys of `sort` and `columns`, each once.
  std::vector<const Key*> text_keys() const;
};

class Histogram {
 public:
  // Both must outlive the histogram, and must not be copied to another address. The hits must be of
  // `names`.
  Histogram(const Settings& settings, const NameTable& names)
      : settings_(settings), names_(names), keys_(settings.text_keys()) {}

  // Adds a sample. The hit is unchanged afterwards.
  void Add(Hit& hit);
  // A sample that a filter removed. It counts only for all_samples() and all_periods().
  void AddFiltered(std::uint64_t period) {
    ++filtered_samples_;
    filtered_period_ += period;
  }

  // Sorts the entries, and makes the hierarchy.
  void Sort();

  // Sorted after Sort. With a hierarchy, the entries of the first key.
  const std::vector<std::unique_ptr<Entry>>& entries() const { return entries_; }
  std::uint64_t samples() const { return samples_; }
  std::uint64_t period() const { return period_; }
  // With samples that a filter removed.
  std::uint64_t all_samples() const { return samples_ + filtered_samples_; }
  std::uint64_t all_periods() const { return period_ + filtered_period_; }

 private:
  Entry& EntryOf(const Hit& hit);
  std::weak_ordering Compare(const Entry& a, const Entry& b) const;
  void Sort(std::vector<std::unique_ptr<Entry>>& entries) const;
  void MakeHierarchy();

  const Settings& settings_;
  const NameTable& names_;
  const std::vector<const Key*> keys_;
  std::vector<std::unique_ptr<Entry>> entries_;
  std::unordered_map<std::string, Entry*> by_identity_;
  std::string identity_;         // of the last EntryOf
  std::vector<Frame> chain_;     // of the last Add
  std::vector<Entry*> counted_;  // of the last Add
  std::uint64_t samples_ = 0, period_ = 0;
  std::uint64_t filtered_samples_ = 0, filtered_period_ = 0;
};

}  // namespace perftape::histogram
