// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/history_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <span>
#include <tuple>
#include <utility>

namespace perftape::serve {
namespace {

constexpr const char* kHistoryName = "the history";
constexpr std::size_t kRows = 1024;
constexpr std::uint64_t kPage = std::uint64_t{64} << 10;  // the largest of any processor
constexpr std::uint64_t kTableBytes = kRows * sizeof(HistoryFile::Row);
static_assert(kTableBytes % kPage == 0);
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 32;  // of one window

std::uint64_t RoundUp(std::uint64_t bytes, std::uint64_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

// Appends to `file`, at its end.
Status Append(const UniqueFd& file, std::uint64_t offset, Bytes content) {
  if (ftruncate(file.get(), static_cast<off_t>(offset + RoundUp(content.size(), kPage))) != 0)
    return FailErrno(kHistoryName, errno);
  while (!content.empty()) {
    const ssize_t size =
        pwrite(file.get(), content.data(), content.size(), static_cast<off_t>(offset));
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return FailErrno(kHistoryName, errno);
    content = content.subspan(static_cast<std::size_t>(size));
    offset += static_cast<std::uint64_t>(size);
  }
  return {};
}

// The memory of a part that is not read any more goes back to the system.
void GiveBack(const UniqueFd& file, std::uint64_t offset, std::uint64_t bytes) {
  (void)fallocate(file.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  static_cast<off_t>(offset), static_cast<off_t>(RoundUp(bytes, kPage)));
}

void SetKind(HistoryFile::Row& row, HistoryFile::Row::Kind kind) {
  std::atomic_ref(row.kind).store(kind);
}

}  // namespace

struct HistoryFile::Mapping {
  Mapping(void* at, std::uint64_t size) : memory(at), bytes(size) {}
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() {
    if (bytes != 0) (void)munmap(memory, bytes);
  }

  void* memory;
  std::uint64_t bytes;
};

struct HistoryFile::Content {
  Content(const Row& row, std::shared_ptr<const UniqueFd> from, void* memory)
      : file(std::move(from)),
        offset(row.offset),
        mapping(memory, row.bytes),
        view{.start_ns = row.start_ns,
             .end_ns = row.end_ns,
             .profile = Bytes(static_cast<const std::byte*>(memory), row.bytes)} {}
  Content(const Content&) = delete;
  Content& operator=(const Content&) = delete;
  ~Content() {
    if (is_removed && mapping.bytes != 0) GiveBack(*file, offset, mapping.bytes);
  }

