// SPDX-License-Identifier: Apache-2.0
// The names of attributes (OpenTelemetry semantic conventions, model/profile, model/process,
// model/pprof) and of types of samples, and the units of both.
#pragma once

#include <string>
#include <string_view>

namespace perftape::otlp {

// Of resources.
inline constexpr std::string_view kProcessPid = "process.pid";                         // int
inline constexpr std::string_view kProcessExecutableName = "process.executable.name";  // a comm
inline constexpr std::string_view kContainerId = "container.id";
inline constexpr std::string_view kContainerName = "container.name";
inline constexpr std::string_view kPodContainerName = "k8s.container.name";
inline constexpr std::string_view kPodNamespace = "k8s.namespace.name";
inline constexpr std::string_view kPodName = "k8s.pod.name";
inline constexpr std::string_view kPodUid = "k8s.pod.uid";
inline constexpr std::string_view kHostName = "host.name";
inline constexpr std::string_view kOsType = "os.type";
inline constexpr std::string_view kServiceName = "service.name";
// Attributes that say which service a process is part of, the name first. The last one is an older
// name of the one before it.
inline constexpr std::string_view kServiceAttributes[] = {
    kServiceName,          "service.namespace",           "service.version",
    "service.instance.id", "deployment.environment.name", "deployment.environment",
};
// The name of a service whose name is unknown; ":" and the executable's name follow.
inline constexpr std::string_view kUnknownService = "unknown_service";

// Of resources and samples.
inline constexpr std::string_view kCgroupPath = "process.linux.cgroup";

// Of samples.
inline constexpr std::string_view kThreadId = "thread.id";  // int
inline constexpr std::string_view kThreadName = "thread.name";
inline constexpr std::string_view kCpuNumber = "cpu.logical_number";  // int

// Of mappings: the note of the linker, Go's, and a hash of the beginning, the end and the length.
inline constexpr std::string_view kGnuBuildId = "process.executable.build_id.gnu";  // hexadecimal
inline constexpr std::string_view kGoBuildId = "process.executable.build_id.go";
inline constexpr std::string_view kHtlHash = "process.executable.build_id.htlhash";

// Of locations.
inline constexpr std::string_view kFrameType = "profile.frame.type";
inline constexpr std::string_view kKernelFrame = "kernel";

// For fields of pprof that OTLP does not have.
inline constexpr std::string_view kIsFolded = "pprof.location.is_folded";  // bool, as the next ones
inline constexpr std::string_view kHasFunctions = "pprof.mapping.has_functions";
inline constexpr std::string_view kHasFilenames = "pprof.mapping.has_filenames";
inline constexpr std::string_view kHasLineNumbers = "pprof.mapping.has_line_numbers";
inline constexpr std::string_view kHasInlineFrames = "pprof.mapping.has_inline_frames";
inline constexpr std::string_view kComment = "pprof.profile.comment";  // string[]
inline constexpr std::string_view kDocUrl = "pprof.profile.doc_url";
inline constexpr std::string_view kDropFrames = "pprof.profile.drop_frames";
inline constexpr std::string_view kKeepFrames = "pprof.profile.keep_frames";
inline constexpr std::string_view kDefaultSampleType = "pprof.scope.default_sample_type";

// Types of samples and of periods.
inline constexpr std::string_view kSamplesType = "samples";
inline constexpr std::string_view kCpuType = "cpu";
inline constexpr std::string_view kOffCpuType = "off_cpu";
inline constexpr std::string_view kContextSwitchType = "context_switch";

bool IsServiceAttribute(std::string_view key);

// Whether a label with this key describes the process or its machine, and so belongs to a resource.
bool IsOfResource(std::string_view key);

// Attributes have units of UCUM; pprof and perf have words: "By" is "bytes", "ns" "nanoseconds".
// Words that UCUM does not have are in braces: "{pid}". UnitOfUcum returns the same words again.
std::string UcumOfUnit(std::string_view unit);
std::string_view UnitOfUcum(std::string_view ucum);

}  // namespace perftape::otlp
