// SPDX-License-Identifier: Apache-2.0
#include "convert/rewrite/carry_bundle.h"

#include <fcntl.h>
#include <gmock/gmock.h>

#include <string>

#include "formats/base/file.h"
#include "formats/bundle/embedding.h"
#include "tests/support/matchers.h"
#include "tests/support/temp_dir.h"

namespace perftape::rewrite {
namespace {

using testing::Eq;

const std::string kOld = "PERFILE2" + std::string(99, 'o');
const std::string kNew = "PERFILE2" + std::string(50, 'n');

TEST(CarryBundle, PutsTheSameBytesBehindTheNewRecording) {
  const TempDir dir;
  const auto old = dir.Write("old", kOld);
  const UniqueFd fd(::open(old.c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_THAT(bundle::Embed(fd.get(), AsBytes("archive")), IsOk());

  const auto path = dir.Write("new", kNew);
  const std::string whole = *ReadWholeFile(old);
  EXPECT_THAT(CarryBundle(AsBytes(whole), path), Holds(Eq(7 + bundle::kFooterSize)));
  const std::string carried = *ReadWholeFile(path);
  EXPECT_EQ(carried.substr(0, kNew.size() + 7), kNew + "archive");
  EXPECT_EQ(AsText(bundle::WithoutEmbedded(AsBytes(carried))), kNew);
}

TEST(CarryBundle, LeavesTheNewRecordingAsItIsWhereThereIsNone) {
  const TempDir dir;
  const auto path = dir.Write("new", kNew);
  EXPECT_THAT(CarryBundle(AsBytes(kOld), path), Holds(Eq(0u)));
  EXPECT_EQ(*ReadWholeFile(path), kNew);
}

}  // namespace
}  // namespace perftape::rewrite
