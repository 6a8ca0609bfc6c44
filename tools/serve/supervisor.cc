// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/supervisor.h"

#include <fmt/core.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "formats/base/duration.h"
#include "formats/base/text.h"
#include "record/machine/clock.h"
#include "record/machine/requirements.h"
#include "tools/serve/file_channel.h"
#include "tools/serve/history_file.h"
#include "tools/serve/private_directory.h"
#include "tools/serve/processes.h"
#include "tools/serve/recordings.h"
#include "tools/serve/restart_delay.h"
#include "tools/serve/secrets.h"
#include "tools/serve/service_manager.h"

namespace perftape::serve {
namespace {

// The socket files are removed at the end.
class Sockets {
 public:
  explicit Sockets(std::vector<ListenAddress> wanted) : addresses(std::move(wanted)) {}
  Sockets(const Sockets&) = delete;
  Sockets& operator=(const Sockets&) = delete;
  ~Sockets() {
    for (std::size_t i = 0; i < opened_; ++i) {
      if (addresses[i].is_unix()) (void)unlink(addresses[i].path.c_str());
    }
  }

  Result<std::vector<UniqueFd>> Open() {
    std::vector<UniqueFd> fds;
    for (; opened_ < addresses.size(); ++opened_) {
      TRY_ASSIGN(UniqueFd fd, Listen(addresses[opened_]));
      fds.push_back(std::move(fd));
    }
    return fds;
  }

  std::vector<ListenAddress> addresses;

 private:
  std::size_t opened_ = 0;
};

std::string AddressText(const ListenAddress& address) {
  if (address.is_unix()) return address.path;
  const bool is_ipv6 = address.host.contains(':');
  const std::string host = is_ipv6 ? "[" + address.host + "]" : address.host;
  return fmt::format("http://{}:{}", host, address.port);
}

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

Result<UniqueFd> CatchSignals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) sigaddset(&set, signal);
  if (sigprocmask(SIG_BLOCK, &set, nullptr) != 0) return FailErrno("signals", errno);
  UniqueFd fd(signalfd(-1, &set, SFD_CLOEXEC));
  if (!fd) return FailErrno("signals", errno);
  return fd;
}

// The processes besides the first one and recordings on request.
enum class Role : std::uint8_t { kRecorder, kImporter, kServer, kPusher, kTrial };

std::string_view NameOf(Role role) {
  constexpr std::string_view kNames[] = {"recorder", "importer", "server", "pusher", "trial"};
  return kNames[static_cast<std::size_t>(role)];
}

// What the supervisor does, by the process that does it.
struct Actions {
  // Starts a process of this role. `started` is for the recorder.
  std::function<Result<pid_t>(Role, UniqueFd started)> start;
  // Tells the server since when the recorder records; nothing if it does not.
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

// The processes, and why the service ends. Until the first recording has begun, the end of any
// process is the end of the service; later, the process is started again.
class Processes {
 public:
  Processes(Actions actions, RecordingServer& recordings, cli::Console& console)
      : actions_(std::move(actions)), recordings_(recordings), console_(console) {}

  Status Start(Role role) {
    Channel started;
    if (role == Role::kRecorder) {
      TRY_ASSIGN(started, MakeChannel(ChannelKind::kMessages));
    }
    TRY_ASSIGN(const pid_t pid, actions_.start(role, std::move(started.sender)));
    if (role == Role::kRecorder) started_ = std::move(started.receiver);
    running_[role] = {.pid = pid, .since_ns = record::MonotonicNs()};
    return {};
  }

  // Waits for the end of all. The recorder ends first; the others follow it.
  int Wait(int signals) {
    while (!running_.empty() || !due_ns_.empty() || !recordings_.empty()) {
      pollfd waits[] = {{.fd = signals, .events = POLLIN, .revents = 0},
                        {.fd = recordings_.poll_fd(), .events = POLLIN, .revents = 0},
                        {.fd = started_.get(), .events = POLLIN, .revents = 0}};
      const int ready = poll(&waits[0], std::size(waits), MillisecondsToWait());
      if (ready < 0) continue;
      if (waits[1].revents != 0) recordings_.AcceptCommand();
      if (waits[2].revents != 0) AcceptStart();
      if (waits[0].revents != 0) AcceptSignal(signals);
      StartDue();
    }
    return has_failed_ ? EXIT_FAILURE : EXIT_SUCCESS;
  }

 private:
  struct Process {
    pid_t pid = 0;
    std::uint64_t since_ns = 0;
  };

