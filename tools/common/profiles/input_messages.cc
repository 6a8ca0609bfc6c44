// SPDX-License-Identifier: Apache-2.0
#include "tools/common/profiles/input_messages.h"

#include <fmt/format.h>

#include "tools/common/profiles/import_text.h"

namespace perftape::cli {

bool PrintInputProblems(const convert::InputReport& input, Console& console) {
  const std::vector<std::string> damage = DamageLines(input.read);
  for (const std::string& line : damage) {
    console.Warning(fmt::format("{}: {}", input.name, line));
  }
  for (const std::string& line : RemarkLines(input.read)) {
    console.Detail(fmt::format("{}: {}", input.name, line));
  }
  PrintUnwound(input.name, input.read.unwound, console);
  for (const std::string& note : input.read.notes) {
    console.Warning(fmt::format("{}: {}", input.name, note));
  }
  return damage.empty();
}

void PrintUnwound(const std::string& name, const offline_unwind::UnwindReport& unwound,
                  Console& console) {
  if (unwound.samples() == 0) return;
  const auto print = [&](const std::string& line) {
    const std::string named = fmt::format("{}: {}", name, line);
    IsMostlyCut(unwound) ? console.Warning(named) : console.Detail(named);
  };
  print(UnwoundLine(unwound));
  for (const std::string& line : MissingTableLines(unwound)) print(line);
}

}  // namespace perftape::cli
