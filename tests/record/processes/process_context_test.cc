// SPDX-License-Identifier: Apache-2.0
#include "record/processes/process_context.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "formats/base/bytes.h"
#include "formats/base/file.h"
#include "tests/support/matchers.h"
#include "tests/support/temp_dir.h"

namespace perftape::record {
namespace {

using testing::HasSubstr;

constexpr std::uint32_t kPid = 42;
constexpr std::uint64_t kContext = 0x10000, kPayload = 0x30ff8;
const std::string kPayloadText = "the payload of it";

std::string Header(std::uint64_t published_ns, std::uint64_t payload) {
  std::string bytes(32, '\0');
  const std::uint32_t numbers[] = {2, static_cast<std::uint32_t>(kPayloadText.size())};
  const std::uint64_t words[] = {published_ns, payload};
  std::memcpy(bytes.data(), "OTEL_CTX", 8);
  std::memcpy(bytes.data() + 8, numbers, sizeof numbers);
  std::memcpy(bytes.data() + 16, words, sizeof words);
  return bytes;
}

// A /proc with one process, whose memory is a file with holes.
class PublishedContext : public testing::Test {
 protected:
  void SetMaps(const std::string& maps) { dir_.Write("42/maps", maps); }
  void SetMemory(std::uint64_t address, const std::string& text) {
    const UniqueFd file(::open((dir_ / "42/mem").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    EXPECT_THAT(WriteAllAt(file.get(), AsBytes(text), address), IsOk());
  }
  void SetMemory(const std::string& header) {
    SetMaps("");
    SetMemory(kContext, header);
    SetMemory(kPayload, kPayloadText);
  }
  Result<std::vector<std::byte>> Read() { return ReadProcessContext(dir_.path(), kPid); }

  TempDir dir_;
};

// As this kernel shows a mapping of a memfd.
std::string MemfdLine(std::uint64_t start, const std::string& name) {
  const UniqueFd memfd(::memfd_create("x", MFD_CLOEXEC));
  struct stat status = {};
  EXPECT_EQ(::fstat(memfd.get(), &status), 0);
  return fmt::format("{:x}-{:x} rw-p 00000000 {:02x}:{:02x} 77 {}\n", start, start + 0x1000,
                     gnu_dev_major(status.st_dev), gnu_dev_minor(status.st_dev), name);
}

const std::string kHeap =
    "30000-31000 rw-p 00000000 00:00 0 [heap]\n"
    "31000-32000 rw-p 00000000 00:00 0\n";

TEST_F(PublishedContext, IsItsHeaderAndItsPayload) {
  SetMemory(Header(7, kPayload));
  for (const std::string& line :
       {std::string("10000-11000 rw-p 00000000 00:00 0 [anon:OTEL_CTX]\n"),
        MemfdLine(kContext, "/memfd:OTEL_CTX (deleted)"),
        MemfdLine(kContext, "[anon_shmem:OTEL_CTX]")}) {
    SetMaps("8000-9000 r-xp 00000000 08:01 5 /bin/app\n" + line + kHeap);
    const auto read = Read();
    ASSERT_THAT(read, IsOk()) << line;
    EXPECT_EQ(AsText(*read), Header(7, kPayload) + kPayloadText);
  }
}

// Its page would be read from a file system, which may belong to another user.
TEST_F(PublishedContext, OfAFileIsNotRead) {
  SetMemory(Header(7, kPayload));
  SetMaps("10000-11000 rw-p 00000000 08:01 5 /memfd:OTEL_CTX\n" + kHeap);
  EXPECT_THAT(Read(), FailsWith(ErrorCode::kNotFound, HasSubstr("no OTEL_CTX")));
  SetMaps("10000-11000 rw-p 00000000 00:44 0 [anon:OTEL_CTX]\n" + kHeap);
  EXPECT_THAT(Read(), FailsWith(ErrorCode::kNotFound, HasSubstr("no OTEL_CTX")));
  SetMaps(
      "10000-11000 rw-p 00000000 00:00 0 [anon:OTEL_CTX]\n"
      "30000-32000 rw-p 00000000 08:01 5 /home/x/payload\n");
  EXPECT_THAT(Read(), FailsWith(ErrorCode::kNotFound, HasSubstr("no payload")));
}

TEST_F(PublishedContext, IsNoneWhileItChanges) {
  SetMemory(Header(0, kPayload));
  SetMaps("10000-11000 rw-p 00000000 00:00 0 [anon:OTEL_CTX]\n" + kHeap);
  EXPECT_THAT(Read(), FailsWith(ErrorCode::kNotFound, HasSubstr("no payload yet")));
}

TEST_F(PublishedContext, MayHaveAnyAddress) {
  for (const std::uint64_t payload : {std::uint64_t{0}, UINT64_MAX, UINT64_MAX - 3, 0x31ff8UL}) {
    SetMemory(Header(7, payload));
    SetMaps("10000-11000 rw-p 00000000 00:00 0 [anon:OTEL_CTX]\n" + kHeap);
    EXPECT_THAT(Read(), FailsWith(ErrorCode::kNotFound, HasSubstr("no payload"))) << payload;
  }
}

TEST_F(PublishedContext, OfAnEndedProcessIsNotFound) {
  EXPECT_THAT(Read(), FailsWith(ErrorCode::kNotFound));
  SetMaps("");
  SetMemory(kContext, "OTEL");  // less than a header
  SetMaps("10000-11000 rw-p 00000000 00:00 0 [anon:OTEL_CTX]\n");
  EXPECT_THAT(Read(), FailsWith(ErrorCode::kNotFound, HasSubstr("has ended")));
}

TEST_F(PublishedContext, OfThisProcessIsRead) {
  const int memfd = ::memfd_create("OTEL_CTX", MFD_CLOEXEC);
  ASSERT_EQ(::ftruncate(memfd, 4096), 0);
  void* const mapped = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, memfd, 0);
  ::close(memfd);
  ASSERT_NE(mapped, MAP_FAILED);
  const std::string payload = kPayloadText;  // on the heap
  const std::string header = Header(9, reinterpret_cast<std::uintptr_t>(payload.data()));
  std::memcpy(mapped, header.data(), header.size());
  const auto read = ReadProcessContext("/proc", static_cast<std::uint32_t>(::getpid()));
  ::munmap(mapped, 4096);
  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(AsText(*read), header + kPayloadText);
}

}  // namespace
}  // namespace perftape::record