  void AcceptSignal(int signals) {
    signalfd_siginfo signal = {};
    if (read(signals, &signal, sizeof signal) != sizeof signal) return;
    if (signal.ssi_signo == SIGCHLD) {
      Reap();
    } else if (signal.ssi_signo != SIGHUP) {
      EndAll();
    } else if (!is_ending_) {
      Reload();
    }
  }

  // All events are recorded now, or the recorder has ended before.
  void AcceptStart() {
    char byte = 0;
    const bool has_begun = recv(started_.get(), &byte, 1, MSG_DONTWAIT) == 1;
    started_.Reset();
    if (!has_begun) return;
    if (!std::exchange(has_recorded_, true)) {
      if (const Status notified = NotifyServiceManager("READY=1"); !notified)
        console_.Warning(notified.error().message);
    }
    is_new_ = false;
    recorded_since_ns_ = record::MonotonicNs();
    TellServer();
  }

  void TellServer() {
    if (const Status notified = actions_.tell_server(recorded_since_ns_); !notified && !is_ending_)
      console_.Warning(notified.error().message);
  }

  void Reload() {
    if (running_.contains(Role::kTrial)) {
      is_reload_due_ = true;
    } else if (actions_.reload()) {
      if (const Status started = Start(Role::kTrial); !started)
        console_.Warning("SIGHUP: the options stay: " + started.error().message);
    }
  }

  void EndTrial(bool is_good) {
    if (!is_good)
      console_.Warning("SIGHUP: the options stay, because the new ones cannot be recorded");
    if (is_ending_) return;
    if (actions_.end_trial(is_good ? Actions::Trial::kGood : Actions::Trial::kFailed)) {
      is_new_ = is_restarting_ = true;
      Kill(Role::kRecorder, SIGTERM);
      if (!running_.contains(Role::kRecorder)) due_ns_[Role::kRecorder] = 0;
    }
    if (std::exchange(is_reload_due_, false)) Reload();
  }

  void Kill(Role role, int signal) const {
    const auto found = running_.find(role);
    if (found != running_.end()) (void)kill(found->second.pid, signal);
  }

  void EndAll() {
    is_ending_ = true;
    due_ns_.clear();
    recordings_.EndAll();
    actions_.end_channels();
    Kill(Role::kTrial, SIGKILL);
    Kill(Role::kRecorder, SIGTERM);
  }

  void Reap() {
    int status = 0;
    for (pid_t pid = 0; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
      const bool is_good = WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
      if (recordings_.HasEnded(pid, is_good)) continue;
      const auto found =
          std::ranges::find(running_, pid, [](const auto& entry) { return entry.second.pid; });
      if (found == running_.end()) continue;
      const auto [role, process] = *found;
      running_.erase(found);
      if (role == Role::kTrial) {
        EndTrial(is_good);
      } else {
        HasEnded(role, process, status);
      }
    }
  }

  void HasEnded(Role role, const Process& process, int status) {
    const bool is_good = WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
    if (role == Role::kRecorder) {
      AcceptStart();
      recorded_since_ns_.reset();
      TellServer();
    }
    if (is_ending_) {
      if (!is_good) ReportEnd(role, status);
      return;
    }
    const bool is_wanted = role == Role::kRecorder && std::exchange(is_restarting_, false);
    if (is_wanted && is_good) {
      due_ns_[role] = 0;
      return;
    }
    if (role == Role::kRecorder && std::exchange(is_new_, false)) {
      actions_.restore();
      console_.Warning("SIGHUP: the old options are back, because recording the new ones failed");
    } else if (!has_recorded_) {
      ReportEnd(role, status);
      return EndAll();
    }
    const std::uint64_t now_ns = record::MonotonicNs();
    const auto delay = delays_[role].After(std::chrono::nanoseconds(now_ns - process.since_ns));
    const bool is_planned = role == Role::kPusher && is_good;  // after a new importer
    if (!is_planned) {
      console_.Warning(
          fmt::format("the {} has ended{}: it is started again", NameOf(role), CauseOf(status)));
    }
    due_ns_[role] = now_ns + static_cast<std::uint64_t>(delay.count());
  }

  void StartDue() {
    const std::uint64_t now_ns = record::MonotonicNs();
    for (const Role role : {Role::kServer, Role::kImporter, Role::kPusher, Role::kRecorder}) {
      const auto found = due_ns_.find(role);
      if (found == due_ns_.end() || found->second > now_ns) continue;
      due_ns_.erase(found);
      const Status started = Start(role);
      if (started) {
        if (role == Role::kServer && recorded_since_ns_) TellServer();
        continue;
      }
      console_.Error(started.error().message);
      due_ns_[role] = now_ns + static_cast<std::uint64_t>(
                                   std::chrono::nanoseconds(RestartDelay::kLongest).count());
    }
  }

