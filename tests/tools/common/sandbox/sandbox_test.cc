// SPDX-License-Identifier: Apache-2.0
#include "tools/common/sandbox/sandbox.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <span>
#include <string>
#include <thread>

#include "formats/base/output_file.h"
#include "tests/support/temp_dir.h"
#include "tests/tools/common/sandbox/in_child.h"
#include "tools/common/sandbox/capabilities.h"
#include "tools/common/sandbox/seccomp_filter.h"

namespace perftape::sandbox {
namespace {

namespace fs = std::filesystem;

constexpr int kNotConfined = 200;

bool HasLandlock() {
  return syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION) > 0;
}

// Returns 0 if `path` can be opened, else the errno.
int TryOpen(const fs::path& path, int flags) {
  const int fd = open(path.c_str(), flags | O_CLOEXEC, 0600);
  if (fd < 0) return errno;
  close(fd);
  return 0;
}

class Sandbox : public testing::Test {
 protected:
  void SetUp() override {
    // $TMPDIR is granted, so it must not contain the files of the test.
    setenv("TMPDIR", (root_.path() / "tmp").c_str(), 1);
    for (const char* name : {"tmp", "named", "other", "output"}) fs::create_directory(Path(name));
    std::ofstream(Path("named/input")) << "input";
    std::ofstream(Path("other/secret")) << "secret";
    grants_.readable = {Path("named/input")};
    grants_.writable = {Path("output")};
  }
  void TearDown() override { unsetenv("TMPDIR"); }

  fs::path Path(const std::string& name) const { return root_.path() / name; }

  // Returns what `attempt` returns inside the sandbox.
  int Confined(const std::function<int()>& attempt) const {
    return InChild([&] { return Confine(grants_) ? attempt() : kNotConfined; });
  }

  FileGrants grants_;

 private:
  TempDir root_;
};

class FilesInSandbox : public Sandbox {
 protected:
  void SetUp() override {
    Sandbox::SetUp();
    if (!HasLandlock()) GTEST_SKIP() << "the kernel has no Landlock";
  }
};

class CallsInSandbox : public Sandbox {
 protected:
  void SetUp() override {
    Sandbox::SetUp();
    if (IsSanitized()) GTEST_SKIP() << "built with a sanitizer: there is no seccomp filter";
  }
};

TEST_F(Sandbox, ReadsTheNamedInput) {
  EXPECT_EQ(Confined([&] { return TryOpen(Path("named/input"), O_RDONLY); }), 0);
}

TEST_F(Sandbox, CreatesAndReplacesOutputs) {
  EXPECT_EQ(Confined([&] {
              for (int round = 0; round < 2; ++round) {
                auto file = OutputFile::Create(Path("output/file"), IfExists::kReplace);
                if (!file || !file->Write(std::string_view("text")) || !std::move(*file).Commit()) {
                  return 1;
                }
              }
              return 0;
            }),
            0);
}

TEST_F(Sandbox, StartsThreads) {
  EXPECT_EQ(Confined([] {
              int value = 1;
              std::thread([&] { value = 0; }).join();
              return value;
            }),
            0);
}

TEST_F(Sandbox, ReportsAMissingFileAsMissing) {
  EXPECT_EQ(Confined([&] { return TryOpen(Path("other/missing"), O_RDONLY); }), ENOENT);
}

TEST_F(FilesInSandbox, RefusesAnotherFile) {
  EXPECT_EQ(Confined([&] { return TryOpen(Path("other/secret"), O_RDONLY); }), EACCES);
  EXPECT_EQ(Confined([] { return TryOpen("/etc/passwd", O_RDONLY); }), EACCES);
}

TEST_F(FilesInSandbox, RefusesALinkToAnotherFile) {
  fs::create_symlink(Path("other/secret"), Path("output/link"));
  EXPECT_EQ(Confined([&] { return TryOpen(Path("output/link"), O_RDONLY); }), EACCES);
}

TEST_F(FilesInSandbox, RefusesToWriteTheInput) {
  EXPECT_EQ(Confined([&] { return TryOpen(Path("named/input"), O_WRONLY); }), EACCES);
}

TEST_F(FilesInSandbox, RefusesToReadBesideTheOutput) {
  std::ofstream(Path("output/neighbour")) << "secret";
  EXPECT_EQ(Confined([&] { return TryOpen(Path("output/neighbour"), O_RDONLY); }), EACCES);
}

TEST_F(FilesInSandbox, RefusesToCreateAFileElsewhere) {
  EXPECT_EQ(Confined([&] { return TryOpen(Path("named/new"), O_WRONLY | O_CREAT); }), EACCES);
  EXPECT_FALSE(fs::exists(Path("named/new")));
}

TEST_F(FilesInSandbox, RefusesToReadAnotherProcess) {
  const std::string maps = "/proc/" + std::to_string(getpid()) + "/maps";
  EXPECT_EQ(Confined([&] { return TryOpen(maps, O_RDONLY); }), EACCES);
}

TEST_F(CallsInSandbox, RefusesToExecute) {
  EXPECT_EQ(Confined([] {
              execl("/bin/true", "true", nullptr);
              return errno;
            }),
            EPERM);
}

TEST_F(CallsInSandbox, RefusesToForkAndToExecuteInTheChild) {
  EXPECT_EQ(Confined([] { return fork() < 0 ? errno : 0; }), EPERM);
  EXPECT_EQ(Confined([] { return vfork() < 0 ? errno : 0; }), EPERM);
}

TEST_F(CallsInSandbox, RefusesTheNetwork) {
  for (const int family : {AF_INET, AF_INET6, AF_UNIX, AF_NETLINK}) {
    EXPECT_EQ(Confined([&] { return socket(family, SOCK_DGRAM, 0) < 0 ? errno : 0; }), EPERM);
  }
}

TEST_F(CallsInSandbox, RefusesToConnectASocketThatWasOpenBefore) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_GE(fd, 0);
  EXPECT_EQ(Confined([&] {
              sockaddr_in address = {};
              address.sin_family = AF_INET;
              address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
              address.sin_port = htons(1);
              const auto* generic = reinterpret_cast<const sockaddr*>(&address);
              return connect(fd, generic, sizeof address) != 0 ? errno : 0;
            }),
            EPERM);
  close(fd);
}

