// SPDX-License-Identifier: Apache-2.0
#include "convert/export/viewers/cost_graph.h"

#include <tsl/robin_map.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "convert/export/frame_texts.h"
#include "convert/frames/stack_trie.h"
#include "convert/model/mappings_without_files.h"
#include "convert/model/saturating.h"
#include "formats/base/bytes_hash.h"
#include "formats/base/unknown_name.h"

namespace perftape::viewers {
namespace {

using convert::AddUpToLimit;
using convert::FrameTexts;
using convert::LocationId;
using convert::Profile;
using convert::Sample;
using convert::StackId;
using convert::TextId;

template <class Key>
using Ids = tsl::robin_map<Key, std::uint32_t, BytesHash>;

// A function before its levels of recursion are told apart.
struct Code {
  TextId name = 0, file = 0, object = 0;
  bool operator==(const Code&) const = default;
};

// What is equal for all levels of a recursion. callgrind_annotate does not tell objects apart.
struct CodeName {
  TextId name = 0, file = 0;
  bool operator==(const CodeName&) const = default;
};

struct CodeLine {
  std::uint32_t code = 0;
  std::int64_t line = 0;
};

// The functions of a profile's locations.
class CodeTable {
 public:
  CodeTable(const Profile& profile, FrameTexts& texts)
      : profile_(profile), texts_(texts), ranges_(profile.locations().size()) {}

  // Returns the functions of a location, root first; several if calls were inlined. Valid until the
  // next call.
  std::span<const CodeLine> Of(LocationId id) {
    auto& [begin, end] = ranges_[id.index];
    if (begin == end) {
      begin = static_cast<std::uint32_t>(lines_.size());
      AddLinesOf(id);
      end = static_cast<std::uint32_t>(lines_.size());
    }
    return std::span(lines_).subspan(begin, end - begin);
  }
  CodeLine OfRoot(TextId text) {
    return {.code = Intern(
                {.name = text, .file = texts_.Intern(kThreadFile), .object = texts_.Intern("")})};
  }
  CodeLine OfNoThread() { return OfRoot(texts_.Intern(kNoThread)); }
  CodeLine OfNoFrames() {
    const TextId none = texts_.Intern("");
    return {.code = Intern({.name = texts_.Intern(kUnknownName), .file = none, .object = none})};
  }

  const Code& operator[](std::uint32_t code) const { return codes_[code]; }
  // Numbers from 0; equal ones have the same name and source file.
  std::uint32_t NameOf(std::uint32_t code) const { return names_[code]; }
  std::size_t name_count() const { return ids_of_names_.size(); }
  std::int64_t FirstLineOf(std::uint32_t code) const { return first_lines_[code]; }

 private:
  void AddLinesOf(LocationId id) {
    const std::span<const TextId> found = texts_.Of(id);
    const std::vector<TextId> names(found.begin(), found.end());
    const convert::Location& location = profile_[id];
    const std::string_view dso = profile_.text(profile_[location.mapping].filename);
    const bool is_of_folded = convert::IsOfFolded(profile_, profile_[location.mapping]);
    const TextId object = texts_.Intern(is_of_folded ? "" : dso);
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (location.lines.empty()) {
        lines_.push_back(
            {.code = Intern({.name = names[i], .file = texts_.Intern(""), .object = object})});
        continue;
      }
      const convert::Line& line = location.lines[location.lines.size() - 1 - i];
      const convert::Function& function = profile_[line.function];
      const std::uint32_t code = Intern({.name = names[i],
                                         .file = texts_.Intern(profile_.text(function.filename)),
                                         .object = object});
      std::int64_t& first = first_lines_[code];
      if (function.start_line > 0 && (first == 0 || function.start_line < first)) {
        first = function.start_line;
      }
      lines_.push_back({.code = code, .line = std::max<std::int64_t>(line.number, 0)});
    }
  }

  std::uint32_t Intern(const Code& code) {
    const auto next = static_cast<std::uint32_t>(codes_.size());
    const auto [known, is_new] = ids_.try_emplace(code, next);
    if (is_new) {
      codes_.push_back(code);
      first_lines_.push_back(0);
      const auto next_name = static_cast<std::uint32_t>(ids_of_names_.size());
      names_.push_back(
          ids_of_names_.try_emplace(CodeName{.name = code.name, .file = code.file}, next_name)
              .first->second);
    }
    return known->second;
  }

