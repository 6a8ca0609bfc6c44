// SPDX-License-Identifier: Apache-2.0
#include "tools/report/perf_keys.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "tools/common/cli/values.h"
#include "tools/common/profiles/filter_options.h"
#include "tools/report/perf_options.h"

namespace perftape::report_tool {
namespace {

using histogram::ChainKey;
using histogram::ChainMode;
using histogram::ChainOrder;
using histogram::Key;
using histogram::Settings;
using Keys = std::vector<const Key*>;

constexpr std::string_view kDefaultSort = "comm,dso,symbol";
constexpr std::string_view kDefaultParent = "^sys_|^do_page_fault";

void AddOnce(Keys& keys, const Key* key) {
  if (std::ranges::count(keys, key) == 0) keys.push_back(key);
}

Status AddKeys(std::string_view option, std::string_view list, Keys& keys) {
  for (const std::string_view word : cli::SplitAtCommas(list)) {
    TRY_ASSIGN(const Key* key, histogram::FindKey(option, word));
    AddOnce(keys, key);
  }
  return {};
}

// What -g describes.
struct CallGraph {
  ChainMode mode = ChainMode::kGraph;
  ChainKey key = ChainKey::kFunction;
  std::optional<ChainOrder> order;
  std::optional<double> threshold;
  std::size_t limit = 0;
  ChainValue value = ChainValue::kPercent;
};

template <class Value>
struct Word {
  std::string_view word;
  Value value;
};
constexpr Word<ChainMode> kModes[] = {{"graph", ChainMode::kGraph},
                                      {"flat", ChainMode::kFlat},
                                      {"fractal", ChainMode::kFractal},
                                      {"folded", ChainMode::kFolded},
                                      {"none", ChainMode::kNone}};
constexpr Word<ChainOrder> kOrders[] = {{"caller", ChainOrder::kCaller},
                                        {"callee", ChainOrder::kCallee}};
constexpr Word<ChainKey> kChainKeys[] = {{"function", ChainKey::kFunction},
                                         {"address", ChainKey::kAddress},
                                         {"srcline", ChainKey::kSourceLine}};
constexpr Word<ChainValue> kValues[] = {{"percent", ChainValue::kPercent},
                                        {"period", ChainValue::kPeriod},
                                        {"count", ChainValue::kCount}};

// perf accepts the beginnings of words.
template <class Words, class Value>
bool Match(const Words& words, std::string_view text, Value& value) {
  for (const auto& word : words) {
    if (!word.word.starts_with(text)) continue;
    value = word.value;
    return true;
  }
  return false;
}

Result<CallGraph> ParseCallGraph(std::string_view text) {
  CallGraph graph;
  if (text.empty()) graph.order = ChainOrder::kCaller;  // as -g's default text
  for (const std::string_view word : cli::SplitAtCommas(text)) {
    if (word.empty()) continue;
    double number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error == std::errc() && end == word.data() + word.size() && number >= 0) {
      if (graph.threshold) {
        graph.limit = static_cast<std::size_t>(std::min(number, 1e9));
      } else {
        graph.threshold = number;
      }
    } else if (!Match(kModes, word, graph.mode) && !Match(kOrders, word, graph.order) &&
               !Match(kChainKeys, word, graph.key) && !Match(kValues, word, graph.value)) {
      return Fail(ErrorCode::kInvalidArgument, fmt::format("--call-graph: unknown word '{}': write "
                                                           "graph,0.5,caller,function,percent",
                                                           word));
    }
  }
  return graph;
}

std::set<std::string, std::less<>> NamesOf(std::string_view list) {
  std::set<std::string, std::less<>> names;
  if (list.empty()) return names;
  for (const std::string_view name : cli::SplitAtCommas(list)) names.emplace(name);
  return names;
}

// perf leaves out a column that has only one value, unless no column were left.
void SetElided(const PerfPlan& plan, const Settings& settings, PerfLayout& layout) {
  const auto elide = [&](const std::string& list, std::string_view word) {
    const bool has_column = std::ranges::count(settings.columns, word, &Key::word) != 0;
    const bool is_single = !list.empty() && list.find(',') == list.npos;
    if (has_column && is_single) layout.elided.emplace_back(word);
  };
  elide(plan.comms, "comm");
  elide(plan.dsos, "dso");
  elide(plan.symbols, "symbol");
  const auto is_elided = [&](const Key* key) {
    return std::ranges::count(layout.elided, key->word) != 0;
  };
  if (std::ranges::all_of(settings.text_keys(), is_elided)) layout.elided.clear();
}

// The columns of numbers that perf shows without --fields.
Status AddNumberColumns(const PerfPlan& plan, bool adds_callees, Keys& columns) {
  std::string list = adds_callees ? "overhead_children,overhead" : "overhead";
  if (plan.shows_utilization) list += ",overhead_sys,overhead_us";
  if (plan.shows_samples) list += ",sample";
  if (plan.shows_periods) list += ",period";
  return AddKeys("--fields", list, columns);
}

// Entries are sorted by overhead first, unless --sort has a key for it.
Status AddOverheads(const Keys& keys, Settings& settings) {
  const auto has = [&](std::string_view word) {
    return std::ranges::any_of(keys, [&](const Key* key) { return key->word.contains(word); });
  };
  if (settings.adds_callees && !has("overhead_children")) {
    TRY(AddKeys("--sort", "overhead_children", settings.sort));
  }
  if (!has("overhead")) TRY(AddKeys("--sort", "overhead", settings.sort));
  return {};
}

// Whether --fields lists all columns, and does not add to the default.
bool HasStrictFields(const PerfPlan& plan) {
  return !plan.fields.empty() && plan.fields[0] != '+';
}

Status SetKeys(const PerfPlan& plan, Settings& settings) {
  const bool has_fields = HasStrictFields(plan);
  Keys keys;
  const bool adds_to_default = plan.sort.starts_with('+');
  if (adds_to_default || (plan.sort.empty() && !has_fields)) {
    TRY(AddKeys("--sort", kDefaultSort, keys));
  }
  if (!plan.sort.empty()) {
    TRY(AddKeys("--sort", std::string_view(plan.sort).substr(adds_to_default ? 1 : 0), keys));
  }
  if (!plan.parent.empty()) TRY(AddKeys("--sort", "parent", keys));
  if (!has_fields) {
    TRY(AddNumberColumns(plan, settings.adds_callees, settings.columns));
    TRY(AddOverheads(keys, settings));
  }
  if (!plan.fields.empty()) {
    TRY(AddKeys("--fields", std::string_view(plan.fields).substr(has_fields ? 0 : 1),
                settings.columns));
  }
  for (const Key* key : keys) {
    AddOnce(settings.sort, key);
    AddOnce(settings.columns, key);
  }
  for (const Key* key : settings.columns) AddOnce(settings.sort, key);
  return {};
}

PerfPlan& PlanIn(cli::BaseOptions& options) {
  return dynamic_cast<PerfPlan&>(options);
}

}  // namespace

