// SPDX-License-Identifier: Apache-2.0
// Writes ProfilesData one message at a time, so that only the encoded bytes are in memory:
//
//   Writer writer(Encoding::kProtobuf);
//   const Index stack = writer.Add(Stack{.locations = {writer.Add(Location{...})}});
//   writer.BeginResource(resource, scope);
//   writer.BeginProfile({.sample_type = {{writer.Text("cpu"), writer.Text("nanoseconds")}}});
//   writer.Add(Sample{.stack = stack, .values = {1}});
//   const std::string file = std::move(writer).Finish();
//
// A profile ends where the next one or the next resource begins. Entry 0 of each table is there
// from the start.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "formats/otlp/messages.h"

namespace perftape::otlp {

// JSON is that of OTLP: protobuf's, with the ids of traces, spans and profiles in hexadecimal.
enum class Encoding : std::uint8_t { kProtobuf, kJson };

class Writer {
 public:
  explicit Writer(Encoding encoding);

  // The index of `text` in the string table, which contains it once. Bytes that are not UTF-8
  // become U+FFFD, because readers reject a file with other bytes.
  Index Text(std::string_view text);

  // Each adds an entry to its table, and returns the index. Texts of attributes become UTF-8, too.
  Index Add(const Mapping& mapping);
  Index Add(const Location& location);
  Index Add(const Function& function);
  Index Add(const Link& link);
  Index Add(KeyValueAndUnit attribute);
  Index Add(const Stack& stack);

  void BeginResource(Resource resource, Scope scope);
  void BeginProfile(const ProfileHeader& header);
  void Add(const Sample& sample);

  // Returns the whole file.
  std::string Finish() &&;

 private:
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  struct Table {
    std::string encoded;
    Index count = 0;
  };

  template <class Entry>
  Index AddTo(Table& table, const Entry& entry);
  void AddText(std::string_view text);
  void EndProfile();
  void EndResource();
  bool is_json() const { return encoding_ == Encoding::kJson; }

  Encoding encoding_;
  Table mappings_, locations_, functions_, links_, strings_, attributes_, stacks_;
  std::unordered_map<std::string, Index, TextHash, std::equal_to<>> texts_;
  std::string resources_;         // encoded
  std::string resource_, scope_;  // of the current one
  std::string profiles_;          // its profiles
  std::string profile_;           // the current one
  bool has_resource_ = false, has_profile_ = false, has_sample_ = false;
};

}  // namespace perftape::otlp
