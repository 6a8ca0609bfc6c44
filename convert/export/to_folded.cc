// SPDX-License-Identifier: Apache-2.0
#include "convert/export/to_folded.h"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "convert/export/frame_texts.h"
#include "convert/model/sample_thread.h"
#include "convert/model/saturating.h"
#include "formats/folded/count.h"
#include "formats/folded/text.h"

namespace perftape {
namespace {

// The events that the numbers of a line are of.
struct Columns {
  std::array<EventId, 2> events;
  std::size_t count;  // of the events
};

std::optional<EventId> FindEvent(const Profile& profile, std::string_view name) {
  for (std::uint32_t i = 0; i < profile.events().size(); ++i) {
    if (profile.text(profile.events()[i].name) == name) return EventId{i};
  }
  return {};
}

Result<Columns> ChooseColumns(const Profile& profile, const FoldedOptions& options) {
  if (!options.differential) {
    const auto event = options.event ? options.event : DefaultEvent(profile);
    return Columns{{event.value_or(EventId{})}, event ? 1U : 0U};
  }
  const auto before = FindEvent(profile, "before");
  const auto after = FindEvent(profile, "after");
  if (!before || !after) {
    return Fail(ErrorCode::kNotFound, "a differential file needs the events 'before' and 'after'");
  }
  return Columns{{*before, *after}, 2};
}

constexpr auto kNoText = std::numeric_limits<TextId>::max();

// The text of the root frame of each sample; kNoText where its thread is not known, or not asked
// for.
class RootTexts {
 public:
  RootTexts(const Profile& profile, folded::Root root, FrameTexts& texts)
      : profile_(profile), root_(root), texts_(texts), of_threads_(profile.threads().size()) {}

  TextId Of(const Sample& sample) {
    if (root_ == folded::Root::kNone) return kNoText;
    if (sample.thread == ThreadId{}) return Render(sample);
    std::optional<TextId>& known = of_threads_[sample.thread.index];
    if (!known) known = Render(sample);
    return *known;
  }

 private:
  TextId Render(const Sample& sample) {
    const SampleThread thread = ThreadOf(profile_, sample);
    const bool is_known = sample.thread != ThreadId{} || !thread.comm.empty() ||
                          (thread.pid && root_ != folded::Root::kComm);
    if (!is_known) return kNoText;
    return texts_.Intern(folded::RootName(
        root_, {.comm = std::string(thread.comm), .pid = thread.pid, .tid = thread.tid}));
  }

  const Profile& profile_;
  const folded::Root root_;
  FrameTexts& texts_;
  std::vector<std::optional<TextId>> of_threads_;
};

using Sums = std::array<std::int64_t, 2>;

// The lines as a tree of frames, the root frames among them. Frames of one text may be several
// nodes beside each other: of several addresses, or of several samples' roots.
class LineTree {
 public:
  struct Node {
    TextId text = kNoText;
    std::uint32_t first_child = 0, next_sibling = 0;  // 0 is none
    std::uint32_t line = 0;                           // its place in sums_; 0 where no line ends
  };

  LineTree(const Profile& profile, FrameTexts& texts)
      : profile_(profile), texts_(texts), of_stacks_(profile.stacks().size()) {}

  // The stacks that are added from now on are below this root frame; kNoText is none.
  void StartRoot(TextId text) {
    base_ = text == kNoText ? 0 : AddChild(0, text);
    begin_ = static_cast<std::uint32_t>(nodes_.size());
  }

  void Add(StackId stack, std::size_t column, std::int64_t value) {
    std::uint32_t node = NodeOf(stack);
    if (node == 0) node = AddChild(0, texts_.Intern("[unknown]"));
    std::uint32_t& line = nodes_[node].line;
    if (line == 0) {
      line = static_cast<std::uint32_t>(sums_.size());
      sums_.push_back({});
    }
    sums_[line][column] = AddUpToLimit(sums_[line][column], value);
  }

  const Node& operator[](std::uint32_t node) const { return nodes_[node]; }
  const Sums& SumsOf(const Node& node) const { return sums_[node.line]; }
  std::span<const Node> nodes() const { return nodes_; }

