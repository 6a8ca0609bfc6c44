// SPDX-License-Identifier: Apache-2.0
// Writes profile.proto one message at a time, so that only the encoded bytes are in memory:
//
//   Writer writer;
//   writer.Add(Header{.sample_types = {{writer.Text("cpu"), writer.Text("nanoseconds")}}});
//   writer.Add(Function{.id = 1, .name = writer.Text("main")});
//   ...
//   TRY_ASSIGN(const std::vector<std::byte> file, std::move(writer).Finish());
//
// protobuf allows messages in any order. The caller ensures that ids are consistent.
#pragma once

#include <cstddef>
#include <functional>
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

  // The index of `text` in the string table, which contains it once. Bytes that are not UTF-8
  // become U+FFFD, because Go rejects a profile with other bytes.
  StringIndex Text(std::string_view text);

  // Call it once.
  void Add(const Header& header);
  void Add(const Mapping& mapping);
  void Add(const Location& location);
  void Add(const Function& function);
  void Add(const Sample& sample);

  // Returns the whole file: gzip with one member, without a time or a name, so that equal profiles
  // give equal files. `level` is Gzip's. Returns kIo if there is not enough memory.
  Result<std::vector<std::byte>> Finish(int level = kDefaultGzipLevel) &&;
  // The same without compression. Go reads that too.
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
