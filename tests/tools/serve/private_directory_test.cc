// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/private_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "tests/support/temp_dir.h"

namespace perftape::serve {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

class PrivateDirectoryTest : public testing::Test {
 protected:
  PrivateDirectoryTest() { setenv("RUNTIME_DIRECTORY", parent_.path().c_str(), 1); }
  ~PrivateDirectoryTest() override { unsetenv("RUNTIME_DIRECTORY"); }

  // What a service that is killed leaves.
  std::filesystem::path Leave(const std::filesystem::path& wanted = {}) {
    const std::set<std::filesystem::path> before = Entries();
    const pid_t pid = fork();
    if (pid == 0) {
      const Result<PrivateDirectory> directory = PrivateDirectory::Make(wanted);
      std::ofstream(directory->path() / "window.1") << "x";
      _exit(0);
    }
    waitpid(pid, nullptr, 0);
    for (const std::filesystem::path& entry : Entries()) {
      if (!before.contains(entry)) return entry;
    }
    return {};
  }

  static void StartAndEnd() { ASSERT_TRUE(PrivateDirectory::Make({})); }

  std::set<std::filesystem::path> Entries() const {
    std::set<std::filesystem::path> found;
    for (const auto& entry : std::filesystem::directory_iterator(parent_.path()))
      found.insert(entry.path());
    return found;
  }

  TempDir parent_;
};

TEST_F(PrivateDirectoryTest, IsRemovedAtTheEnd) {
  {
    const PrivateDirectory directory = PrivateDirectory::Make({}).value();
    EXPECT_THAT(Entries(), ElementsAre(directory.path()));
    EXPECT_EQ(std::filesystem::status(directory.path()).permissions(),
              std::filesystem::perms::owner_all);
  }
  EXPECT_TRUE(Entries().empty());
}

TEST_F(PrivateDirectoryTest, RemovesThoseOfDeadServices) {
  const std::filesystem::path left = Leave();
  ASSERT_TRUE(std::filesystem::exists(left / "window.1"));
  const PrivateDirectory directory = PrivateDirectory::Make({}).value();
  EXPECT_NE(directory.path(), left);
  EXPECT_THAT(Entries(), ElementsAre(directory.path()));
}

TEST_F(PrivateDirectoryTest, KeepsThoseOfLivingServices) {
  const PrivateDirectory one = PrivateDirectory::Make({}).value();
  const PrivateDirectory other = PrivateDirectory::Make({}).value();
  EXPECT_THAT(Entries(), UnorderedElementsAre(one.path(), other.path()));
}

TEST_F(PrivateDirectoryTest, KeepsOneAsLongAsAnyProcessOfTheServiceLives) {
  int ends[2] = {};
  ASSERT_EQ(pipe(&ends[0]), 0);
  const std::filesystem::path left = [&] {
    const pid_t pid = fork();
    if (pid == 0) {
      const PrivateDirectory directory = PrivateDirectory::Make({}).value();
      if (fork() != 0) _exit(0);
      close(ends[1]);
      char byte = 0;
      (void)!read(ends[0], &byte, 1);
      _exit(0);
    }
    waitpid(pid, nullptr, 0);
    return *Entries().begin();
  }();
  StartAndEnd();
  EXPECT_THAT(Entries(), ElementsAre(left));
  close(ends[1]);
  close(ends[0]);
}

TEST_F(PrivateDirectoryTest, KeepsWhatIsNotOfAService) {
  const std::filesystem::path left = Leave();
  const std::filesystem::path elsewhere = parent_.path() / "elsewhere";
  std::filesystem::rename(left, elsewhere);
  std::filesystem::create_directory_symlink(elsewhere, parent_.path() / "perftape-serve.linked");
  std::filesystem::create_directory(parent_.path() / "perftape-serve.noLock");
  std::filesystem::copy(elsewhere, parent_.path() / "perftape-serve.longer1");
  const std::set<std::filesystem::path> before = Entries();
  StartAndEnd();
  EXPECT_EQ(Entries(), before);
}

TEST_F(PrivateDirectoryTest, KeepsThoseOfOtherUsers) {
  if (geteuid() != 0) GTEST_SKIP() << "not root";
  const std::filesystem::path left = Leave();
  ASSERT_EQ(chown(left.c_str(), 65534, 65534), 0);
  const std::filesystem::path other = Leave();
  ASSERT_EQ(chown((other / "perftape-serve.lock").c_str(), 65534, 65534), 0);
  const PrivateDirectory directory = PrivateDirectory::Make({}).value();
  EXPECT_THAT(Entries(), UnorderedElementsAre(left, other, directory.path()));
}

TEST_F(PrivateDirectoryTest, ReplacesTheWantedOneOfADeadService) {
  const std::filesystem::path wanted = parent_.path() / "files";
  ASSERT_EQ(Leave(wanted), wanted);
  const PrivateDirectory directory = PrivateDirectory::Make(wanted).value();
  EXPECT_FALSE(std::filesystem::exists(wanted / "window.1"));
  EXPECT_FALSE(PrivateDirectory::Make(wanted));
  EXPECT_TRUE(std::filesystem::exists(wanted));
}

// A service that is restarted right after it was killed: its other processes are still ending.
TEST_F(PrivateDirectoryTest, WaitsForTheWantedOneOfADyingService) {
  const std::filesystem::path wanted = parent_.path() / "files";
  const pid_t pid = fork();
  if (pid == 0) {
    const Result<PrivateDirectory> directory = PrivateDirectory::Make(wanted);
    std::ofstream(directory->path() / "window.1") << "x";
    if (fork() == 0) usleep(200'000);  // has the lock, too
    _exit(0);
  }
  waitpid(pid, nullptr, 0);
  ASSERT_TRUE(std::filesystem::exists(wanted / "window.1"));
  EXPECT_TRUE(PrivateDirectory::Make(wanted));
  EXPECT_FALSE(std::filesystem::exists(wanted / "window.1"));
}

TEST_F(PrivateDirectoryTest, RefusesAWantedOneWithoutALock) {
  const std::filesystem::path wanted = parent_.path() / "data";
  std::filesystem::create_directory(wanted);
  std::ofstream(wanted / "precious") << "x";
  EXPECT_FALSE(PrivateDirectory::Make(wanted));
  EXPECT_TRUE(std::filesystem::exists(wanted / "precious"));
}

}  // namespace
}  // namespace perftape::serve
