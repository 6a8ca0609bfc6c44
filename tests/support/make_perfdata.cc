// SPDX-License-Identifier: Apache-2.0
// Writes a small perf.data to stdout, for the cases in tests/cli: two processes, three samples, one
// of them in the kernel, and a name that would clear the screen. With an argument: three events,
// one of them a tracepoint with fields, and one without samples.
#include <unistd.h>

#include "formats/base/file.h"
#include "tests/support/perfdata_builder.h"
#include "tests/support/tracing_data.h"

namespace perftape::perfdata {
namespace {

PerfDataBuilder MakeOneEvent() {
  PerfDataBuilder file;
  file.AddEvent({.sample_period = 99, .flags = kSampleIdAll | kFreq | kExcludeGuest});
  file.AddFeature(FeatureBit::kHostname, TextFeature{"builder"});
  file.AddFeature(FeatureBit::kCmdline, Cmdline{{"perftape-record", "--", "app"}});
  file.AddMmap({.start = 0xffffffff81000000,
                .length = 0x1000000,
                .page_offset = 0xffffffff81000000,
                .path = "[kernel.kallsyms]_text",
                .mode = CpuMode::kKernel});
  file.AddComm({.pid = 7, .tid = 7, .comm = "app", .time = 1, .misc = kMiscCommExec});
  file.AddMmap({.pid = 7,
                .tid = 7,
                .start = 0x400000,
                .path = "/nonexistent/app",
                .build_id = *BuildId::FromHex("00112233445566778899aabbccddeeff00112233"),
                .time = 2});
  file.AddSample({.ip = 0x400100,
                  .pid = 7,
                  .tid = 7,
                  .time = 1000,
                  .period = 10,
                  .callchain = {kContextUser, 0x400100, 0x400200}});
  file.AddSample({.ip = 0xffffffff81000010,
                  .pid = 7,
                  .tid = 7,
                  .time = 3000,
                  .cpu = 1,
                  .period = 20,
                  .callchain = {kContextKernel, 0xffffffff81000010, kContextUser, 0x400100},
                  .mode = CpuMode::kKernel});
  file.AddComm({.pid = 8, .tid = 8, .comm = "a\x1b[2J\tb", .time = 1500});
  file.AddSample({.ip = 0x500000,
                  .pid = 8,
                  .tid = 8,
                  .time = 2000,
                  .cpu = 1,
                  .period = 30,
                  .callchain = {kContextUser, 0x500000}});
  file.AddLostSamples(4, 3500);
  file.AddRound();
  return file;
}

PerfDataBuilder MakeEvents() {
  constexpr std::uint64_t kFields = kIdentifier | kIp | kTid | kTime | kPeriod;
  PerfDataBuilder file;
  file.AddEvent({.sample_type = kFields});
  file.AddEvent({.type = kTypeTracepoint, .config = 77, .sample_type = kFields | kRaw});
  file.AddEvent({.config = 10, .sample_type = kFields});
  file.AddEvent({.config = kSoftwareDummy, .sample_type = kFields});
  EventDesc names = file.Description();
  names.events[0].name = "cpu-clock";
  names.events[1].name = "sched:wake";
  names.events[2].name = "offcpu-time";
  names.events[3].name = "dummy:HG";
  file.AddFeature(FeatureBit::kTracingData, RawFeature{TracingDataOf({{"sched", {kWakeFormat}}})});
  file.AddFeature(FeatureBit::kEventDesc, names);
  file.AddComm({.pid = 7, .tid = 7, .comm = "app", .time = 1});
  file.AddMmap({.pid = 7, .tid = 7, .start = 0x400000, .path = "/nonexistent/app", .time = 2});
  file.AddSample({.ip = 0x400100, .pid = 7, .tid = 7, .time = 1000, .period = 10});
  std::vector<std::byte> raw = WakeRaw();
  file.AddSample({.ip = 0x400100, .pid = 7, .tid = 7, .time = 2000, .event = 1, .raw = raw});
  raw[12] = std::byte{0};  // the reason
  file.AddSample({.ip = 0x400100, .pid = 7, .tid = 7, .time = 3000, .event = 1, .raw = raw});
  file.AddSample({.ip = 0x400200, .pid = 7, .tid = 7, .time = 4000, .period = 5000000, .event = 2});
  file.AddRound();
  return file;
}

}  // namespace
}  // namespace perftape::perfdata

int main(int argc, char** /*argv*/) {
  using namespace perftape;
  const perfdata::PerfDataBuilder file =
      argc > 1 ? perfdata::MakeEvents() : perfdata::MakeOneEvent();
  return WriteAll(STDOUT_FILENO, file.Build()) ? 0 : 1;
}
