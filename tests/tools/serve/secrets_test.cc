// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/secrets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/temp_dir.h"

namespace perftape::serve {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

constexpr std::string_view kCertificate =
    "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n";

class SecretFilesTest : public testing::Test {
 protected:
  SecretFilesTest() {
    Write(files_.token, "0123456789abcdef\n");
    Write(files_.headers, "# of a tenant\nX-Scope-OrgID: shop\nA: b\n");
    Write(files_.certificates, kCertificate);
  }

  // Other users cannot read it.
  static void Write(const std::string& path, std::string_view text) {
    std::ofstream(path) << text;
    chmod(path.c_str(), 0600);
  }

  void ReadAll() {
    sent_.clear();
    warnings_.clear();
    ReadAgain(
        files_, secrets_,
        {.send = [&](Notice::Kind kind, std::string_view text) { sent_.emplace_back(kind, text); },
         .warn = [&](const Error& error) { warnings_.push_back(error.message); }});
  }

  TempDir dir_;
  SecretFiles files_ = {.token = dir_.path() / "token",
                        .headers = dir_.path() / "headers",
                        .certificates = dir_.path() / "ca.pem"};
  Secrets secrets_;
  std::vector<std::pair<Notice::Kind, std::string>> sent_;
  std::vector<std::string> warnings_;
};

TEST_F(SecretFilesTest, AreReadAtTheStart) {
  const Secrets secrets = ReadSecrets(files_).value();
  EXPECT_EQ(secrets.token, "0123456789abcdef");
  EXPECT_THAT(secrets.push.headers, ElementsAre("X-Scope-OrgID: shop", "A: b"));
  EXPECT_EQ(secrets.push.certificates, kCertificate);
  EXPECT_EQ(ReadSecrets({})->token, "");
}

TEST_F(SecretFilesTest, FailTheStartIfOneIsBad) {
  for (const std::string* const file : {&files_.token, &files_.headers, &files_.certificates}) {
    SecretFiles files = files_;
    std::ofstream(*file) << "bad";
    EXPECT_THAT(ReadSecrets(files).error().message, HasSubstr(*file));
    Write(files_.token, "0123456789abcdef\n");
    Write(files_.headers, "A: b\n");
  }
}

TEST_F(SecretFilesTest, SendOnlyWhatChanged) {
  secrets_ = ReadSecrets(files_).value();
  ReadAll();
  EXPECT_THAT(sent_, IsEmpty());
  Write(files_.token, "fedcba9876543210\n");
  ReadAll();
  EXPECT_THAT(sent_, ElementsAre(Pair(Notice::Kind::kToken, "fedcba9876543210")));
  EXPECT_EQ(secrets_.token, "fedcba9876543210");
  Write(files_.headers, "X-Scope-OrgID: other\nA: c\n");
  Write(files_.certificates, std::string(kCertificate) + std::string(kCertificate));
  ReadAll();
  EXPECT_THAT(sent_, ElementsAre(Pair(Notice::Kind::kHeaders, "X-Scope-OrgID: other\nA: c"),
                                 Pair(Notice::Kind::kCertificates, HasSubstr("AA=="))));
  ReadAll();
  EXPECT_THAT(sent_, IsEmpty());
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(SecretFilesTest, KeepWhatABadFileHad) {
  secrets_ = ReadSecrets(files_).value();
  Write(files_.token, "short\n");
  Write(files_.headers, "no header\n");
  Write(files_.certificates, kCertificate.substr(0, kCertificate.size() / 2));
  ReadAll();
  EXPECT_THAT(sent_, IsEmpty());
  EXPECT_THAT(warnings_,
              ElementsAre(AllOf(HasSubstr(files_.token), HasSubstr("16 or more")),
                          AllOf(HasSubstr(files_.headers), HasSubstr("is not a header")),
                          AllOf(HasSubstr(files_.certificates), HasSubstr("certificate"))));
  EXPECT_EQ(secrets_.token, "0123456789abcdef");
  EXPECT_EQ(secrets_.push.headers.size(), 2U);
  EXPECT_EQ(secrets_.push.certificates, kCertificate);
}

TEST_F(SecretFilesTest, KeepWhatAFileHadThatOthersCanReadOrThatIsGone) {
  secrets_ = ReadSecrets(files_).value();
  chmod(files_.token.c_str(), 0644);
  std::filesystem::remove(files_.headers);
  std::filesystem::remove(files_.certificates);
  // A reader of it would wait for a writer.
  ASSERT_EQ(mkfifo(files_.certificates.c_str(), 0600), 0);
  ReadAll();
  EXPECT_THAT(sent_, IsEmpty());
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("chmod 600"), HasSubstr("headers: No such file"),
                                     HasSubstr("ca.pem: is not a regular file")));
  EXPECT_EQ(secrets_.token, "0123456789abcdef");
}

}  // namespace
}  // namespace perftape::serve
