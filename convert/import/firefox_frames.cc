// SPDX-License-Identifier: Apache-2.0
#include "convert/import/firefox_frames.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <system_error>
#include <utility>

#include "formats/perfdata/mapping_name.h"

namespace perftape::convert {
namespace {

using json_profiles::FirefoxColumn;
using json_profiles::FirefoxLibrary;
using json_profiles::FirefoxTables;
using json_profiles::FirefoxThread;

// Returns an entry of a column; -1 if it has none.
std::int64_t At(const FirefoxColumn& column, std::int64_t index) {
  const bool is_in = index >= 0 && static_cast<std::uint64_t>(index) < column.size();
  return is_in ? column[static_cast<std::size_t>(index)] : -1;
}

bool Has(const FirefoxColumn& column, std::int64_t index) {
  return index >= 0 && static_cast<std::uint64_t>(index) < column.size();
}

// Whether the name of a function is only its address: "0x1a2b".
bool IsAddressText(std::string_view name) {
  if (!name.starts_with("0x")) return false;
  name.remove_prefix(2);
  std::uint64_t address = 0;
  const char* end = name.data() + name.size();
  const auto [parsed, error] = std::from_chars(name.data(), end, address, 16);
  return !name.empty() && error == std::errc() && parsed == end;
}

bool IsKernel(const FirefoxLibrary& library) {
  const auto source = perfdata::SourceOf(library.path);
  return source == perfdata::MappingSource::kKernel || source == perfdata::MappingSource::kModule;
}

}  // namespace

FirefoxFrames::FirefoxFrames(ProfileBuilder& builder, const json_profiles::FirefoxFile& file,
                             bool map_kernel_addresses)
    : builder_(builder),
      file_(file),
      has_offsets_(file.product == "perftape"),
      frames_(builder, map_kernel_addresses) {}

void FirefoxFrames::Begin(const FirefoxThread& thread) {
  const FirefoxTables& own = thread.tables;
  const auto choose = [&](bool has_own) { return has_own ? &own : &file_.shared; };
  thread_ = &thread;
  stacks_ = choose(!own.stacks.frame.empty());
  frame_table_ = choose(!own.frames.func.empty());
  funcs_ = choose(!own.funcs.name.empty());
  resources_ = choose(!own.resource_libs.empty());
  strings_ = choose(!own.strings.empty());
  const bool has_own = stacks_ == &own;
  nodes_ = has_own ? &own_nodes_ : &shared_nodes_;
  if (has_own) own_nodes_.clear();
  nodes_->resize(stacks_->stacks.frame.size());
}

std::optional<FirefoxFrames::ReadStack> FirefoxFrames::StackOf(std::int64_t index) {
  if (index < 0) return ReadStack();
  const FirefoxColumn& frames = stacks_->stacks.frame;
  // Callers precede their callees. So the walk ends, also in a damaged file.
  std::vector<std::int64_t> open;
  for (std::int64_t at = index; at >= 0;) {
    if (!Has(frames, at)) return {};
    if ((*nodes_)[static_cast<std::size_t>(at)].state != State::kNew) break;
    open.push_back(at);
    const std::int64_t caller = At(stacks_->stacks.prefix, at);
    if (caller >= at) return {};
    at = caller;
  }
  while (!open.empty()) {
    const std::int64_t at = open.back();
    open.pop_back();
    Node& node = (*nodes_)[static_cast<std::size_t>(at)];
    const std::int64_t caller = At(stacks_->stacks.prefix, at);
    const Node root = {.stack = {}, .state = State::kDone};
    const Node& called_by = caller < 0 ? root : (*nodes_)[static_cast<std::size_t>(caller)];
    const auto location = LocationOf(At(frames, at));
    if (called_by.state != State::kDone || !location) {
      node.state = State::kBroken;
      continue;
    }
    node = {.stack = {.id = builder_.Push(called_by.stack.id, *location),
                      .depth = called_by.stack.depth + 1},
            .state = State::kDone};
  }
  const Node& node = (*nodes_)[static_cast<std::size_t>(index)];
  return node.state == State::kDone ? std::optional(node.stack) : std::nullopt;
}

std::string_view FirefoxFrames::TextOf(std::int64_t index) const {
  const auto& strings = strings_->strings;
  const bool is_in = index >= 0 && static_cast<std::uint64_t>(index) < strings.size();
  return is_in ? std::string_view(strings[static_cast<std::size_t>(index)]) : std::string_view();
}

const FirefoxLibrary* FirefoxFrames::LibraryOf(std::int64_t function) const {
  const std::int64_t index = At(resources_->resource_libs, At(funcs_->funcs.resource, function));
  const auto& libs = thread_->libs.empty() ? file_.libs : thread_->libs;
  const bool is_in = index >= 0 && static_cast<std::uint64_t>(index) < libs.size();
  return is_in ? &libs[static_cast<std::size_t>(index)] : nullptr;
}

std::optional<LocationId> FirefoxFrames::LocationOf(std::int64_t frame) {
  if (!Has(frame_table_->frames.func, frame)) return {};
  const std::int64_t func = At(frame_table_->frames.func, frame);
  const std::int64_t line = At(frame_table_->frames.line, frame);
  // Without functions, a frame has the text of its location.
  if (funcs_->funcs.name.empty()) {
    return frames_.Add({.name = TextOf(func), .line = std::max<std::int64_t>(line, 0)});
  }
  if (!Has(funcs_->funcs.name, func)) return {};
  const std::string_view name = TextOf(At(funcs_->funcs.name, func));
  const std::int64_t source = At(funcs_->funcs.source, func);
  const std::int64_t file =
      source >= 0 ? At(file_.shared.source_names, source) : At(funcs_->funcs.file_name, func);
  const FirefoxLibrary* const library = LibraryOf(func);
  const std::int64_t address = At(frame_table_->frames.address, frame);
  const bool is_kernel = library != nullptr && IsKernel(*library);
  const bool is_unnamed = library != nullptr && address >= 0 && IsAddressText(name);
  if (is_unnamed) return Unnamed(*library, address, name);
  const auto offset =
      library == nullptr || is_kernel || address < 0 ? std::nullopt : OffsetOf(*library, address);
  const std::int64_t known_line = std::clamp<std::int64_t>(line, 0, INT32_MAX);
  const std::int64_t start_line =
      std::clamp<std::int64_t>(At(funcs_->funcs.line, func), 0, INT32_MAX);
  if (!offset) {
    return frames_.Add({.name = name,
                        .file = TextOf(file),
                        .line = known_line,
                        .start_line = start_line,
                        .is_kernel = is_kernel});
  }
  const FunctionId function = builder_.Add(Function{.name = builder_.Add(name),
                                                    .filename = builder_.Add(TextOf(file)),
                                                    .start_line = start_line});
  const Line known = {.function = function, .number = known_line};
  return InLibrary(*library, *offset, {&known, 1});
}

// Adds a frame whose name is its address.
LocationId FirefoxFrames::Unnamed(const FirefoxLibrary& library, std::int64_t address,
                                  std::string_view name) {
  const bool is_kernel = IsKernel(library);
  const auto offset = is_kernel ? std::nullopt : OffsetOf(library, address);
  std::vector<Line> lines;
  for (const json_profiles::SamplyFrame& frame : symbols_.Find(library.breakpad_id, address)) {
    lines.push_back({.function = builder_.Add(Function{.name = builder_.Add(frame.function),
                                                       .filename = builder_.Add(frame.file)}),
                     .number = frame.line});
  }
  if (offset) return InLibrary(library, *offset, lines);
  if (lines.empty()) {
    ++without_offsets_;
    return frames_.Add({.name = name, .is_kernel = is_kernel});
  }
  return InLibrary(library, FileOffset{}, lines);
}

LocationId FirefoxFrames::InLibrary(const FirefoxLibrary& library, FileOffset offset,
                                    std::span<const Line> lines) {
  const std::string& path = library.path.empty() ? library.name : library.path;
  const MappingId mapping =
      builder_.Add(Mapping{.filename = builder_.Add(path),
                           .build_id = builder_.Add(library.code_id),
                           .limit = std::numeric_limits<std::uint64_t>::max(),
                           .type = IsKernel(library) ? MappingType::kKernel : MappingType::kUser,
                           .names = {.functions = !lines.empty()}});
  return builder_.Add(Location{.mapping = mapping, .offset = offset, .lines = lines});
}

std::optional<FileOffset> FirefoxFrames::OffsetOf(const FirefoxLibrary& library,
                                                  std::int64_t address) {
  if (has_offsets_) return FileOffset{static_cast<std::uint64_t>(address)};
  const auto [known, is_new] = images_.try_emplace({library.path, library.code_id});
  Image& image = known->second;
  if (is_new) image = OpenImage(library);
  if (!image.file) return {};
  return image.file->ToFile(ImageAddress{image.base + static_cast<std::uint64_t>(address)});
}

FirefoxFrames::Image FirefoxFrames::OpenImage(const FirefoxLibrary& library) {
  Image image;
  const auto build_id = BuildId::FromHex(library.code_id);
  if (!build_id || build_id->empty() || !library.path.starts_with('/')) return image;
  Result<elf::ElfFile> file = elf::ElfFile::Open(library.path);
  if (!file || file->build_id() != *build_id || file->segments().empty()) return image;
  image.base = std::ranges::min(file->segments(), {}, [](const elf::Segment& segment) {
                 return segment.address.value;
               }).address.value;
  image.file = std::move(*file);
  return image;
}

}  // namespace perftape::convert
