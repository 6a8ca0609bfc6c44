// SPDX-License-Identifier: Apache-2.0
// Profile -> OTLP profiles (opentelemetry-proto 1.11, ProfilesData; protobuf or JSON). Equal
// profiles become equal files.
//
//   resources    one for each process, as the OpenTelemetry eBPF profiler writes them: receivers
//                name a service by attributes of the resource (service.name, or the name of the
//                executable), and would see one service on a machine if processes were attributes
//                of samples. Labels such as "k8s.pod.name" belong to the resource, too.
//   profiles     one for each event: its values if it has plain ones. Of a sampled event, the
//                numbers of samples, with the nominal period; and the sums of periods, unless each
//                is the number of samples times the nominal period. Clocks are samples/count with
//                the period cpu/nanoseconds, waits off_cpu/nanoseconds with context_switch/count.
//                Units of types are words as in pprof, which receivers compare; those of
//                attributes are UCUM.
//   samples      one for each stack, thread and set of labels, with the times of all labels
//                "timestamp_ns". The labels trace_id and span_id are a link.
//   attributes   labels; threads, build ids, types of frames and the fields that only pprof has
//                (conventions.h); what identifies events exactly (otlp_roles.h).
//
// A period that is unknown is written as the mean, since receivers multiply with it. The original
// payload and the ids of profiles are not written. from_otlp.h reads the file back to the same
// profile.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "convert/model/profile.h"
#include "formats/base/output_file.h"
#include "formats/base/result.h"
#include "formats/otlp/writer.h"

namespace perftape::convert {

// Samples of a profile, by their indexes.
struct SampleRange {
  std::uint32_t begin = 0, end = 0;
  std::uint32_t size() const { return end - begin; }
};

struct OtlpOptions {
  // Write the threads and processes of samples. If false, the samples of all are joined.
  bool thread_labels = true;
  // Write only these, for receivers that take requests of a limited size.
  std::optional<SampleRange> samples = {};
};

// The parts of the profile that the file does not contain.
struct OtlpReport {
  std::vector<std::string> rounded_events = {};  // whose values have decimals
  std::uint64_t lost_labels =
      0;  // of a key that another label of the sample has, with another unit
};

struct OtlpFile {
  std::string bytes;
  OtlpReport report;
};

// Returns the whole file in memory.
OtlpFile EncodeOtlp(const Profile& profile, const OtlpOptions& options, otlp::Encoding encoding);

// Returns one line for messages for each type of loss.
std::vector<std::string> LossLines(const OtlpReport& report);

}  // namespace perftape::convert
