// SPDX-License-Identifier: Apache-2.0
// The symbol sources that one recording adds to those shared by all recordings. These are its
// bundles, and the files of this machine if the recording was made on it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "convert/symbolize/jit_file_search.h"
#include "convert/symbolize/profile_origin.h"
#include "convert/symbolize/symbol_options.h"
#include "formats/bundle/bundle.h"

namespace perftape::symbolize {

using SharedBundle = std::shared_ptr<const bundle::Bundle>;

class RecordingSources {
 public:
  // `given` is the bundle that the user named, or null. `origin` and `options` must outlive this
  // object.
  RecordingSources(ProfileOrigin& origin, const SymbolOptions& options, SharedBundle given = {})
      : origin_(origin), options_(options), given_(std::move(given)) {}

  const ProfileOrigin& origin() const { return origin_; }

  // Returns the recording's own bundle, then the given one. The first call unpacks the own bundle.
  // Its manifest may identify the machine, which can change not_local().
  std::vector<SharedBundle> Bundles();

  // Returns why files of this machine must not be used; empty if they may be used.
  std::string not_local() const;

  JitSearchPath MakeJitSearchPath();

 private:
  ProfileOrigin& origin_;
  const SymbolOptions& options_;
  SharedBundle given_;
};

}  // namespace perftape::symbolize
