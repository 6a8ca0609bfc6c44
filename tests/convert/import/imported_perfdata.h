// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of the perf.data importer: a small recording, and a Profile as lines of text.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "convert/import/from_perfdata.h"
#include "tests/support/bytes_input.h"
#include "tests/support/matchers.h"
#include "tests/support/perfdata_builder.h"
#include "tests/support/profile_check.h"

namespace perftape::convert {

struct Imported {
  Profile profile;
  ImportReport report;
};

inline Imported Import(Bytes file, const ImportOptions& options = {}) {
  Imported imported;
  BytesInput input(file);
  Result<Profile> profile = ReadPerfData(input, options, imported.report);
  if (!profile) throw std::runtime_error(profile.error().message);
  imported.profile = *std::move(profile);
  EXPECT_THAT(Validate(imported.profile), IsOk());
  return imported;
}

inline Imported Import(const perfdata::PerfDataBuilder& file, const ImportOptions& options = {}) {
  const std::vector<std::byte> bytes = file.Build();
  return Import(bytes, options);
}

inline std::string Hex(std::uint64_t number) {
  std::array<char, 20> text = {};
  std::snprintf(text.data(), text.size(), "%lx", static_cast<unsigned long>(number));
  return text.data();
}

// Returns a frame as "ls+1f" (offset in the file), its name, or "?7ff0" if nothing is mapped there.
inline std::string Shown(const Profile& profile, const Location& frame) {
  if (!frame.lines.empty()) {
    return std::string(profile.text(profile[frame.lines[0].function].name));
  }
  if (frame.mapping == MappingId{}) return '?' + Hex(frame.offset.value);
  return std::string(BaseName(profile.text(profile[frame.mapping].filename))) + '+' +
         Hex(frame.offset.value);
}

// Returns one line for each sample, sorted: "comm;root;leaf 2", followed by the sum of the periods
// if it is another number.
inline std::vector<std::string> Lines(const Profile& profile) {
  std::vector<std::string> lines;
  for (const Sample& sample : profile.samples()) {
    std::string frames;
    for (StackId at = sample.stack; at != StackId{}; at = profile[at].caller) {
      frames = ';' + Shown(profile, profile[profile[at].leaf]) + frames;
    }
    std::string line(profile.text(profile[sample.thread].comm));
    line += frames + ' ' + std::to_string(sample.count);
    if (sample.period != sample.count) line += " (" + std::to_string(sample.period) + ')';
    lines.push_back(line);
  }
  std::ranges::sort(lines);
  return lines;
}

inline std::vector<std::string> Lines(const perfdata::PerfDataBuilder& file) {
  return Lines(Import(file).profile);
}

// Returns a recording of a process 7 "worker" with /bin/app at 0x400000 (file offset 0x1000), and a
// kernel.
inline perfdata::PerfDataBuilder OneProcess(
    perfdata::Container container = perfdata::Container::kFile) {
  perfdata::PerfDataBuilder file(container);
  file.AddEvent();
  file.AddMmap({.pid = ~0U,
                .start = 0xffffffff81000000,
                .length = 0x1000000,
                .page_offset = 0xffffffff81000000,
                .path = "[kernel.kallsyms]_text",
                .mode = perfdata::CpuMode::kKernel});
  file.AddComm({.pid = 7, .tid = 7, .comm = "worker"});
  file.AddMmap({.pid = 7,
                .tid = 7,
                .start = 0x400000,
                .length = 0x10000,
                .page_offset = 0x1000,
                .path = "/bin/app"});
  return file;
}

}  // namespace perftape::convert
