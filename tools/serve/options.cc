// SPDX-License-Identifier: Apache-2.0
// The table of perftape-serve's options. Those of events and of the scope set the fields of
// perftape-record's plan.
#include <sys/un.h>

#include "tools/common/cli/rows.h"
#include "tools/doctor/command_line.h"
#include "tools/record/option_values.h"
#include "tools/serve/command_line.h"
#include "tools/serve/config_file.h"

namespace perftape::serve {
namespace {

using cli::Completion;
using record::InputOptions;
using record::RecordOptions;
using record::ScopeOptions;
using record_tool::ParseNames;

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
     .help = "answer at ADDRESS: the path of a unix socket, 127.0.0.1:PORT or localhost:PORT; "
             "others need --token-file and --without-tls; several: at all of them",
     .into = cli::StoreAs<&ParseListenOption, &ServePlan::addresses>},
    {.name = "config",
     .argument = "FILE",
     .help = "read options from FILE, one on each line: 'event = cpu-clock'; options after it win; "
             "SIGHUP reads it again",
     .completion = Completion::kFile,
     .into = {.store = &StoreConfig}},
    {.name = "token-file",
     .argument = "FILE",
     .help = "answer only requests with the token in FILE (Authorization: Bearer TOKEN), except "
             "/healthz and /readyz",
     .completion = Completion::kFile,
     .into = cli::Store<&ServePlan::token_file>},
    {.name = "without-tls",
     .help = "confirm that requests of other machines, with the token, are not encrypted",
     .is_rare = true,
     .into = cli::Set<&ServePlan::without_tls>},
    {.name = "history",
     .argument = "TIME",
     .help = "keep the profiles of the last TIME (default 1h)",
     .into = cli::StoreAs<&cli::ParseDuration, &ServePlan::history, &HistoryLimits::span>},
    {.name = "memory",
     .argument = "SIZE",
     .help = "keep at most SIZE of profiles, at least 1M; old ones are merged, then dropped "
             "(default 64M)",
     .into = cli::StoreAs<&cli::ParseSizeIn<kLeastMemory, cli::kLargestSize>, &ServePlan::history,
                          &HistoryLimits::bytes>},
    {.name = "window",
     .argument = "TIME",
     .help = "keep a profile of each TIME, at least 50ms (default 10s)",
     .is_rare = true,
     .into = cli::StoreAs<&cli::ParseDuration, &ServePlan::window>},
    {.name = "cri-socket",
     .argument = "PATH",
     .help = "ask the container runtime at this unix socket for the names of pods and containers "
             "that files do not have: /run/containerd/containerd.sock",
     .completion = Completion::kFile,
     .is_rare = true,
     .into = cli::StoreAs<&ParseCriSocket, &ServePlan::cri_socket>},
    {.name = "directory",
     .argument = "DIR",
     .help = "write the recording of each window to DIR, which must not exist, until it is read "
             "(default: in $RUNTIME_DIRECTORY or /run)",
     .completion = Completion::kDirectory,
     .is_rare = true,
     .into = cli::Store<&ServePlan::directory>},
};

constexpr cli::Option kPushRows[] = {
    {.name = "otlp",
     .argument = "URL",
     .help = "push each window to a receiver of OpenTelemetry profiles: https://HOST:PORT, or "
             "grpcs://HOST:PORT; http:// and grpc:// are without TLS",
     .into = cli::StoreAs<&ParsePushTarget, &ServePlan::push, &PushOptions::target>},
    {.name = "push",
     .argument = "KIND=URL",
     .help = "push each window to another receiver: pyroscope=https://HOST:PORT, to Grafana "
             "Pyroscope or Alloy; http:// is without TLS",
     .into = cli::StoreAs<&ParseOtherTarget, &ServePlan::other_target>},
    {.name = "otlp-headers",
     .argument = "FILE",
     .help = "send the headers in FILE, also with --push, one on each line: 'Authorization: Bearer "
             "TOKEN'",
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
     .help = "keep at most SIZE of compressed profiles while the receiver does not take them, at "
             "least 4K; the oldest are dropped (default 16M)",
     .is_rare = true,
     .into = cli::StoreAs<&cli::ParseSizeIn<kLeastQueue, cli::kLargestSize>, &ServePlan::push,
                          &PushOptions::queue_bytes>},
};

