// SPDX-License-Identifier: Apache-2.0
#include "tools/report/path_reasons.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <ranges>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace perftape::report_tool {
namespace {

using cli::PathFacts;
using convert::StackId;
using Json = json::Value;
using timeline::PathBranch;
using timeline::PathPart;
using timeline::Reason;

// A wait is told by more functions than what runs: the innermost ones only wait.
constexpr std::size_t kWaitFunctions = 5, kRunFunctions = 3;

// Time on a CPU with the functions in which it was spent, outermost first.
struct Spent {
  std::vector<std::string_view> functions;
  PathTimes times;

  std::int64_t ns() const { return times.ns + times.against_ns; }
};

// Returns the functions, from outside, in each of which more than half of the time was spent.
std::vector<std::string_view> HotPathOf(std::vector<Spent> spent) {
  std::int64_t total = 0;
  for (const Spent& one : spent) total += one.ns();
  std::vector<std::string_view> path;
  while (true) {
    const std::size_t depth = path.size();
    std::erase_if(spent, [&](const Spent& one) { return one.functions.size() <= depth; });
    std::map<std::string_view, std::int64_t> sums;
    for (const Spent& one : spent) sums[one.functions[depth]] += one.ns();
    const auto largest =
        std::ranges::max_element(sums, {}, [](const auto& sum) { return sum.second; });
    if (largest == sums.end() || largest->second <= total / 2) return path;
    path.push_back(largest->first);
    std::erase_if(spent, [&](const Spent& one) { return one.functions[depth] != path.back(); });
  }
}

class ReasonMaker {
 public:
  ReasonMaker(const PathFacts& path, const PathNames& names) : path_(path), names_(names) {
    nodes_.emplace_back();
    Add(path.chosen, &PathTimes::ns);
    if (path.against) Add(*path.against, &PathTimes::against_ns);
  }

  std::vector<PathReason> Make() && { return ChildrenOf(0); }

 private:
  using Side = std::int64_t PathTimes::*;

  // The root, or a thread that was waited for at one place of another.
  struct Node {
    std::map<std::tuple<std::string, bool, std::string>, std::size_t> branches = {};
    std::map<std::pair<Reason, std::string>, PathTimes> times = {};
    std::vector<Spent> spent = {};
  };

  std::string CommOf(convert::ThreadId thread) const {
    return std::string(path_.recorded.text(path_.recorded[thread].comm));
  }
  std::string WaitOf(StackId stack) const {
    return ChainOf(names_.OwnFunctions(stack), kWaitFunctions);
  }

  void Add(const cli::WalkedWindows& walked, Side side) {
    std::vector<std::size_t> node_of;  // by branch
    const auto node_at = [&](std::uint32_t branch) {
      return branch == timeline::kNone ? 0 : node_of[branch];
    };
    for (const PathBranch& branch : walked.branches) {
      const auto [found, is_new] = nodes_[node_at(branch.outer)].branches.try_emplace(
          {CommOf(branch.waker), branch.is_birth, WaitOf(branch.wait)}, nodes_.size());
      node_of.push_back(found->second);
      if (is_new) nodes_.emplace_back();
    }
    for (const PathPart& part : walked.parts) AddPart(part, side, nodes_[node_at(part.branch)]);
  }

  void AddPart(const PathPart& part, Side side, Node& node) const {
    if (part.reason == Reason::kRunning) {
      node.spent.push_back({.functions = names_.OwnFunctions(part.stack), .times = {}});
      node.spent.back().times.*side = part.ns;
      node.times[{part.reason, ""}].*side += part.ns;
      return;
    }
    // Where a thread was preempted is chance.
    const bool is_wait = part.reason != Reason::kRunnable;
    node.times[{part.reason, is_wait ? WaitOf(part.stack) : ""}].*side += part.ns;
  }

  // Appends the time in the hot path, and the rest: what a row names is all in its functions.
  static void AppendRunning(const std::vector<Spent>& spent, const PathTimes& all,
                            std::vector<PathReason>& reasons) {
    const std::vector<std::string_view> hot = HotPathOf(spent);
    PathTimes in_hot, rest;
    for (const Spent& one : spent) {
      const bool is_hot = one.functions.size() >= hot.size() &&
                          std::ranges::equal(hot, one.functions | std::views::take(hot.size()));
      (is_hot ? in_hot : rest) += one.times;
    }
    reasons.push_back({.reason = Reason::kRunning,
                       .functions = ChainOf(hot, kRunFunctions),
                       .times = hot.empty() ? all : in_hot});
    if (!hot.empty() && rest != PathTimes()) {
      reasons.push_back({.reason = Reason::kRunning, .functions = "", .times = rest});
    }
  }

