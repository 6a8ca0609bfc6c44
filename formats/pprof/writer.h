// SPDX-License-Identifier: Apache-2.0
// Writes profile.proto one message at a time, so that no more than the encoded bytes is kept:
//
//   Writer writer;
//   writer.Add(Header{.sample_types = {{writer.Text("cpu"), writer.Text("nanoseconds")}}});
//   writer.Add(Function{.id = 1, .name = writer.Text("main")});
//   ...
//   TRY_ASSIGN(const std::vector<std::byte> file, std::move(writer).Finish());
//
// The messages may come in any order: protobuf has none. Whether ids fit each other is the
// caller's business.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "formats/base/result.h"
#include "formats/pprof/gzip.h"
#include "formats/pprof/messages.h"

namespace perftape::pprof {

class Writer {
 public:
  Writer();

  // The index of `text` in the string table, which holds it once. Bytes that are not UTF-8 become
  // U+FFFD: Go refuses a profile with any other.
  StringIndex Text(std::string_view text);

  // Once.
  void Add(const Header& header);
  void Add(const Mapping& mapping);
  void Add(const Location& location);
  void Add(const Function& function);
  void Add(const Sample& sample);

  // The whole file: gzip, one member, without a time or a name, so that equal profiles are equal
  // files. `level` as Gzip takes it. kIo where memory runs out.
  Result<std::vector<std::byte>> Finish(int level = kDefaultGzipLevel) &&;
  // The same, not compressed: Go reads it, too.
  std::vector<std::byte> FinishPlain() &&;

 private:
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };

  std::string encoded_;
  std::unordered_map<std::string, StringIndex, TextHash, std::equal_to<>> texts_;
};

}  // namespace perftape::pprof
