// SPDX-License-Identifier: Apache-2.0
// A file in which every field that is read and written has a value.
#pragma once

#include <string>
#include <string_view>

#include "formats/otlp/writer.h"

namespace perftape::otlp {

inline std::string FileWithEveryField(Encoding encoding) {
  constexpr std::string_view kTraceId = "0123456789abcdef";
  Writer writer(encoding);
  const Index cpu = writer.Text("cpu");
  const Index ns = writer.Text("nanoseconds");
  const Index attribute = writer.Add(KeyValueAndUnit{
      .key = writer.Text("wait"), .value = AnyValue{.integer = 0}, .unit = writer.Text("ns")});
  const Index flag =
      writer.Add(KeyValueAndUnit{.key = writer.Text("flag"), .value = AnyValue{.boolean = false}});
  const Index mapping = writer.Add(Mapping{.memory_start = 0xffff'ffff'8000'0000,
                                           .memory_limit = 0xffff'ffff'9000'0000,
                                           .file_offset = 0x1000,
                                           .filename = writer.Text("/bin/app"),
                                           .attributes = {attribute}});
  const Index function = writer.Add(Function{.name = writer.Text("main"),
                                             .system_name = writer.Text("_main"),
                                             .filename = writer.Text("a.c"),
                                             .start_line = 3});
  const Index location =
      writer.Add(Location{.mapping = mapping,
                          .address = 0xffff'ffff'8000'0010,
                          .lines = {{.function = function, .line = 4, .column = 5}, {}},
                          .attributes = {flag, attribute}});
  const Index stack = writer.Add(Stack{.locations = {location, 0, location}});
  const Index link = writer.Add(Link{.trace_id = {kTraceId}, .span_id = {kTraceId.substr(8)}});
  const AnyValue values = {
      .array =
          ArrayValue{.values = {AnyValue{.text = "a \"quoted\" text"}, AnyValue{.real = -0.25},
                                AnyValue{.bytes = {{"\xff\x01z"}}}, AnyValue{.text_index = cpu},
                                AnyValue{.pairs = KeyValueList({{.key = "k"}})}}}};
  writer.BeginResource(
      {.attributes = {{.key = "host.name", .value = AnyValue{.text = "box"}},
                      {.value = AnyValue{.integer = -5}, .key_index = cpu}}},
      {.name = "scope", .version = "1", .attributes = {{.key = "list", .value = values}}});
  writer.BeginProfile({.sample_type = ValueType{cpu, ns},
                       .time_unix_ns = {1'700'000'000'000'000'001},
                       .duration_ns = 5,
                       .period_type = ValueType{ns, cpu},
                       .period = -7,
                       .profile_id = {kTraceId},
                       .original_payload_format = "text",
                       .original_payload = {"\1\2"},
                       .attributes = {attribute}});
  writer.Add(Sample{.stack = stack,
                    .attributes = {flag},
                    .link = link,
                    .values = {-3, 1'700'000'000'000'000'001},
                    .times_unix_ns = {{1}, {1'700'000'000'000'000'001}}});
  writer.Add(Sample{.values = {0}});
  writer.BeginProfile({.sample_type = ValueType{cpu, ns}});
  writer.BeginResource({}, {});
  writer.BeginProfile({});
  return std::move(writer).Finish();
}

}  // namespace perftape::otlp
