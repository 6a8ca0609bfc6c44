// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/latency_text.h"

#include <gmock/gmock.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

#include <vector>

namespace perftape::perfdata {
namespace {

using testing::Eq;
using testing::Optional;

constexpr std::string_view kNoArch = {};

// 127.0.0.1:8080 as a struct sockaddr_in in 28 bytes.
std::vector<std::byte> Loopback() {
  std::vector<std::byte> bytes(28);
  const unsigned char start[] = {2, 0, 0x1f, 0x90, 127, 0, 0, 1};
  for (std::size_t i = 0; i < std::size(start); ++i) bytes[i] = static_cast<std::byte>(start[i]);
  return bytes;
}

TEST(LatencyErrorText, IsTheNameOfTheErrno) {
  EXPECT_EQ(LatencyErrorText("tcp-connect", 111), "ECONNREFUSED");
  EXPECT_EQ(LatencyErrorText("syscall=openat", 2), "ENOENT");
  EXPECT_EQ(LatencyErrorText("read", 4000), "4000");
  EXPECT_EQ(LatencyErrorText("read", -5), "-5");
}

TEST(LatencyErrorText, OfDnsIsTheRcodeOrATimeout) {
  EXPECT_EQ(LatencyErrorText("dns", 2), "SERVFAIL");
  EXPECT_EQ(LatencyErrorText("dns", 3), "NXDOMAIN");
  EXPECT_EQ(LatencyErrorText("dns", 15), "RCODE15");
  EXPECT_EQ(LatencyErrorText("dns", 110), "ETIMEDOUT");
}

TEST(SocketAddressText, HasAddressAndPort) {
  std::vector<std::byte> address = Loopback();
  EXPECT_EQ(SocketAddressText(address), "127.0.0.1:8080");
  EXPECT_EQ(SocketAddressText(Bytes(address).first(16)), "127.0.0.1:8080");
  address[0] = std::byte{10};  // AF_INET6
  address[4] = std::byte{0};   // the flow
  address[7] = std::byte{0};
  address[23] = std::byte{1};
  EXPECT_EQ(SocketAddressText(address), "[::1]:8080");
}

TEST(SocketAddressText, IsEmptyWithoutAnAddress) {
  EXPECT_EQ(SocketAddressText(std::vector<std::byte>(28)), "");
  EXPECT_EQ(SocketAddressText(Bytes(Loopback()).first(8)), "");
  std::vector<std::byte> address = Loopback();
  address[0] = std::byte{1};
  EXPECT_EQ(SocketAddressText(address), "family 1");
  address[0] = std::byte{10};
  EXPECT_EQ(SocketAddressText(Bytes(address).first(16)), "family 10");  // cut off
}

TEST(IpAddressText, IsEmptyForOtherSizes) {
  EXPECT_EQ(IpAddressText(std::vector<std::byte>(5), 80), "");
  EXPECT_EQ(IpAddressText(std::vector<std::byte>(4), 80), "0.0.0.0:80");
}

TEST(LatencyFieldText, IsOfLatencyEventsOnly) {
  const std::vector<std::byte> peer = Loopback();
  const FieldValue address = {.content = TracepointField::Content::kArray, .array = peer};
  EXPECT_THAT(LatencyFieldText("latency:tcp_connect", {.name = "peer"}, address, kNoArch),
              Optional(Eq("127.0.0.1:8080")));
  EXPECT_EQ(LatencyFieldText("sock:x", {.name = "peer"}, address, kNoArch), std::nullopt);
  EXPECT_THAT(LatencyFieldText("latency:dns", {.name = "error"}, {.number = 3}, kNoArch),
              Optional(Eq("NXDOMAIN")));
  EXPECT_THAT(LatencyFieldText("latency:read", {.name = "error"}, {.number = 0}, kNoArch),
              Optional(Eq("")));
  EXPECT_THAT(
      LatencyFieldText("latency:read", {.name = "dev"}, {.number = (259U << 20) + 3}, kNoArch),
      Optional(Eq("259:3")));
  EXPECT_THAT(LatencyFieldText("latency:futex", {.name = "lock"}, {.number = 0x7f00}, kNoArch),
              Optional(Eq("0x7f00")));
  EXPECT_EQ(LatencyFieldText("latency:read", {.name = "fd"}, {.number = 3}, kNoArch), std::nullopt);
}

TEST(LatencyFieldText, NamesSystemCallsOfTheArchitectureThatItKnows) {
  utsname machine = {};
  ASSERT_EQ(uname(&machine), 0);
  const auto text = [](std::int64_t number, std::string_view arch) {
    const FieldValue value = {.number = static_cast<std::uint64_t>(number)};
    return LatencyFieldText("latency:syscall", {.name = "nr"}, value, arch);
  };
  EXPECT_THAT(text(SYS_openat, machine.machine), Optional(Eq("openat")));
  EXPECT_EQ(text(100'000, machine.machine), std::nullopt);
  EXPECT_EQ(text(-1, machine.machine), std::nullopt);
  EXPECT_EQ(text(SYS_openat, "riscv64"), std::nullopt);
  EXPECT_EQ(text(SYS_openat, kNoArch), std::nullopt);
}

}  // namespace
}  // namespace perftape::perfdata
