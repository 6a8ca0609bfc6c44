// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/push/push_answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "formats/base/base64.h"
#include "formats/base/bytes.h"

namespace perftape::serve {
namespace {

using std::chrono::seconds;
using Kind = PushVerdict::Kind;
using testing::HasSubstr;

// partial_success {rejected_profiles 3, error_message "full"}
constexpr std::string_view kPartial(
    "\x0a\x08\x08\x03\x12\x04"
    "full");

PushVerdict Http(unsigned status, std::string body = {}) {
  return VerdictOn({.status = status, .body = std::move(body)}, PushProtocol::kHttp);
}

TEST(HttpVerdict, DeliversOnlyWith200) {
  EXPECT_EQ(Http(200).kind, Kind::kDelivered);
  for (const unsigned status : {201U, 204U, 301U, 400U, 401U, 404U, 413U, 500U, 501U})
    EXPECT_EQ(Http(status).kind, Kind::kRefused) << status;
  for (const unsigned status : {429U, 502U, 503U, 504U})
    EXPECT_EQ(Http(status).kind, Kind::kRetry) << status;
}

TEST(HttpVerdict, TellsWhatWasRejected) {
  const PushVerdict verdict = Http(200, std::string(kPartial));
  EXPECT_EQ(verdict.kind, Kind::kDelivered);
  EXPECT_EQ(verdict.rejected_profiles, 3U);
  EXPECT_EQ(verdict.message, "full");
}

TEST(HttpVerdict, DeliversWithAnyBody) {
  const PushVerdict verdict = Http(200, "<html>\n");
  EXPECT_EQ(verdict.kind, Kind::kDelivered);
  EXPECT_THAT(verdict.message, HasSubstr("not an OTLP response"));
}

TEST(HttpVerdict, HasTheDelayOfTheReceiver) {
  HttpAnswer answer = {.status = 503, .retry_after = seconds(7)};
  EXPECT_EQ(VerdictOn(answer, PushProtocol::kHttp).retry_after, seconds(7));
  answer.status = 400;
  EXPECT_EQ(VerdictOn(answer, PushProtocol::kHttp).retry_after, std::nullopt);
}

TEST(HttpVerdict, RetriesWithoutAnAnswer) {
  const PushVerdict verdict = VerdictOn({.problem = "refused"}, PushProtocol::kHttp);
  EXPECT_EQ(verdict.kind, Kind::kRetry);
  EXPECT_EQ(verdict.message, "refused");
}

// google.rpc.Status with a detail of this type, and a delay of 7 s and 5 ns.
std::string Details(std::string_view type) {
  const std::string info("\x0a\x04\x08\x07\x10\x05", 6);
  std::string any = "\x0a" + std::string(1, static_cast<char>(type.size())) + std::string(type) +
                    "\x12" + std::string(1, static_cast<char>(info.size())) + info;
  any.insert(0, std::string("\x1a") + static_cast<char>(any.size()));
  return Base64(AsBytes(any));
}

PushVerdict Grpc(std::string status, std::string details = {}) {
  return VerdictOn({.status = 200, .grpc_status = std::move(status), .grpc_details = details},
                   PushProtocol::kGrpc);
}

TEST(GrpcVerdict, FollowsTheTableOfOtlp) {
  EXPECT_EQ(Grpc("0").kind, Kind::kDelivered);
  for (const char* status : {"1", "4", "10", "11", "14", "15"})
    EXPECT_EQ(Grpc(status).kind, Kind::kRetry) << status;
  for (const char* status : {"2", "3", "5", "6", "7", "8", "9", "12", "13", "16", "99"})
    EXPECT_EQ(Grpc(status).kind, Kind::kRefused) << status;
}

TEST(GrpcVerdict, RetriesAnExhaustedResourceOnlyWithRetryInfo) {
  const PushVerdict verdict = Grpc("8", Details("type.googleapis.com/google.rpc.RetryInfo"));
  EXPECT_EQ(verdict.kind, Kind::kRetry);
  EXPECT_EQ(verdict.retry_after, seconds(7) + std::chrono::nanoseconds(5));
  EXPECT_EQ(Grpc("8", Details("type.googleapis.com/google.rpc.HelpInfo")).kind, Kind::kRefused);
  EXPECT_EQ(Grpc("8", "?").kind, Kind::kRefused);
}

TEST(GrpcVerdict, ReadsTheMessageInItsFrame) {
  const std::string frame = std::string("\0\0\0\0\x0a", 5) + std::string(kPartial);
  HttpAnswer answer = {.status = 200, .body = frame, .grpc_status = "0"};
  EXPECT_EQ(VerdictOn(answer, PushProtocol::kGrpc).rejected_profiles, 3U);
  answer.body.pop_back();
  EXPECT_EQ(VerdictOn(answer, PushProtocol::kGrpc).rejected_profiles, 0U);
}

TEST(GrpcVerdict, UnderstandsProxies) {
  EXPECT_EQ(VerdictOn({.status = 503}, PushProtocol::kGrpc).kind, Kind::kRetry);
  EXPECT_EQ(VerdictOn({.status = 404}, PushProtocol::kGrpc).kind, Kind::kRefused);
  EXPECT_EQ(Grpc("").kind, Kind::kRetry);
}

PushVerdict Pyroscope(unsigned status, std::string body = {}) {
  return VerdictOn({.status = status, .body = std::move(body), .retry_after = seconds(7)},
                   PushProtocol::kPyroscope);
}

TEST(PyroscopeVerdict, FollowsTheCodesOfConnect) {
  EXPECT_EQ(Pyroscope(200, "any").kind, Kind::kDelivered);
  for (const unsigned status : {400U, 401U, 403U, 404U, 413U, 415U, 422U, 500U, 501U})
    EXPECT_EQ(Pyroscope(status).kind, Kind::kRefused) << status;
  for (const unsigned status : {408U, 409U, 429U, 502U, 503U, 504U})
    EXPECT_EQ(Pyroscope(status).kind, Kind::kRetry) << status;
  EXPECT_EQ(Pyroscope(500, R"({"code":"unknown","message":"too few"})").kind, Kind::kRetry);
  EXPECT_EQ(Pyroscope(500, R"({"code":"internal"})").kind, Kind::kRefused);
}

TEST(PyroscopeVerdict, HasTheDelayAndTheMessage) {
  EXPECT_EQ(Pyroscope(429).retry_after, seconds(7));
  EXPECT_EQ(Pyroscope(400).retry_after, std::nullopt);
  EXPECT_THAT(Pyroscope(400, "too\x1blong").message, HasSubstr("status 400: too"));
}

TEST(PushBody, OfGrpcHasItsLength) {
  const std::vector<std::byte> gzip(0x102, std::byte{7});
  EXPECT_EQ(BodyOf(gzip, PushProtocol::kHttp), gzip);
  EXPECT_EQ(BodyOf(gzip, PushProtocol::kPyroscope), gzip);
  const std::vector<std::byte> body = BodyOf(gzip, PushProtocol::kGrpc);
  EXPECT_EQ(std::string(AsText(body).substr(0, 6)), std::string("\x01\0\0\x01\x02\x07", 6));
  EXPECT_EQ(body.size(), gzip.size() + 5);
}

}  // namespace
}  // namespace perftape::serve
