// SPDX-License-Identifier: Apache-2.0
#include "formats/bundle/embedding.h"

#include <fcntl.h>
#include <gmock/gmock.h>

#include <filesystem>

#include "formats/base/file.h"
#include "formats/bundle/bundle.h"
#include "formats/bundle/bundle_writer.h"
#include "tests/support/matchers.h"
#include "tests/support/temp_dir.h"

namespace perftape::bundle {
namespace {

using testing::Eq;
using testing::HasSubstr;

// 107 bytes, which is a prime number.
const std::string kRecording = "PERFILE2" + std::string(99, 'r');

class EmbeddingTest : public testing::Test {
 protected:
  // Embeds a bundle of this host.
  void Embed(const std::string& host) {
    UniqueFd fd(::open(path_.c_str(), O_RDWR | O_CLOEXEC));
    const auto offset = BeginEmbedding(fd.get());
    ASSERT_THAT(offset, Holds(Eq(kRecording.size())));
    auto writer = BundleWriter::Create(UniqueFd(::dup(fd.get())), 3);
    ASSERT_THAT(writer, IsOk());
    ASSERT_THAT(std::move(*writer).Finish({.host = host}), IsOk());
    ASSERT_THAT(EndEmbedding(fd.get(), *offset), IsOk());
  }
  std::string File() { return *ReadWholeFile(path_); }

  TempDir dir_;
  std::filesystem::path path_ = dir_.Write("perf.data", kRecording);
};

TEST_F(EmbeddingTest, PutsABundleBehindARecordingThatStaysAsItIs) {
  Embed("here");
  const auto bundle = Bundle::Open(path_);
  ASSERT_THAT(bundle, IsOk());
  EXPECT_EQ(bundle->manifest().host, "here");
  EXPECT_EQ(AsText(WithoutEmbedded(AsBytes(File()))), kRecording);
}

TEST_F(EmbeddingTest, ReplacesAnEarlierOne) {
  Embed("a host of a very much longer name");
  Embed("here");
  EXPECT_EQ(Bundle::Open(path_)->manifest().host, "here");
  EXPECT_EQ(AsText(WithoutEmbedded(AsBytes(File()))), kRecording);
}

TEST_F(EmbeddingTest, FindsNothingWhereNoFooterIs) {
  EXPECT_THAT(FindEmbedded(AsBytes(kRecording)), Holds(Eq(std::nullopt)));
  EXPECT_THAT(FindEmbedded({}), Holds(Eq(std::nullopt)));
}

TEST_F(EmbeddingTest, FindsNothingInARecordingThatIsCut) {
  Embed("here");
  const std::string file = File();
  for (std::size_t size = 0; size < file.size(); ++size) {
    const auto found = FindEmbedded(AsBytes(std::string_view(file).substr(0, size)));
    EXPECT_THAT(found, Holds(Eq(std::nullopt))) << size;
  }
}

TEST_F(EmbeddingTest, RefusesAFooterThatPointsElsewhere) {
  Embed("here");
  const std::string file = File();
  const std::size_t footer = file.size() - kFooterSize;
  for (std::size_t i = 0; i < 16; ++i) {
    std::string damaged = file;
    damaged[footer + i] = static_cast<char>(damaged[footer + i] ^ 0x81);
    EXPECT_THAT(FindEmbedded(AsBytes(damaged)), FailsWith(ErrorCode::kCorrupt)) << i;
  }
}

TEST_F(EmbeddingTest, RefusesALaterVersion) {
  Embed("here");
  std::string file = File();
  file[file.size() - 16] = 2;
  EXPECT_THAT(FindEmbedded(AsBytes(file)),
              FailsWith(ErrorCode::kUnsupported, HasSubstr("version 2")));
}

TEST_F(EmbeddingTest, RefusesTheFormOfAPipe) {
  const auto path = dir_.Write("pipe.data", std::string("PERFILE2\x10\0\0\0\0\0\0\0", 16));
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  EXPECT_THAT(BeginEmbedding(fd.get()), FailsWith(ErrorCode::kUnsupported, HasSubstr("pipe")));
}

TEST_F(EmbeddingTest, RefusesOtherFiles) {
  const auto path = dir_.Write("notes", "no recording");
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  EXPECT_THAT(BeginEmbedding(fd.get()), FailsWith(ErrorCode::kCorrupt));
  EXPECT_THAT(BeginEmbedding(-1), FailsWith(ErrorCode::kIo));
}

}  // namespace
}  // namespace perftape::bundle
