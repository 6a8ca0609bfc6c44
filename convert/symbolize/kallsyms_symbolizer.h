// SPDX-License-Identifier: Apache-2.0
// Names of kernel, modules and BPF programs from a kallsyms, by runtime address. The kernel's own
// symbols are moved as kernel_relocation.h tells; each module by the distance of its own base,
// since modules are loaded anywhere. What has no base that is recorded (BPF programs, trampolines)
// is named only where the kernel has not moved.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "convert/symbolize/kernel_relocation.h"
#include "convert/symbolize/recording.h"
#include "convert/symbolize/symbolizer.h"
#include "formats/bundle/manifest.h"
#include "formats/kallsyms/kallsyms.h"

namespace perftape::symbolize {

// A kallsyms, and what is known of the kernel that it is of.
class KernelTable {
 public:
  // `name` is for people. `modules` with the addresses at which they were when the table was saved;
  // of those that are not among them the table's own symbols tell.
  KernelTable(std::string name, kallsyms::Kallsyms symbols, BuildId build_id = {},
              std::vector<bundle::Module> modules = {});

  const std::string& name() const { return name_; }
  const kallsyms::Kallsyms& symbols() const { return symbols_; }
  KernelMove MoveFrom(const RecordedKernel& recorded) const;

  // Where a module is in the table; nothing where the table has none of its symbols.
  std::optional<kallsyms::Kallsyms::Extent> ExtentOf(std::string_view module) const;

 private:
  std::optional<std::uint64_t> AddressOf(std::string_view symbol) const;

  std::string name_;
  kallsyms::Kallsyms symbols_;
  BuildId build_id_;
  std::vector<bundle::Module> modules_;
  // Of the symbols that show where the kernel is loaded. Finding them takes some milliseconds.
  std::vector<std::pair<std::string_view, std::optional<std::uint64_t>>> reference_addresses_;
};

class KallsymsSymbolizer : public Symbolizer {
 public:
  // Of the kernel mappings of a recording that was made on `recorded`.
  KallsymsSymbolizer(std::shared_ptr<const KernelTable> table, RecordedKernel recorded);

  bool belongs() const { return move_.distance.has_value(); }

  // A table of another kernel, or without the module that the mapping is of, gives no name; the
  // problem says so.
  Result<Resolution> Resolve(const convert::Profile& profile, convert::MappingId mapping,
                             std::span<const FileOffset> offsets) override;

 private:
  Result<Resolution> ResolveModule(const convert::Mapping& mapping, const std::string& module,
                                   std::span<const FileOffset> offsets) const;
  Resolved ResolveOne(RuntimeAddress address, std::string_view module) const;

  std::shared_ptr<const KernelTable> table_;
  RecordedKernel recorded_;
  KernelMove move_;
};

}  // namespace perftape::symbolize