constexpr cli::Option kEventRows[] = {
    {.name = "event",
     .letter = 'e',
     .argument = "EVENT",
     .help = "record these events, as perftape-record -e: {choices}, a tracepoint, a probe; "
             "'perftape-record list' shows all; default cpu-clock",
     .completion = Completion::kEvent,
     .into = cli::StoreOffered<&record_tool::ParseEventList, &record_tool::EventOffers,
                               &ServePlan::record, &RecordOptions::input, &InputOptions::events>},
    {.name = "off-cpu-threshold",
     .argument = "TIME",
     .help = "of -e offcpu: sum waits that are shorter, by thread; TIME has a unit (500us) or is "
             "in ms (default 1ms)",
     .is_rare = true,
     .into = cli::StoreAs<&record_tool::ParseThreshold, &ServePlan::off_cpu_threshold>},
    {.name = "allow-missing-events",
     .help = "leave out events that this machine does not have, with a warning",
     .is_rare = true,
     .into = cli::SetTo<record::MissingEvents::kSkip, &ServePlan::record, &RecordOptions::input,
                        &InputOptions::missing_events>},
};

constexpr cli::Option kTargetRows[] = {
    {.name = "cpu",
     .letter = 'C',
     .argument = "CPUS",
     .help = "record only on these CPUs: 0-3,8",
     .is_rare = true,
     .into = cli::StoreLast<&cli::ParseCpuList, &ServePlan::record, &RecordOptions::input,
                            &InputOptions::cpus>},
    {.name = "uid",
     .letter = 'u',
     .argument = "USER",
     .help = "record only tasks of this user (name or number)",
     .completion = Completion::kUser,
     .is_rare = true,
     .into = cli::StoreAs<&cli::ParseUser, &ServePlan::record, &RecordOptions::input,
                          &InputOptions::user>},
    {.name = "comm",
     .argument = "GLOB",
     .help = "record only threads with such a name: * ? [a-z]; several: with any of them",
     .into = cli::StoreAs<&ParseNames, &ServePlan::record, &RecordOptions::input,
                          &InputOptions::scope, &ScopeOptions::comms>},
    {.name = "cgroup",
     .letter = 'G',
     .argument = "PATH|ID",
     .help = "record only tasks in this cgroup or below it; several: in any of them",
     .into = cli::StoreAs<&ParseNames, &ServePlan::record, &RecordOptions::input,
                          &InputOptions::scope, &ScopeOptions::cgroups>},
    {.name = "container",
     .argument = "ID",
     .help = "record only this container; the beginning of its id is enough",
     .into = cli::StoreAs<&ParseNames, &ServePlan::record, &RecordOptions::input,
                          &InputOptions::scope, &ScopeOptions::containers>},
    {.name = "pod",
     .argument = "NAMESPACE/NAME",
     .help = "record only pods of Kubernetes with such a name: * ? [a-z]; several: any of them",
     .into = cli::StoreAs<&ParseNames, &ServePlan::record, &RecordOptions::input,
                          &InputOptions::scope, &ScopeOptions::pods>},
};

constexpr cli::Option kSamplingRows[] = {
    {.name = "freq",
     .letter = 'F',
     .argument = "HZ",
     .help = "record HZ samples per second on each CPU (default 19)",
     .into = cli::StoreAs<&record_tool::ParseFrequency, &ServePlan::rate>},
    {.name = "call-graph",
     .argument = "METHOD",
     .help = "select how call chains are found: fp is by frame pointers, eh by the unwind tables "
             "of the binaries (default), none finds none",
     .is_rare = true,
     .into = cli::StoreAs<&record_tool::ParseCallGraph, &ServePlan::call_graph>},
    {.name = "max-cpu",
     .argument = "PERCENT",
     .help = "lower the rate while the recorder itself uses more than PERCENT of a CPU",
     .is_rare = true,
     .into =
         cli::StoreAs<&record_tool::ParseCpuLimit, &ServePlan::record, &RecordOptions::max_cpu>},
};

constexpr cli::Option kOtherRows[] = {
    cli::QuietRow(),
    cli::VerboseRow("also print what is done with each window"),
    cli::NoSandboxRow(),
};

constexpr auto kOptions = cli::Table(
    cli::InGroup(cli::Group::kService, kServiceRows), cli::InGroup(cli::Group::kPush, kPushRows),
    cli::InGroup(cli::Group::kEvents, kEventRows), cli::InGroup(cli::Group::kTargets, kTargetRows),
    cli::InGroup(cli::Group::kSampling, kSamplingRows),
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
