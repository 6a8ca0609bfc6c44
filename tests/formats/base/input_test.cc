// SPDX-License-Identifier: Apache-2.0
#include "formats/base/input.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <string>

#include "tests/support/matchers.h"
#include "tests/support/stdin_from.h"
#include "tests/support/temp_dir.h"

namespace perftape {
namespace {

// More than a pipe holds; no two pieces are equal.
std::string LongText() {
  std::string text;
  for (int i = 0; text.size() < 300'000; ++i) text += std::to_string(i) + ' ';
  return text;
}

TEST(Input, MapsAFile) {
  const TempDir directory;
  Result<Input> input = Input::Open(directory.Write("a", "some bytes"));
  ASSERT_THAT(input, IsOk());
  EXPECT_FALSE(input->is_stream());
  EXPECT_EQ(AsText(input->beginning()), "some bytes");
  EXPECT_EQ(AsText(input->All().value()), "some bytes");
  EXPECT_EQ(input->path(), directory / "a");
}

// A second open could get another file of the same name. A limit of one descriptor makes it fail.
TEST(Input, OpensAFileOnce) {
  const TempDir directory;
  const std::filesystem::path path = directory.Write("a", "some bytes");
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const UniqueFd lowest_free(dup(STDERR_FILENO));
  const rlimit one_more = {.rlim_cur = static_cast<rlim_t>(lowest_free.get()) + 2,
                           .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &one_more), 0);
  const Result<Input> input = Input::Open(path);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_THAT(input, IsOk());
  EXPECT_EQ(AsText(input->beginning()), "some bytes");
}

TEST(Input, CopiesAFileWithoutASize) {
  Result<Input> input = Input::Open("/proc/self/cmdline");
  ASSERT_THAT(input, IsOk());
  EXPECT_FALSE(input->is_stream());
  EXPECT_FALSE(input->beginning().empty());
}

TEST(Input, ContinuesWhereStdinIs) {
  const TempDir directory;
  const UniqueFd file(open(directory.Write("a", "some bytes").c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(lseek(file.get(), 5, SEEK_SET), 5);
  const StdinFrom redirected(file.get());
  Result<Input> input = Input::Open("-");
  ASSERT_THAT(input, IsOk());
  EXPECT_EQ(AsText(input->beginning()), "bytes");
}

TEST(Input, DetectsADirectory) {
  const TempDir directory;
  Result<Input> input = Input::Open(directory.path());
  ASSERT_THAT(input, IsOk());
  EXPECT_TRUE(input->is_directory());
  EXPECT_TRUE(input->beginning().empty());
  EXPECT_THAT(input->All(), FailsWith(ErrorCode::kIo));
}

TEST(Input, NamesWhatIsMissing) {
  const TempDir directory;
  EXPECT_THAT(Input::Open(directory / "absent"),
              FailsWith(ErrorCode::kNotFound, testing::HasSubstr("absent")));
}

TEST(Input, ShowsAStreamsBeginningWithoutConsumingIt) {
  const PipeWith pipe("PERFILE2 and so on");
  const StdinFrom redirected(pipe.get());
  Result<Input> input = Input::Open("-");
  ASSERT_THAT(input, IsOk());
  EXPECT_TRUE(input->is_stream());
  EXPECT_EQ(input->name(), "stdin");
  EXPECT_TRUE(AsText(input->beginning()).starts_with("PERFILE2"));
  EXPECT_EQ(AsText(input->Window(0, 100)), "PERFILE2 and so on");
}

TEST(Input, SlidesAWindowOverAStream) {
  const std::string text = LongText();
  const PipeWith pipe(text);
  const StdinFrom redirected(pipe.get());
  Result<Input> input = Input::Open("-");
  ASSERT_THAT(input, IsOk());
  std::string seen;
  constexpr std::size_t kStep = 777;
  while (true) {
    const Bytes ahead = input->Window(kStep, 10);  // looks ahead without losing the bytes before
    const Bytes window = input->Window(0, kStep);
    if (seen.size() + kStep + 10 <= text.size()) {
      ASSERT_GE(ahead.size(), 10u);
    }
    if (window.empty()) break;
    const std::size_t taken = std::min(kStep, window.size());
    seen += AsText(window.first(taken));
    input->Consume(taken);
  }
  EXPECT_EQ(seen, text);
  EXPECT_FALSE(input->error());
}

TEST(Input, CopiesAStreamWhereAllOfItIsWanted) {
  const std::string text = LongText();
  const PipeWith pipe(text);
  const StdinFrom redirected(pipe.get());
  Result<Input> input = Input::Open("-");
  ASSERT_THAT(input, IsOk());
  input->Consume(5);
  const Result<Bytes> all = input->All();
  ASSERT_THAT(all, IsOk());
  EXPECT_EQ(AsText(*all), text.substr(5));
  EXPECT_FALSE(input->is_stream());
}

}  // namespace
}  // namespace perftape