  const std::shared_ptr<const UniqueFd> file;
  const std::uint64_t offset;
  const Mapping mapping;
  const WindowView view;
  std::atomic<bool> is_removed = false;
};

std::shared_ptr<const WindowView> HistoryFile::Entry::window() const {
  return {content, &content->view};
}

std::uint64_t HistoryFile::SizeOf(std::uint64_t bytes) {
  static const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return sizeof(Row) + RoundUp(bytes, page);
}

Result<UniqueFd> HistoryFile::Make() {
  UniqueFd file(memfd_create("history", MFD_CLOEXEC));
  if (!file || ftruncate(file.get(), kTableBytes) != 0) return FailErrno(kHistoryName, errno);
  return file;
}

Result<HistoryFile> HistoryFile::Open(UniqueFd file) {
  struct stat status = {};
  if (fstat(file.get(), &status) != 0) return FailErrno(kHistoryName, errno);
  void* const table = mmap(nullptr, kTableBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (table == MAP_FAILED) return FailErrno(kHistoryName, errno);
  const std::uint64_t end = RoundUp(static_cast<std::uint64_t>(status.st_size), kPage);
  return HistoryFile(std::make_shared<const UniqueFd>(std::move(file)),
                     std::make_shared<Mapping>(table, kTableBytes), std::max(end, kTableBytes));
}

HistoryFile::HistoryFile(std::shared_ptr<const UniqueFd> file, std::shared_ptr<Mapping> table,
                         std::uint64_t end)
    : file_(std::move(file)), table_(std::move(table)), end_(end) {}

HistoryFile::Row* HistoryFile::rows() const {
  return static_cast<Row*>(table_->memory);
}

// Only a server writes into the file, but one that an attacker controls may have.
bool HistoryFile::IsGood(const Row& row) const {
  if (row.kind != Row::Kind::kWindow && row.kind != Row::Kind::kResets) return false;
  return row.first <= row.last && row.start_ns <= row.end_ns && row.offset % kPage == 0 &&
         row.offset >= kTableBytes && row.offset <= end_ && row.bytes <= kMostBytes &&
         RoundUp(row.bytes, kPage) <= end_ - row.offset;
}

Result<HistoryFile::Entry> HistoryFile::EntryOf(std::size_t index) const {
  const Row& row = rows()[index];
  void* memory = nullptr;
  if (row.bytes != 0) {
    memory = mmap(nullptr, row.bytes, PROT_READ, MAP_SHARED, file_->get(),
                  static_cast<off_t>(row.offset));
    if (memory == MAP_FAILED) return FailErrno(kHistoryName, errno);
  }
  return Entry{
      .row = row, .content = std::make_shared<Content>(row, file_, memory), .index = index};
}

std::vector<HistoryFile::Entry> HistoryFile::Restore() {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < kRows; ++i) {
    IsGood(rows()[i]) ? order.push_back(i) : SetKind(rows()[i], Row::Kind::kFree);
  }
  // The larger one of two that begin with the same window is first, and the last resets are.
  std::ranges::sort(order, {}, [&](std::size_t i) {
    const Row& row = rows()[i];
    return std::tuple(row.kind, row.kind == Row::Kind::kWindow ? row.first : 0, ~row.last);
  });
  std::vector<Entry> entries;
  for (const std::size_t i : order) {
    const Row& row = rows()[i];
    const bool is_merged = !entries.empty() && entries.back().row.kind == row.kind &&
                           (row.kind == Row::Kind::kResets || row.last <= entries.back().row.last);
    Result<Entry> entry = is_merged ? Fail(ErrorCode::kNotFound, kHistoryName) : EntryOf(i);
    if (entry) {
      entries.push_back(*std::move(entry));
    } else {
      SetKind(rows()[i], Row::Kind::kFree);
    }
  }
  GiveBackUnused(entries);
  return entries;
}

void HistoryFile::GiveBackUnused(std::span<const Entry> entries) const {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> used;
  for (const Entry& entry : entries)
    used.emplace_back(entry.row.offset, entry.row.offset + RoundUp(entry.row.bytes, kPage));
  used.emplace_back(end_, end_);
  std::ranges::sort(used);
  std::uint64_t at = kTableBytes;
  for (const auto& [begin, end] : used) {
    if (begin > at) GiveBack(*file_, at, begin - at);
    at = std::max(at, end);
  }
}

Result<HistoryFile::Entry> HistoryFile::Add(Row row, Bytes content) {
  const std::span<Row> all(rows(), kRows);
  const auto free = std::ranges::find(all, Row::Kind::kFree, &Row::kind);
  if (free == all.end()) return Fail(ErrorCode::kUnsupported, "the history has too many windows");
  if (content.size() > kMostBytes)
    return Fail(ErrorCode::kUnsupported, "a window is too large for the history");
  row.offset = end_;
  row.bytes = content.size();
  if (const Status appended = Append(*file_, end_, content); !appended) {
    GiveBack(*file_, end_, content.size());
    return Fail(appended.error());
  }
  end_ += RoundUp(content.size(), kPage);
  const Row::Kind kind = std::exchange(row.kind, Row::Kind::kFree);
  *free = row;
  SetKind(*free, kind);
  Result<Entry> entry = EntryOf(static_cast<std::size_t>(free - all.begin()));
  if (!entry) SetKind(*free, Row::Kind::kFree);
  return entry;
}

void HistoryFile::Remove(const Entry& entry) {
  SetKind(rows()[entry.index], Row::Kind::kFree);
  entry.content->is_removed = true;
}

}  // namespace perftape::serve
