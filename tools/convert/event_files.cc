// SPDX-License-Identifier: Apache-2.0
#include "tools/convert/event_files.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <set>
#include <utility>

#include "convert/filter/filter.h"
#include "tools/common/cli/output.h"
#include "tools/common/profiles/filter_options.h"

namespace perftape::convert_tool {
namespace {

bool IsKept(unsigned char letter) {
  constexpr std::string_view kMarks = "+,-.=@_";
  const bool is_ascii = letter < 0x80;
  return (is_ascii && std::isalnum(letter) != 0) ||
         kMarks.find(static_cast<char>(letter)) != std::string_view::npos;
}

// Returns `part`, or with a number that makes it differ from all of `taken`. Adds it to them.
std::string MadeUnique(const std::string& part, std::set<std::string>& taken) {
  std::string unique = part;
  for (int number = 2; !taken.insert(unique).second; ++number) {
    unique = fmt::format("{}_{}", part, number);
  }
  return unique;
}

// Calls event() for each %e and letter(c) for each other character.
template <class OnEvent, class OnLetter>
void ForEachPiece(std::string_view name, OnEvent event, OnLetter letter) {
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char next = i + 1 < name.size() ? name[i + 1] : '\0';
    if (name[i] != '%' || (next != 'e' && next != '%')) {
      letter(name[i]);
      continue;
    }
    next == 'e' ? event() : letter('%');
    ++i;
  }
}

}  // namespace

bool NamesEvent(const std::filesystem::path& output) {
  bool names_it = false;
  ForEachPiece(
      output.filename().native(), [&] { names_it = true; }, [](char) {});
  return names_it;
}

std::filesystem::path ExpandOutput(const std::filesystem::path& output, std::string_view event) {
  std::string name;
  ForEachPiece(
      output.filename().native(), [&] { name += event; }, [&](char letter) { name += letter; });
  std::filesystem::path expanded = output;
  return expanded.replace_filename(name);
}

std::string FileNamePart(std::string_view event) {
  constexpr std::size_t kMostLetters = 128;
  std::string part(event.substr(0, kMostLetters));
  std::ranges::replace_if(part, std::not_fn(IsKept), '_');
  if (part.empty()) return "event";
  if (part.front() == '.') part.front() = '_';
  return part;
}

Result<std::vector<EventFile>> ChooseEventFiles(const convert::Profile& profile,
                                                const std::filesystem::path& output,
                                                IfExists if_exists) {
  const convert::FilterReport totals = convert::TotalsOf(profile);
  std::vector<bool> has_samples(profile.events().size());
  for (const convert::Sample& sample : profile.samples()) has_samples[sample.event.index] = true;
  std::vector<EventFile> files;
  std::set<std::string> taken;
  for (std::uint32_t i = 0; i < has_samples.size(); ++i) {
    if (!has_samples[i]) continue;
    const std::string name(profile.text(profile.events()[i].name));
    EventFile file = {.event = {i},
                      .name = name,
                      .amount = cli::AmountText(totals.events[i]),
                      .path = ExpandOutput(output, MadeUnique(FileNamePart(name), taken))};
    TRY(cli::CheckOutput(file.path, if_exists));
    files.push_back(std::move(file));
  }
  return files;
}

}  // namespace perftape::convert_tool
