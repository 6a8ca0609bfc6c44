// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/supervisor.h"

#include <fmt/core.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "formats/base/text.h"
#include "record/machine/requirements.h"
#include "tools/serve/private_directory.h"
#include "tools/serve/processes.h"
#include "tools/serve/recordings.h"
#include "tools/serve/secrets.h"

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

// What the supervisor does, by the process that does it.
struct Actions {
  std::function<Result<pid_t>()> start_recorder;
  // Tells the server what the recorder records now.
  std::function<Status()> send_events;
  // Reads secrets and options again. Returns whether the recorder must start again.
  std::function<bool()> reload;
  // No recorder will start any more.
  std::function<void()> end_files;
};

// The processes, and why the service ends.
class Processes {
 public:
  Processes(Actions actions, RecordingServer& recordings, cli::Console& console)
      : actions_(std::move(actions)), recordings_(recordings), console_(console) {}

  void Add(std::string name, pid_t pid) { running_.push_back({std::move(name), pid}); }
  Status StartRecorder() {
    TRY_ASSIGN(recorder_, actions_.start_recorder());
    Add("recorder", recorder_);
    return {};
  }

  // Waits for the end of all. The recorder ends first; the others follow it.
  int Wait(int signals) {
    while (!running_.empty() || !recordings_.empty()) {
      pollfd waits[] = {{.fd = signals, .events = POLLIN, .revents = 0},
                        {.fd = recordings_.poll_fd(), .events = POLLIN, .revents = 0}};
      if (poll(&waits[0], std::size(waits), -1) < 0) continue;
      if (waits[1].revents != 0) recordings_.AcceptCommand();
      if (waits[0].revents != 0) AcceptSignal(signals);
    }
    return has_failed_ ? EXIT_FAILURE : EXIT_SUCCESS;
  }

 private:
  struct Process {
    std::string name;
    pid_t pid;
  };

  void AcceptSignal(int signals) {
    signalfd_siginfo signal = {};
    if (read(signals, &signal, sizeof signal) != sizeof signal) return;
    if (signal.ssi_signo == SIGCHLD) {
      Reap();
    } else if (signal.ssi_signo != SIGHUP) {
      EndAll();
    } else if (!is_ending_ && actions_.reload()) {
      is_restarting_ = true;
      EndRecorder();
    }
  }

  void EndRecorder() const {
    if (recorder_ != 0) (void)kill(recorder_, SIGTERM);
  }

  void EndAll() {
    is_ending_ = true;
    recordings_.EndAll();
    actions_.end_files();
    EndRecorder();
  }

  void Reap() {
    int status = 0;
    for (pid_t pid = 0; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
      const bool is_good = WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
      if (recordings_.HasEnded(pid, is_good)) continue;
      const auto found = std::ranges::find(running_, pid, &Process::pid);
      if (found == running_.end()) continue;
      const Process ended = *found;
      running_.erase(found);
      const bool is_recorder = pid == std::exchange(recorder_, pid == recorder_ ? 0 : recorder_);
      if (is_recorder && is_good && is_restarting_ && !is_ending_ && Restart()) continue;
      if (!is_good || !is_ending_) ReportEnd(ended.name, status);
      EndAll();
    }
  }

  bool Restart() {
    is_restarting_ = false;
    Status done = StartRecorder();
    if (done) done = actions_.send_events();
    if (!done) console_.Error(done.error().message);
    return done.has_value();
  }

  void ReportEnd(const std::string& name, int status) {
    has_failed_ = true;
    const std::string how =
        WIFSIGNALED(status) ? fmt::format(" by signal {}", WTERMSIG(status)) : std::string();
    console_.Error(fmt::format("the {} has ended{}", name, how));
  }

