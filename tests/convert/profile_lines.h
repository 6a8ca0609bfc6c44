// SPDX-License-Identifier: Apache-2.0
// Formats a profile's samples as sorted lines, such as "cycles app/7 main;f {cpu=3} 2:200".
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "convert/model/profile.h"
#include "convert/model/sample_thread.h"

namespace perftape::convert {

inline std::string StackText(const Profile& profile, StackId stack) {
  std::string text;
  for (; stack != StackId{}; stack = profile[stack].caller) {
    const Location& location = profile[profile[stack].leaf];
    for (const Line& line : location.lines) {
      const std::string name(profile.text(profile[line.function].name));
      text = text.empty() ? name : name + ";" + text;
    }
    if (!location.lines.empty()) continue;
    const std::string name = fmt::format("{:x}", location.offset.value);
    text = text.empty() ? name : name + ";" + text;
  }
  return text;
}

inline std::vector<std::string> SampleLines(const Profile& profile) {
  std::vector<std::string> lines;
  for (const Sample& sample : profile.samples()) {
    const Event& event = profile[sample.event];
    std::string line(profile.text(event.name));
    const SampleThread thread = ThreadOf(profile, sample);
    if (thread.pid) line += fmt::format(" {}/{}", thread.comm, *thread.pid);
    line += " " + StackText(profile, sample.stack);
    for (const Label& label : profile[sample.labels]) {
      line += fmt::format(" {{{}={}{}}}", profile.text(label.key), profile.text(label.text),
                          label.text == StringId{} ? std::to_string(label.number) : "");
    }
    line += event.values == EventValues::kPlain
                ? fmt::format(" {}", sample.period)
                : fmt::format(" {}:{}", sample.count, sample.period);
    lines.push_back(line);
  }
  std::ranges::sort(lines);
  return lines;
}

}  // namespace perftape::convert
