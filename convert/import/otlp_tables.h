// SPDX-License-Identifier: Apache-2.0
// The dictionary of an OTLP file: what samples refer to. It is added to a ProfileBuilder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convert/import/dictionary_tables.h"
#include "convert/import/import_report.h"
#include "convert/model/profile.h"
#include "convert/model/profile_builder.h"
#include "formats/base/bytes.h"
#include "formats/base/result.h"
#include "formats/otlp/messages.h"

namespace perftape::convert {

// An attribute as labels with its key: several if it is an array, none if it has no value.
struct OtlpAttribute {
  std::string_view key = {};                 // of the file
  std::string_view text = {};                // of a text; "true" or "false"; else empty
  std::vector<std::string_view> texts = {};  // of an array
  std::vector<Label> labels = {};

  bool is_number() const { return labels.size() == 1 && labels.front().text == StringId{}; }
};

struct OtlpStack {
  StackId id = {};
  std::uint64_t frames = 0, unmapped = 0;
};

struct OtlpLink {
  std::string_view trace_id = {}, span_id = {};  // bytes
};

// The maximum number of left-out attributes of each kind that a report names.
inline constexpr std::size_t kMostLosses = 20;

// A function returns null if the index is not in the table.
class OtlpTables {
 public:
  // The builder and the bytes must outlive the result.
  static Result<OtlpTables> Read(Bytes file, const DictionaryLimits& limits,
                                 ProfileBuilder& builder, ImportReport& report);

  TextTable& texts() { return texts_; }
  // Null for the first entry, too, which is "not set".
  const OtlpAttribute* FindAttribute(otlp::Index index) const;
  const OtlpAttribute* FindByKey(std::span<const otlp::Index> attributes,
                                 std::string_view key) const;
  const OtlpStack* FindStack(otlp::Index index) const;
  const OtlpLink* FindLink(otlp::Index index) const;

  // Returns the attribute of a resource or a scope.
  OtlpAttribute ToAttribute(const otlp::KeyValue& attribute);

  // Whether all these are indexes of attributes.
  bool HasAttributes(std::span<const otlp::Index> indexes) const;

 private:
  explicit OtlpTables(TextTable texts, ProfileBuilder& builder)
      : texts_(std::move(texts)), builder_(&builder) {}

  Status ReadAttributes(Bytes dictionary, Bytes file);
  Status ReadMappings(Bytes dictionary, Bytes file, ImportReport& report);
  Status ReadFunctions(Bytes dictionary, Bytes file);
  Status ReadLocations(Bytes dictionary, Bytes file, ImportReport& report);
  Status ReadStacks(Bytes dictionary, Bytes file, std::uint64_t max_frames);
  Status ReadLinks(Bytes dictionary, Bytes file);
  Status FindKernelMappings(Bytes dictionary, Bytes file);
  Status AddLocation(const otlp::Location& read, ImportReport& report);
  void NoteLosses(std::span<const otlp::Index> attributes, ImportReport& report);
  MappingAt MappingOf(const otlp::Location& read, bool is_kernel);
  OtlpAttribute Converted(std::string_view key, const otlp::AnyValue* value, StringId unit);
  bool IsKernelFrame(std::span<const otlp::Index> attributes) const;
  std::string_view TextOf(std::span<const otlp::Index> attributes, std::string_view key) const;
  bool FlagOf(std::span<const otlp::Index> attributes, std::string_view key) const;
  void AddValue(const otlp::AnyValue& value, const Label& label, std::vector<Label>& labels);

  TextTable texts_;
  ProfileBuilder* builder_;
  std::vector<OtlpAttribute> attributes_;
  std::vector<bool> is_noted_;  // by attribute: whether it was looked at as that of a table
  std::set<std::string> losses_;
  std::vector<bool> is_kernel_;  // by mapping
  std::vector<MappingAt> mappings_;
  std::vector<FunctionId> functions_;
  std::vector<DictionaryLocation> locations_;
  std::vector<OtlpStack> stacks_;
  std::vector<OtlpLink> links_;
  std::vector<Line> lines_;
};

}  // namespace perftape::convert
