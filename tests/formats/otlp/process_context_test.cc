// SPDX-License-Identifier: Apache-2.0
#include "formats/otlp/process_context.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "tests/support/matchers.h"

namespace perftape::otlp {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

std::string Message(int field, const std::string& content) {
  EXPECT_LT(content.size(), std::size_t{1} << 14);
  std::string bytes = {static_cast<char>(field << 3 | 2)};
  bytes += static_cast<char>((content.size() & 0x7f) | 0x80);
  bytes += static_cast<char>(content.size() >> 7);
  return bytes + content;
}

std::string Attribute(const std::string& key, const std::string& text) {
  return Message(1, Message(1, key) + Message(2, Message(1, text)));
}

std::string Header(std::uint32_t version, std::uint32_t payload_bytes) {
  std::string bytes(ProcessContextHeader::kBytes, '\0');
  const std::uint64_t words[] = {77, 0x7f0000001000};
  std::memcpy(bytes.data(), "OTEL_CTX", 8);
  std::memcpy(bytes.data() + 8, &version, sizeof version);
  std::memcpy(bytes.data() + 12, &payload_bytes, sizeof payload_bytes);
  std::memcpy(bytes.data() + 16, words, sizeof words);
  return bytes;
}

TEST(ProcessContext, IsInMappingsOfItsName) {
  for (const char* name :
       {"/memfd:OTEL_CTX (deleted)", "[anon_shmem:OTEL_CTX]", "[anon:OTEL_CTX]"}) {
    EXPECT_TRUE(IsProcessContextMapping(name)) << name;
  }
  for (const char* name : {"", "OTEL_CTX", "/tmp/memfd:OTEL_CTX", "[anon:OTEL_CTX2]", "[heap]"}) {
    EXPECT_FALSE(IsProcessContextMapping(name)) << name;
  }
}

TEST(ProcessContext, HasAHeaderOfVersion2) {
  EXPECT_EQ(DecodeProcessContextHeader(AsBytes(Header(2, 65536))).value(),
            (ProcessContextHeader{77, 0x7f0000001000, 65536}));
  EXPECT_THAT(DecodeProcessContextHeader(AsBytes(Header(3, 1))),
              FailsWith(ErrorCode::kUnsupported, HasSubstr("version 3 at offset 8")));
  EXPECT_THAT(DecodeProcessContextHeader(AsBytes(Header(2, 65537))),
              FailsWith(ErrorCode::kCorrupt, HasSubstr("65537 bytes at offset 12")));
  EXPECT_THAT(DecodeProcessContextHeader(AsBytes(Header(2, 1).substr(1) + " ")),
              FailsWith(ErrorCode::kCorrupt, HasSubstr("signature")));
  EXPECT_THAT(DecodeProcessContextHeader(AsBytes(Header(2, 1).substr(0, 31))),
              FailsWith(ErrorCode::kCorrupt, HasSubstr("shorter than its header")));
}

TEST(ProcessContext, GivesTheAttributesOfTheService) {
  const std::string resource = Attribute("telemetry.sdk.name", "x") +
                               Attribute("service.version", "1.2") +
                               Attribute("service.name", "cart") + Attribute("host.name", "h");
  const std::string payload = Message(1, resource) + Message(2, "");
  EXPECT_THAT(DecodeServiceAttributes(AsBytes(payload)).value(),
              ElementsAre(Pair("service.name", "cart"), Pair("service.version", "1.2")));
}

TEST(ProcessContext, LeavesOutWhatIsNoTextOrTooLong) {
  const std::string number = Message(1, Message(1, "service.name") + Message(2, "\x18\x05"));
  const std::string none = Message(1, Message(1, "service.version"));
  const std::string longest(kLongestServiceAttribute, 'a');
  const std::string resource = number + none + Attribute("service.namespace", "") +
                               Attribute("deployment.environment", longest + "a") +
                               Attribute("service.instance.id", longest);
  EXPECT_THAT(DecodeServiceAttributes(AsBytes(Message(1, resource))).value(),
              ElementsAre(Pair("service.instance.id", longest)));
  EXPECT_THAT(DecodeServiceAttributes({}).value(), IsEmpty());
}

TEST(ProcessContext, IsCorruptIfItIsCut) {
  const std::string payload = Message(1, Attribute("service.name", "cart"));
  for (std::size_t size = 1; size < payload.size(); ++size) {
    EXPECT_THAT(DecodeServiceAttributes(AsBytes(payload.substr(0, size))),
                FailsWith(ErrorCode::kCorrupt));
  }
}

}  // namespace
}  // namespace perftape::otlp
