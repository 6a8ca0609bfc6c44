// SPDX-License-Identifier: Apache-2.0
// Names of kernel, modules and BPF programs from a kallsyms, by runtime address.
//
// The kernel moves at every boot (KASLR). perf records where it was: the file offset of the mapping
// [kernel.kallsyms] is the address of _text (tools/perf/util/machine.c). Where the table has _text
// elsewhere, the kernel's own symbols are moved by the difference, which for one and the same
// kernel is a multiple of the 2 MiB that it is aligned to; otherwise it is another kernel's table
// and not used. Modules and BPF programs move on their own, so they are named only in the same
// boot.
#pragma once

#include <optional>

#include "convert/symbolize/symbolizer.h"
#include "formats/base/build_id.h"
#include "formats/kallsyms/kallsyms.h"

namespace perftape {

class KallsymsSymbolizer : public Symbolizer {
 public:
  // `build_id` is the kernel's that the table is of; empty where that is not known, and then only
  // the place of _text tells whether the table belongs to the recording.
  KallsymsSymbolizer(kallsyms::Kallsyms table, BuildId build_id);

  Result<Resolution> Resolve(const Profile& profile, MappingId mapping,
                             std::span<const FileOffset> offsets) override;

 private:
  // How far the kernel has moved, from the recording to the table; nothing where it is another.
  std::optional<std::uint64_t> MoveSince(const Profile& profile) const;
  Resolved ResolveOne(RuntimeAddress address, std::uint64_t move, std::string_view module) const;

  kallsyms::Kallsyms table_;
  BuildId build_id_;
  std::optional<RuntimeAddress> text_, stext_;
};

}  // namespace perftape
