// SPDX-License-Identifier: Apache-2.0
// Writes a small perf.data to stdout, for the cases in tests/cli: two processes, three samples (one
// in the kernel), and a name that would clear a terminal's screen.
#include <unistd.h>

#include "formats/base/file.h"
#include "tests/support/perfdata_builder.h"

int main() {
  using namespace perftape;
  using namespace perftape::perfdata;
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
  return WriteAll(STDOUT_FILENO, file.Build()) ? 0 : 1;
}
