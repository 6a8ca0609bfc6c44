// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "convert/bundle_check/bundle_check.h"
#include "formats/bundle/content_hash.h"
#include "tests/convert/bundle_check/made_bundle.h"
#include "tests/support/elf_builder.h"
#include "tests/support/tar_builder.h"

namespace perftape::bundle_check {
namespace {

using bundle::BundledFile;
using bundle::FileKind;
using bundle::Kept;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const BuildId kId = BuildId::From(AsBytes("0123456789"));
const std::string kHex = "30313233343536373839";
const std::string kMember = "bin/x/" + kHex + "/elf";
const std::string kLink = ".build-id/30/" + kHex.substr(2);

BundledFile Program() {
  return {.path = "/bin/x", .build_id = kId, .kept = Kept::kSymbols, .member = kMember};
}

std::string TextOf(const std::vector<std::byte>& bytes) {
  return std::string(AsText(bytes));
}

// Checks these members with a manifest that lists these files.
std::vector<std::string> FindingsOf(std::vector<TarMember> members,
                                    std::vector<BundledFile> files) {
  TarBuilder tar;
  for (const TarMember& member : members) tar.Add(member);
  bundle::Manifest manifest;
  manifest.files = std::move(files);
  tar.Add({.name = "manifest.json", .content = EncodeManifest(manifest)});
  const std::string bytes = tar.Bytes();
  return FindContradictions(ValueOf(bundle::Bundle::FromBytes(AsBytes(bytes))));
}

TarMember Elf(std::string_view build_id = "0123456789") {
  return {.name = kMember, .content = TextOf(SmallElf(build_id))};
}
TarMember Link(std::string target = "../../bin/x/" + kHex) {
  return {.name = kLink, .type = '2', .target = std::move(target)};
}

TEST(FindContradictions, FindsNoneInWhatTheWriterMakes) {
  const Bytes symbols = AsBytes("ffffffff81000000 T _text\n");
  const bundle::Bundle bundle = BundleWith(
      {{Program(), SmallElf("0123456789")},
       {{.path = "/bin/with-short-id",
         .build_id = BuildId::From(AsBytes("abc")),
         .kept = Kept::kWhole},
        SmallElf("abc")},
       {{.path = "/bin/without-id", .kept = Kept::kWhole}, SmallElf("")},
       {{.path = "/bin/x", .kind = FileKind::kDebug, .build_id = kId, .kept = Kept::kWhole},
        SmallElf("0123456789")},
       {{.path = "[kernel.kallsyms]",
         .kind = FileKind::kKallsyms,
         .build_id = BuildId::From(AsBytes("kernel-4567")),
         .kept = Kept::kWhole},
        {symbols.begin(), symbols.end()}},
       {{.path = "/bin/gone", .missing = "gone before it could be opened"}, {}}});
  EXPECT_THAT(FindContradictions(bundle), IsEmpty());
}

TEST(FindContradictions, FindsNoneInWhatPerfArchivedWithoutAManifest) {
  TarBuilder tar;
  tar.Add(Elf());
  tar.Add({.name = "bin/x/" + kHex + "/probes", .content = "p:f"});
  tar.Add(Link());
  const std::string bytes = tar.Bytes();
  EXPECT_THAT(FindContradictions(ValueOf(bundle::Bundle::FromBytes(AsBytes(bytes)))), IsEmpty());
}

TEST(FindContradictions, AcceptsOldPerfsLinkToTheFile) {
  EXPECT_THAT(FindingsOf({Elf(), Link("../../" + kMember)}, {Program()}), IsEmpty());
}

TEST(FindContradictions, ReportsAFileOfAnotherBuild) {
  EXPECT_THAT(FindingsOf({Elf("xyz"), Link()}, {Program()}),
              ElementsAre(kMember + ": has build id 78797a, the manifest has " + kHex));
  EXPECT_THAT(FindingsOf({Elf(""), Link()}, {Program()}),
              ElementsAre(kMember + ": has build id none, the manifest has " + kHex));
}

TEST(FindContradictions, ReportsAFileThatIsNotElf) {
  EXPECT_THAT(FindingsOf({{.name = kMember, .content = "#!/bin/sh"}, Link()}, {Program()}),
              ElementsAre(testing::StartsWith(kMember + ": ")));
}

TEST(FindContradictions, ReportsAMissingFile) {
  EXPECT_THAT(FindingsOf({Link()}, {Program()}),
              ElementsAre(kMember + ": is in the manifest but not in the bundle"));
}

TEST(FindContradictions, ReportsAFileThatTheManifestLacks) {
  EXPECT_THAT(FindingsOf({{.name = "stray", .content = "?"}}, {}),
              ElementsAre("stray: is in the bundle but not in the manifest"));
}

TEST(FindContradictions, ReportsAFileWithoutALink) {
  const auto is_missed = ElementsAre(kMember + ": the link " + kLink + " is missing");
  EXPECT_THAT(FindingsOf({Elf()}, {Program()}), is_missed);
  EXPECT_THAT(FindingsOf({Elf(), Link("../../bin/y/78797a")}, {Program()}), is_missed);
}

TEST(FindContradictions, ReportsAFileAtAnothersPath) {
  BundledFile file = Program();
  file.build_id = BuildId::From(AsBytes("xyz"));
  EXPECT_THAT(FindingsOf({Elf("xyz"), Link()}, {file}),
              ElementsAre(kMember + ": is in the directory of a build id that is not 78797a"));
}

TEST(FindContradictions, ReportsInvalidKernelSymbols) {
  const BundledFile file = {.path = "[kernel.kallsyms]",
                            .kind = FileKind::kKallsyms,
                            .build_id = kId,
                            .kept = Kept::kWhole,
                            .member = "[kernel.kallsyms]/" + kHex + "/kallsyms"};
  const TarMember hidden = {.name = file.member, .content = "0000000000000000 T _text\n"};
  EXPECT_THAT(FindingsOf({hidden, Link("../../[kernel.kallsyms]/" + kHex)}, {file}),
              ElementsAre(HasSubstr("kptr_restrict")));
}

TEST(FindContradictions, ReportsAMissingFileWithoutAReason) {
  EXPECT_THAT(FindingsOf({}, {{.path = "/bin/gone"}}),
              ElementsAre("/bin/gone: nothing is kept, and no reason is given"));
}

TEST(FindContradictions, ReportsSkippedMembers) {
  EXPECT_THAT(FindingsOf({{.name = "../evil", .content = "?"}}, {}),
              ElementsAre("members were skipped: 1 member with a path outside of the directory"));
}

TEST(FindContradictions, ChecksTheContentOfWholeFilesWithoutBuildId) {
  const std::vector<std::byte> elf = SmallElf("");
  const auto findings = [&](Kept kept, const std::string& content) {
    return FindContradictions(
        BundleWith({{{.path = "/bin/x", .kept = kept, .content = content}, elf}}));
  };
  EXPECT_THAT(findings(Kept::kWhole, bundle::ContentHash(elf)), IsEmpty());
  EXPECT_THAT(findings(Kept::kSymbols, "abc"), IsEmpty()) << "the original's";
  EXPECT_THAT(findings(Kept::kWhole, "abc"), ElementsAre(HasSubstr("the manifest has abc")));
}

}  // namespace
}  // namespace perftape::bundle_check
