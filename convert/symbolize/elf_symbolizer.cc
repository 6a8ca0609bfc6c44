// SPDX-License-Identifier: Apache-2.0
#include "convert/symbolize/elf_symbolizer.h"

#include <optional>

#include "convert/symbolize/elf_names.h"
#include "formats/base/build_id.h"

namespace perftape {

struct ElfSymbolizer::Binary {
  DebugFile file;
  std::optional<ElfNames> names;  // none where there is no image
};

ElfSymbolizer::ElfSymbolizer(DebugFiles files) : files_(std::move(files)) {}
ElfSymbolizer::~ElfSymbolizer() = default;

Result<Resolution> ElfSymbolizer::Resolve(const Profile& profile, MappingId mapping,
                                          std::span<const FileOffset> offsets) {
  Binary& binary = Open(std::string(profile.text(profile[mapping].filename)),
                        std::string(profile.text(profile[mapping].build_id)));
  if (!binary.names) return MissAll(offsets.size(), binary.file.miss, binary.file.problem);
  Resolution resolution;
  for (const FileOffset offset : offsets) {
    resolution.answers.push_back(binary.names->Resolve(offset));
  }
  return resolution;
}

ElfSymbolizer::Binary& ElfSymbolizer::Open(const std::string& filename,
                                           const std::string& build_id) {
  std::unique_ptr<Binary>& known = binaries_[{filename, build_id}];
  if (known) return *known;
  known = std::make_unique<Binary>();
  known->file = files_.Find(filename, BuildId::FromHex(build_id).value_or(BuildId{}));
  if (known->file.image) {
    known->names.emplace(*known->file.image, known->file.debug ? &*known->file.debug : nullptr);
  }
  return *known;
}

}  // namespace perftape
