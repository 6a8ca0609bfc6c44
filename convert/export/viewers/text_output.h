// SPDX-License-Identifier: Apache-2.0
// The text of an output, which is written piece by piece.
#pragma once

#include <cstddef>
#include <string>

#include "formats/base/output_file.h"
#include "formats/base/result.h"

namespace perftape::viewers {

class TextOutput {
 public:
  // `out` must outlive this object.
  explicit TextOutput(OutputFile& out) : out_(out) {}

  // Append to this text. Then call FlushIfLarge, at the end Flush.
  std::string text;

  Status FlushIfLarge() { return text.size() < kLarge ? Status() : Flush(); }
  Status Flush() {
    TRY(out_.Write(text));
    text.clear();
    return {};
  }

 private:
  static constexpr std::size_t kLarge = 65536;

  OutputFile& out_;
};

}  // namespace perftape::viewers
