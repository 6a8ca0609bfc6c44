// SPDX-License-Identifier: Apache-2.0
// The file in memory that has the windows of the history. The first process holds it open, so a
// server that is started again finds there what the one before had.
//
// The file begins with a table of rows (Row). The profile of a window has pages of its own after
// it, which are given back when nobody reads the window any more. A row counts once its kind is
// written, which is last: a server that is killed meanwhile leaves no half of one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/base/file.h"
#include "formats/base/result.h"
#include "tools/serve/window.h"

namespace perftape::serve {

class HistoryFile {
 public:
  // A row of the table. Windows are numbered in the order in which they came.
  struct Row {
    enum class Kind : std::uint64_t { kFree, kWindow, kResets };
    Kind kind = Kind::kFree;
    std::uint64_t first = 0, last = 0;  // the windows in it
    std::uint64_t level = 0;            // how many times it was merged
    std::uint64_t start_ns = 0, end_ns = 0;
    std::uint64_t offset = 0, bytes = 0;  // of its content
  };
  // What is mapped of a row.
  struct Content;
  // A row and its content, which is mapped until the last copy of the pointer ends.
  struct Entry {
    Row row = {};
    std::shared_ptr<Content> content = {};
    std::size_t index = 0;  // in the table

    std::shared_ptr<const WindowView> window() const;
  };

  // Makes an empty file. Fails as memfd_create(2) and ftruncate(2) do.
  static Result<UniqueFd> Make();
  // Opens a file of Make. Fails as mmap(2) does.
  static Result<HistoryFile> Open(UniqueFd file);

  // How much memory the content of a window needs.
  static std::uint64_t SizeOf(std::uint64_t bytes);

  // Returns the rows that can be read, windows by their numbers. Rows of which a larger one has the
  // windows are removed: they were being merged. Called once, before Add.
  std::vector<Entry> Restore();
  // Adds a row with this content; offset and bytes of `row` are ignored. Fails with kIo if there is
  // no memory, and with kUnsupported if the table is full.
  Result<Entry> Add(Row row, Bytes content);
  // Removes the row. Its window can be read as long as there is a copy of the pointer.
  void Remove(const Entry& entry);

 private:
  struct Mapping;

  HistoryFile(std::shared_ptr<const UniqueFd> file, std::shared_ptr<Mapping> table,
              std::uint64_t end);
  Row* rows() const;
  bool IsGood(const Row& row) const;
  Result<Entry> EntryOf(std::size_t index) const;
  // Gives back what no entry has.
  void GiveBackUnused(std::span<const Entry> entries) const;

  std::shared_ptr<const UniqueFd> file_;
  std::shared_ptr<Mapping> table_;
  std::uint64_t end_ = 0;  // of the file
};

}  // namespace perftape::serve
