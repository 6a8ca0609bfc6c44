// SPDX-License-Identifier: Apache-2.0
// The text of an output, which is written piece by piece.
#pragma once

#include <cstddef>
#include <string>

#include "formats/base/output_file.h"
#include "formats/base/result.h"
#include "formats/pprof/gzip_writer.h"

namespace perftape::viewers {

class TextOutput {
 public:
  // `out` must outlive this object. If `gzip` is not null, the text is written to it, not to `out`.
  explicit TextOutput(OutputFile& out, pprof::GzipWriter* gzip = nullptr)
      : out_(out), gzip_(gzip) {}

  // Append to this text. Then call FlushIfLarge, at the end Flush.
  std::string text;

  Status FlushIfLarge() { return text.size() < kLarge ? Status() : Flush(); }
  Status Flush() {
    TRY(gzip_ != nullptr ? gzip_->Write(text) : out_.Write(text));
    text.clear();
    return {};
  }

 private:
  static constexpr std::size_t kLarge = 65536;

  OutputFile& out_;
  pprof::GzipWriter* gzip_;
};

}  // namespace perftape::viewers
