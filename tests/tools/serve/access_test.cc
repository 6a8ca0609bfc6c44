// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/access.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <fstream>

#include "tests/support/temp_dir.h"

namespace perftape::serve {
namespace {

ListenAddress AddressOf(std::string_view text) {
  return ParseListenAddress("--listen", text).value();
}

TEST(ListenAddress, IsAPathOrAHostWithAPort) {
  EXPECT_EQ(AddressOf("/run/x.sock").path, "/run/x.sock");
  EXPECT_EQ(AddressOf("unix:/run/x.sock").path, "/run/x.sock");
  EXPECT_EQ(AddressOf("127.0.0.1:80").port, 80);
  EXPECT_EQ(AddressOf("[::1]:81").host, "::1");
  EXPECT_EQ(AddressOf("localhost:0").port, 0);
  for (const char* const text :
       {"", "80", "host:80", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "[::1:80", "unix:x"})
    EXPECT_FALSE(ParseListenAddress("--listen", text)) << text;
}

TEST(ListenAddress, KnowsWhichAddressesAreLocal) {
  for (const char* const text : {"/x", "127.0.0.1:1", "127.9.9.9:1", "[::1]:1", "localhost:1"})
    EXPECT_TRUE(AddressOf(text).is_local()) << text;
  for (const char* const text : {"0.0.0.0:1", "[::]:1", "10.0.0.1:1", "128.0.0.1:1"})
    EXPECT_FALSE(AddressOf(text).is_local()) << text;
}

TEST(Host, IsThatOfTheServer) {
  const ListenAddress local = AddressOf("127.0.0.1:4040");
  for (const char* const host :
       {"127.0.0.1:4040", "localhost:4040", "[::1]:4040", "localhost", "localhost:8080"})
    EXPECT_TRUE(IsOwnHost(host, local)) << host;
  for (const char* const host :
       {"", "evil.example", "evil.example:4040", "localhost:x", "localhost.evil:4040", "[::1"})
    EXPECT_FALSE(IsOwnHost(host, local)) << host;
}

TEST(Host, DoesNotMatterWhereTheTokenDecidesOrThereAreNoNames) {
  EXPECT_TRUE(IsOwnHost("anything", AddressOf("/run/x.sock")));
  EXPECT_TRUE(IsOwnHost("node7.example:80", AddressOf("0.0.0.0:80")));
}

TEST(OtherSite, IsThatOfThePageThatSendsARequest) {
  constexpr std::string_view kHost = "localhost:4040";
  for (const std::string_view site : {"", "same-origin", "none"}) {
    EXPECT_FALSE(IsOfAnotherSite({.host = kHost, .fetch_site = site})) << site;
    EXPECT_FALSE(
        IsOfAnotherSite({.host = kHost, .origin = "http://localhost:4040", .fetch_site = site}))
        << site;
  }
  for (const std::string_view site : {"cross-site", "same-site", "new"})
    EXPECT_TRUE(IsOfAnotherSite({.host = kHost, .fetch_site = site})) << site;
  for (const std::string_view origin : {"http://evil.example", "http://localhost:4041",
                                        "http://localhost", "null", "localhost:4040"})
    EXPECT_TRUE(IsOfAnotherSite({.host = kHost, .origin = origin})) << origin;
}

TEST(Token, MustBeTheSame) {
  const std::string token = "0123456789abcdef";
  EXPECT_TRUE(HasToken("Bearer 0123456789abcdef", token));
  for (const char* const header :
       {"", "Bearer ", "Bearer 0123456789abcde", "Bearer 0123456789abcdeg",
        "Bearer 0123456789abcdef0123456789abcdef", "Basic 0123456789abcdef"})
    EXPECT_FALSE(HasToken(header, token)) << header;
  EXPECT_FALSE(HasToken("Bearer ", ""));
}

TEST(Token, IsReadFromAFileThatOthersCannotRead) {
  const TempDir dir;
  const std::string path = dir.path() / "token";
  std::ofstream(path) << "0123456789abcdef\n";
  chmod(path.c_str(), 0600);
  EXPECT_EQ(ReadToken(path).value(), "0123456789abcdef");
  chmod(path.c_str(), 0604);
  EXPECT_FALSE(ReadToken(path));
  chmod(path.c_str(), 0600);
  for (const char* const text :
       {"", "short\n", "0123456789abcdef\nmore\n", "0123456789 abcdef\n"}) {
    std::ofstream(path) << text;
    EXPECT_FALSE(ReadToken(path)) << text;
  }
  EXPECT_FALSE(ReadToken(dir.path() / "absent"));
}

}  // namespace
}  // namespace perftape::serve