  Actions actions_;
  RecordingServer& recordings_;
  cli::Console& console_;
  std::vector<Process> running_;
  pid_t recorder_ = 0;
  bool is_restarting_ = false, is_ending_ = false, has_failed_ = false;
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

// Replaces what is recorded. Returns false if the options are wrong or the same.
bool Reload(ServeRun& run, cli::Console& console) {
  Result<ServeRun> again = PlanAgain();
  if (!again) {
    console.Warning("SIGHUP: the options stay: " + again.error().message);
    return false;
  }
  if (run.config == again->config) return false;
  if (!IsServedAlike(run, *again)) {
    console.Warning(
        "SIGHUP: new options of --listen, --token-file, --history, --memory, --directory, --otlp, "
        "--push and --no-sandbox need a new start");
  }
  run.config = std::move(again->config);
  run.record = std::move(again->record);
  run.events = std::move(again->events);
  run.window = again->window;
  run.cri_socket = std::move(again->cri_socket);
  return true;
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
// its last sender is closed.
struct Channels {
  Channel files, windows, commands;
  Channel payloads = {}, push_notices = {};  // empty: nothing is pushed
  PushCounts* push_counts = nullptr;         // null: the same
};

Result<Channels> OpenChannels(const PushOptions& push) {
  Channels channels;
  TRY_ASSIGN(channels.files, MakeChannel(ChannelKind::kMessages));
  TRY_ASSIGN(channels.windows, MakeChannel(ChannelKind::kBytes));
  TRY_ASSIGN(channels.commands, MakeChannel(ChannelKind::kMessages));
  if (push.is_on()) {
    TRY_ASSIGN(channels.payloads, MakeChannel(ChannelKind::kBytes));
    TRY_ASSIGN(channels.push_notices, MakeChannel(ChannelKind::kMessages));
    TRY_ASSIGN(channels.push_counts, MakePushCounts());
  }
  return channels;
}

// `parts` has the sockets, their addresses and the token.
Result<pid_t> StartServer(const ServeRun& run, Channels& channels, ServerParts parts,
                          record::SwitchRequest& cut, cli::Console& console) {
  parts.windows = std::move(channels.windows.receiver);
  parts.recordings = std::move(channels.commands.sender);
  parts.push_counts = channels.push_counts;
  return StartProcess("perftape-http", Sigterm::kIsIgnored, [&] {
    channels = {};
    return RunServer(run, std::move(parts), cut, console);
  });
}

Result<pid_t> StartPusher(const ServeRun& run, const PushSecrets& secrets, Channels& channels,
                          cli::Console& console) {
  PusherParts parts = {.payloads = std::move(channels.payloads.receiver),
                       .notices = std::move(channels.push_notices.receiver),
                       .secrets = secrets,
                       .counts = channels.push_counts};
  return StartProcess("perftape-push", Sigterm::kIsIgnored, [&] {
    channels = {};
    return RunPusher(run, std::move(parts), console);
  });
}

Result<pid_t> StartImporter(const ServeRun& run, const std::filesystem::path& directory,
                            Channels& channels, cli::Console& console) {
  ImporterParts parts = {.files = std::move(channels.files.receiver),
                         .windows = std::move(channels.windows.sender),
                         .payloads = std::move(channels.payloads.sender),
                         .push_counts = channels.push_counts};
  return StartProcess("perftape-import", Sigterm::kIsIgnored, [&] {
    channels = {};
    return RunImporter(run, directory, std::move(parts), console);
  });
}

}  // namespace

Result<int> Supervise(const ServeRun& planned, cli::Console& console) {
  ServeRun run = planned;
  TRY(CheckPrivileges(console));
  const SecretFiles secret_files = {
      .token = run.token_file, .headers = run.push.headers_file, .certificates = run.push.ca_file};
  TRY_ASSIGN(Secrets secrets, ReadSecrets(secret_files));
  Sockets sockets(run.addresses);
  TRY_ASSIGN(std::vector<UniqueFd> opened, sockets.Open());
  TRY_ASSIGN(const UniqueFd signals, CatchSignals());
  record::SwitchRequest cut;
  TRY_ASSIGN(Channels channels, OpenChannels(run.push));
  TRY_ASSIGN(const pid_t server, StartServer(run, channels,
                                             {.sockets = std::move(opened),
                                              .addresses = sockets.addresses,
                                              .token = secrets.token},
                                             cut, console));
  std::optional<pid_t> pusher;
  if (run.push.is_on()) {
    TRY_ASSIGN(pusher, StartPusher(run, secrets.push, channels, console));
  }
  // After the processes that have no files: those that are forked later hold its lock.
  TRY_ASSIGN(const PrivateDirectory directory, PrivateDirectory::Make(run.directory));
  TRY_ASSIGN(const pid_t importer, StartImporter(run, directory.path(), channels, console));

  RecordingServer recordings(run, directory.path(), std::move(channels.commands.receiver), console);
  Processes processes(
      {.start_recorder =
           [&] {
             return StartProcess("perftape-record", Sigterm::kEnds, [&] {
               recordings.CloseChannel();
               channels.push_notices = {};
               return RunRecorder(run, cut, directory.path(), std::move(channels.files.sender),
                                  console);
             });
           },
       .send_events =
           [&] { return recordings.Send(Notice::Kind::kEvents, Joined(run.events, "\n")); },
       .reload =
           [&] {
             const int pusher_notices = channels.push_notices.sender.get();
             ReloadSecrets(secret_files, secrets, recordings, pusher_notices, console);
             return Reload(run, console);
           },
       .end_files = [&] { channels.files.sender.Reset(); }},
      recordings, console);
  processes.Add("server", server);
  processes.Add("importer", importer);
  if (pusher) processes.Add("pusher", *pusher);
  TRY(processes.StartRecorder());
  for (const ListenAddress& address : sockets.addresses)
    console.Note("listening at " + AddressText(address));
  return processes.Wait(signals.get());
}

}  // namespace perftape::serve