 private:
  std::uint32_t AddChild(std::uint32_t parent, TextId text) {
    const auto node = static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back({.text = text, .next_sibling = nodes_[parent].first_child});
    nodes_[parent].first_child = node;
    return node;
  }

  std::uint32_t NodeOf(StackId stack) {
    path_.clear();
    // What is there of a stack from before StartRoot is below another root.
    for (; stack != StackId{} && of_stacks_[stack.index] < begin_; stack = profile_[stack].caller) {
      path_.push_back(stack);
    }
    std::uint32_t node = stack == StackId{} ? base_ : of_stacks_[stack.index];
    for (; !path_.empty(); path_.pop_back()) {
      for (const TextId text : texts_.Of(profile_[path_.back()].leaf)) node = AddChild(node, text);
      of_stacks_[path_.back().index] = node;
    }
    return node;
  }

  const Profile& profile_;
  FrameTexts& texts_;
  std::vector<Node> nodes_ = {{}};
  std::vector<Sums> sums_ = {{}};
  std::uint32_t base_ = 0;                // what calls the outermost frames
  std::uint32_t begin_ = 1;               // the first node below base_
  std::vector<std::uint32_t> of_stacks_;  // nodes
  std::vector<StackId> path_;             // scratch of NodeOf
};

void AddSamples(const Profile& profile, const FoldedOptions& options, const Columns& columns,
                FrameTexts& texts, LineTree& tree) {
  struct Row {
    TextId root;
    std::uint32_t sample;
    auto operator<=>(const Row&) const = default;
  };
  RootTexts roots(profile, options.root, texts);
  std::vector<Row> rows;
  const std::span events(columns.events.data(), columns.count);
  for (std::uint32_t i = 0; i < profile.samples().size(); ++i) {
    const Sample& sample = profile.samples()[i];
    if (std::ranges::count(events, sample.event) != 0) rows.push_back({roots.Of(sample), i});
  }
  if (options.root != folded::Root::kNone) std::ranges::sort(rows);

  TextId root = kNoText;
  for (const Row& row : rows) {
    if (row.root != root) tree.StartRoot(root = row.root);
    const Sample& sample = profile.samples()[row.sample];
    const bool is_count = options.value == FoldedValue::kSamples &&
                          profile[sample.event].values == EventValues::kSampled;
    tree.Add(sample.stack, sample.event == events.front() ? 0 : 1,
             is_count ? sample.count : sample.period);
  }
}

// flamegraph.pl takes a line for one of two counts where its last frame ends in a space and a
// number. Where all lines do, they are such lines.
folded::CountLike ChooseCountLike(const LineTree& tree, const FrameTexts& texts) {
  const bool all_do = std::ranges::all_of(tree.nodes(), [&](const LineTree::Node& node) {
    return node.line == 0 || folded::EndsLikeACount(texts[node.text]);
  });
  return all_do ? folded::CountLike::kKeep : folded::CountLike::kEscape;
}

// Walks the tree in the order of its texts, nodes of one text as one.
class LineWriter {
 public:
  LineWriter(const Profile& profile, const Columns& columns, const LineTree& tree,
             const FrameKeys& keys, OutputFile& out)
      : profile_(profile), columns_(columns), tree_(tree), keys_(keys), out_(out) {}

  Status Write() {
    PushLevel({0});
    while (!levels_.empty()) {
      const Level level = levels_.back();
      path_.resize(level.path_size);
      if (items_.size() == level.begin) {
        levels_.pop_back();
        continue;
      }
      const std::uint32_t key = TakeFirst(level);
      if (keys_.IsCaller(key)) {
        path_ += keys_[key];
        PushLevel(taken_);
      } else {
        AppendLine(key);
      }
      if (buffer_.size() >= kBufferSize) TRY(Flush());
    }
    return Flush();
  }

 private:
  // A node as a caller or as the end of a line, as its key says.
  struct Item {
    std::uint32_t key, node;
    auto operator<=>(const Item&) const = default;
  };
  // The items of nodes that are called by the same callers, the first one last.
  struct Level {
    std::size_t begin;      // in items_
    std::size_t path_size;  // the callers, in path_
  };
  static constexpr std::size_t kBufferSize = std::size_t{64} << 10;

