// SPDX-License-Identifier: Apache-2.0
// The fields of each message and their numbers, for reading and writing. A visitor that writes
// visits all fields once. A visitor that reads visits all fields for each field of the input, and
// uses the one with the same number. `M` is the message type when reading, and const when writing.
#pragma once

#include <concepts>
#include <type_traits>

#include "formats/pprof/messages.h"
#include "formats/pprof/schema.h"

namespace perftape::pprof {

template <class M, class Message>
concept Is = std::same_as<std::remove_const_t<M>, Message>;

template <class Visitor, Is<ValueType> M>
void Layout(Visitor& field, M& message) {
  field(ValueTypeField::kType, message.type);
  field(ValueTypeField::kUnit, message.unit);
}

template <class Visitor, Is<Label> M>
void Layout(Visitor& field, M& message) {
  field(LabelField::kKey, message.key);
  field(LabelField::kStr, message.str);
  field(LabelField::kNum, message.num);
  field(LabelField::kNumUnit, message.num_unit);
}

template <class Visitor, Is<Sample> M>
void Layout(Visitor& field, M& message) {
  field(SampleField::kLocationId, message.location_ids);
  field(SampleField::kValue, message.values);
  field(SampleField::kLabel, message.labels);
}

template <class Visitor, Is<Mapping> M>
void Layout(Visitor& field, M& message) {
  field(MappingField::kId, message.id);
  field(MappingField::kMemoryStart, message.memory_start);
  field(MappingField::kMemoryLimit, message.memory_limit);
  field(MappingField::kFileOffset, message.file_offset);
  field(MappingField::kFilename, message.filename);
  field(MappingField::kBuildId, message.build_id);
  field(MappingField::kHasFunctions, message.has_functions);
  field(MappingField::kHasFilenames, message.has_filenames);
  field(MappingField::kHasLineNumbers, message.has_line_numbers);
  field(MappingField::kHasInlineFrames, message.has_inline_frames);
}

template <class Visitor, Is<Line> M>
void Layout(Visitor& field, M& message) {
  field(LineField::kFunctionId, message.function_id);
  field(LineField::kLine, message.line);
  field(LineField::kColumn, message.column);
}

template <class Visitor, Is<Location> M>
void Layout(Visitor& field, M& message) {
  field(LocationField::kId, message.id);
  field(LocationField::kMappingId, message.mapping_id);
  field(LocationField::kAddress, message.address);
  field(LocationField::kLine, message.lines);
  field(LocationField::kIsFolded, message.is_folded);
  field(LocationField::kSymbolOffset, message.symbol_offset);
}

template <class Visitor, Is<Function> M>
void Layout(Visitor& field, M& message) {
  field(FunctionField::kId, message.id);
  field(FunctionField::kName, message.name);
  field(FunctionField::kSystemName, message.system_name);
  field(FunctionField::kFilename, message.filename);
  field(FunctionField::kStartLine, message.start_line);
}

template <class Visitor, Is<Header> M>
void Layout(Visitor& field, M& message) {
  field(ProfileField::kSampleType, message.sample_types);
  field(ProfileField::kDropFrames, message.drop_frames);
  field(ProfileField::kKeepFrames, message.keep_frames);
  field(ProfileField::kTimeNanos, message.time_nanos);
  field(ProfileField::kDurationNanos, message.duration_nanos);
  field(ProfileField::kPeriodType, message.period_type);
  field(ProfileField::kPeriod, message.period);
  field(ProfileField::kComment, message.comments);
  field(ProfileField::kDefaultSampleType, message.default_sample_type);
  field(ProfileField::kDocUrl, message.doc_url);
}

template <class Visitor, Is<Profile> M>
void Layout(Visitor& field, M& message) {
  Layout(field, message.header);
  field(ProfileField::kSample, message.samples);
  field(ProfileField::kMapping, message.mappings);
  field(ProfileField::kLocation, message.locations);
  field(ProfileField::kFunction, message.functions);
  field(ProfileField::kStringTable, message.string_table);
}

}  // namespace perftape::pprof
