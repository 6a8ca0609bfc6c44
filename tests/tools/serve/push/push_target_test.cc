// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/push/push_target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "tests/support/temp_dir.h"

namespace perftape::serve {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

std::string UrlOf(std::string_view text) {
  const Result<PushTarget> target = ParsePushTarget("--otlp", text);
  return target ? target->url : target.error().message;
}

TEST(ParsePushTarget, AppendsThePathOfProfiles) {
  EXPECT_EQ(UrlOf("https://collector:4318"), "https://collector:4318/v1development/profiles");
  EXPECT_EQ(UrlOf("http://[::1]:4318/"), "http://[::1]:4318/v1development/profiles");
  EXPECT_EQ(UrlOf("https://a.example/otlp"), "https://a.example/otlp/v1development/profiles");
  EXPECT_EQ(UrlOf("https://a.example/v2/profiles"), "https://a.example/v2/profiles");
}

TEST(ParsePushTarget, EncryptsWithoutAScheme) {
  EXPECT_EQ(UrlOf("collector:4318"), "https://collector:4318/v1development/profiles");
  EXPECT_THAT(UrlOf("collector"), StartsWith("https:"));
  EXPECT_THAT(UrlOf("grpc://collector"), StartsWith("http:"));
}

TEST(ParsePushTarget, ChoosesGrpcByTheScheme) {
  constexpr std::string_view kExport =
      "/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export";
  EXPECT_EQ(UrlOf("grpcs://collector"), "https://collector:4317" + std::string(kExport));
  EXPECT_EQ(UrlOf("grpc://[::1]:99"), "http://[::1]:99" + std::string(kExport));
  EXPECT_EQ(ParsePushTarget("--otlp", "grpc://a")->protocol, PushProtocol::kGrpc);
}

TEST(ParsePushTarget, RefusesOtherTexts) {
  for (const char* text : {"", "https://", "https://:4318", "https://a:", "https://a:x",
                           "https://a:123456", "https://[::1", "https://a b", "https://a/?x=1",
                           "https://a/#x", "https://[]:1", "https://a\n.b"}) {
    EXPECT_THAT(UrlOf(text), HasSubstr("is not a URL")) << text;
  }
  EXPECT_THAT(UrlOf("ftp://a"), HasSubstr("use https://"));
  EXPECT_THAT(UrlOf("grpc://a/path"), HasSubstr("a gRPC URL has no path"));
  EXPECT_THAT(UrlOf("https://user:secret@a"), HasSubstr("use --otlp-headers"));
}

std::string OtherUrlOf(std::string_view text) {
  const Result<PushTarget> target = ParseOtherTarget("--push", text);
  return target ? target->url : target.error().message;
}

TEST(ParseOtherTarget, AppendsThePathOfPyroscope) {
  constexpr std::string_view kPath = "/push.v1.PusherService/Push";
  EXPECT_EQ(OtherUrlOf("pyroscope=http://[::1]:4040"), "http://[::1]:4040" + std::string(kPath));
  EXPECT_EQ(OtherUrlOf("pyroscope=host/base/"), "https://host/base" + std::string(kPath));
  const std::string whole = "https://host" + std::string(kPath);
  EXPECT_EQ(OtherUrlOf("pyroscope=" + whole), whole);
  const PushTarget target = ParseOtherTarget("--push", "pyroscope=host").value();
  EXPECT_EQ(target.protocol, PushProtocol::kPyroscope);
  EXPECT_EQ(target.text, "host");
}

TEST(ParseOtherTarget, RefusesOtherTexts) {
  for (const char* text : {"", "http://a", "parca=http://a"})
    EXPECT_THAT(OtherUrlOf(text), HasSubstr("use pyroscope=https://HOST:PORT")) << text;
  EXPECT_THAT(OtherUrlOf("pyroscope=grpc://a"), HasSubstr("pyroscope=http://"));
  EXPECT_THAT(OtherUrlOf("pyroscope="), HasSubstr("is not a URL"));
  EXPECT_THAT(OtherUrlOf("pyroscope=http://user:secret@a"), HasSubstr("use --otlp-headers"));
}

TEST(ParseHeaders, ReturnsOneForEachLine) {
  EXPECT_THAT(*ParseHeaders("# a comment\n\n A: b \r\nX-Scope-OrgID:c\nLast:", "f"),
              ElementsAre("A: b", "X-Scope-OrgID: c", "Last: "));
}

TEST(ParseHeaders, NamesTheLineAndNotItsSecret) {
  for (const char* text : {"A: b\nsecret", "A: b\n: secret", "A: b\nsec ret: x", "A: b\nB: \x01"}) {
    const auto headers = ParseHeaders(text, "f");
    ASSERT_FALSE(headers.has_value()) << text;
    EXPECT_EQ(headers.error().message, "f:2: is not a header: use NAME: VALUE");
  }
}

TEST(ReadHeaders, RefusesAFileThatOthersCanRead) {
  const TempDir directory;
  const std::string path = (directory.path() / "headers").native();
  std::ofstream(path) << "A: b\n";
  ASSERT_EQ(chmod(path.c_str(), 0644), 0);
  EXPECT_THAT(ReadHeaders(path).error().message, HasSubstr("chmod 600"));
  ASSERT_EQ(chmod(path.c_str(), 0600), 0);
  EXPECT_THAT(ReadHeaders(path).value(), ElementsAre("A: b"));
}

TEST(ReadCertificates, NeedsWholeOnes) {
  const TempDir directory;
  const std::string path = (directory.path() / "ca.pem").native();
  const std::string begin = "-----BEGIN CERTIFICATE-----\n", end = "-----END CERTIFICATE-----";
  const auto is_read = [&](const std::string& text) {
    std::ofstream(path) << text;
    return ReadCertificates(path).has_value();
  };
  EXPECT_TRUE(is_read(begin + "AA==\n" + end));
  EXPECT_TRUE(is_read("# of a test\n" + begin + "AA==\n" + end + "\r\n" + begin + "AA==\n" + end));
  EXPECT_TRUE(is_read("-----BEGIN TRUSTED CERTIFICATE-----\n-----END TRUSTED CERTIFICATE-----\n"));
  EXPECT_FALSE(is_read(""));
  EXPECT_FALSE(is_read(begin + "AA==\n"));
  EXPECT_FALSE(is_read(begin + "AA==\n" + end + "\n" + begin + "AA"));
  EXPECT_FALSE(is_read("-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n"));
}

}  // namespace
}  // namespace perftape::serve
