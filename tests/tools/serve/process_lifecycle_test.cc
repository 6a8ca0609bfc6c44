// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/process_lifecycle.h"

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "tools/serve/processes.h"

namespace perftape::serve {
namespace {

using testing::ElementsAre;

// A service whose processes are functions of the test.
class Lifecycle : public testing::Test {
 protected:
  // Starts the roles and waits for their end. Returns the exit status.
  int Run(const std::vector<Role>& roles) {
    ProcessLifecycle lifecycle(Actions(), recordings_, console_);
    for (const Role role : roles) EXPECT_TRUE(lifecycle.Start(role));
    return lifecycle.Wait(signals_.get());
  }

  LifecycleActions Actions() {
    return {.start =
                [this](Role role, UniqueFd started) {
                  starts_.push_back(role);
                  const int fd = started.get();
                  return StartProcess("test", Sigterm::kEnds,
                                      [&] { return run_[role](starts_.size(), fd); });
                },
            .tell_server =
                [this](std::optional<std::uint64_t> since_ns) {
                  told_.push_back(since_ns.has_value());
                  return Status();
                },
            .reload = [] { return false; },
            .end_trial = [](LifecycleActions::Trial) { return false; },
            .restore = [] {},
            .end_channels = [this] { ++ended_; }};
  }

  // The number of processes that were started so far, and the end for the byte of a recorder.
  using RunProcess = std::function<int(std::size_t starts, int started)>;

  static int UntilSigterm() {
    while (true) pause();
  }

  Lifecycle() { console_.set_verbosity(cli::Verbosity::kQuiet); }
  // The other tests of this program get the signals again.
  ~Lifecycle() override { (void)sigprocmask(SIG_SETMASK, &mask_before_, nullptr); }

  static sigset_t CurrentMask() {
    sigset_t mask;
    (void)sigprocmask(SIG_SETMASK, nullptr, &mask);
    return mask;
  }

  const sigset_t mask_before_ = CurrentMask();
  const UniqueFd signals_ = CatchServiceSignals().value();
  const ServeRun run_options_;
  const std::filesystem::path directory_;
  cli::Console console_{"test"};
  RecordingServer recordings_{run_options_, directory_, [] {}, console_};
  std::map<Role, RunProcess> run_;
  std::vector<Role> starts_;
  std::vector<bool> told_;  // whether the server was told that something is recorded
  int ended_ = 0;
};

TEST_F(Lifecycle, FailsIfAProcessEndsBeforeAnythingIsRecorded) {
  run_[Role::kServer] = [](std::size_t, int) { return EXIT_FAILURE; };
  // SIGTERM ends it, as it does a recorder that cannot begin.
  run_[Role::kRecorder] = [](std::size_t, int) { return UntilSigterm(); };
  EXPECT_EQ(Run({Role::kServer, Role::kRecorder}), EXIT_FAILURE);
  EXPECT_THAT(starts_, ElementsAre(Role::kServer, Role::kRecorder));
  EXPECT_EQ(ended_, 1);
}

TEST_F(Lifecycle, StartsAProcessAgainOnceSomethingIsRecorded) {
  // The first process of all.
  const pid_t service = getpid();
  run_[Role::kRecorder] = [](std::size_t, int started) {
    (void)send(started, "", 1, MSG_NOSIGNAL);
    return UntilSigterm();
  };
  // The first server waits to be killed; the second one ends the service.
  run_[Role::kServer] = [&](std::size_t starts, int) {
    if (starts > 2) (void)kill(service, SIGTERM);
    return starts > 2 ? EXIT_SUCCESS : UntilSigterm();
  };
  LifecycleActions actions = Actions();
  pid_t server = 0;
  actions.start = [&, start = actions.start](Role role, UniqueFd started) {
    Result<pid_t> pid = start(role, std::move(started));
    if (role == Role::kServer && server == 0) server = pid.value_or(0);
    return pid;
  };
  actions.tell_server = [&](std::optional<std::uint64_t> since_ns) {
    told_.push_back(since_ns.has_value());
    if (told_.size() == 1) (void)kill(server, SIGKILL);
    return Status();
  };
  ProcessLifecycle lifecycle(std::move(actions), recordings_, console_);
  ASSERT_TRUE(lifecycle.Start(Role::kServer));
  ASSERT_TRUE(lifecycle.Start(Role::kRecorder));
  (void)lifecycle.Wait(signals_.get());
  EXPECT_THAT(starts_, ElementsAre(Role::kServer, Role::kRecorder, Role::kServer));
  // It records; the new server is told so, too; the recorder has ended.
  EXPECT_THAT(told_, ElementsAre(true, true, false));
}

}  // namespace
}  // namespace perftape::serve