Status StorePercentage(cli::BaseOptions& options, std::string_view spelled, std::string_view text) {
  static const cli::Offer kKinds[] = {{.word = "absolute"}, {.word = "relative"}};
  if (text != kKinds[0].word && text != kKinds[1].word) {
    return cli::UnknownValue(spelled, text, kKinds);
  }
  PlanIn(options).is_relative = text == kKinds[1].word;
  return {};
}

Status StoreWidths(cli::BaseOptions& options, std::string_view spelled, std::string_view text) {
  for (const std::string_view word : cli::SplitAtCommas(text)) {
    TRY_ASSIGN(const unsigned width, (cli::ParseNumberIn<unsigned, 0, 1000>(spelled, word)));
    PlanIn(options).layout.widths.push_back(width);
  }
  return {};
}

Status StoreNoCallGraph(cli::BaseOptions& options, std::string_view, std::string_view) {
  PlanIn(options).call_graph = "none";
  return {};
}

Status StoreQuantum(cli::BaseOptions& options, std::string_view spelled, std::string_view text) {
  TRY_ASSIGN(const std::chrono::nanoseconds quantum, cli::ParseDuration(spelled, text));
  if (quantum.count() <= 0) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("{}: must be above 0", spelled));
  }
  PlanIn(options).read.time_quantum_ns = static_cast<std::uint64_t>(quantum.count());
  return {};
}

