// SPDX-License-Identifier: Apache-2.0
#include "convert/symbolize/elf_binary.h"

#include <algorithm>

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

ElfBinary::ElfBinary(DebugFile found, const SymbolOptions& options) : file(std::move(found)) {
  if (!file.image) return;
  names.emplace(*file.image, file.debug ? &*file.debug : nullptr,
                ElfNameOptions{.lines = file.lines ? &*file.lines : nullptr,
                               .supplementary = file.supplementary ? &*file.supplementary : nullptr,
                               .searched = file.searched,
                               .demangling = options.demangling,
                               .source_lines = options.source_lines,
                               .index_cache = options.index_cache});
}

Resolution ResolveIn(ElfBinary& binary, std::span<const FileOffset> offsets) {
  Resolution resolution;
  if (binary.names) {
    resolution.answers = binary.names->ResolveAll(offsets);
    resolution.problem = binary.names->problem();
    resolution.source =
        binary.file.source + (HasLines(resolution) ? " (symbols, DWARF)" : " (symbols)");
  } else {
    resolution = MissAll(offsets.size(), binary.file.miss, binary.file.problem);
  }
  resolution.tried = binary.file.tried;
  return resolution;
}

}  // namespace perftape::symbolize
