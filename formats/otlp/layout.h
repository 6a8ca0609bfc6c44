// SPDX-License-Identifier: Apache-2.0
// The fields of each message, with their numbers and their names in JSON, for reading and writing
// (formats/protobuf/field.h). ProfilesData and what is in it down to a profile are listed only to
// recognize files: they are read and written in pieces.
#pragma once

#include <concepts>
#include <optional>
#include <type_traits>
#include <vector>

#include "formats/otlp/messages.h"
#include "formats/protobuf/field.h"

namespace perftape::otlp {

using protobuf::Field;

// The fields that are read and written one message at a time.
inline constexpr Field kResourceProfiles = {1, "resourceProfiles"};  // of ProfilesData
inline constexpr Field kDictionary = {2, "dictionary"};
inline constexpr Field kResource = {1, "resource"};  // of ResourceProfiles
inline constexpr Field kScopeProfiles = {2, "scopeProfiles"};
inline constexpr Field kScope = {1, "scope"};  // of ScopeProfiles
inline constexpr Field kProfiles = {2, "profiles"};
inline constexpr Field kSamples = {2, "samples"};  // of Profile

// The tables of the dictionary.
template <class Entry>
inline constexpr Field kTable = {};
template <>
inline constexpr Field kTable<Mapping> = {1, "mappingTable"};
template <>
inline constexpr Field kTable<Location> = {2, "locationTable"};
template <>
inline constexpr Field kTable<Function> = {3, "functionTable"};
template <>
inline constexpr Field kTable<Link> = {4, "linkTable"};
inline constexpr Field kStringTable = {5, "stringTable"};
template <>
inline constexpr Field kTable<KeyValueAndUnit> = {6, "attributeTable"};
template <>
inline constexpr Field kTable<Stack> = {7, "stackTable"};

template <class M, class Message>
concept Is = std::same_as<std::remove_const_t<M>, Message>;

template <class Visitor, Is<AnyValue> M>
void Layout(Visitor& field, M& message) {
  field(Field{1, "stringValue"}, message.text);
  field(Field{2, "boolValue"}, message.boolean);
  field(Field{3, "intValue"}, message.integer);
  field(Field{4, "doubleValue"}, message.real);
  field(Field{5, "arrayValue"}, message.array);
  field(Field{6, "kvlistValue"}, message.pairs);
  field(Field{7, "bytesValue"}, message.bytes);
  field(Field{8, "stringValueStrindex"}, message.text_index);
}

template <class Visitor, Is<ArrayValue> M>
void Layout(Visitor& field, M& message) {
  field(Field{1, "values"}, message.values);
}

template <class Visitor, Is<KeyValueList> M>
void Layout(Visitor& field, M& message) {
  field(Field{1, "values"}, message.values);
}

template <class Visitor, Is<KeyValue> M>
void Layout(Visitor& field, M& message) {
  field(Field{1, "key"}, message.key);
  field(Field{2, "value"}, message.value);
  field(Field{3, "keyStrindex"}, message.key_index);
}

template <class Visitor, Is<KeyValueAndUnit> M>
void Layout(Visitor& field, M& message) {
  field(Field{1, "keyStrindex"}, message.key);
  field(Field{2, "value"}, message.value);
  field(Field{3, "unitStrindex"}, message.unit);
}

template <class Visitor, Is<Resource> M>
void Layout(Visitor& field, M& message) {
  field(Field{1, "attributes"}, message.attributes);
}

template <class Visitor, Is<Scope> M>
void Layout(Visitor& field, M& message) {
  field(Field{1, "name"}, message.name);
  field(Field{2, "version"}, message.version);
  field(Field{3, "attributes"}, message.attributes);
}

template <class Visitor, Is<ValueType> M>
void Layout(Visitor& field, M& message) {
  field(Field{1, "typeStrindex"}, message.type);
  field(Field{2, "unitStrindex"}, message.unit);
}

template <class Visitor, Is<Sample> M>
void Layout(Visitor& field, M& message) {
  field(Field{1, "stackIndex"}, message.stack);
  field(Field{2, "attributeIndices"}, message.attributes);
  field(Field{3, "linkIndex"}, message.link);
  field(Field{4, "values"}, message.values);
  field(Field{5, "timestampsUnixNano"}, message.times_unix_ns);
}

template <class Visitor, Is<ProfileHeader> M>
void Layout(Visitor& field, M& message) {
  field(Field{1, "sampleType"}, message.sample_type);
  field(Field{3, "timeUnixNano"}, message.time_unix_ns);
  field(Field{4, "durationNano"}, message.duration_ns);
  field(Field{5, "periodType"}, message.period_type);
  field(Field{6, "period"}, message.period);
  field(Field{7, "profileId"}, message.profile_id);
  field(Field{9, "originalPayloadFormat"}, message.original_payload_format);
  field(Field{10, "originalPayload"}, message.original_payload);
  field(Field{11, "attributeIndices"}, message.attributes);
}

template <class Visitor, Is<Mapping> M>
void Layout(Visitor& field, M& message) {
  field(Field{1, "memoryStart"}, message.memory_start);
  field(Field{2, "memoryLimit"}, message.memory_limit);
  field(Field{3, "fileOffset"}, message.file_offset);
  field(Field{4, "filenameStrindex"}, message.filename);
  field(Field{5, "attributeIndices"}, message.attributes);
}

template <class Visitor, Is<Line> M>
void Layout(Visitor& field, M& message) {
  field(Field{1, "functionIndex"}, message.function);
  field(Field{2, "line"}, message.line);
  field(Field{3, "column"}, message.column);
}

template <class Visitor, Is<Location> M>
void Layout(Visitor& field, M& message) {
  field(Field{1, "mappingIndex"}, message.mapping);
  field(Field{2, "address"}, message.address);
  field(Field{3, "lines"}, message.lines);
  field(Field{4, "attributeIndices"}, message.attributes);
}

template <class Visitor, Is<Function> M>
void Layout(Visitor& field, M& message) {
  field(Field{1, "nameStrindex"}, message.name);
  field(Field{2, "systemNameStrindex"}, message.system_name);
  field(Field{3, "filenameStrindex"}, message.filename);
  field(Field{4, "startLine"}, message.start_line);
}

template <class Visitor, Is<Link> M>
void Layout(Visitor& field, M& message) {
  field(Field{1, "traceId"}, message.trace_id);
  field(Field{2, "spanId"}, message.span_id);
}

template <class Visitor, Is<Stack> M>
void Layout(Visitor& field, M& message) {
  field(Field{1, "locationIndices"}, message.locations);
}

// A whole file, with the fields that perftape does not read.
struct WholeResource {
  Resource known = {};
  std::int64_t dropped_attributes_count = 0;
  std::vector<EncodedBytes> entity_refs = {};
};
struct WholeScope {
  Scope known = {};
  std::int64_t dropped_attributes_count = 0;
};
struct WholeProfile {
  ProfileHeader header = {};
  std::vector<Sample> samples = {};
  std::int64_t dropped_attributes_count = 0;
};
struct ScopeProfiles {
  std::optional<WholeScope> scope = {};
  std::vector<WholeProfile> profiles = {};
  std::string_view schema_url = {};
};
struct ResourceProfiles {
  std::optional<WholeResource> resource = {};
  std::vector<ScopeProfiles> scope_profiles = {};
  std::string_view schema_url = {};
};
struct Dictionary {
  std::vector<Mapping> mappings = {};
  std::vector<Location> locations = {};
  std::vector<Function> functions = {};
  std::vector<Link> links = {};
  std::vector<std::string_view> strings = {};
  std::vector<KeyValueAndUnit> attributes = {};
  std::vector<Stack> stacks = {};
};
// Also ExportProfilesServiceRequest, which has the same fields.
struct ProfilesData {
  std::vector<ResourceProfiles> resource_profiles = {};
  std::optional<Dictionary> dictionary = {};
};

template <class Visitor, Is<WholeResource> M>
void Layout(Visitor& field, M& message) {
  Layout(field, message.known);
  field(Field{2, "droppedAttributesCount"}, message.dropped_attributes_count);
  field(Field{3, "entityRefs"}, message.entity_refs);
}

template <class Visitor, Is<WholeScope> M>
void Layout(Visitor& field, M& message) {
  Layout(field, message.known);
  field(Field{4, "droppedAttributesCount"}, message.dropped_attributes_count);
}

template <class Visitor, Is<WholeProfile> M>
void Layout(Visitor& field, M& message) {
  Layout(field, message.header);
  field(kSamples, message.samples);
  field(Field{8, "droppedAttributesCount"}, message.dropped_attributes_count);
}

template <class Visitor, Is<ScopeProfiles> M>
void Layout(Visitor& field, M& message) {
  field(kScope, message.scope);
  field(kProfiles, message.profiles);
  field(Field{3, "schemaUrl"}, message.schema_url);
}

template <class Visitor, Is<ResourceProfiles> M>
void Layout(Visitor& field, M& message) {
  field(kResource, message.resource);
  field(kScopeProfiles, message.scope_profiles);
  field(Field{3, "schemaUrl"}, message.schema_url);
}

template <class Visitor, Is<Dictionary> M>
void Layout(Visitor& field, M& message) {
  field(kTable<Mapping>, message.mappings);
  field(kTable<Location>, message.locations);
  field(kTable<Function>, message.functions);
  field(kTable<Link>, message.links);
  field(kStringTable, message.strings);
  field(kTable<KeyValueAndUnit>, message.attributes);
  field(kTable<Stack>, message.stacks);
}

template <class Visitor, Is<ProfilesData> M>
void Layout(Visitor& field, M& message) {
  field(kResourceProfiles, message.resource_profiles);
  field(kDictionary, message.dictionary);
}

}  // namespace perftape::otlp
