// SPDX-License-Identifier: Apache-2.0
// The findings of a validation: per rule the first findings with their positions, and the number of
// all. So memory use does not depend on the length of the file.
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
  std::uint64_t offset = 0;          // in the file; of a compressed record, of the one around it
  std::string position;              // as PositionOf says it
  std::optional<RecordType> record;  // none where it is of no record
  std::string message;               // what is wrong here, with its numbers
  Readers breaks = {};               // some of those that the rule names
};

class Report {
 public:
  // Of each rule so many findings are kept, the others counted.
  static constexpr std::uint64_t kKept = 20;

  struct Tally {
    std::uint64_t count = 0;
    Readers breaks = {};  // of all findings, kept or not
    std::string sum;      // what they come to: "1234 samples"; empty for most rules
  };

  // Notes a finding about a record. `message` gives its text and is asked only where it is kept.
  // `breaks` are fewer readers than the rule names, where this finding breaks not all of them.
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
  // About an offset that is of no record.
  void AddAt(Rule rule, std::uint64_t offset, std::string message,
             std::optional<Readers> breaks = std::nullopt);

  void SetSum(Rule rule, std::string sum) { Of(rule).sum = std::move(sum); }

  // In the order of their positions in the file, those of one position by rule.
  std::vector<Finding> InFileOrder() const;
  const Tally& tally(Rule rule) const { return tallies_.at(static_cast<std::size_t>(rule)); }
  std::uint64_t CountOf(Severity severity) const;

  // Neither an error nor a warning: every known reader shows all that was recorded.
  bool is_clean() const { return CountOf(Severity::kError) + CountOf(Severity::kWarning) == 0; }
  // Those that refuse the file or lose something of it.
  Readers broken() const;

 private:
  Tally& Of(Rule rule) { return tallies_.at(static_cast<std::size_t>(rule)); }
  // Whether the finding is one to keep.
  bool Count(Rule rule, std::optional<Readers> breaks);
  void Keep(Finding finding) { kept_.push_back(std::move(finding)); }

  std::vector<Finding> kept_;
  std::array<Tally, static_cast<std::size_t>(Rule::kCount)> tallies_ = {};
};

}  // namespace perftape::perfdata
