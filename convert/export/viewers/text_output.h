// SPDX-License-Identifier: Apache-2.0
// The text of an output, which is written piece by piece, and what JSON files consist of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "formats/base/output_file.h"
#include "formats/base/result.h"
#include "formats/base/text.h"
#include "formats/pprof/gzip_writer.h"

namespace perftape::viewers {

// The text of an output, which is written piece by piece.
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

// A table of a JSON file that is written column by column: {"length":2,"a":[1,2],"b":[3,null]}.
//
// Writes `,"name":[...]`. `append` is called with the output's text for each entry, and appends its
// value.
template <class Entries, class Append>
Status WriteColumn(TextOutput& out, std::string_view name, const Entries& entries, Append append) {
  AppendFormat(out.text, ",\n\"{}\":[", name);
  bool is_first = true;
  for (const auto& entry : entries) {
    if (!is_first) out.text += ',';
    is_first = false;
    append(out.text, entry);
    TRY(out.FlushIfLarge());
  }
  out.text += ']';
  return {};
}

// Writes a column of equal values.
template <class Entries>
Status WriteConstant(TextOutput& out, std::string_view name, const Entries& entries,
                     std::string_view value) {
  return WriteColumn(out, name, entries,
                     [value](std::string& text, const auto&) { text += value; });
}

// Appends a number, or null.
inline void AppendNumberOrNull(std::string& out, std::uint64_t number, bool is_null) {
  if (is_null) {
    out += "null";
  } else {
    AppendFormat(out, "{}", number);
  }
}

}  // namespace perftape::viewers
