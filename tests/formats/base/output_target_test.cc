// SPDX-License-Identifier: Apache-2.0
#include "formats/base/output_target.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <string>
#include <thread>

#include "tests/support/files.h"
#include "tests/support/matchers.h"
#include "tests/support/temp_dir.h"

namespace perftape {
namespace {

using testing::HasSubstr;
using Kind = OutputTarget::Kind;

constexpr uid_t kOtherUser = 12345;

OutputTarget MustResolve(const std::filesystem::path& path) {
  Result<OutputTarget> target = ResolveOutput(path);
  if (!target) throw std::runtime_error(target.error().message);
  return *std::move(target);
}

TEST(ResolveOutput, DistinguishesNewFilesFromExistingOnes) {
  const TempDir directory;
  EXPECT_EQ(MustResolve(directory / "new").kind, Kind::kNewFile);
  const auto path = directory.Write("old", "text");
  EXPECT_EQ(MustResolve(path).kind, Kind::kExistingFile);
  EXPECT_EQ(MustResolve(path).name, path);
  EXPECT_EQ(MustResolve(path).path, path);
}

TEST(ResolveOutput, ResolvesADashToStdout) {
  const OutputTarget target = MustResolve("-");
  EXPECT_TRUE(target.is_stream());
  EXPECT_TRUE(target.is_stdout());
  EXPECT_EQ(target.name, "stdout");
}

TEST(ResolveOutput, ResolvesOwnDescriptorsByAllTheirNames) {
  const TempDir directory;
  std::filesystem::create_symlink("/proc/self/fd/1", directory / "stdout");
  std::filesystem::create_directory_symlink("/proc/self/fd", directory / "fd");
  std::filesystem::create_symlink("stdout", directory / "link");
  const std::string pid = std::to_string(getpid());
  for (const std::string& name :
       {std::string("/proc/self/fd/1"), "/proc/" + pid + "/fd/1",
        std::string("/proc/thread-self/fd/1"), std::string(directory / "stdout"),
        std::string(directory / "fd/1"), std::string(directory / "link")}) {
    const OutputTarget target = MustResolve(name);
    EXPECT_EQ(target.descriptor, STDOUT_FILENO) << name;
    EXPECT_TRUE(target.is_stdout()) << name;
    EXPECT_EQ(target.name, name);
  }
  EXPECT_EQ(MustResolve("/proc/self/fd/2").descriptor, STDERR_FILENO);
  EXPECT_FALSE(MustResolve("/proc/self/fd/2").is_stdout());
}

TEST(ResolveOutput, ResolvesNumbersOnlyInDirectoriesOfDescriptors) {
  const TempDir directory;
  EXPECT_EQ(MustResolve(directory / "1").kind, Kind::kNewFile);
}

TEST(ResolveOutput, FollowsLinksToTheFileThatIsOrWillBeThere) {
  const TempDir directory;
  directory.Write("deep/old", "text");
  std::filesystem::create_symlink("deep/old", directory / "a");
  std::filesystem::create_symlink("a", directory / "b");
  std::filesystem::create_symlink("deep/new", directory / "c");
  EXPECT_EQ(MustResolve(directory / "b").path, directory / "deep/old");
  EXPECT_EQ(MustResolve(directory / "b").kind, Kind::kExistingFile);
  EXPECT_EQ(MustResolve(directory / "b").name, directory / "b");
  EXPECT_EQ(MustResolve(directory / "c").path, directory / "deep/new");
  EXPECT_EQ(MustResolve(directory / "c").kind, Kind::kNewFile);
}

TEST(ResolveOutput, RejectsACircleOfLinks) {
  const TempDir directory;
  std::filesystem::create_symlink("b", directory / "a");
  std::filesystem::create_symlink("a", directory / "b");
  EXPECT_THAT(ResolveOutput(directory / "a"), FailsWith(ErrorCode::kIo, HasSubstr("symbolic")));
}

TEST(ResolveOutput, RefusesDirectories) {
  const TempDir directory;
  for (const std::string& name : {std::string(directory.path()), std::string(directory / ""),
                                  std::string(directory / "."), std::string("..")}) {
    EXPECT_THAT(ResolveOutput(name), FailsWith(ErrorCode::kIo, HasSubstr("Is a directory")))
        << name;
  }
  EXPECT_THAT(ResolveOutput(directory / "new/"), FailsWith(ErrorCode::kNotFound));
}

TEST(ResolveOutput, TreatsOtherThanRegularFilesAsStreams) {
  const TempDir directory;
  const OutputTarget fifo = MustResolve(MakeFifo(directory / "fifo"));
  EXPECT_TRUE(fifo.is_stream());
  EXPECT_TRUE(fifo.is_named_pipe);
  const auto null = MemoryDevice(directory, 3);
  if (!null) GTEST_SKIP() << "no device can be made in " << directory.path();
  std::filesystem::create_symlink(*null, directory / "link");
  EXPECT_TRUE(MustResolve(directory / "link").is_stream());
  EXPECT_FALSE(MustResolve(directory / "link").is_stdout());
}

// As /proc/PID/fd/1 of a shell.
TEST(ResolveOutput, ResolvesFilesOpenInAnotherProcess) {
  const TempDir directory;
  const auto named = directory.Write("named", "text");
  const auto gone = directory.Write("gone", "text");
  const UniqueFd named_fd(open(named.c_str(), O_WRONLY));
  const UniqueFd gone_fd(open(gone.c_str(), O_WRONLY));
  std::filesystem::remove(gone);
  std::array<int, 2> ends = {};
  ASSERT_EQ(pipe2(ends.data(), 0), 0);
  const UniqueFd reading(ends[0]), writing(ends[1]);
  std::array<int, 2> life = {};
  ASSERT_EQ(pipe2(life.data(), 0), 0);
  const UniqueFd watched(life[0]);
  UniqueFd alive(life[1]);
  const pid_t child = fork();
  if (child == 0) {
    close(alive.get());
    char byte = 0;
    while (read(watched.get(), &byte, 1) > 0) {
    }
    _exit(0);
  }
  const std::string descriptors = "/proc/" + std::to_string(child) + "/fd/";
  const OutputTarget file = MustResolve(descriptors + std::to_string(named_fd.get()));
  EXPECT_EQ(file.kind, Kind::kExistingFile);
  EXPECT_EQ(file.path, named);
  EXPECT_THAT(ResolveOutput(descriptors + std::to_string(gone_fd.get())),
              FailsWith(ErrorCode::kNotFound, HasSubstr("no name")));
  const OutputTarget pipe = MustResolve(descriptors + std::to_string(writing.get()));
  EXPECT_TRUE(pipe.is_stream());
  const Result<UniqueFd> opened = OpenStream(pipe);
  ASSERT_THAT(opened, IsOk());
  EXPECT_EQ(write(opened->get(), "x", 1), 1);
  char byte = 0;
  EXPECT_EQ(read(reading.get(), &byte, 1), 1);
  alive.Reset();
  waitpid(child, nullptr, 0);
}

// A link by another user in /tmp must not make root write to another file or to a file of that
// user.
TEST(ResolveOutput, FollowsNoLinkOfAnotherUserInASharedDirectory) {
  if (geteuid() != 0) GTEST_SKIP() << "only root makes files of other users";
  const TempDir directory;
  ASSERT_EQ(chmod(directory.path().c_str(), 01777), 0);
  directory.Write("victim", "precious");
  std::filesystem::create_symlink("victim", directory / "link");
  EXPECT_EQ(MustResolve(directory / "link").path, directory / "victim");  // the user's own link
  ASSERT_EQ(lchown((directory / "link").c_str(), kOtherUser, kOtherUser), 0);
  EXPECT_THAT(ResolveOutput(directory / "link"),
              FailsWith(ErrorCode::kPermission, HasSubstr("symbolic link of another user")));
  // A link of the directory's owner is trusted like the directory.
  ASSERT_EQ(chown(directory.path().c_str(), kOtherUser, kOtherUser), 0);
  EXPECT_THAT(ResolveOutput(directory / "link"), IsOk());
}

TEST(ResolveOutput, WritesIntoNoNamedPipeOfAnotherUserInASharedDirectory) {
  if (geteuid() != 0) GTEST_SKIP() << "only root makes files of other users";
  const TempDir directory;
  ASSERT_EQ(chmod(directory.path().c_str(), 01777), 0);
  const auto fifo = MakeFifo(directory / "fifo");
  EXPECT_THAT(ResolveOutput(fifo), IsOk());
  ASSERT_EQ(chown(fifo.c_str(), kOtherUser, kOtherUser), 0);
  EXPECT_THAT(ResolveOutput(fifo),
              FailsWith(ErrorCode::kPermission, HasSubstr("named pipe of another user")));
}

TEST(CheckExisting, RefusesAFileThatMustNotBeReplaced) {
  const TempDir directory;
  const OutputTarget there = MustResolve(directory.Write("out", ""));
  EXPECT_THAT(CheckExisting(there, IfExists::kRefuse),
              FailsWith(ErrorCode::kInvalidArgument, HasSubstr("out: exists; -f replaces it")));
  EXPECT_THAT(CheckExisting(there, IfExists::kReplace), IsOk());
  EXPECT_THAT(CheckExisting(MustResolve(directory / "new"), IfExists::kRefuse), IsOk());
  EXPECT_THAT(CheckExisting(MustResolve("-"), IfExists::kRefuse), IsOk());
}

TEST(OpenStream, WaitsForTheReaderOfANamedPipe) {
  const TempDir directory;
  const auto fifo = MakeFifo(directory / "fifo");
  std::string got;
  std::thread reader([&] { got = TextOf(fifo); });
  {
    const Result<UniqueFd> fd = OpenStream(MustResolve(fifo));
    ASSERT_THAT(fd, IsOk());
    EXPECT_EQ(fcntl(fd->get(), F_GETFL) & O_NONBLOCK, 0);
    EXPECT_THAT(WriteAll(fd->get(), AsBytes(std::string_view("text"))), IsOk());
  }
  reader.join();
  EXPECT_EQ(got, "text");
}

TEST(OpenStream, WaitsNoLongerForAReaderThanItIsAskedTo) {
  const TempDir directory;
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THAT(OpenStream(MustResolve(MakeFifo(directory / "fifo")), stop.get_token()),
              FailsWith(ErrorCode::kIo, HasSubstr("no program has opened")));
}

TEST(OpenStream, DoesNotOpenASocket) {
  const TempDir directory;
  const UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = {}};
  const std::string path = directory / "socket";
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  ASSERT_EQ(bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_THAT(OpenStream(MustResolve(path)),
              FailsWith(ErrorCode::kIo, HasSubstr("socket: No such")));
  EXPECT_EQ(StatusOf(path).st_mode & S_IFMT, S_IFSOCK);
}

TEST(OpenStream, ReportsAClosedDescriptor) {
  EXPECT_THAT(OpenStream(MustResolve("/proc/self/fd/987654")),
              FailsWith(ErrorCode::kIo, HasSubstr("/proc/self/fd/987654: Bad file descriptor")));
}

// A file that replaced a device is not written to.
TEST(OpenStream, FollowsNoLinkThatReplacedADevice) {
  const TempDir directory;
  const auto fifo = MakeFifo(directory / "fifo");
  const OutputTarget target = MustResolve(fifo);
  std::filesystem::remove(fifo);
  const auto victim = directory.Write("victim", "precious");
  std::filesystem::create_symlink("victim", fifo);
  EXPECT_THAT(OpenStream(target), FailsWith(ErrorCode::kIo));
  std::filesystem::remove(fifo);
  std::filesystem::rename(victim, fifo);
  EXPECT_THAT(OpenStream(target), FailsWith(ErrorCode::kIo, HasSubstr("regular file")));
  EXPECT_EQ(TextOf(fifo), "precious");
}

TEST(IsTerminal, IsTrueOfATerminalUnderItsNameAndAsADescriptor) {
  const UniqueFd master(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!master || grantpt(master.get()) != 0 || unlockpt(master.get()) != 0) {
    GTEST_SKIP() << "no terminals can be made here";
  }
  std::array<char, 64> name = {};
  ASSERT_EQ(ptsname_r(master.get(), name.data(), name.size()), 0);
  const UniqueFd terminal(open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!terminal) GTEST_SKIP() << name.data() << " cannot be opened";
  EXPECT_TRUE(IsTerminal(MustResolve(name.data())));
  EXPECT_TRUE(IsTerminal(MustResolve("/proc/self/fd/" + std::to_string(terminal.get()))));
}

TEST(IsTerminal, IsFalseOfFilesAndPipes) {
  const TempDir directory;
  EXPECT_FALSE(IsTerminal(MustResolve(directory / "new")));
  EXPECT_FALSE(IsTerminal(MustResolve(directory.Write("old", ""))));
  EXPECT_FALSE(IsTerminal(MustResolve(MakeFifo(directory / "fifo"))));
}

}  // namespace
}  // namespace perftape
