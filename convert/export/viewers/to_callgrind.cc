// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <tsl/robin_map.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "convert/export/frame_texts.h"
#include "convert/export/viewers/cost_graph.h"
#include "convert/export/viewers/text_output.h"
#include "convert/export/viewers/viewers.h"
#include "convert/model/saturating.h"
#include "formats/base/text.h"
#include "formats/escape/escape.h"
#include "formats/folded/count.h"

namespace perftape::viewers {
namespace {

using convert::Profile;

// What callgrind writes for an unknown file, object or name.
constexpr std::string_view kUnknown = "???";

// Names that are written once: "(1) main", and "(1)" from then on.
class NameTable {
 public:
  // Returns the text for `name`, which must be a line's end.
  std::string Refer(std::string_view name) {
    const auto [known, is_new] = ids_.emplace(name, ids_.size() + 1);
    if (!is_new) return fmt::format("({})", known->second);
    return fmt::format("({}) {}", known->second, LineOf(name));
  }

  // Readers take "(1)" with spaces behind it for a reference.
  static std::string LineOf(std::string_view name) {
    const std::size_t begin = name.find_first_not_of(' ');
    if (begin == std::string_view::npos) return std::string(kUnknown);
    return escape::DisplayText(name.substr(begin));
  }

 private:
  tsl::robin_map<std::string, std::size_t> ids_;
};

// Returns the event's name as one word, which no other event has.
std::string EventWord(std::string_view name, std::set<std::string>& known) {
  std::string word;
  for (const char c : name) {
    const bool is_kept = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                         (c >= 'A' && c <= 'Z') || c == '-' || c == '_' || c == '.' || c == ':';
    word += is_kept ? c : '_';
  }
  if (word.empty()) word = "samples";
  std::string unique = word;
  for (int i = 2; !known.insert(unique).second; ++i) unique = fmt::format("{}_{}", word, i);
  return unique;
}

class CallgrindWriter {
 public:
  CallgrindWriter(const Profile& profile, const CostGraph& graph, OutputFile& out)
      : graph_(graph), out_(out), totals_(graph.events.size()), ids_(graph.functions.size()) {
    for (const convert::EventId event : graph.events) decimals_.push_back(profile[event].decimals);
    out_.text = "# callgrind format\nversion: 1\ncreator: perftape\npositions: line\nevents:";
    std::set<std::string> words;
    for (const convert::EventId event : graph.events) {
      out_.text += ' ' + EventWord(profile.text(profile[event].name), words);
    }
    // A file without an event is not read.
    out_.text += graph.events.empty() ? " samples\n" : "\n";
  }

  Status Write() && {
    std::uint32_t function = kNoCallee;
    for (const Cost& cost : graph_.costs) {
      if (cost.function != function) StartFunction(function = cost.function);
      if (cost.callee == kNoCallee) {
        AddToTotals(cost);
      } else {
        AppendCallee(cost.callee);
      }
      AppendCostLine(cost);
      TRY(out_.FlushIfLarge());
    }
    out_.text += "\ntotals:";
    for (const std::int64_t total : totals_) Append(" {}", total);
    out_.text += totals_.empty() ? " 0\n" : "\n";
    return out_.Flush();
  }

 private:
  template <class... Args>
  void Append(fmt::format_string<Args...> format, Args&&... args) {
    AppendFormat(out_.text, format, std::forward<Args>(args)...);
  }

  std::string ReferToName(std::uint32_t index) {
    const CostFunction& function = graph_.functions[index];
    if (ids_[index] != 0) return fmt::format("({})", ids_[index]);
    ids_[index] = ++last_id_;
    const std::string name = NameTable::LineOf(function.name);
    return function.level == 1 ? fmt::format("({}) {}", last_id_, name)
                               : fmt::format("({}) {}'{}", last_id_, name, function.level);
  }

  void StartFunction(std::uint32_t index) {
    const CostFunction& function = graph_.functions[index];
    Append("\nob={}\n", objects_.Refer(function.object));
    Append("fl={}\n", files_.Refer(function.file));
    Append("fn={}\n", ReferToName(index));
  }

  void AppendCallee(std::uint32_t index) {
    const CostFunction& function = graph_.functions[index];
    Append("cob={}\n", objects_.Refer(function.object));
    Append("cfi={}\n", files_.Refer(function.file));
    Append("cfn={}\n", ReferToName(index));
    Append("calls=1 {}\n", function.line);
  }

  void AppendCostLine(const Cost& cost) {
    Append("{}", cost.line);
    for (std::size_t column = 0; column < decimals_.size(); ++column) {
      Append(" {}", Whole(cost, column));
    }
    out_.text += '\n';
  }

  void AddToTotals(const Cost& cost) {
    for (std::size_t column = 0; column < totals_.size(); ++column) {
      totals_[column] = convert::AddUpToLimit(totals_[column], Whole(cost, column));
    }
  }

  std::int64_t Whole(const Cost& cost, std::size_t column) const {
    return folded::RoundFixed(graph_.NumbersOf(cost)[column], decimals_[column]);
  }

  const CostGraph& graph_;
  TextOutput out_;
  std::vector<unsigned> decimals_;    // by column
  std::vector<std::int64_t> totals_;  // by column
  NameTable objects_, files_;
  std::vector<std::uint32_t> ids_;  // of functions in the file, 0 if not written yet
  std::uint32_t last_id_ = 0;
};

}  // namespace

Result<ViewReport> WriteCallgrind(const Profile& profile, const convert::FoldedOptions& options,
                                  OutputFile& out) {
  convert::FoldedOptions unmarked = options;
  unmarked.mark_kernel = false;
  convert::FrameTexts texts(profile, unmarked);
  const CostGraph graph = CostGraphOf(profile, unmarked, texts);
  TRY(CallgrindWriter(profile, graph, out).Write());
  ViewReport report = {.negative_samples = graph.negative_samples};
  for (const convert::EventId event : graph.events) {
    if (profile[event].decimals != 0) {
      report.rounded_events.emplace_back(profile.text(profile[event].name));
    }
  }
  return report;
}

}  // namespace perftape::viewers
