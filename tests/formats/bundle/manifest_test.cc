// SPDX-License-Identifier: Apache-2.0
#include "formats/bundle/manifest.h"

#include <gmock/gmock.h>

#include "tests/support/matchers.h"

namespace perftape::bundle {
namespace {

using testing::Eq;
using testing::HasSubstr;
using testing::Not;

Manifest FullManifest() {
  const BuildId id = *BuildId::FromHex("0123456789abcdef0123456789abcdef01234567");
  return {.perftape_version = "0.1.0",
          .host = "builder",
          .kernel_release = "6.1.0-18-amd64",
          .machine = "x86_64",
          .boot_id = "5d0d9b5c-7e50-4f2f-a1a5-8f6a3d5a5b11",
          .kernel_build_id = id,
          .reference_symbol = "_text",
          .reference_address = 0xffffffff81000000,
          .modules =
              {{.name = "nf_tables", .address = 0xffffffffc0400000, .size = 4096, .build_id = id}},
          .files = {{.path = "/usr/bin/ls",
                     .build_id = id,
                     .kept = Kept::kSymbols,
                     .size = 151344,
                     .member = "usr/bin/ls/0123/elf"},
                    {.path = "/tmp/perf-7.map",
                     .kind = FileKind::kPerfMap,
                     .pid = 7,
                     .missing = "writable by others"},
                    {.path = "/opt/bare",
                     .kept = Kept::kSymbols,
                     .size = 4096,
                     .member = "no-build-id/opt/bare/elf",
                     .number = {.device = std::uint64_t{254} << 32 | 1, .inode = UINT64_MAX},
                     .content = "e3b0c442"}}};
}

TEST(BundleManifest, ComesBackAsItWas) {
  EXPECT_THAT(DecodeManifest(EncodeManifest(FullManifest())), Holds(FullManifest()));
  EXPECT_THAT(DecodeManifest(EncodeManifest({})), Holds(Manifest{}));
}

TEST(FindByPath, SelectsOneOfSeveralFilesByItsInstance) {
  const FileNumber first{.device = 1, .inode = 2}, second{.device = 1, .inode = 3};
  const Manifest manifest{
      .files = {{.path = "/x", .missing = "gone"},
                {.path = "/x", .kept = Kept::kSymbols, .member = "a", .number = first},
                {.path = "/x", .kept = Kept::kSymbols, .member = "b", .number = second}}};
  const auto find = [&](std::uint64_t instance) {
    return Find(manifest, {.path = "/x", .instance = instance});
  };
  ASSERT_NE(find(InstanceOf(second)).file, nullptr);
  EXPECT_EQ(find(InstanceOf(second)).file->member, "b");
  // The missing file may be any.
  EXPECT_EQ(find(InstanceOf({.device = 1, .inode = 4})).file, &manifest.files[0]);
  // The second of equal mappings in a pprof says nothing.
  for (const std::uint64_t instance : {0, 1}) {
    EXPECT_EQ(find(instance).file, nullptr);
    EXPECT_TRUE(find(instance).has_several);
  }
}

TEST(FindByPath, FindsFilesOfOneContentWithoutAnInstance) {
  const Manifest manifest{.files = {{.path = "/x",
                                     .kept = Kept::kSymbols,
                                     .member = "a",
                                     .number = {.device = 1, .inode = 2}},
                                    {.path = "/x",
                                     .kept = Kept::kSymbols,
                                     .member = "a",
                                     .number = {.device = 7, .inode = 2}}}};
  EXPECT_EQ(Find(manifest, {.path = "/x"}).file, &manifest.files[0]);
  EXPECT_EQ(Find(manifest, {.path = "/x", .kind = FileKind::kDebug}).file, nullptr);
}

TEST(BundleManifest, KeepsNamesThatAreNoUtf8) {
  Manifest manifest;
  manifest.host = "caf\xc3\xa9";
  manifest.files.push_back({.path = "/tmp/\xff\xfe", .member = std::string("a\0\x80", 3)});
  const std::string json = EncodeManifest(manifest);
  EXPECT_THAT(json, HasSubstr("\"path_hex\": \"2f746d702ffffe\""));
  EXPECT_THAT(DecodeManifest(json), Holds(manifest));
}

TEST(BundleManifest, SkipsFieldsOfLaterVersions) {
  EXPECT_THAT(DecodeManifest(R"({"version": 1, "weather": {"rain": [1]}, "files": []})"),
              Holds(Manifest{}));
}

TEST(BundleManifest, RefusesALaterVersion) {
  EXPECT_THAT(DecodeManifest(R"({"version": 2, "files": []})"),
              FailsWith(ErrorCode::kUnsupported, HasSubstr("version 2")));
}

TEST(BundleManifest, ReportsTheWrongField) {
  const auto message_of = [](std::string_view json) {
    auto manifest = DecodeManifest(json);
    return manifest ? "fine" : manifest.error().message;
  };
  EXPECT_THAT(message_of("[]"), HasSubstr("is not a JSON object"));
  EXPECT_THAT(message_of(R"({"files": []})"), HasSubstr("version"));
  EXPECT_THAT(message_of(R"({"version": 1})"), HasSubstr("files"));
  EXPECT_THAT(message_of(R"({"version": 1, "files": [], "host": 7})"), HasSubstr("host"));
  EXPECT_THAT(message_of(R"({"version": 1, "files": [7]})"), HasSubstr("files[0]"));
  EXPECT_THAT(message_of(R"({"version": 1, "files": [{"kind": "cake", "kept": "whole"}]})"),
              HasSubstr("files[0]: kind"));
  EXPECT_THAT(message_of(R"({"version": 1, "files": [], "reference_address": "0xfg"})"),
              HasSubstr("reference_address"));
  EXPECT_THAT(message_of(R"({"version": 1, "files": [], "kernel_build_id": "abc"})"),
              HasSubstr("kernel_build_id"));
}

TEST(BundleManifest, ThatIsCutIsCorrupt) {
  std::string json = EncodeManifest(FullManifest());
  json.pop_back();  // without the line end
  for (std::size_t size = 0; size < json.size(); ++size) {
    EXPECT_THAT(DecodeManifest(json.substr(0, size)), FailsWith(ErrorCode::kCorrupt)) << size;
  }
}

TEST(BundleManifest, OfBracketsIsRefusedQuickly) {
  EXPECT_THAT(DecodeManifest(std::string(1 << 20, '[')), FailsWith(ErrorCode::kCorrupt));
  std::string deep = R"({"version": 1, "files": [], "x": )";
  deep += std::string(100'000, '[') + std::string(100'000, ']') + "}";
  EXPECT_THAT(DecodeManifest(deep), IsOk());
}

}  // namespace
}  // namespace perftape::bundle
