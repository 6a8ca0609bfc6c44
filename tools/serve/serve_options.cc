// SPDX-License-Identifier: Apache-2.0
// The table of perftape-serve's options.
#include <sys/un.h>

#include "tools/common/cli/rows.h"
#include "tools/common/recording/recording_options.h"
#include "tools/doctor/command_line.h"
#include "tools/serve/command_line.h"
#include "tools/serve/config_file.h"

namespace perftape::serve {
namespace {

using cli::Completion;

constexpr std::uint64_t kLeastMemory = std::uint64_t{1} << 20;

// One more address.
Result<std::vector<ListenAddress>> ParseListenOption(std::string_view option,
                                                     std::string_view text) {
  TRY_ASSIGN(ListenAddress address, ParseListenAddress(option, text));
  return std::vector{std::move(address)};
}

// The kubelet and crictl write the path of a socket as a URL.
Result<std::string> ParseCriSocket(std::string_view option, std::string_view text) {
  constexpr std::string_view kScheme = "unix://";
  if (text.starts_with(kScheme)) text.remove_prefix(kScheme.size());
  if (text.starts_with('/') && text.size() < sizeof(sockaddr_un::sun_path))
    return std::string(text);
  return Fail(
      ErrorCode::kInvalidArgument,
      std::string(option) + ": not the absolute path of a unix socket: " + std::string(text));
}

constexpr std::uint64_t kLeastQueue = std::uint64_t{4} << 10;

// The options of the file, as if they were here.
Status StoreConfig(cli::BaseOptions& options, std::string_view spelled, std::string_view text) {
  Status applied = ApplyConfigFile(std::string(text), dynamic_cast<ServePlan&>(options));
  if (applied) return applied;
  return Fail(ErrorCode::kInvalidArgument,
              std::string(spelled) + ": " + std::move(applied).error().message);
}

constexpr cli::Option kServiceRows[] = {
    {.name = "listen",
     .letter = 'l',
     .argument = "ADDRESS",
     .help = "answer requests at ADDRESS: the path of a unix socket, 127.0.0.1:PORT or "
             "localhost:PORT; port 0 picks a free port and prints it; other addresses need "
             "--token-file and --without-tls; can be given several times",
     .into = cli::StoreAs<&ParseListenOption, &ServePlan::addresses>},
    {.name = "config",
     .argument = "FILE",
     .help = "read options from FILE, one per line, as on the command line without the dashes: "
             "'event = cpu-clock'; later options win; SIGHUP reads FILE again",
     .completion = Completion::kFile,
     .into = {.store = &StoreConfig}},
    {.name = "token-file",
     .argument = "FILE",
     .help = "answer only requests with the token in FILE (Authorization: Bearer TOKEN), except "
             "/healthz and /readyz",
     .completion = Completion::kFile,
     .into = cli::Store<&ServePlan::token_file>},
    {.name = "without-tls",
     .help = "accept that requests from other machines and their token are not encrypted",
     .is_rare = true,
     .into = cli::Set<&ServePlan::without_tls>},
    {.name = "history",
     .argument = "TIME",
     .help = "keep the profiles of the last TIME (default 1h)",
     .into = cli::StoreAs<&cli::ParseDuration, &ServePlan::history, &HistoryLimits::span>},
    {.name = "memory",
     .argument = "SIZE",
     .help = "limit profiles to SIZE, at least 1M; old ones are merged, then dropped (default 64M)",
     .into = cli::StoreAs<&cli::ParseSizeIn<kLeastMemory, cli::kLargestSize>, &ServePlan::history,
                          &HistoryLimits::bytes>},
    {.name = "window",
     .argument = "TIME",
     .help = "keep one profile per TIME, at least 50ms (default 10s)",
     .is_rare = true,
     .into = cli::StoreAs<&cli::ParseDuration, &ServePlan::window>},
    {.name = "cri-socket",
     .argument = "PATH",
     .help = "ask the container runtime at this unix socket for names of pods and containers that "
             "are in no file: /run/containerd/containerd.sock",
     .completion = Completion::kFile,
     .is_rare = true,
     .into = cli::StoreAs<&ParseCriSocket, &ServePlan::cri_socket>},
    {.name = "directory",
     .argument = "DIR",
     .help =
         "keep the recording of each window in DIR until it is read; DIR must not exist (default: "
         "a new directory in $RUNTIME_DIRECTORY or /run)",
     .completion = Completion::kDirectory,
     .is_rare = true,
     .into = cli::Store<&ServePlan::directory>},
};

constexpr cli::Option kPushRows[] = {
    {.name = "otlp",
     .argument = "URL",
     .help = "push each window to a receiver of OpenTelemetry profiles: https://HOST:PORT or "
             "grpcs://HOST:PORT; http:// and grpc:// use no TLS",
     .into = cli::StoreAs<&ParsePushTarget, &ServePlan::push, &PushOptions::target>},
    {.name = "push",
     .argument = "KIND=URL",
     .help = "push each window to Grafana Pyroscope or Alloy: pyroscope=https://HOST:PORT; http:// "
             "uses no TLS",
     .into = cli::StoreAs<&ParseOtherTarget, &ServePlan::other_target>},
    {.name = "otlp-headers",
     .argument = "FILE",
     .help =
         "send the headers in FILE with each push, also of --push; one per line: 'Authorization: "
         "Bearer TOKEN'",
     .completion = Completion::kFile,
     .is_rare = true,
     .into = cli::Store<&ServePlan::push, &PushOptions::headers_file>},
    {.name = "otlp-ca",
     .argument = "FILE",
     .help = "trust the certificates in FILE (PEM) instead of the system's",
     .completion = Completion::kFile,
     .is_rare = true,
     .into = cli::Store<&ServePlan::push, &PushOptions::ca_file>},
    {.name = "otlp-queue",
     .argument = "SIZE",
     .help = "keep at most SIZE of compressed profiles while the receiver does not accept them, at "
             "least 4K; the oldest are dropped first (default 16M)",
     .is_rare = true,
     .into = cli::StoreAs<&cli::ParseSizeIn<kLeastQueue, cli::kLargestSize>, &ServePlan::push,
                          &PushOptions::queue_bytes>},
};

constexpr std::string_view kDefaultRate = "(default 19)";  // kUsualHz

constexpr cli::Option kOtherRows[] = {
    cli::QuietRow(),
    cli::VerboseRow("also print the file and the samples of each window"),
    cli::NoSandboxRow(),
};

constexpr auto kOptions = cli::Table(
    cli::InGroup(cli::Group::kService, kServiceRows), cli::InGroup(cli::Group::kPush, kPushRows),
    cli::InGroup(cli::Group::kEvents, recording::kEventRows),
    cli::InGroup(cli::Group::kTargets, recording::kScopeRows),
    cli::InGroup(cli::Group::kSampling,
                 recording::kSamplingRows<kDefaultRate, &recording::CallGraphsWithoutCopies>),
    cli::InGroup(cli::Group::kOther, kOtherRows));

constexpr cli::Example kExamples[] = {
    {"perftape-serve --listen 127.0.0.1:4040", "CPU time of the whole machine, all the time"},
    {"perftape-serve -e packetloss,tcpretrans,tcpreset --listen /run/perftape.sock",
     "lost packets, over a unix socket"},
    {"perftape-serve -e cpu-clock,offcpu --pod 'default/*' --listen localhost:4040",
     "where the pods of a namespace run and wait"},
};

constexpr cli::Command kCommand = {
    .name = "perftape-serve",
    .purpose =
        "Record all the time, and answer requests for profiles over HTTP: folded stacks, "
        "pprof, flame graphs, metrics.",
    .operands = "",
    .options = kOptions,
    .operand_completion = Completion::kNothing,
    .examples = kExamples,
    .epilogue = "Exit status: 0 ended by a signal, 1 failure, 2 wrong usage.\n",
    .libraries = &doctor_tool::RecorderLibraries,
    .kernel_features = &doctor_tool::KernelFeatures,
};

}  // namespace

const cli::Command& ServeCommand() {
  return kCommand;
}

}  // namespace perftape::serve
