// SPDX-License-Identifier: Apache-2.0
// Names from the symbol tables of ELF files.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "convert/symbolize/debug_files.h"
#include "convert/symbolize/symbolizer.h"

namespace perftape {

class ElfSymbolizer : public Symbolizer {
 public:
  explicit ElfSymbolizer(DebugFiles files);
  ~ElfSymbolizer() override;

  // Opens each binary once, in however many mappings it is, and keeps it open.
  Result<Resolution> Resolve(const Profile& profile, MappingId mapping,
                             std::span<const FileOffset> offsets) override;

 private:
  struct Binary;
  Binary& Open(const std::string& filename, const std::string& build_id);

  DebugFiles files_;
  std::map<std::pair<std::string, std::string>, std::unique_ptr<Binary>> binaries_;
};

}  // namespace perftape
