// SPDX-License-Identifier: Apache-2.0
#include "record/probes/find_binary.h"

#include <gmock/gmock.h>

#include <string>

#include "tests/support/matchers.h"

namespace perftape::record {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

#if defined(__aarch64__)
constexpr std::uint32_t kFlags = 0x0a03;
#else
constexpr std::uint32_t kFlags = 0x0303;
#endif

template <class T>
std::string Number(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

// As ldconfig writes it: libc of this architecture and of another one.
std::string Cache() {
  constexpr std::uint32_t kStrings = 48 + 2 * 24;
  const auto entry = [](std::uint32_t flags, std::uint32_t name, std::uint32_t path) {
    return Number(flags) + Number(name) + Number(path) + Number(0U) + Number(std::uint64_t{0});
  };
  std::string strings("libc.so.6\0/lib32/libc.so.6\0/lib/libc.so.6\0", 42);
  return "glibc-ld.so.cache1.1" + Number(2U) + Number(static_cast<std::uint32_t>(strings.size())) +
         std::string(20, '\0') + entry(0x0001, kStrings, kStrings + 10) +
         entry(kFlags, kStrings, kStrings + 27) + strings;
}

TEST(LibraryCache, HasTheLibrariesOfThisArchitecture) {
  const std::string cache = Cache();
  const std::vector<CachedLibrary> libraries = DecodeLibraryCache(AsBytes(cache));
  ASSERT_THAT(libraries, SizeIs(1));
  EXPECT_EQ(libraries[0].name, "libc.so.6");
  EXPECT_EQ(libraries[0].path, "/lib/libc.so.6");
}

TEST(LibraryCache, IsFoundBehindTheOldFormat) {
  const std::string cache = "ld.so-1.7.0" + std::string(5, '\0') + Cache();
  EXPECT_THAT(DecodeLibraryCache(AsBytes(cache)), SizeIs(1));
}

TEST(LibraryCache, IsReadAsFarAsItIsWhole) {
  const std::string cache = Cache();
  for (std::size_t size = 0; size < cache.size(); ++size) {
    EXPECT_THAT(DecodeLibraryCache(AsBytes(cache).first(size)), SizeIs(testing::Le(1))) << size;
  }
  std::string many = cache;
  many.replace(20, 4, "\xff\xff\xff\xff");
  EXPECT_THAT(DecodeLibraryCache(AsBytes(many)), SizeIs(testing::Le(2)));
}

TEST(FindBinary, FindsProgramsByNameAndFilesByPath) {
  EXPECT_THAT(FindBinary("sh").value().string(), testing::StartsWith("/"));
  EXPECT_EQ(FindBinary("/proc/../proc/self/exe").value(), "/proc/self/exe");
}

TEST(FindBinary, SaysWhereItSearched) {
  EXPECT_THAT(FindBinary("/no/such/file"), FailsWith(ErrorCode::kNotFound));
  const Result<std::filesystem::path> found = FindBinary("no-such-library");
  ASSERT_THAT(found, FailsWith(ErrorCode::kNotFound));
  EXPECT_THAT(
      found.error().message,
      HasSubstr("'no-such-library' is neither a library in /etc/ld.so.cache nor a program"));
}

}  // namespace
}  // namespace perftape::record
