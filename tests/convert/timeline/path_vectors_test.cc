// SPDX-License-Identifier: Apache-2.0
#include "tests/convert/timeline/path_vectors.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "convert/timeline/critical_path.h"
#include "tests/support/files.h"

namespace perftape::timeline {
namespace {

using testing::ElementsAreArray;

// path_test.mjs checks the page with the same table.
TEST(CriticalPath, IsThatOfTheTable) {
  const std::filesystem::path source = std::getenv("PERFTAPE_SOURCE_DIR");
  const std::vector<PathVector> vectors =
      ReadPathVectors(TextOf(source / "tests/convert/timeline/path_vectors.json"));
  ASSERT_GE(vectors.size(), 50U);
  for (const PathVector& vector : vectors) {
    const Timeline timeline = Timeline::Build(vector.profile, vector.options);
    for (const VectorWalk& walk : vector.walks) {
      SCOPED_TRACE(fmt::format("{}: {} from {} to {}", vector.name, walk.thread, walk.time.start,
                               walk.time.end));
      const std::uint32_t thread = ThreadNamed(timeline, walk.thread);
      ASSERT_NE(thread, kNone);
      const CriticalPath path = WalkPath(timeline, {{.thread = thread, .time = walk.time}});
      EXPECT_THAT(TextsOf(timeline, path), ElementsAreArray(walk.steps));
      EXPECT_EQ(path.explained_ns(), walk.explained_ns);
    }
  }
}

}  // namespace
}  // namespace perftape::timeline
