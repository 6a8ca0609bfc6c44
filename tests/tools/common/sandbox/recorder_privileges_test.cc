// SPDX-License-Identifier: Apache-2.0
#include "tools/common/sandbox/recorder_privileges.h"

#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "tests/support/temp_dir.h"
#include "tests/tools/common/sandbox/in_child.h"
#include "tools/common/sandbox/capabilities.h"
#include "tools/common/sandbox/seccomp_filter.h"

namespace perftape::sandbox {
namespace {

bool Has(int capability) {
  const auto own = OwnCapabilities();
  return own && (own->permitted & Capability(capability)) != 0;
}

class RecorderPrivileges : public testing::Test {
 protected:
  void SetUp() override {
    if (!Has(CAP_SYS_ADMIN) || !Has(CAP_DAC_OVERRIDE)) GTEST_SKIP() << "not root";
  }

  // Returns whether `capability` stays for a recording with this output.
  static int Keeps(int capability, const std::filesystem::path& output) {
    return InChild([&] {
      if (!DropRecorderPrivileges(std::span(&output, 1))) return 2;
      return Has(capability) ? 1 : 0;
    });
  }

  TempDir directory_;
};

TEST_F(RecorderPrivileges, KeepsWhatARunningRecordingNeeds) {
  for (const int needed : {CAP_SYS_PTRACE, CAP_SYSLOG, CAP_DAC_READ_SEARCH, 38, 39, 40}) {
    if (needed <= LastCapability()) {
      EXPECT_EQ(Keeps(needed, "-"), 1) << needed;
    }
  }
}

TEST_F(RecorderPrivileges, DropsAllOthers) {
  for (const int other : {CAP_NET_ADMIN, CAP_SYS_MODULE, CAP_SETUID, CAP_DAC_OVERRIDE, CAP_CHOWN}) {
    EXPECT_EQ(Keeps(other, "-"), 0) << other;
  }
  if (LastCapability() >= 40) {
    EXPECT_EQ(Keeps(CAP_SYS_ADMIN, "-"), 0);
  }
}

TEST_F(RecorderPrivileges, KeepsTheRightToWriteADirectoryOfAnotherUser) {
  EXPECT_EQ(Keeps(CAP_DAC_OVERRIDE, directory_.path() / "bundle"), 0);
  ASSERT_EQ(chmod(directory_.path().c_str(), 0700), 0);
  ASSERT_EQ(chown(directory_.path().c_str(), 12345, 12345), 0);
  EXPECT_EQ(Keeps(CAP_DAC_OVERRIDE, directory_.path() / "bundle"), 1);
}

TEST_F(RecorderPrivileges, RefusesToExecuteAndToSignalOthers) {
  if (IsSanitized()) GTEST_SKIP() << "built with a sanitizer: there is no seccomp filter";
  EXPECT_EQ(InChild([] {
              if (!DropRecorderPrivileges({})) return 200;
              execl("/bin/true", "true", nullptr);
              return errno;
            }),
            EPERM);
  EXPECT_EQ(InChild([] {
              if (!DropRecorderPrivileges({})) return 200;
              return kill(getppid(), 0) != 0 ? errno : 0;
            }),
            EPERM);
}

}  // namespace
}  // namespace perftape::sandbox
