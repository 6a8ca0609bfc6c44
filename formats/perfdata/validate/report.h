// SPDX-License-Identifier: Apache-2.0
// The findings of a validation. For each rule it keeps the first findings with their positions, and
// the number of all. So memory use does not depend on the length of the file.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/perfdata/record.h"
#include "formats/perfdata/validate/rules.h"

namespace perftape::perfdata {

struct Finding {
  Rule rule = {};
  std::uint64_t offset = 0;          // in the file; that of the COMPRESSED record around a record
  std::string position;              // in the format of PositionOf
  std::optional<RecordType> record;  // none if the finding is not about a record
  std::string message;               // describes the damage with its numbers
  Readers breaks = {};               // a subset of the readers in the rule
};

class Report {
 public:
  // The number of findings that are kept of each rule. The others are only counted.
  static constexpr std::uint64_t kKept = 20;

  struct Tally {
    std::uint64_t count = 0;
    Readers breaks = {};  // the readers that any finding breaks, kept or not
    std::string sum;      // the total of all findings: "1234 samples"; empty for most rules
  };

  // Adds a finding about a record. `message` returns its text and is called only if the finding is
  // kept. `breaks` replaces the readers of the rule, if this finding breaks fewer.
  template <std::invocable Message>
  void Add(Rule rule, const RecordView& record, Message message,
           std::optional<Readers> breaks = std::nullopt) {
    if (!Count(rule, breaks)) return;
    Keep({.rule = rule,
          .offset = record.file_offset,
          .position = PositionOf(record),
          .record = record.type,
          .message = message(),
          .breaks = breaks.value_or(InfoOf(rule).breaks)});
  }
  // Adds a finding about a file offset outside of the records.
  void AddAt(Rule rule, std::uint64_t offset, std::string message,
             std::optional<Readers> breaks = std::nullopt);

  void SetSum(Rule rule, std::string sum) { Of(rule).sum = std::move(sum); }

  // The kept findings by file offset, those of one offset by rule.
  std::vector<Finding> InFileOrder() const;
  const Tally& tally(Rule rule) const { return tallies_.at(static_cast<std::size_t>(rule)); }
  std::uint64_t CountOf(Severity severity) const;

  // Whether there is no error and no warning: every known reader shows everything recorded.
  bool is_clean() const { return CountOf(Severity::kError) + CountOf(Severity::kWarning) == 0; }
  // The readers that refuse the file or lose a part of it: those that errors break.
  Readers broken() const;

 private:
  Tally& Of(Rule rule) { return tallies_.at(static_cast<std::size_t>(rule)); }
  // Counts a finding. Returns whether to keep it.
  bool Count(Rule rule, std::optional<Readers> breaks);
  void Keep(Finding finding) { kept_.push_back(std::move(finding)); }

  std::vector<Finding> kept_;
  std::array<Tally, static_cast<std::size_t>(Rule::kNumberOfRules)> tallies_ = {};
};

}  // namespace perftape::perfdata
