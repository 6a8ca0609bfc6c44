// SPDX-License-Identifier: Apache-2.0
// Limits the cost of the unwind table of one binary. The owner of a binary chooses its call frame
// information, which could keep the reader busy for hours without a budget.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "formats/base/symbol_limits.h"

namespace perftape::unwind {

struct TableLimits {
  std::uint64_t bytes = symbol_limits::kFrameBytes;  // of call frame information
  std::size_t common_entries = symbol_limits::kFrameCommonEntries;
  std::size_t functions = symbol_limits::kFrameFunctions;
  std::size_t rows = symbol_limits::kFrameRows;
  std::size_t rules = symbol_limits::kFrameRules;
  std::uint64_t undescribed_bytes = symbol_limits::kUndescribedCode;
  std::uint64_t symbol_bytes = symbol_limits::kUndescribedSymbols;
  // Null, or: once it is true, the table is not completed. Must outlive the call.
  const std::atomic<bool>* stop = nullptr;
};

// Counts the bytes of one binary, and remembers which limit was reached first.
class TableBudget {
 public:
  explicit TableBudget(const TableLimits& limits) : limits_(limits), bytes_left_(limits.bytes) {}

  const TableLimits& limits() const { return limits_; }
  std::uint64_t bytes_left() const { return bytes_left_; }
  // `bytes` must not be more than are left.
  void SpendBytes(std::uint64_t bytes) { bytes_left_ -= bytes; }

  // Whether building the table must stop. MustStop counts one entry or row, and checks the request
  // to stop only now and then.
  bool IsStopped() {
    if (limits_.stop == nullptr || !limits_.stop->load()) return false;
    Reached("stopped");
    return true;
  }
  bool MustStop() { return (++counted_ & kStopInterval) == 0 && IsStopped(); }

  // Keeps the first reason.
  void Reached(std::string reason) {
    if (reason_.empty()) reason_ = std::move(reason);
  }
  void Reached(std::uint64_t limit, const char* of_what) {
    if (reason_.empty()) reason_ = "more than " + std::to_string(limit) + " " + of_what;
  }
  const std::string& reason() const { return reason_; }

 private:
  static constexpr std::uint64_t kStopInterval = 1023;  // a power of two, minus one

  TableLimits limits_;
  std::uint64_t bytes_left_;
  std::uint64_t counted_ = 0;
  std::string reason_;
};

}  // namespace perftape::unwind
