// SPDX-License-Identifier: Apache-2.0
#include "formats/otlp/writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "formats/otlp/reader.h"
#include "tests/formats/otlp/every_field.h"

namespace perftape::otlp {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(OtlpWriter, BeginsEveryTableWithAnEmptyEntry) {
  const std::string file = Writer(Encoding::kProtobuf).Finish();
  const Bytes dictionary = FindDictionary(AsBytes(file)).value();
  EXPECT_THAT(DecodeTexts(dictionary, AsBytes(file), 10).value(), ElementsAre(""));
  EXPECT_EQ(*TableCursor<Mapping>(dictionary, AsBytes(file)).Next().value(), Mapping{});
  EXPECT_EQ(*TableCursor<Location>(dictionary, AsBytes(file)).Next().value(), Location{});
  EXPECT_EQ(*TableCursor<Function>(dictionary, AsBytes(file)).Next().value(), Function{});
  EXPECT_EQ(*TableCursor<Stack>(dictionary, AsBytes(file)).Next().value(), Stack{});
  TableCursor<Link> links(dictionary, AsBytes(file));
  const Link* const link = links.Next().value();
  EXPECT_EQ(link->trace_id.bytes, std::string(16, '\0'));
  EXPECT_EQ(link->span_id.bytes, std::string(8, '\0'));
}

TEST(OtlpWriter, ContainsEachTextOnceAndAsUtf8) {
  Writer writer(Encoding::kProtobuf);
  EXPECT_EQ(writer.Text(""), 0);
  EXPECT_EQ(writer.Text("a"), 1);
  EXPECT_EQ(writer.Text("b\xff"), 2);
  EXPECT_EQ(writer.Text("a"), 1);
  const std::string file = std::move(writer).Finish();
  EXPECT_THAT(DecodeTexts(FindDictionary(AsBytes(file)).value(), AsBytes(file), 10).value(),
              ElementsAre("", "a", "b\ufffd"));
}

TEST(OtlpWriter, WritesTextsOfAttributesAsUtf8) {
  Writer writer(Encoding::kProtobuf);
  const AnyValue value = {.array = ArrayValue{.values = {AnyValue{.text = "a\xff"}}}};
  writer.Add(KeyValueAndUnit{.value = value});
  writer.BeginResource({.attributes = {{.key = "b\xff", .value = value}}},
                       {.attributes = {{.key = "c\xff", .value = AnyValue{.text = "d\xff"}}}});
  const std::string file = std::move(writer).Finish();
  EXPECT_EQ(file.find('\xff'), std::string::npos);
  for (const std::string_view text : {"a\ufffd", "b\ufffd", "c\ufffd", "d\ufffd"}) {
    EXPECT_NE(file.find(text), std::string::npos) << text;
  }
}

TEST(OtlpWriter, WritesTheJsonOfOtlp) {
  const std::string json = FileWithEveryField(Encoding::kJson);
  EXPECT_THAT(json, HasSubstr(R"("timeUnixNano":"1700000000000000001")"));
  EXPECT_THAT(json, HasSubstr(R"("profileId":"30313233343536373839616263646566")"));
  EXPECT_THAT(json, HasSubstr(R"("traceId":"00000000000000000000000000000000")"));
  EXPECT_THAT(json, HasSubstr(R"("values":["-3","1700000000000000001"])"));
  EXPECT_THAT(json, HasSubstr(R"("stackIndex":1,"attributeIndices":[2],"linkIndex":1)"));
  EXPECT_THAT(json, HasSubstr(R"("bytesValue":"/wF6")"));
  EXPECT_THAT(json, HasSubstr(R"("boolValue":false)"));
  EXPECT_THAT(json, HasSubstr(R"("intValue":"0")"));
  EXPECT_THAT(json, HasSubstr(R"("doubleValue":-0.25)"));
  EXPECT_THAT(json, HasSubstr(R"("stringTable":["","cpu","nanoseconds")"));
}

}  // namespace
}  // namespace perftape::otlp