  const Profile& profile_;
  FrameTexts& texts_;
  std::vector<Code> codes_;
  std::vector<std::uint32_t> names_;
  std::vector<std::int64_t> first_lines_;
  Ids<Code> ids_;
  Ids<CodeName> ids_of_names_;
  std::vector<CodeLine> lines_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ranges_;  // of lines_, by LocationId
};

// The stacks as a tree. Siblings may be equal.
class LineForest {
 public:
  struct Content {
    CodeLine at = {};
    std::uint32_t parent = 0;  // 0 is none
  };
  using Trie = convert::StackTrie<Content>;

  LineForest(const Profile& profile, CodeTable& codes, std::size_t columns)
      : trie_(profile), codes_(codes), columns_(columns), sums_(columns) {}

  // Sets the root frame of all stacks that are added from now on; kNoText means kNoThread.
  void StartRoot(TextId text) {
    has_thread_ = text != convert::kNoText;
    root_ = AddChild(0, has_thread_ ? codes_.OfRoot(text) : codes_.OfNoThread());
    trie_.StartBelow(root_);
  }

  void Add(StackId stack, std::size_t column, std::int64_t number) {
    std::uint32_t node =
        trie_.NodeOf(stack, [this](std::uint32_t at, LocationId location, convert::AddressKind) {
          for (const CodeLine& line : codes_.Of(location)) at = AddChild(at, line);
          return at;
        });
    if (node == root_ && !has_thread_) node = AddChild(root_, codes_.OfNoFrames());
    sums_.resize(trie_.nodes().size() * columns_);
    std::int64_t& sum = sums_[node * columns_ + column];
    sum = AddUpToLimit(sum, number);
  }

  std::span<const Trie::Node> nodes() const { return trie_.nodes(); }
  // The sums of the samples that end at each node.
  const std::vector<std::int64_t>& sums() const { return sums_; }

 private:
  std::uint32_t AddChild(std::uint32_t parent, const CodeLine& at) {
    return trie_.AddChild(parent, {.at = at, .parent = parent});
  }

  Trie trie_;
  CodeTable& codes_;
  const std::size_t columns_;
  std::vector<std::int64_t> sums_;  // of the columns, for each node
  bool has_thread_ = false;
  std::uint32_t root_ = 0;  // the node of the root frame
};

// Returns the level of recursion for each node.
std::vector<std::uint32_t> LevelsOf(std::span<const LineForest::Trie::Node> nodes,
                                    const CodeTable& codes) {
  std::vector<std::uint32_t> levels(nodes.size());
  std::vector<std::uint32_t> open(codes.name_count());  // on the path to the current node
  std::uint32_t at = nodes[0].first_child;
  while (at != 0) {
    levels[at] = ++open[codes.NameOf(nodes[at].at.code)];
    if (nodes[at].first_child != 0) {
      at = nodes[at].first_child;
      continue;
    }
    while (at != 0) {
      --open[codes.NameOf(nodes[at].at.code)];
      if (nodes[at].next_sibling != 0) break;
      at = nodes[at].parent;
    }
    if (at != 0) at = nodes[at].next_sibling;
  }
  return levels;
}

class CostCounter {
 public:
  CostCounter(const CodeTable& codes, std::size_t columns) : codes_(codes), columns_(columns) {}

  void Count(const LineForest& forest) {
    const std::span nodes = forest.nodes();
    const std::vector<std::uint32_t> levels = LevelsOf(nodes, codes_);
    std::vector<std::int64_t> totals = forest.sums();
    std::vector<std::uint32_t> functions(nodes.size());
    for (std::uint32_t i = 1; i < nodes.size(); ++i) {
      functions[i] = FunctionOf({.code = nodes[i].at.code, .level = levels[i]});
    }
    for (std::size_t i = nodes.size(); i-- > 1;) {  // children before parents
      const LineForest::Content& node = nodes[i];
      Add({.function = functions[i], .callee = kNoCallee, .line = node.at.line},
          std::span(forest.sums()).subspan(i * columns_, columns_));
      const std::span total(&totals[i * columns_], columns_);
      if (node.parent == 0) continue;
      Add({.function = functions[node.parent],
           .callee = functions[i],
           .line = nodes[node.parent].at.line},
          total);
      for (std::size_t column = 0; column < columns_; ++column) {
        std::int64_t& sum = totals[node.parent * columns_ + column];
        sum = AddUpToLimit(sum, total[column]);
      }
    }
  }