TEST_F(CallsInSandbox, RefusesExecutableMemory) {
  EXPECT_EQ(Confined([] {
              const void* memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
              return memory == MAP_FAILED ? errno : 0;
            }),
            EPERM);
}

TEST_F(CallsInSandbox, RefusesToSignalOtherProcesses) {
  EXPECT_EQ(Confined([] { return kill(getppid(), 0) != 0 ? errno : 0; }), EPERM);
}

TEST_F(CallsInSandbox, FailsUnknownCallsAsOnAnOlderKernel) {
  EXPECT_EQ(Confined([] { return syscall(100'000) < 0 ? errno : 0; }), ENOSYS);
  EXPECT_EQ(Confined([] { return syscall(SYS_clone3, nullptr, 0) < 0 ? errno : 0; }), ENOSYS);
}

TEST_F(CallsInSandbox, SetsNoNewPrivileges) {
  EXPECT_EQ(InChild([&] {
              prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
              return Confine(grants_) ? 0 : 1;
            }),
            0);
}

TEST_F(CallsInSandbox, AbortsByItsOwnSignal) {
  EXPECT_EQ(Confined([]() -> int { abort(); }), -SIGABRT);
}

TEST_F(Sandbox, AnswersOfTheChild) {
  EXPECT_TRUE(AskConfined(grants_, [] { return true; }));
  EXPECT_FALSE(AskConfined(grants_, [] { return false; }));
  EXPECT_FALSE(AskConfined(grants_, []() -> bool { abort(); }));
}

TEST_F(Sandbox, GrantsTheDirectoryOfAFileAndADeviceItself) {
  FileGrants grants;
  GrantOutput("-", grants);
  GrantOutput("/dev/null", grants);
  GrantOutput(Path("output/new"), grants);
  GrantOutput("new", grants);
  EXPECT_THAT(grants.writable, testing::ElementsAre("/dev/null", Path("output"), "."));
}

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
