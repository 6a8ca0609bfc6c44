// SPDX-License-Identifier: Apache-2.0
#include "convert/symbolize/elf_binary.h"

#include <algorithm>
#include <utility>

namespace perftape::symbolize {
namespace {

// Returns whether any name has a line, which only DWARF has.
bool HasLines(const Resolution& resolution) {
  return std::ranges::any_of(resolution.answers, [](const Resolved& resolved) {
    return std::ranges::any_of(resolved.frames,
                               [](const SourceFrame& frame) { return frame.line != 0; });
  });
}

}  // namespace

ElfBinary::ElfBinary(DebugFile found, const SymbolOptions& options)
    : file_(std::move(found)),
      name_options_({.lines = file_.lines ? &*file_.lines : nullptr,
                     .supplementary = file_.supplementary ? &*file_.supplementary : nullptr,
                     .searched = file_.searched,
                     .demangling = options.demangling,
                     .source_lines = options.source_lines,
                     .index_cache = options.index_cache}) {}

ElfNames* ElfBinary::names() {
  if (!names_ && file_.image) {
    const elf::ElfFile* const debug = file_.debug ? &*file_.debug : nullptr;
    names_ = std::make_unique<ElfNames>(*file_.image, debug, name_options_);
  }
  return names_.get();
}

Resolution ResolveIn(ElfBinary& binary, std::span<const FileOffset> offsets) {
  Resolution resolution;
  if (ElfNames* const names = binary.names(); names != nullptr) {
    resolution.answers = names->ResolveAll(offsets);
    resolution.problem = names->problem();
    resolution.source =
        binary.file().source + (HasLines(resolution) ? " (symbols, DWARF)" : " (symbols)");
  } else {
    resolution = MissAll(offsets.size(), binary.file().miss, binary.file().problem);
  }
  resolution.tried = binary.file().tried;
  return resolution;
}

}  // namespace perftape::symbolize
