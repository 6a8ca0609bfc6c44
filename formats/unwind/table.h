// SPDX-License-Identifier: Apache-2.0
// The unwind table of one binary: its call frame information, compiled into rows that are sorted by
// address.
//
//   TRY_ASSIGN(const Table table, Table::Build(file));
//   const Rule& rule = table.Find(address);
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "formats/base/addresses.h"
#include "formats/base/result.h"
#include "formats/elf/elf_file.h"
#include "formats/unwind/rule.h"
#include "formats/unwind/table_budget.h"

namespace perftape::unwind {

// The rule `rule` holds from here up to the next row.
struct Row {
  std::uint32_t pc = 0;    // distance from Table::base()
  std::uint32_t rule = 0;  // index in Table::rules()
};

// Immutable. Threads may share it. Copies share the rows.
class Table {
 public:
  Table() = default;
  // A table of rows and rules that `memory` owns, with the properties below. Only for code that
  // builds and decodes tables.
  Table(Machine machine, ImageAddress base, std::span<const Row> rows, std::span<const Rule> rules,
        std::shared_ptr<const void> memory);

  // Reads .eh_frame, or .debug_frame for code that .eh_frame does not cover, of an executable,
  // library or vdso. Finds .eh_frame by its section, or by PT_GNU_EH_FRAME if there are no section
  // headers. Reads hostile files safely: leaves out what is damaged, and reads no more than
  // `limits` allow. Sections that name the same bytes are read once.
  //
  // If functions overlap, the first one in the section counts. Leaves out functions outside of the
  // executable segments, and those that the linker discarded (address or size 0). A gap of less
  // than 16 bytes between functions keeps the rule before it, unless that is kEndOfStack. If it has
  // more than padding, or the file has no code, its rule has the flag kInGap.
  //
  // In a Go binary, functions of the runtime that change stacks have rules of their own
  // (go_functions.h), and rows show where the frame pointer is saved.
  //
  // A procedure linkage table without call frame information gets the rule of its entries, unless
  // the whole file has none.
  //
  // Code of x86-64 without call frame information gets the rules that are derived from its
  // instructions (undescribed_code.h).
  //
  // A file without call frame information and derived rules gives an empty table. Returns
  // kUnsupported for a machine that is not in Machine.
  static Result<Table> Build(const elf::ElfFile& file, const TableLimits& limits = {});

  Machine machine() const { return machine_; }
  ImageAddress base() const { return base_; }  // the lowest address of a row
  bool empty() const { return rows_.empty(); }

  // Sorted by pc, without duplicates. A rule kNone or kEndOfStack ends what a row covers. The last
  // row has the rule kNone.
  std::span<const Row> rows() const { return rows_; }
  // Distinct. The first is kNone, the second kEndOfStack.
  std::span<const Rule> rules() const { return rules_; }

  // Which limit the table reached, so that functions are missing: "more than 16777216 rows". Empty
  // for a complete table.
  const std::string& limit_reached() const { return limit_reached_; }

  // Returns the rule at an instruction; kNone outside of the rows. A caller is looked up by its
  // return address minus one, unless it was interrupted (kSignalFrame).
  const Rule& Find(ImageAddress address) const;

 private:
  Machine machine_ = Machine::kX86_64;
  ImageAddress base_;
  std::span<const Row> rows_;
  std::span<const Rule> rules_;
  std::shared_ptr<const void> memory_;  // what rows_ and rules_ view
  std::string limit_reached_;
};

}  // namespace perftape::unwind
