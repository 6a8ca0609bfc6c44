// SPDX-License-Identifier: Apache-2.0
// When the processes of the service start, end and start again. The first process (supervisor.h)
// says what each of them does.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string_view>

#include "formats/base/file.h"
#include "formats/base/result.h"
#include "tools/common/cli/console.h"
#include "tools/serve/recordings.h"
#include "tools/serve/restart_delay.h"

namespace perftape::serve {

// The processes besides the first one and recordings on request. A trial records for a moment, to
// find out whether new options can be recorded.
enum class Role : std::uint8_t { kRecorder, kImporter, kServer, kPusher, kTrial };

// What ProcessLifecycle asks the first process to do.
struct LifecycleActions {
  // Starts a process of this role. `started` is for the recorder, which sends a byte when it
  // records.
  std::function<Result<pid_t>(Role, UniqueFd started)> start;
  // Tells the server since when the recorder records, by CLOCK_MONOTONIC; nothing if it does not.
  std::function<Status(std::optional<std::uint64_t> since_ns)> tell_server;
  // Reads secrets and options again. Returns whether a trial of new options is to start.
  std::function<bool()> reload;
  // The trial has ended. Returns whether the recorder must start again, with the new options.
  enum class Trial : std::uint8_t { kFailed, kGood };
  std::function<bool(Trial)> end_trial;
  // The recorder cannot start with the options that the trial accepted: the ones before count.
  std::function<void()> restore;
  // No process will start any more.
  std::function<void()> end_channels;
};

// Blocks SIGINT, SIGTERM, SIGHUP and SIGCHLD, and returns a descriptor (signalfd(2)) that reads
// them. Fails with kIo.
Result<UniqueFd> CatchServiceSignals();

// Until the first recording has begun, the end of any process is the end of the service; later, the
// process is started again.
class ProcessLifecycle {
 public:
  // `recordings` and `console` must outlive this object.
  ProcessLifecycle(LifecycleActions actions, RecordingServer& recordings, cli::Console& console)
      : actions_(std::move(actions)), recordings_(recordings), console_(console) {}

  // Fails as the action does.
  Status Start(Role role);
  // Waits for the end of all processes. SIGINT and SIGTERM end the recorder, which the others
  // follow; SIGHUP reloads. Returns the exit status: EXIT_FAILURE if a process failed.
  int Wait(int signals);

 private:
  struct Process {
    pid_t pid = 0;
    std::uint64_t since_ns = 0;
  };

  void AcceptSignal(int signals);
  void AcceptStart();
  void TellServer();
  void Reload();
  void EndTrial(LifecycleActions::Trial trial);
  void Kill(Role role, int signal) const;
  void EndAll();
  void Reap();
  void HasEnded(Role role, const Process& process, int status);
  void StartAgain(Role role, const Process& process, int status);
  void StartDue();
  int MillisecondsToWait() const;
  void ReportEnd(Role role, int status);

  LifecycleActions actions_;
  RecordingServer& recordings_;
  cli::Console& console_;
  std::map<Role, Process> running_;
  std::map<Role, std::uint64_t> due_ns_;  // when to start it again
  std::map<Role, RestartDelay> delays_;
  UniqueFd started_;  // readable when the recorder has begun
  std::optional<std::uint64_t> recorded_since_ns_;
  bool has_recorded_ = false;
  bool is_new_ = false;  // the recorder has new options, which no recorder has begun with
  bool is_restarting_ = false, is_reload_due_ = false, is_ending_ = false, has_failed_ = false;
};

}  // namespace perftape::serve
