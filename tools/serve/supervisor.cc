// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/supervisor.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "formats/base/text.h"
#include "record/machine/requirements.h"
#include "tools/serve/channels/file_channel.h"
#include "tools/serve/history_file.h"
#include "tools/serve/listening_sockets.h"
#include "tools/serve/private_directory.h"
#include "tools/serve/process_lifecycle.h"
#include "tools/serve/processes.h"
#include "tools/serve/recordings.h"
#include "tools/serve/reload.h"
#include "tools/serve/secrets.h"

namespace perftape::serve {
namespace {

// Reports what is missing to record all processes.
Status CheckPrivileges(cli::Console& console) {
  const record::Findings findings = record::CheckFacts(record::ReadSystemFacts());
  for (const record::Finding& finding : findings.limits) console.Warning(finding.text());
  if (findings.missing.empty()) return {};
  std::string text;
  for (const record::Finding& finding : findings.missing)
    text += (text.empty() ? "" : "\n") + finding.text();
  return Fail(ErrorCode::kPermission, text);
}

// The ends that this process has. Each process closes the ends of the others: a channel ends when
// its last sender is closed. This process keeps what the next process of a role needs.
struct Channels {
  std::vector<UniqueFd> sockets;
  Channel files, windows;             // both ends: no message is lost with a process
  UniqueFd history;                   // of HistoryFile
  UniqueFd payloads;                  // the receiver for the next pusher
  Channel push_notices = {};          // both ends
  PushCounts* push_counts = nullptr;  // null: nothing is pushed
};

// Windows wait in their sender: each that waits in a channel is a file in memory.
void LimitRoom(const UniqueFd& sender) {
  constexpr int kLeast = 1;  // a few messages
  (void)setsockopt(sender.get(), SOL_SOCKET, SO_SNDBUF, &kLeast, sizeof kLeast);
}

// The first process, and what it starts.
class Supervisor {
 public:
  Supervisor(const ServeRun& run, cli::Console& console)
      : run_(run),
        console_(console),
        secret_files_{.token = run.token_file,
                      .headers = run.push.headers_file,
                      .certificates = run.push.ca_file},
        sockets_(run.addresses) {}

  Result<int> Run();

 private:
  Result<pid_t> Start(Role role, UniqueFd started);
  Result<pid_t> StartServer();
  Result<pid_t> StartPusher();
  Result<pid_t> StartImporter();
  Result<pid_t> StartRecorder(UniqueFd started);
  Result<pid_t> StartTrial();
  Status OpenChannels();
  LifecycleActions MakeActions();
  // In a new process.
  void CloseAll() {
    channels_ = {};
    recordings_->CloseChannel();
  }
  std::filesystem::path TrialFile() const { return directory_->path() / "trial.data"; }

