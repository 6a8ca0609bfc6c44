// SPDX-License-Identifier: Apache-2.0
#include "convert/recording_binaries.h"

#include <functional>

namespace perftape::convert {

offline_unwind::BinaryFinder RecordingBinaries::Finder() {
  return std::bind_front(&RecordingBinaries::Find, this);
}

Result<const elf::ElfFile*> RecordingBinaries::Find(const std::string& path,
                                                    const BuildId& build_id) {
  if (!find_) {
    TRY_ASSIGN(sources_, symbolize::SymbolSources::Open(options_));
    recording_.emplace(input_);
    find_ = sources_->BinariesOf(*recording_);
  }
  return find_(path, build_id);
}

}  // namespace perftape::convert
