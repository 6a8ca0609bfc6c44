// SPDX-License-Identifier: Apache-2.0
#include "formats/json_profiles/firefox.h"

#include <charconv>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <system_error>
#include <utility>

#include "formats/json/walk.h"

namespace perftape::json_profiles {
namespace {

enum FirefoxPart : json::Node {
  kFirefoxProfile,
  kMeta,
  kInterval,
  kStartTime,
  kProduct,
  kImportedFrom,
  kVersion,
  kGeckoVersion,
  kProcesses,
  kFirefoxShared,
  kThreads,
  kThread,
  kThreadName,
  kProcessName,
  kPid,
  kTid,
  kLibs,
  kLib,
  kLibName,
  kLibPath,
  kLibCodeId,
  kLibBreakpadId,
  kStrings,
  kString,
  // Tables, and what is in all of them.
  kFirefoxSamples,
  kStackTable,
  kFrameTable,
  kFuncTable,
  kResourceTable,
  kSources,
  kWeightType,
  kColumn,
  kCell,
  kSchema,
  kSchemaColumn,
  kRows,
  kRow,
  kRowCell,
  kRowPart,  // of a cell that is an object or an array
};

constexpr json::Rule kFirefoxRules[] = {
    // Most of a file is in arrays of numbers.
    {kColumn, "*", kCell},
    {kRow, "*", kRowCell},
    {kRows, "*", kRow},
    {kStrings, "*", kString},
    {kFirefoxProfile, "meta", kMeta},
    {kMeta, "interval", kInterval},
    {kMeta, "startTime", kStartTime},
    {kMeta, "product", kProduct},
    {kMeta, "importedFrom", kImportedFrom},
    {kMeta, "preprocessedProfileVersion", kVersion},
    {kMeta, "processType", kGeckoVersion},
    {kFirefoxProfile, "processes", kProcesses},
    {kProcesses, "*", kFirefoxProfile},
    {kFirefoxProfile, "libs", kLibs},
    {kThread, "libs", kLibs},
    {kLibs, "*", kLib},
    {kLib, "name", kLibName},
    {kLib, "path", kLibPath},
    {kLib, "codeId", kLibCodeId},
    {kLib, "breakpadId", kLibBreakpadId},
    {kFirefoxProfile, "shared", kFirefoxShared},
    {kFirefoxProfile, "threads", kThreads},
    {kThreads, "*", kThread},
    {kThread, "name", kThreadName},
    {kThread, "processName", kProcessName},
    {kThread, "pid", kPid},
    {kThread, "tid", kTid},
    {kThread, "samples", kFirefoxSamples},
    {kThread, "stackTable", kStackTable},
    {kThread, "frameTable", kFrameTable},
    {kThread, "funcTable", kFuncTable},
    {kThread, "resourceTable", kResourceTable},
    {kThread, "stringArray", kStrings},
    {kThread, "stringTable", kStrings},
    {kFirefoxShared, "stackTable", kStackTable},
    {kFirefoxShared, "frameTable", kFrameTable},
    {kFirefoxShared, "funcTable", kFuncTable},
    {kFirefoxShared, "resourceTable", kResourceTable},
    {kFirefoxShared, "sources", kSources},
    {kFirefoxShared, "stringArray", kStrings},
    {kFirefoxSamples, "weightType", kWeightType},
    {kFirefoxSamples, "schema", kSchema},
    {kFirefoxSamples, "data", kRows},
    {kFirefoxSamples, json::kAnyKey, kColumn},
    {kStackTable, "schema", kSchema},
    {kStackTable, "data", kRows},
    {kStackTable, json::kAnyKey, kColumn},
    {kFrameTable, "schema", kSchema},
    {kFrameTable, "data", kRows},
    {kFrameTable, json::kAnyKey, kColumn},
    {kFuncTable, json::kAnyKey, kColumn},
    {kResourceTable, json::kAnyKey, kColumn},
    {kSources, json::kAnyKey, kColumn},
    {kSchema, json::kAnyKey, kSchemaColumn},
    {kRowCell, "*", kRowPart},
};

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

// An index, or -1.
std::int64_t IndexIn(double cell) {
  constexpr double kMost = 9e18;
  return cell >= 0 && cell < kMost ? static_cast<std::int64_t>(cell) : -1;
}

// Parses "1234", and "1234.1" of a process that had the number of an earlier one.
std::optional<std::uint32_t> ProcessIn(std::string_view text) {
  std::uint32_t number = 0;
  const auto [parsed, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool ends = parsed == text.data() + text.size() || *parsed == '.';
  return error == std::errc() && ends ? std::optional(number) : std::nullopt;
}

class FirefoxVisitor final : public json::Visitor {
 public:
  FirefoxFile Finish() && { return std::move(file_); }

  void Begin(json::Node part) override {
    switch (part) {
      case kThread:
        file_.threads.emplace_back();
        is_in_thread_ = true;
        return;
      case kLib:
        libs().emplace_back();
        return;
      case kFirefoxSamples:
      case kStackTable:
      case kFrameTable:
      case kFuncTable:
      case kResourceTable:
      case kSources:
        table_ = static_cast<FirefoxPart>(part);
        schema_.clear();
        return;
      case kColumn:
        BeginColumn();
        return;
      case kRow:
        row_.clear();
        return;
      case kCell:
        return AddCell(kNoNumber);
      case kRowCell:
        row_.push_back(kNoNumber);
        return;
      default:
        return;
    }
  }

  void End(json::Node part) override {
    if (part == kThread) is_in_thread_ = false;
    if (part == kRow) AddRow();
  }

  void Key(json::Node, std::string_view key) override { key_ = key; }

  void Number(json::Node part, const json::Number& number) override {
    switch (part) {
      case kInterval:
        file_.interval_ms = number.value;
        return;
      case kStartTime:
        if (file_.start_time_ms == 0) file_.start_time_ms = number.value;
        return;
      case kPid:
        thread().pid = ProcessIn(std::to_string(number.integer));
        return;
      case kTid:
        thread().tid = ProcessIn(std::to_string(number.integer));
        return;
      case kCell:
        return AddCell(number.value);
      case kRowCell:
        return row_.push_back(number.value);
      case kSchemaColumn:
        if (number.integer >= 0 && number.integer < kMostColumns) {
          schema_[key_] = static_cast<std::size_t>(number.integer);
        }
        return;
      default:
        return;
    }
  }

  void Null(json::Node part) override { AddNothing(part); }
  void Boolean(json::Node part, bool) override { AddNothing(part); }

  void String(json::Node part, std::string_view text) override {
    switch (part) {
      case kProduct:
        file_.product = text;
        return;
      case kImportedFrom:
        file_.imported_from = text;
        return;
      case kThreadName:
        thread().name = text;
        return;
      case kProcessName:
        thread().process_name = text;
        return;
      case kPid:
        thread().pid = ProcessIn(text);
        return;
      case kTid:
        thread().tid = ProcessIn(text);
        return;
      case kLibName:
        libs().back().name = text;
        return;
      case kLibPath:
        libs().back().path = text;
        return;
      case kLibCodeId:
        libs().back().code_id = text;
        return;
      case kLibBreakpadId:
        libs().back().breakpad_id = text;
        return;
      case kString:
        tables().strings.emplace_back(text);
        return;
      case kWeightType:
        thread().weight_type = text;
        return;
      default:
        return AddNothing(part);
    }
  }

 private:
  static constexpr std::int64_t kMostColumns = 64;

  // The rules lead to parts of a thread or a library only below one, whose Begin was called. The
  // thread can be the last one of an array within a thread's own: is_in_thread_ is only for tables.
  FirefoxThread& thread() { return file_.threads.back(); }
  FirefoxTables& tables() { return is_in_thread_ ? thread().tables : file_.shared; }
  std::vector<FirefoxLibrary>& libs() { return is_in_thread_ ? thread().libs : file_.libs; }

  void AddNothing(json::Node part) {
    if (part == kCell) AddCell(kNoNumber);
    if (part == kRowCell) row_.push_back(kNoNumber);
  }

  // Selects the column that key_ names in table_.
  void BeginColumn() {
    column_ = ColumnOf(key_);
    is_time_ = table_ == kFirefoxSamples && key_ == "time";
    is_delta_ = table_ == kFirefoxSamples && key_ == "timeDeltas";
    is_weight_ = table_ == kFirefoxSamples && key_ == "weight";
  }

  FirefoxColumn* ColumnOf(std::string_view key) {
    FirefoxTables& to = tables();
    switch (table_) {
      case kFirefoxSamples:
        return key == "stack" ? &thread().stacks : nullptr;
      case kStackTable:
        return key == "frame" ? &to.stacks.frame : key == "prefix" ? &to.stacks.prefix : nullptr;
      case kFrameTable:
        if (key == "func" || key == "location") return &to.frames.func;
        return key == "address" ? &to.frames.address : key == "line" ? &to.frames.line : nullptr;
      case kFuncTable:
        if (key == "name") return &to.funcs.name;
        if (key == "resource") return &to.funcs.resource;
        if (key == "lineNumber") return &to.funcs.line;
        return key == "fileName" ? &to.funcs.file_name
               : key == "source" ? &to.funcs.source
                                 : nullptr;
      case kResourceTable:
        return key == "lib" ? &to.resource_libs : nullptr;
      case kSources:
        return key == "filename" ? &to.source_names : nullptr;
      default:
        return nullptr;
    }
  }

  void AddCell(double cell) {
    if (is_time_) return thread().time_ms.push_back(std::isnan(cell) ? 0 : cell);
    if (is_delta_) {
      const double last = thread().time_ms.empty() ? 0 : thread().time_ms.back();
      return thread().time_ms.push_back(std::isnan(cell) ? last : last + cell);
    }
    if (is_weight_) {
      thread().has_fractions |= !std::isnan(cell) && cell != std::floor(cell);
      return thread().weights.push_back(std::isnan(cell) ? 0 : cell);
    }
    if (column_ != nullptr) column_->push_back(IndexIn(cell));
  }

  // Adds a row of a table with a schema to its columns. A row may end before its last columns.
  void AddRow() {
    for (const auto& [name, index] : schema_) {
      key_ = name;
      BeginColumn();
      AddCell(index < row_.size() ? row_[index] : kNoNumber);
    }
  }

  FirefoxFile file_;
  bool is_in_thread_ = false;
  FirefoxPart table_ = kFirefoxSamples;
  std::string key_;
  FirefoxColumn* column_ = nullptr;  // null: its values are not needed
  bool is_time_ = false, is_delta_ = false, is_weight_ = false;
  std::map<std::string, std::size_t> schema_;  // of table_: indexes in a row
  std::vector<double> row_;
};

}  // namespace

bool IsFirefox(std::string_view beginning) {
  const std::uint64_t nodes = json::NodesIn(beginning, kFirefoxRules);
  const auto has = [&](json::Node node) { return (nodes & json::NodeBit(node)) != 0; };
  if (has(kVersion) || has(kStackTable) || has(kFrameTable)) return true;
  return has(kGeckoVersion) && has(kInterval);
}

Result<FirefoxFile> ReadFirefoxFile(std::string_view text) {
  FirefoxVisitor visitor;
  TRY(json::Walk(text, kFirefoxRules, visitor));
  return std::move(visitor).Finish();
}

}  // namespace perftape::json_profiles