  int MillisecondsToWait() const {
    constexpr std::uint64_t kNsOfAMillisecond = 1'000'000;
    if (due_ns_.empty()) return -1;
    const std::uint64_t now_ns = record::MonotonicNs();
    const std::uint64_t due_ns = std::ranges::min_element(due_ns_, {}, [](const auto& entry) {
                                   return entry.second;
                                 })->second;
    return static_cast<int>((due_ns - std::min(due_ns, now_ns)) / kNsOfAMillisecond) + 1;
  }

  static std::string CauseOf(int status) {
    return WIFSIGNALED(status) ? fmt::format(" by signal {}", WTERMSIG(status)) : std::string();
  }

  void ReportEnd(Role role, int status) {
    has_failed_ = true;
    console_.Error(fmt::format("the {} has ended{}", NameOf(role), CauseOf(status)));
  }

  Actions actions_;
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

// Returns the options of the command line and of its file, as they are now.
Result<ServeRun> PlanAgain() {
  std::vector<std::string> words = record_tool::OwnCommandLine();
  if (!words.empty()) words.erase(words.begin());
  TRY_ASSIGN(ServePlan plan, cli::Parse<ServePlan>(ServeCommand(), words));
  return PlanOf(std::move(plan));
}

bool IsServedAlike(const ServeRun& one, const ServeRun& other) {
  return std::ranges::equal(one.addresses, other.addresses, {}, &ListenAddress::text,
                            &ListenAddress::text) &&
         one.token_file == other.token_file && one.directory == other.directory &&
         one.history.bytes == other.history.bytes && one.history.span == other.history.span &&
         one.push == other.push && one.no_sandbox == other.no_sandbox;
}

// Returns other options for `run`; nothing if they are wrong or the same.
std::optional<ServeRun> OptionsAgain(const ServeRun& run, cli::Console& console) {
  Result<ServeRun> again = PlanAgain();
  if (!again) {
    console.Warning("SIGHUP: the options stay: " + again.error().message);
    return std::nullopt;
  }
  if (run.config == again->config) return std::nullopt;
  if (!IsServedAlike(run, *again)) {
    console.Warning(
        "SIGHUP: new options of --listen, --token-file, --history, --memory, --directory, --otlp, "
        "--push and --no-sandbox need a new start");
  }
  ServeRun changed = run;
  changed.config = std::move(again->config);
  changed.record = std::move(again->record);
  changed.events = std::move(again->events);
  changed.window = again->window;
  changed.cri_socket = std::move(again->cri_socket);
  return changed;
}

void ReloadSecrets(const SecretFiles& files, Secrets& secrets, RecordingServer& server, int pusher,
                   cli::Console& console) {
  const auto warn = [&](const Error& error) {
    console.Warning("SIGHUP: " + error.message + "; the old content stays");
  };
  const auto send = [&](Notice::Kind kind, std::string_view text) {
    const Status sent =
        kind == Notice::Kind::kToken ? server.Send(kind, text) : SendText(pusher, kind, text);
    if (!sent) warn(sent.error());
  };
  ReadAgain(files, secrets, {.send = send, .warn = warn});
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
  Actions MakeActions();
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
  Sockets sockets_;
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
  ServerParts parts = {.addresses = sockets_.addresses,
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

Actions Supervisor::MakeActions() {
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
                candidate_ = OptionsAgain(run_, console_);
                return candidate_.has_value();
              },
          .end_trial =
              [this](Actions::Trial trial) {
                (void)unlink(TrialFile().c_str());
                if (trial == Actions::Trial::kFailed) return false;
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
  TRY_ASSIGN(const UniqueFd signals, CatchSignals());
  TRY_ASSIGN(PrivateDirectory directory, PrivateDirectory::Make(run_.directory));
  directory_.emplace(std::move(directory));
  recordings_.emplace(
      run_, directory_->path(), [this] { channels_ = {}; }, console_);
  Processes processes(MakeActions(), *recordings_, console_);
  TRY(processes.Start(Role::kServer));
  TRY(processes.Start(Role::kImporter));
  if (run_.push.is_on()) TRY(processes.Start(Role::kPusher));
  TRY(processes.Start(Role::kRecorder));
  for (const ListenAddress& address : sockets_.addresses)
    console_.Note("listening at " + AddressText(address));
  return processes.Wait(signals.get());
}

}  // namespace

Result<int> Supervise(const ServeRun& planned, cli::Console& console) {
  return Supervisor(planned, console).Run();
}

}  // namespace perftape::serve