  std::vector<PathReason> ChildrenOf(std::size_t index) const {
    const Node& node = nodes_[index];
    std::vector<PathReason> reasons;
    for (const auto& [key, times] : node.times) {
      if (key.first == Reason::kRunning) {
        AppendRunning(node.spent, times, reasons);
      } else {
        reasons.push_back({.reason = key.first, .functions = key.second, .times = times});
      }
    }
    for (const auto& [key, child] : node.branches) {
      const auto& [waker, is_birth, functions] = key;
      PathReason reason = {.waker = waker,
                           .is_birth = is_birth,
                           .functions = functions,
                           .children = ChildrenOf(child)};
      for (const PathReason& inner : reason.children) reason.times += inner.times;
      if (reason.times != PathTimes()) reasons.push_back(std::move(reason));
    }
    std::ranges::stable_sort(reasons, std::greater(), [this](const PathReason& reason) {
      return reason.times.ValueIn(path_);
    });
    return reasons;
  }

  const PathFacts& path_;
  const PathNames& names_;
  std::vector<Node> nodes_;  // the root first
};

std::string TextOf(const PathReason& reason) {
  std::string text(NameOf(reason.reason));
  if (!reason.waker.empty()) {
    text = fmt::format("{} {}", reason.is_birth ? "started by" : "waits for", reason.waker);
  }
  return reason.functions.empty() ? text : fmt::format("{} in {}", text, reason.functions);
}

struct ReasonRow {
  std::size_t depth = 0;
  const PathReason* reason = nullptr;
  std::size_t outer = 0;  // the index of the row that it is below, plus 1; 0: none
};

void AppendRows(const std::vector<PathReason>& reasons, std::size_t depth, std::size_t outer,
                std::vector<ReasonRow>& rows) {
  for (const PathReason& reason : reasons) {
    rows.push_back({.depth = depth, .reason = &reason, .outer = outer});
    AppendRows(reason.children, depth + 1, rows.size(), rows);
  }
}

// Returns the indexes of the rows with the largest values, and of those that these are below.
std::set<std::size_t> LargestOf(const std::vector<ReasonRow>& rows, const PathFacts& path,
                                std::size_t most, double least) {
  const auto size_of = [&](std::size_t row) {
    return std::abs(rows[row].reason->times.ValueIn(path));
  };
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (size_of(i) >= least) order.push_back(i);
  }
  std::ranges::stable_sort(order, std::greater(), size_of);
  order.resize(std::min(order.size(), most));
  std::set<std::size_t> largest;
  for (const std::size_t row : order) {
    for (std::size_t at = row + 1; at != 0; at = rows[at - 1].outer) largest.insert(at - 1);
  }
  return largest;
}

}  // namespace

std::vector<PathReason> ReasonsOf(const PathFacts& path, const PathNames& names) {
  return ReasonMaker(path, names).Make();
}

std::vector<ListedReason> LargestReasons(const std::vector<PathReason>& reasons,
                                         const PathFacts& path, std::size_t most,
                                         double percent_limit) {
  std::vector<ReasonRow> rows;
  AppendRows(reasons, 0, 0, rows);
  const double least = std::abs(LengthOf(path).ValueIn(path)) * percent_limit / 100;
  std::vector<ListedReason> listed;
  for (const std::size_t index : LargestOf(rows, path, most, least)) {
    const ReasonRow& row = rows[index];
    listed.push_back({.depth = row.depth, .text = TextOf(*row.reason), .times = row.reason->times});
  }
  return listed;
}

Table ReasonTable(const std::vector<PathReason>& reasons, const PathFacts& path, std::size_t most,
                  double percent_limit) {
  Table table = {.title = path.against ? "Reasons of the difference" : "Reasons",
                 .columns = TimeColumns(path),
                 .rows = {}};
  table.columns.push_back({.title = "Reason", .align = kLeft});
  for (const ListedReason& reason : LargestReasons(reasons, path, most, percent_limit)) {
    table.rows.push_back(TimeCells(reason.times, path));
    table.rows.back().emplace_back(std::string(2 * reason.depth, ' ') + reason.text);
  }
  return table;
}

Json ReasonJson(const std::vector<PathReason>& reasons, const PathFacts& path) {
  Json json = Json::EmptyList();
  for (const PathReason& reason : reasons) {
    Json& one = json.push_back(nullptr);
    if (reason.waker.empty()) {
      one["state"] = NameOf(reason.reason);
    } else {
      one[reason.is_birth ? "started_by" : "waits_for"] = reason.waker;
    }
    one["functions"] = reason.functions;
    one["ns"] = reason.times.ns;
    if (path.against) one["against_ns"] = reason.times.against_ns;
    if (!reason.children.empty()) one["reasons"] = ReasonJson(reason.children, path);
  }
  return json;
}

}  // namespace perftape::report_tool
