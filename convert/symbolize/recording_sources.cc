// SPDX-License-Identifier: Apache-2.0
#include "convert/symbolize/recording_sources.h"

#include <utility>

namespace perftape::symbolize {

std::vector<SharedBundle> RecordingSources::Bundles() {
  std::vector<SharedBundle> bundles;
  if (auto own = origin_.OwnBundle()) bundles.push_back(std::move(own));
  if (given_) bundles.push_back(given_);
  return bundles;
}

std::string RecordingSources::not_local() const {
  switch (options_.local) {
    case LocalSystem::kAlways:
      return {};
    case LocalSystem::kNever:
      return "not asked";
    case LocalSystem::kSameBoot:
      break;
  }
  return origin_.machine().other_than_here;
}

JitSearchPath RecordingSources::MakeJitSearchPath() {
  std::vector<SharedBundle> bundles = Bundles();  // before not_local(), which it may change
  return {.bundles = std::move(bundles),
          .symfs = options_.symfs,
          .not_local = not_local(),
          .lives = origin_.machine().lives};
}

}  // namespace perftape::symbolize
