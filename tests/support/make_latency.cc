// SPDX-License-Identifier: Apache-2.0
// Writes a recording of latency probes to a file, for the cases in tests/cli: a program in a cgroup
// with a CPU limit, whose connections are refused.
//
//   make_latency FILE         with the notes of the recorder
//   make_latency FILE bare    without them
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/duration.h"
#include "formats/base/file.h"
#include "formats/base/latency_buckets.h"
#include "formats/bundle/embedding.h"
#include "formats/bundle/recording_notes.h"
#include "formats/perfdata/latency_probes.h"
#include "tests/support/perfdata_builder.h"
#include "tests/support/tracing_data.h"

namespace perftape::perfdata {
namespace {

constexpr std::uint64_t kMs = 1'000'000;
constexpr std::uint64_t kStart = kNsPerSecond;
constexpr std::array<std::string_view, 3> kProbes = {"tcp-connect", "fsync", "runq"};

// The raw record of a sample.
class Raw {
 public:
  Raw() : bytes_(kLatencyTextOffset) {}
  template <class Value>
  Raw& Set(const LatencyField& field, const Value& value) {
    std::memcpy(bytes_.data() + field.offset, &value, sizeof value);
    return *this;
  }
  Raw& SetText(const LatencyField& field, std::string_view text) {
    const std::size_t size = text.size() + 1;
    Set(field, static_cast<std::uint32_t>(size << 16 | bytes_.size()));
    for (const char c : text) bytes_.push_back(static_cast<std::byte>(c));
    bytes_.push_back(std::byte{0});
    return *this;
  }
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

Raw Refused() {
  sockaddr_in peer = {};
  peer.sin_family = AF_INET;
  peer.sin_port = htons(8080);
  peer.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return Raw().Set(kErrorField, std::int32_t{ECONNREFUSED}).Set(kPeerField, peer);
}

PerfDataBuilder MakeRecording() {
  constexpr std::uint64_t kFields = kIdentifier | kIp | kTid | kTime | kPeriod | kCallchain | kRaw;
  PerfDataBuilder file;
  std::vector<std::string> formats;
  for (std::size_t i = 0; i < kProbes.size(); ++i) {
    file.AddEvent(
        {.type = kTypeTracepoint, .config = kFirstLatencyEvent + i, .sample_type = kFields});
    formats.push_back(LatencyFormat(*FindLatencyProbe(kProbes[i]), LatencyEventName(kProbes[i]),
                                    kFirstLatencyEvent + i));
  }
  EventDesc names = file.Description();
  for (std::size_t i = 0; i < kProbes.size(); ++i) {
    names.events[i].name = LatencyEventName(kProbes[i]);
  }
  file.AddFeature(FeatureBit::kEventDesc, names);
  file.AddFeature(FeatureBit::kTracingData,
                  RawFeature{TracingDataOf({{kLatencySystem, {formats.begin(), formats.end()}}})});
  file.AddComm({.pid = 7, .tid = 7, .comm = "app", .time = 1});
  file.AddMmap({.pid = 7, .tid = 7, .start = 0x400000, .path = "/nonexistent/app", .time = 2});
  const auto add = [&](std::uint32_t event, std::uint64_t at_ms, std::uint64_t ns, const Raw& raw) {
    file.AddSample({.ip = 0x400100,
                    .pid = 7,
                    .tid = 7,
                    .time = kStart + at_ms * kMs,
                    .period = ns,
                    .callchain = {kContextUser, 0x400100, 0x400200},
                    .event = event,
                    .raw = raw.bytes()});
  };
  add(0, 100, kMs, Refused());
  add(0, 200, kMs, Refused());
  add(1, 300, 120 * kMs,
      Raw().Set(kDeviceField, std::uint32_t{7} << 20).SetText(kFileField, "/var/lib/db/journal"));
  add(2, 400, 80 * kMs, Raw().Set(kCpuField, std::int32_t{1}));
  file.AddRound();
  return file;
}

bundle::NotedLatency Calls(std::string_view probe, std::uint64_t count, std::uint64_t ns) {
  return {.probe = std::string(probe),
          .pid = 7,
          .comm = "app",
          .count = count,
          .sum_ns = count * ns,
          .max_ns = ns,
          .buckets = {{static_cast<std::int64_t>(LatencyBucketOf(ns)), count}}};
}

bundle::RecordingNotes MakeNotes() {
  bundle::RecordingNotes notes = {
      .samples = 4, .start_ns = kStart, .end_ns = kStart + 4 * kNsPerSecond};
  notes.latency = {Calls("tcp-connect", 5, kMs), Calls("fsync", 30, 2 * kMs),
                   Calls("runq", 100, 80 * kMs)};
  notes.latency[0].errors = {{ECONNREFUSED, 2}};
  for (const std::string_view probe : kProbes) {
    notes.latency_min.push_back({std::string(probe), 10 * kMs, true});
  }
  bundle::NotedCgroup app{.path = "/app", .cpu_quota_us = 20'000, .cpu_period_us = 100'000};
  app.first.time_ns = kStart;
  app.last = {.time_ns = notes.end_ns,
              .cpu_ns = 780 * kMs,
              .periods = 40,
              .throttled_periods = 38,
              .throttled_ns = 3100 * kMs};
  app.pids = {7};
  notes.cgroups = {app};
  return notes;
}

Status Write(const char* path, bool has_notes) {
  const UniqueFd fd(::open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  TRY(WriteAll(fd.get(), MakeRecording().Build()));
  if (!has_notes) return {};
  TRY_ASSIGN(const auto offset, bundle::BeginEmbedding(fd.get()));
  TRY(bundle::WriteNotesArchive(Duplicate(fd.get()), MakeNotes()));
  TRY(bundle::EndEmbedding(fd.get(), offset));
  return {};
}

}  // namespace
}  // namespace perftape::perfdata

int main(int argc, char** argv) {
  return argc > 1 && perftape::perfdata::Write(argv[1], argc == 2) ? 0 : 1;
}