Result<PerfPlan> PlanOfPerf(PerfPlan plan) {
  if (plan.operands.size() > 1) {
    return Fail(ErrorCode::kInvalidArgument, "options of perf report need exactly one input");
  }
  histogram::HitFilter& filter = plan.read.filter;
  filter.comms = NamesOf(plan.comms);
  filter.dsos = NamesOf(plan.dsos);
  filter.symbols = NamesOf(plan.symbols);
  for (const auto& [list, ids, option] : {std::tuple(&plan.pids, &filter.pids, "--pid"),
                                          std::tuple(&plan.tids, &filter.tids, "--tid")}) {
    if (list->empty()) continue;
    for (const std::string_view word : cli::SplitAtCommas(*list)) {
      TRY_ASSIGN(const auto id, (cli::ParseNumberIn<std::uint32_t, 0, UINT32_MAX>(option, word)));
      ids->insert(id);
    }
  }
  filter.cpus.insert(plan.cpus.begin(), plan.cpus.end());
  if (plan.parent.empty()) plan.read.only_with_parent = false;
  if (!plan.ignore_callees.empty()) {
    TRY_ASSIGN(plan.read.ignore_callees, cli::ParseRegex("--ignore-callees", plan.ignore_callees));
  }
  plan.read.combine.import.threads = cli::DefaultThreads();
  TRY(SettingsOf(plan, true));
  cli::FinishSymbolOptions(plan);
  return plan;
}

Result<Settings> SettingsOf(PerfPlan& plan, bool has_callchains) {
  Settings settings;
  CallGraph graph;
  if (plan.call_graph) {
    TRY_ASSIGN(graph, ParseCallGraph(*plan.call_graph));
  }
  const bool wants_children = plan.children.value_or(true);
  settings.is_hierarchy = plan.is_hierarchy;
  settings.adds_callees = wants_children && has_callchains && !plan.is_hierarchy;
  settings.chain_mode = has_callchains ? graph.mode : ChainMode::kNone;
  settings.chain_key = graph.key;
  const bool is_caller = plan.is_inverted || wants_children;
  settings.chain_order =
      graph.order.value_or(is_caller ? ChainOrder::kCaller : ChainOrder::kCallee);
  TRY(SetKeys(plan, settings));

  const auto has_key = [&](std::string_view word) {
    return std::ranges::count(settings.sort, word, &Key::word) != 0;
  };
  if (has_key("parent")) {
    TRY_ASSIGN(plan.read.parent,
               cli::ParseRegex("--parent", plan.parent.empty() ? kDefaultParent : plan.parent));
  }
  plan.read.combine.import.cgroup_label = has_key("cgroup");
  // Reading lines and inlined functions takes most of the time.
  const bool shows_lines = has_key("srcline") || has_key("srcfile") || settings.adds_callees ||
                           settings.chain_mode != ChainMode::kNone;
  if (!shows_lines) plan.symbol_options.source_lines = symbolize::SourceLines::kNone;

  PerfLayout& layout = plan.layout;
  layout.has_header = !plan.quiet;
  layout.calls_overhead_self = settings.adds_callees && !HasStrictFields(plan);
  layout.is_relative = plan.is_relative;
  layout.percent_limit = plan.percent_limit.value_or(0);
  layout.chain_percent = graph.threshold.value_or(plan.percent_limit.value_or(0.5));
  layout.chain_limit = graph.limit;
  layout.chain_value = graph.value;
  layout.skips_first_frame = plan.fields.empty() && plan.sort.starts_with("sym");
  layout.elided.clear();
  SetElided(plan, settings, layout);
  return settings;
}

}  // namespace perftape::report_tool
