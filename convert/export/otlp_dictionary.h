// SPDX-License-Identifier: Apache-2.0
// The dictionary of an OTLP file: each entry of a profile is added when it is first used.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "convert/frames/frame_table.h"
#include "convert/model/profile.h"
#include "formats/otlp/messages.h"
#include "formats/otlp/writer.h"

namespace perftape::convert {

class OtlpDictionary {
 public:
  // Both must outlive this object.
  OtlpDictionary(const Profile& profile, otlp::Writer& writer);

  otlp::Index Text(std::string_view text) { return writer_.Text(text); }
  otlp::Index StackOf(StackId stack);
  // The attribute with this key, value and unit (a word). The table contains it once.
  otlp::Index Attribute(std::string_view key, const otlp::AnyValue& value,
                        std::string_view unit = {});
  // Appends the attributes of labels, one for each key: several labels of a key are an array. Keys
  // that `attributes` has must not be among them.
  void AppendLabels(std::span<const Label> labels, std::vector<otlp::Index>& attributes);
  otlp::Index LinkOf(std::string_view trace_id, std::string_view span_id);  // their bytes

  // The number of labels that were left out because an attribute has only one unit.
  std::uint64_t lost_labels() const { return lost_labels_; }

 private:
  using Indexes = std::vector<std::optional<otlp::Index>>;

  otlp::Index TextOf(StringId text);
  otlp::Index MappingOf(MappingId mapping);
  otlp::Index FunctionOf(FunctionId function);
  otlp::Index LocationOf(LocationId location);
  otlp::Index NewLocation(LocationId location);
  std::string_view FrameTypeOf(LocationId location) const;

  const Profile& profile_;
  otlp::Writer& writer_;
  const FrameTable frames_;
  Indexes texts_, mappings_, functions_, locations_, stacks_;
  std::unordered_map<std::string, otlp::Index> attributes_;  // by their JSON
  std::unordered_map<std::string, otlp::Index> links_;       // by both ids
  std::uint64_t lost_labels_ = 0;
};

// The value of labels of one key: an array if they are several.
otlp::AnyValue ValueOfLabels(const Profile& profile, std::span<const Label> labels);

// Calls `visit` with the labels of each key. Labels of a set are sorted by key.
template <class Visit>
void ForEachKey(std::span<const Label> labels, Visit visit) {
  while (!labels.empty()) {
    std::size_t count = 1;
    while (count < labels.size() && labels[count].key == labels.front().key) ++count;
    visit(labels.first(count));
    labels = labels.subspan(count);
  }
}

}  // namespace perftape::convert