  ServeRun run_;
  std::optional<ServeRun> candidate_, before_;  // of SIGHUP: on trial; before the last change
  cli::Console& console_;
  const SecretFiles secret_files_;
  Secrets secrets_;
  ListeningSockets sockets_;
  record::SwitchRequest cut_;
  Channels channels_;
  std::optional<PrivateDirectory> directory_;
  std::optional<RecordingServer> recordings_;
};

Status Supervisor::OpenChannels() {
  TRY_ASSIGN(channels_.sockets, sockets_.Open());
  TRY_ASSIGN(channels_.files, MakeChannel(ChannelKind::kMessages));
  TRY_ASSIGN(channels_.windows, MakeChannel(ChannelKind::kMessages));
  LimitRoom(channels_.windows.sender);
  TRY_ASSIGN(channels_.history, HistoryFile::Make());
  if (run_.push.is_on()) {
    TRY_ASSIGN(channels_.push_notices, MakeChannel(ChannelKind::kMessages));
    TRY_ASSIGN(channels_.push_counts, MakePushCounts());
  }
  return {};
}

Result<pid_t> Supervisor::Start(Role role, UniqueFd started) {
  switch (role) {
    case Role::kServer:
      return StartServer();
    case Role::kPusher:
      return StartPusher();
    case Role::kImporter:
      return StartImporter();
    case Role::kTrial:
      return StartTrial();
    case Role::kRecorder:
      break;
  }
  return StartRecorder(std::move(started));
}

Result<pid_t> Supervisor::StartServer() {
  TRY_ASSIGN(Channel commands, MakeChannel(ChannelKind::kMessages));
  ServerParts parts = {.addresses = sockets_.addresses(),
                       .token = secrets_.token,
                       .windows = Duplicate(channels_.windows.receiver.get()),
                       .history = Duplicate(channels_.history.get()),
                       .recordings = std::move(commands.sender),
                       .push_counts = channels_.push_counts};
  for (const UniqueFd& socket : channels_.sockets) parts.sockets.push_back(Duplicate(socket.get()));
  recordings_->Connect(std::move(commands.receiver));
  return StartProcess("perftape-http", Sigterm::kIsIgnored, [&] {
    CloseAll();
    directory_->Unlock();
    return RunServer(run_, std::move(parts), cut_, console_);
  });
}

// The importer before has ended, or gets the new channel.
Result<pid_t> Supervisor::StartPusher() {
  channels_.push_counts->CountKilled();
  if (!channels_.payloads) {
    TRY_ASSIGN(Channel payloads, MakeChannel(ChannelKind::kBytes));
    TRY(SendPayloadChannel(channels_.files.sender.get(), payloads.sender));
    channels_.payloads = std::move(payloads.receiver);
  }
  PusherParts parts = {.payloads = std::move(channels_.payloads),
                       .notices = Duplicate(channels_.push_notices.receiver.get()),
                       .secrets = secrets_.push,
                       .counts = channels_.push_counts};
  return StartProcess("perftape-push", Sigterm::kIsIgnored, [&] {
    CloseAll();
    directory_->Unlock();
    return RunPusher(run_, std::move(parts), console_);
  });
}

// A pusher ends with the channel of the importer before, when it has sent what was in it.
Result<pid_t> Supervisor::StartImporter() {
  Channel payloads;
  if (run_.push.is_on()) {
    TRY_ASSIGN(payloads, MakeChannel(ChannelKind::kBytes));
  }
  ImporterParts parts = {.files = Duplicate(channels_.files.receiver.get()),
                         .windows = Duplicate(channels_.windows.sender.get()),
                         .payloads = std::move(payloads.sender),
                         .push_counts = channels_.push_counts};
  channels_.payloads = std::move(payloads.receiver);
  return StartProcess("perftape-import", Sigterm::kIsIgnored, [&] {
    CloseAll();
    return RunImporter(run_, directory_->path(), std::move(parts), console_);
  });
}

Result<pid_t> Supervisor::StartRecorder(UniqueFd started) {
  return StartProcess("perftape-record", Sigterm::kEnds, [&] {
    RecorderParts parts = {.files = std::move(channels_.files.sender),
                           .started = std::move(started)};
    CloseAll();
    return RunRecorder(run_, cut_, directory_->path(), std::move(parts), console_);
  });
}

Result<pid_t> Supervisor::StartTrial() {
  return StartProcess("perftape-trial", Sigterm::kEnds, [&] {
    CloseAll();
    return RunTrial(*candidate_, TrialFile(), console_);
  });
}

LifecycleActions Supervisor::MakeActions() {
  return {.start = [this](Role role, UniqueFd started) { return Start(role, std::move(started)); },
          .tell_server =
              [this](std::optional<std::uint64_t> since_ns) {
                if (!since_ns) return recordings_->Send({.kind = Notice::Kind::kEvents});
                return recordings_->Send(Notice::Kind::kEvents, Joined(run_.events, "\n"),
                                         *since_ns);
              },
          .reload =
              [this] {
                const int pusher_notices = channels_.push_notices.sender.get();
                ReloadSecrets(secret_files_, secrets_, *recordings_, pusher_notices, console_);
                candidate_ = ReloadedOptions(run_, console_);
                return candidate_.has_value();
              },
          .end_trial =
              [this](LifecycleActions::Trial trial) {
                (void)unlink(TrialFile().c_str());
                if (trial == LifecycleActions::Trial::kFailed) return false;
                before_ = std::exchange(run_, *std::move(candidate_));
                return true;
              },
          .restore = [this] { run_ = *before_; },
          .end_channels =
              [this] {
                // The ends of the processes that run are open until these end.
                channels_.files = {};
                channels_.windows = {};
              }};
}

Result<int> Supervisor::Run() {
  TRY(CheckPrivileges(console_));
  TRY_ASSIGN(secrets_, ReadSecrets(secret_files_));
  TRY(OpenChannels());
  TRY_ASSIGN(const UniqueFd signals, CatchServiceSignals());
  TRY_ASSIGN(PrivateDirectory directory, PrivateDirectory::Make(run_.directory));
  directory_.emplace(std::move(directory));
  recordings_.emplace(
      run_, directory_->path(), [this] { channels_ = {}; }, console_);
  ProcessLifecycle processes(MakeActions(), *recordings_, console_);
  TRY(processes.Start(Role::kServer));
  TRY(processes.Start(Role::kImporter));
  if (run_.push.is_on()) TRY(processes.Start(Role::kPusher));
  TRY(processes.Start(Role::kRecorder));
  for (const ListenAddress& address : sockets_.addresses())
    console_.Note("listening at " + AddressText(address));
  return processes.Wait(signals.get());
}

}  // namespace

Result<int> Supervise(const ServeRun& planned, cli::Console& console) {
  return Supervisor(planned, console).Run();
}

}  // namespace perftape::serve
