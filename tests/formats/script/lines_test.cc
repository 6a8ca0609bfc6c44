// SPDX-License-Identifier: Apache-2.0
#include "formats/script/lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/support/bytes_input.h"
#include "tests/support/stdin_from.h"

namespace perftape::script {
namespace {

using testing::ElementsAre;

std::vector<std::string> LinesOf(Input& input, Lines& lines) {
  std::vector<std::string> all;
  for (std::string_view line; lines.Next(line);) {
    all.emplace_back(line);
    lines.Release();
  }
  EXPECT_FALSE(input.error());
  return all;
}

TEST(Lines, AreReadFromAFile) {
  const std::string_view text = "a\n\nb\r\nc";
  BytesInput input(AsBytes(text));
  Lines lines(input);
  EXPECT_THAT(LinesOf(input, lines), ElementsAre("a", "", "b", "c"));
  EXPECT_EQ(lines.number(), 4);
  EXPECT_EQ(lines.position(), text.size());
}

TEST(Lines, AreReadFromAStream) {
  std::string text;
  std::vector<std::string> expected;
  for (int i = 0; i < 100'000; ++i) {
    expected.push_back("line " + std::to_string(i) + std::string(i % 50, 'x'));
    text += expected.back() + "\n";
  }
  const PipeWith pipe(text);
  const StdinFrom redirected(pipe.get());
  Input input = Input::Open("-").value();
  ASSERT_TRUE(input.is_stream());
  Lines lines(input);
  EXPECT_EQ(LinesOf(input, lines), expected);
  EXPECT_EQ(lines.position(), text.size());
}

TEST(Lines, StayValidUntilTheyAreReleased) {
  const std::string text(300'000, 'a');
  const PipeWith pipe(text + "\n" + text + "\n" + text + "\nend");
  const StdinFrom redirected(pipe.get());
  Input input = Input::Open("-").value();
  Lines lines(input);
  std::vector<std::string_view> kept(4);
  for (std::string_view& line : kept) ASSERT_TRUE(lines.Next(line));
  EXPECT_EQ(kept[0], text);
  EXPECT_EQ(kept[2], text);
  lines.Release();
  EXPECT_EQ(kept[3], "end");
}

TEST(Lines, LeaveOutALineThatIsTooLong) {
  for (const std::size_t size : {Lines::kLongest + 1, 3 * Lines::kLongest}) {
    const std::string text = "a\n" + std::string(size, 'x') + "\nb\n" + std::string(size, 'y');
    BytesInput file(AsBytes(text));
    Lines of_file(file);
    EXPECT_THAT(LinesOf(file, of_file), ElementsAre("a", "b"));
    EXPECT_EQ(of_file.too_long(), 2);
    EXPECT_EQ(of_file.first_too_long(), 2);
    EXPECT_EQ(of_file.position(), text.size());

    const PipeWith pipe(text);
    const StdinFrom redirected(pipe.get());
    Input stream = Input::Open("-").value();
    Lines of_stream(stream);
    EXPECT_THAT(LinesOf(stream, of_stream), ElementsAre("a", "b"));
    EXPECT_EQ(of_stream.too_long(), 2);
    EXPECT_EQ(of_stream.position(), text.size());
  }
}

}  // namespace
}  // namespace perftape::script