  void PushLevel(const std::vector<std::uint32_t>& parents) {
    levels_.push_back({items_.size(), path_.size()});
    for (const std::uint32_t parent : parents) {
      for (std::uint32_t i = tree_[parent].first_child; i != 0; i = tree_[i].next_sibling) {
        const LineTree::Node& node = tree_[i];
        if (node.line != 0) items_.push_back({keys_.OfLeaf(node.text), i});
        if (node.first_child != 0) items_.push_back({keys_.OfCaller(node.text), i});
      }
    }
    std::ranges::sort(std::span(items_).subspan(levels_.back().begin), std::greater());
  }

  // Takes the items of the first key, whose nodes are in taken_ then.
  std::uint32_t TakeFirst(const Level& level) {
    const std::uint32_t key = items_.back().key;
    taken_.clear();
    for (; items_.size() > level.begin && items_.back().key == key; items_.pop_back()) {
      taken_.push_back(items_.back().node);
    }
    return key;
  }

  void AppendLine(std::uint32_t key) {
    Sums sums = {};
    bool is_kept = false;
    for (std::size_t column = 0; column < columns_.count; ++column) {
      for (const std::uint32_t node : taken_) {
        sums[column] = AddUpToLimit(sums[column], tree_.SumsOf(tree_[node])[column]);
      }
      is_kept |= sums[column] != 0 || EventOf(column).values == EventValues::kPlain;
    }
    if (!is_kept) return;
    buffer_ += path_;
    buffer_ += keys_[key];
    for (std::size_t column = 0; column < columns_.count; ++column) {
      buffer_.push_back(' ');
      folded::AppendFixed(buffer_, sums[column], EventOf(column).decimals);
    }
    buffer_.push_back('\n');
  }

  const Event& EventOf(std::size_t column) const { return profile_[columns_.events[column]]; }

  Status Flush() {
    if (is_first_) TRY(out_.Write(folded::MarkBefore(buffer_)));
    is_first_ = false;
    TRY(out_.Write(buffer_));
    buffer_.clear();
    return {};
  }

  const Profile& profile_;
  const Columns& columns_;
  const LineTree& tree_;
  const FrameKeys& keys_;
  OutputFile& out_;
  std::vector<Item> items_;
  std::vector<Level> levels_;
  std::vector<std::uint32_t> taken_;  // nodes
  std::string path_;                  // the callers of the level, each with its ';'
  std::string buffer_;                // not yet written
  bool is_first_ = true;              // nothing was written yet
};

}  // namespace

std::optional<EventId> DefaultEvent(const Profile& profile) {
  const auto events = profile.events();
  if (events.empty()) return {};
  std::vector<bool> has_samples(events.size());
  for (const Sample& sample : profile.samples()) has_samples[sample.event.index] = true;

  const std::string_view wanted = profile.metadata().default_value;
  std::optional<EventId> first_sampled;
  for (std::uint32_t i = 0; i < events.size(); ++i) {
    const std::string_view name = profile.text(events[i].name);
    const bool is_sampled = events[i].values == EventValues::kSampled;
    // A sampled event is two of pprof's sample types.
    const auto is_called = [&](std::string_view suffix) {
      return wanted.size() == name.size() + suffix.size() && wanted.starts_with(name) &&
             wanted.ends_with(suffix);
    };
    if (!wanted.empty() &&
        (is_called("") || (is_sampled && (is_called("_sample") || is_called("_event"))))) {
      return EventId{i};
    }
    if (is_sampled && has_samples[i] && !first_sampled) first_sampled = EventId{i};
  }
  if (first_sampled) return first_sampled;
  return EventId{static_cast<std::uint32_t>(events.size() - 1)};
}

Status WriteFolded(const Profile& profile, const FoldedOptions& options, OutputFile& out) {
  TRY_ASSIGN(const Columns columns, ChooseColumns(profile, options));
  if (columns.count == 0) return {};
  FrameTexts texts(profile, options);
  LineTree tree(profile, texts);
  AddSamples(profile, options, columns, texts, tree);
  const folded::CountLike count_like =
      options.differential ? folded::CountLike::kKeep : ChooseCountLike(tree, texts);
  return LineWriter(profile, columns, tree, FrameKeys(texts, count_like), out).Write();
}

}  // namespace perftape
