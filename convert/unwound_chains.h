// SPDX-License-Identifier: Apache-2.0
// The callchains that replace the copies of registers and stacks in a recording, for a perf.data
// that is written again.
#pragma once

#include <memory>
#include <optional>

#include "convert/combine.h"
#include "convert/rewrite/normalize.h"
#include "convert/unwind/unwind_report.h"
#include "formats/base/input.h"
#include "formats/base/result.h"

namespace perftape::convert {

class UnwoundChains {
 public:
  // Reads a recording once for its mappings. It can be read again afterwards, and must outlive this
  // object. Fails as Reader::Open does.
  static Result<UnwoundChains> Open(Input& input, const CombineOptions& options);

  UnwoundChains(UnwoundChains&&) noexcept;
  UnwoundChains& operator=(UnwoundChains&&) noexcept;
  ~UnwoundChains();

  // Returns the callchain of the next SAMPLE record, in file order, if it has copies. Valid until
  // the next call.
  rewrite::NewChain Next();

  // Returns the counts so far.
  offline_unwind::UnwindReport Report() const;

 private:
  struct State;
  explicit UnwoundChains(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace perftape::convert
