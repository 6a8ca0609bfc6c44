// SPDX-License-Identifier: Apache-2.0
// Resolves names of kernel, modules and BPF programs from a kallsyms, by runtime address. The
// kernel's own symbols are relocated as kernel_relocation.h describes. Each module is relocated by
// the distance of its own base, because modules are loaded at any address. Code without a recorded
// base (BPF programs, trampolines) is named only if the kernel has not moved.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "convert/symbolize/kernel_relocation.h"
#include "convert/symbolize/profile_origin.h"
#include "convert/symbolize/symbolizer.h"
#include "formats/bundle/manifest.h"
#include "formats/kallsyms/kallsyms.h"

namespace perftape::symbolize {

// A kallsyms, and what is known about its kernel.
class KernelTable {
 public:
  // `name` is for messages. `modules` has the addresses of modules when the table was saved. For
  // other modules the addresses come from the table's own symbols.
  KernelTable(std::string name, kallsyms::Kallsyms symbols, BuildId build_id = {},
              std::vector<bundle::Module> modules = {});

  const std::string& name() const { return name_; }
  const kallsyms::Kallsyms& symbols() const { return symbols_; }
  KernelMove MoveFrom(const RecordedKernel& recorded) const;

  // Returns the range of a module in the table; nothing if the table has none of its symbols.
  std::optional<kallsyms::Kallsyms::Extent> ExtentOf(std::string_view module) const;

  // Whether an address is in the kernel's own code, including its startup code. True if the table
  // does not contain the extent of its code. Thread-safe.
  bool IsCode(RuntimeAddress address) const;

 private:
  // The kernel's startup code is searched only when an address is outside of the other code.
  const std::optional<kallsyms::Kallsyms::Extent>& start_code() const;
  std::optional<std::uint64_t> AddressOf(std::string_view symbol) const;
  std::optional<kallsyms::Kallsyms::Extent> RangeOf(std::string_view start,
                                                    std::string_view limit) const;

  std::string name_;
  kallsyms::Kallsyms symbols_;
  BuildId build_id_;
  std::vector<bundle::Module> modules_;
  std::optional<kallsyms::Kallsyms::Extent> code_;
  mutable std::once_flag start_code_is_known_;
  mutable std::optional<kallsyms::Kallsyms::Extent> start_code_;
  // Addresses of the symbols that show where the kernel is loaded. Finding them takes milliseconds.
  std::vector<std::pair<std::string_view, std::optional<std::uint64_t>>> reference_addresses_;
};

class KallsymsSymbolizer : public Symbolizer {
 public:
  // For the kernel mappings of a recording that was made on `recorded`.
  KallsymsSymbolizer(std::shared_ptr<const KernelTable> table, RecordedKernel recorded);

  bool belongs() const { return move_.distance.has_value(); }

  // No offset gets a name if the table is of another kernel, or does not have the module of the
  // mapping. The problem contains the reason.
  Result<Resolution> Resolve(const convert::Profile& profile, convert::MappingId mapping,
                             std::span<const FileOffset> offsets) override;

 private:
  Result<Resolution> ResolveModule(const convert::Mapping& mapping, const std::string& module,
                                   std::span<const FileOffset> offsets) const;
  Result<Resolution> ResolveKernel(const convert::Mapping& mapping,
                                   std::span<const FileOffset> offsets) const;
  Resolved ResolveOne(RuntimeAddress address, std::string_view module) const;

  std::shared_ptr<const KernelTable> table_;
  RecordedKernel recorded_;
  KernelMove move_;
};

}  // namespace perftape::symbolize
