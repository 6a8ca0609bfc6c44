// SPDX-License-Identifier: Apache-2.0
#include "formats/bundle/bundle.h"

#include <gmock/gmock.h>

#include "tests/support/matchers.h"
#include "tests/support/tar_builder.h"
#include "tests/support/temp_dir.h"

namespace perftape::bundle {
namespace {

using testing::HasSubstr;

constexpr std::string_view kHex = "0123456789abcdef0123456789abcdef01234567";
const BuildId kId = *BuildId::FromHex(kHex);

TEST(Bundle, ReadsAPerfArchive) {
  TarBuilder tar;
  tar.Add({.name = ".build-id/01/" + std::string(kHex.substr(2)),
           .type = '2',
           .target = "../../usr/bin/ls/" + std::string(kHex)});
  tar.Add({.name = "usr/bin/ls/" + std::string(kHex) + "/", .type = '5'});
  tar.Add({.name = "usr/bin/ls/" + std::string(kHex) + "/elf", .content = "content"});
  tar.Add({.name = "usr/bin/ls/" + std::string(kHex) + "/probes"});
  const auto bundle = Bundle::FromBytes(AsBytes(tar.Bytes()));
  ASSERT_THAT(bundle, IsOk());
  ASSERT_EQ(bundle->manifest().files.size(), 1);
  EXPECT_EQ(bundle->manifest().files[0].path, "/usr/bin/ls");
  EXPECT_EQ(bundle->manifest().files[0].kept, Kept::kWhole);
  EXPECT_EQ(AsText(*bundle->Find(kId, FileKind::kElf)), "content");
}

TEST(Bundle, ReadsThePerfArchiveWithinOneOfAll) {
  TarBuilder inner;
  inner.Add({.name = "[kernel.kallsyms]/" + std::string(kHex) + "/kallsyms", .content = "k"});
  TarBuilder outer;
  outer.Add({.name = "perf.data", .content = "PERFILE2"});
  outer.Add({.name = "perf.symbols.tar.bz2", .content = inner.Bytes()});
  const auto bundle = Bundle::FromBytes(AsBytes(outer.Bytes()));
  ASSERT_THAT(bundle, IsOk());
  EXPECT_EQ(AsText(*bundle->Find(kId, FileKind::kKallsyms)), "k");
}

TEST(Bundle, IsNotEveryTar) {
  TarBuilder tar;
  tar.Add({.name = "README", .content = "x"});
  EXPECT_THAT(Bundle::FromBytes(AsBytes(tar.Bytes())),
              FailsWith(ErrorCode::kCorrupt, HasSubstr("is not a bundle")));
}

TEST(Bundle, WithADamagedManifestIsRefused) {
  TarBuilder tar;
  tar.Add({.name = "manifest.json", .content = "{"});
  EXPECT_THAT(Bundle::FromBytes(AsBytes(tar.Bytes())), FailsWith(ErrorCode::kCorrupt));
}

TEST(Bundle, DoesNotFindWhatOnlyTheManifestHas) {
  TarBuilder tar;
  const std::string file = R"({"path": "/a", "kind": "elf", "kept": "whole", "member": "a",
                               "build_id": ")" +
                           std::string(kHex) + R"("})";
  tar.Add({.name = "manifest.json", .content = R"({"version": 1, "files": [)" + file + "]}"});
  const auto bundle = Bundle::FromBytes(AsBytes(tar.Bytes()));
  ASSERT_THAT(bundle, IsOk());
  EXPECT_FALSE(bundle->Find(kId, FileKind::kElf));
}

TEST(Bundle, IsNotFoundInAPerfDataWithout) {
  const TempDir dir;
  const auto path = dir.Write("perf.data", "PERFILE2" + std::string(200, '\0'));
  EXPECT_THAT(Bundle::Open(path), FailsWith(ErrorCode::kNotFound));
}

TEST(Bundle, ThatIsNotThereIsNotFound) {
  EXPECT_THAT(Bundle::Open("/nonexistent"), FailsWith(ErrorCode::kNotFound));
}

}  // namespace
}  // namespace perftape::bundle
