// SPDX-License-Identifier: Apache-2.0
#include "tools/convert/inputs.h"

#include <gmock/gmock.h>

#include <fstream>
#include <map>
#include <set>

#include "tests/support/matchers.h"
#include "tests/support/temp_dir.h"

namespace perftape::convert_tool {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::map<std::string, std::string, std::less<>> variables;

std::optional<std::string> Variable(std::string_view name) {
  const auto found = variables.find(name);
  return found == variables.end() ? std::nullopt : std::optional(found->second);
}

Result<Shard> ShardIn(std::map<std::string, std::string, std::less<>> environment,
                      std::string_view text) {
  variables = std::move(environment);
  return ParseShard(text, Variable);
}

auto Refuses(const char* message) {
  return FailsWith(ErrorCode::kInvalidArgument, HasSubstr(message));
}

TEST(ParseShard, ParsesIndexAndCount) {
  EXPECT_EQ(ShardIn({}, "2/7").value(), (Shard{2, 7}));
  EXPECT_EQ(ShardIn({}, "7/7").value(), (Shard{7, 7}));
}

TEST(ParseShard, RefusesWhatIsNoPart) {
  EXPECT_THAT(ShardIn({}, "0/7"), Refuses("part 0 of 7 does not exist"));
  EXPECT_THAT(ShardIn({}, "8/7"), Refuses("part 8 of 7 does not exist"));
  EXPECT_THAT(ShardIn({}, "3"), Refuses("the number of parts is missing"));
  EXPECT_THAT(ShardIn({}, "x/7"), Refuses("'x' is not a whole number"));
  EXPECT_THAT(ShardIn({}, "1/"), Refuses("'' is not a whole number"));
  EXPECT_THAT(ShardIn({}, "1/0"), Refuses("the number of parts is missing"));
}

TEST(ParseShard, CountsTheTasksOfASlurmArrayFromItsFirst) {
  EXPECT_EQ(
      ShardIn({{"SLURM_ARRAY_TASK_ID", "0"}, {"SLURM_ARRAY_TASK_COUNT", "4"}}, "auto").value(),
      (Shard{1, 4}));
  EXPECT_EQ(ShardIn({{"SLURM_ARRAY_TASK_ID", "9"},
                     {"SLURM_ARRAY_TASK_MIN", "5"},
                     {"SLURM_ARRAY_TASK_STEP", "2"},
                     {"SLURM_ARRAY_TASK_COUNT", "4"}},
                    "auto")
                .value(),
            (Shard{3, 4}));
  EXPECT_THAT(ShardIn({{"SLURM_ARRAY_TASK_ID", "6"},
                       {"SLURM_ARRAY_TASK_MIN", "5"},
                       {"SLURM_ARRAY_TASK_STEP", "2"},
                       {"SLURM_ARRAY_TASK_COUNT", "4"}},
                      "auto"),
              Refuses("is not one of MIN"));
}

TEST(ParseShard, CountsKubernetesFromZeroAndParallelFromOne) {
  EXPECT_EQ(ShardIn({{"JOB_COMPLETION_INDEX", "0"}}, "auto/3").value(), (Shard{1, 3}));
  EXPECT_EQ(ShardIn({{"PARALLEL_SEQ", "3"}}, "auto/3").value(), (Shard{3, 3}));
  EXPECT_THAT(ShardIn({{"PARALLEL_SEQ", "3"}}, "auto"), Refuses("the number of parts is missing"));
  EXPECT_THAT(ShardIn({}, "auto/3"), Refuses("none of SLURM_ARRAY_TASK_ID"));
}

TEST(PartOf, GivesEachInputToExactlyOneShard) {
  const std::vector<std::filesystem::path> inputs = {"a", "b", "c", "d", "e"};
  EXPECT_THAT(PartOf(inputs, {1, 2}), ElementsAre("a", "c", "e"));
  EXPECT_THAT(PartOf(inputs, {2, 2}), ElementsAre("b", "d"));
  std::multiset<std::filesystem::path> all;
  for (std::uint64_t i = 1; i <= 64; ++i) {
    for (const auto& input : PartOf(inputs, {i, 64})) all.insert(input);
  }
  EXPECT_THAT(all, testing::ElementsAreArray(inputs));
}

TEST(RepeatedInputs, AreTheSameFilesHoweverTheyAreNamed) {
  const TempDir directory;
  const auto a = directory.Write("a", "");
  const auto b = directory.Write("b", "");
  std::filesystem::create_symlink("a", directory / "link");
  const std::filesystem::path again = directory.path() / "." / "a";
  EXPECT_THAT(RepeatedInputs({a, b}), testing::IsEmpty());
  EXPECT_THAT(RepeatedInputs({a, b, again, directory / "link"}),
              testing::ElementsAre(again, directory / "link"));
  EXPECT_THAT(RepeatedInputs({"-", "absent", "absent"}), testing::IsEmpty());
}

TEST(ReadFilesFrom0, AcceptsAnyCharactersInNames) {
  const TempDir directory;
  std::ofstream(directory / "list") << std::string_view("a b\0c\nd\0last", 12);
  EXPECT_THAT(ReadFilesFrom0(directory / "list").value(), ElementsAre("a b", "c\nd", "last"));
}

TEST(ReadFilesFrom0, AcceptsALastNameWithoutNul) {
  const TempDir directory;
  std::ofstream(directory / "list") << "a b";
  EXPECT_THAT(ReadFilesFrom0(directory / "list").value(), ElementsAre("a b"));
}

TEST(ReadFilesFrom0, ReportsAListWithoutNul) {
  const TempDir directory;
  std::ofstream list(directory / "list");
  list << "\xc2\x9b.data\n";
  for (int i = 0; i < 1000; ++i) list << "some/where/" << i << ".data\n";
  list.close();
  const auto read = ReadFilesFrom0(directory / "list");
  EXPECT_THAT(read, Refuses("contains no NUL"));
  EXPECT_THAT(read, Refuses("'\\xc2\\x9b.data\\nsome/where/0.data\\nsome"));
  EXPECT_LT(read.error().message.size(), 300U);
}

TEST(ReadFilesFrom0, RefusesAnEmptyName) {
  const TempDir directory;
  std::ofstream(directory / "list") << std::string_view("a\0\0b\0", 5);
  EXPECT_THAT(ReadFilesFrom0(directory / "list"), Refuses("the name of file 2 is empty"));
}

}  // namespace
}  // namespace perftape::convert_tool