  // Moves what was counted into `graph`, sorted.
  void Finish(const FrameTexts& texts, CostGraph& graph) && {
    const std::vector<std::uint32_t> ranks = SortFunctions(texts, graph);
    for (const auto& [key, index] : ids_) {
      graph.costs.push_back({.function = ranks[key.function],
                             .callee = key.callee == kNoCallee ? kNoCallee : ranks[key.callee],
                             .line = key.line,
                             .numbers = index});
    }
    std::ranges::sort(graph.costs, {}, [](const Cost& cost) {
      // The line's own cost comes first: kNoCallee + 1 is 0.
      return std::tuple(cost.function, cost.line, cost.callee + 1U);
    });
    graph.numbers = std::move(numbers_);
  }

 private:
  struct Level {
    std::uint32_t code = 0, level = 0;
    bool operator==(const Level&) const = default;
  };
  struct CostKey {
    std::uint32_t function = 0, callee = 0;
    std::int64_t line = 0;
    bool operator==(const CostKey&) const = default;
  };

  std::uint32_t FunctionOf(const Level& level) {
    const auto next = static_cast<std::uint32_t>(levels_.size());
    const auto [known, is_new] = functions_.try_emplace(level, next);
    if (is_new) levels_.push_back(level);
    return known->second;
  }

  void Add(const CostKey& key, std::span<const std::int64_t> added) {
    if (std::ranges::all_of(added, [](std::int64_t number) { return number == 0; })) return;
    const auto [known, is_new] = ids_.try_emplace(key, static_cast<std::uint32_t>(numbers_.size()));
    if (is_new) numbers_.resize(numbers_.size() + columns_);
    for (std::size_t column = 0; column < columns_; ++column) {
      std::int64_t& number = numbers_[known->second + column];
      number = AddUpToLimit(number, added[column]);
    }
  }

  // Sets the functions of the graph, and returns the index of each there.
  std::vector<std::uint32_t> SortFunctions(const FrameTexts& texts, CostGraph& graph) const {
    std::vector<CostFunction> functions;
    for (const Level& level : levels_) {
      const Code& code = codes_[level.code];
      functions.push_back({.name = texts[code.name],
                           .file = texts[code.file],
                           .object = texts[code.object],
                           .line = codes_.FirstLineOf(level.code),
                           .level = level.level});
    }
    std::vector<std::uint32_t> order(functions.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::sort(order, {}, [&](std::uint32_t i) {
      const CostFunction& function = functions[i];
      return std::tuple(function.file, function.object, function.name, function.level);
    });
    std::vector<std::uint32_t> ranks(order.size());
    for (const std::uint32_t i : order) {
      ranks[i] = static_cast<std::uint32_t>(graph.functions.size());
      graph.functions.push_back(functions[i]);
    }
    return ranks;
  }

  const CodeTable& codes_;
  const std::size_t columns_;
  std::vector<Level> levels_;
  Ids<Level> functions_;
  Ids<CostKey> ids_;
  std::vector<std::int64_t> numbers_;
};

}  // namespace

CostGraph CostGraphOf(const Profile& profile, const convert::FoldedOptions& options,
                      FrameTexts& texts) {
  CostGraph graph;
  graph.events = convert::EventsWithSamples(profile);
  std::vector<std::size_t> columns(profile.events().size());
  for (std::size_t i = 0; i < graph.events.size(); ++i) columns[graph.events[i].index] = i;

  const std::vector<convert::FoldedValue> values = ChooseValues(profile, options.value);
  CodeTable codes(profile, texts);
  LineForest forest(profile, codes, graph.events.size());
  std::optional<TextId> root;
  for (const convert::RootedSample& rooted :
       SamplesByRoot(profile, graph.events, options.root, texts)) {
    const Sample& sample = profile.samples()[rooted.sample];
    const std::int64_t number = FoldedNumber(profile, values[sample.event.index], sample);
    if (number < 0) ++graph.negative_samples;
    if (number <= 0) continue;
    if (rooted.root != root) forest.StartRoot(*(root = rooted.root));
    forest.Add(sample.stack, columns[sample.event.index], number);
  }
  CostCounter counter(codes, graph.events.size());
  counter.Count(forest);
  std::move(counter).Finish(texts, graph);
  return graph;
}

}  // namespace perftape::viewers
