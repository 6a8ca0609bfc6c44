// SPDX-License-Identifier: Apache-2.0
// The binaries of one recording, from the sources that also give names.
#pragma once

#include <optional>
#include <string>

#include "convert/symbolize/symbol_sources.h"
#include "convert/unwind/binary_tables.h"
#include "formats/base/input.h"

namespace perftape::convert {

class RecordingBinaries {
 public:
  // Opens nothing yet. The input must outlive this object.
  RecordingBinaries(Input& input, const symbolize::SymbolOptions& options)
      : input_(input), options_(options) {}
  RecordingBinaries(const RecordingBinaries&) = delete;
  RecordingBinaries& operator=(const RecordingBinaries&) = delete;

  // Returns a finder that this object must outlive. It opens the sources when it is first called.
  offline_unwind::BinaryFinder Finder();

 private:
  Result<const elf::ElfFile*> Find(const std::string& path, const BuildId& build_id);

  Input& input_;
  symbolize::SymbolOptions options_;
  std::optional<symbolize::SymbolSources> sources_;
  std::optional<symbolize::ProfileOrigin> recording_;
  symbolize::SymbolSources::BinaryFinder find_;
};

}  // namespace perftape::convert
