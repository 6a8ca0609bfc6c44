// SPDX-License-Identifier: Apache-2.0
// The symbol sources that one recording adds to those shared by all recordings: its bundles, and
// the files of this machine if the recording was made on it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "convert/symbolize/jit_files.h"
#include "convert/symbolize/recording.h"
#include "convert/symbolize/symbol_options.h"
#include "formats/bundle/bundle.h"

namespace perftape::symbolize {

using SharedBundle = std::shared_ptr<const bundle::Bundle>;

class RecordingSources {
 public:
  // `given` is the bundle that the user named, or null. `recording` and `options` must outlive
  // this.
  RecordingSources(Recording& recording, const SymbolOptions& options, SharedBundle given = {})
      : recording_(recording), options_(options), given_(std::move(given)) {}

  const Recording& recording() const { return recording_; }

  // The recording's own bundle first, then the given one. The first call unpacks the own bundle.
  // Its manifest may name the machine, which can change not_local().
  std::vector<SharedBundle> Bundles();

  // Why files of this machine may not be used; empty if they may.
  std::string not_local() const;

  JitSearchPath JitFiles();

 private:
  Recording& recording_;
  const SymbolOptions& options_;
  SharedBundle given_;
};

}  // namespace perftape::symbolize
