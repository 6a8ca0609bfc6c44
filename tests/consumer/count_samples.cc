// SPDX-License-Identifier: Apache-2.0
// Counts the samples of a perf.data by the name of their thread: count_samples FILE
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>

#include "convert/import/from_perfdata.h"
#include "convert/model/profile.h"
#include "formats/base/input.h"
#include "formats/base/result.h"

namespace {

using perftape::Input;
using perftape::Result;
using perftape::convert::Profile;
using perftape::convert::Sample;

Result<std::map<std::string, std::int64_t>> CountByComm(const char* path) {
  TRY_ASSIGN(Input input, Input::Open(path));
  perftape::convert::ImportReport report;
  TRY_ASSIGN(const Profile profile, perftape::convert::ReadPerfData(input, {}, report));

  std::map<std::string, std::int64_t> counts;
  for (const Sample& sample : profile.samples()) {
    counts[std::string(profile.text(profile[sample.thread].comm))] += sample.count;
  }
  return counts;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: count_samples FILE\n");
    return 2;
  }
  const auto counts = CountByComm(argv[1]);
  if (!counts) {
    std::fprintf(stderr, "count_samples: %s: %s\n", argv[1], counts.error().message.c_str());
    return 1;
  }
  for (const auto& [comm, count] : *counts) {
    std::printf("%8lld %s\n", static_cast<long long>(count), comm.c_str());
  }
  return 0;
}
