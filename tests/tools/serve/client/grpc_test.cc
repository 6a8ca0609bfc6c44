// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/client/grpc.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

namespace perftape::serve {
namespace {

TEST(GrpcBody, HasTheEncodingAndTheLengthFirst) {
  const std::string message(258, 'x');
  const std::string body(AsText(GrpcBodyOf(AsBytes(message), GrpcEncoding::kGzip)));
  EXPECT_EQ(body, std::string("\x01\x00\x00\x01\x02", 5) + message);
  EXPECT_EQ(AsText(GrpcBodyOf({}, GrpcEncoding::kNone)), std::string(5, '\0'));
}

TEST(GrpcMessage, IsInAWholeBodyThatIsNotCompressed) {
  const std::string body(AsText(GrpcBodyOf(AsBytes("message"), GrpcEncoding::kNone)));
  EXPECT_EQ(GrpcMessageIn(body), "message");
  EXPECT_EQ(GrpcMessageIn(std::string(5, '\0')), "");
  for (std::size_t size = 0; size < body.size(); ++size)
    EXPECT_FALSE(GrpcMessageIn(body.substr(0, size))) << size;
  EXPECT_FALSE(GrpcMessageIn(AsText(GrpcBodyOf(AsBytes("message"), GrpcEncoding::kGzip))));
}

TEST(GrpcStatus, IsANumberInAHeader) {
  EXPECT_EQ(GrpcStatusOf({.grpc_status = "14"}), GrpcStatus::kUnavailable);
  for (const char* const text : {"", "x", "256", "-1"})
    EXPECT_FALSE(GrpcStatusOf({.grpc_status = text})) << text;
  EXPECT_EQ(GrpcProblem(GrpcStatus::kUnavailable, {.grpc_message = "no\nroom"}),
            "status 14 of gRPC: no\\nroom");
}

}  // namespace
}  // namespace perftape::serve
