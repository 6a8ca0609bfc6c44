// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/validate/header_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "formats/bundle/embedding.h"
#include "formats/perfdata/header.h"

namespace perftape::perfdata {
namespace {

// Where the fields of struct perf_file_header are.
constexpr std::uint64_t kSizeAt = 8, kAttrSizeAt = 16, kAttrsAt = 24, kDataOffsetAt = 40,
                        kDataSizeAt = 48;

class HeaderChecks {
 public:
  HeaderChecks(const Reader& reader, const FileHeader& header, Report& report)
      : file_(reader.file()), reader_(reader), header_(header), report_(report) {}

  void Check() {
    CheckVersion();
    if (header_.size != FileHeader::kSize && header_.size != FileHeader::kSizeWithoutFeatures) {
      report_.AddAt(Rule::kHeaderSize, kSizeAt, fmt::format("header of {} bytes", header_.size));
    }
    CheckAttrTable();
    CheckData();
    CheckOverlap();
    CheckEnd();
  }

 private:
  void CheckVersion() {
    if (reader_.version() != 1) return;
    report_.AddAt(Rule::kHeaderVersion1, 0, "the magic is PERFFILE");
    // attr_file_abi_sizes: VER0 to VER4, each with the section behind it.
    constexpr auto kSizes = std::to_array<std::uint64_t>({80, 88, 96, 112, 120});
    if (std::ranges::find(kSizes, header_.attr_size) == kSizes.end()) {
      report_.AddAt(Rule::kHeaderVersion1AttrSize, kAttrSizeAt,
                    fmt::format("entries of {} bytes under PERFFILE", header_.attr_size));
    }
  }

  void CheckAttrTable() {
    const std::optional<Bytes> table = BytesOf(header_.attrs, file_);
    if (!table) {
      report_.AddAt(Rule::kHeaderAttrsOutside, kAttrsAt,
                    fmt::format("{} bytes of attributes at {:#x} in a file of {}",
                                header_.attrs.size, header_.attrs.offset, file_.size()));
      return;
    }
    if (header_.attr_size < EventAttr::kSmallestSize + sizeof(Section)) {
      report_.AddAt(Rule::kHeaderAttrSize, kAttrSizeAt,
                    fmt::format("entries of {} bytes", header_.attr_size));
      return;
    }
    if (header_.attr_size > table->size() && !table->empty()) {
      report_.AddAt(
          Rule::kHeaderAttrSize, kAttrSizeAt,
          fmt::format("entries of {} bytes in a table of {}", header_.attr_size, table->size()));
      return;
    }
    CheckEntries(*table);
  }

  void CheckEntries(Bytes table) {
    for (std::uint64_t at = 0; table.size() - at >= header_.attr_size; at += header_.attr_size) {
      constexpr std::uint64_t kStoredSizeAt = 4;
      auto stored = LoadFixed<std::uint32_t>(table.data() + at + kStoredSizeAt, reader_.order());
      if (stored == 0) stored = EventAttr::kSmallestSize;  // as perf takes it
      if (stored + sizeof(Section) == header_.attr_size) continue;
      report_.AddAt(
          Rule::kHeaderAttrSize, header_.attrs.offset + at + kStoredSizeAt,
          fmt::format("an attribute of {} bytes in an entry of {}", stored, header_.attr_size));
    }
  }

  void CheckData() {
    const std::uint64_t size = file_.size();
    if (header_.data.size == 0) {
      const std::uint64_t behind = size - std::min(size, header_.data.offset);
      report_.AddAt(Rule::kHeaderDataEmpty, kDataSizeAt,
                    fmt::format("data.size is 0, with {} bytes from its offset on", behind));
    } else if (!BytesOf(header_.data, file_)) {
      report_.AddAt(Rule::kHeaderDataOutside, kDataOffsetAt,
                    fmt::format("{} bytes of data at {:#x} in a file of {}", header_.data.size,
                                header_.data.offset, size));
    }
    if (header_.data.offset % 8 != 0) {
      report_.AddAt(Rule::kHeaderDataUnaligned, kDataOffsetAt,
                    fmt::format("the records begin at {:#x}", header_.data.offset));
    }
  }

  struct Range {
    std::string_view name;
    Section section;
  };

  void CheckOverlap() {
    std::vector<Range> ranges = {{"header", {0, std::min(header_.size, FileHeader::kSize)}},
                                 {"attributes", header_.attrs},
                                 {"data", header_.data}};
    std::erase_if(ranges, [&](const Range& range) {
      return range.section.size == 0 || !BytesOf(range.section, file_);
    });
    std::ranges::sort(ranges, {}, [](const Range& range) { return range.section.offset; });
    for (std::size_t i = 1; i < ranges.size(); ++i) {
      const Range& before = ranges[i - 1];
      const Range& behind = ranges[i];
      if (before.section.offset + before.section.size <= behind.section.offset) continue;
      report_.AddAt(Rule::kHeaderOverlap, behind.section.offset,
                    fmt::format("{} and {} overlap", before.name, behind.name));
    }
  }

  // What lies behind everything that the header points to.
  void CheckEnd() {
    std::uint64_t end = header_.attrs.offset + header_.attrs.size;
    if (!BytesOf(header_.attrs, file_)) return;
    std::uint64_t ids = 0;
    for (const Event& event : reader_.events().all()) ids += event.ids.size() * 8;
    const std::uint64_t table_size = 16 * reader_.features().size();
    end = std::max(end, reader_.data_offset() + reader_.data_size() + table_size);
    for (const auto& [bit, section] : reader_.features()) {
      end =
          std::max(end, static_cast<std::uint64_t>(section.data() - file_.data()) + section.size());
    }
    // The ids of attributes that are behind the data are there, too.
    if (header_.attrs.offset > header_.data.offset) end += ids;
    const std::uint64_t size = bundle::WithoutEmbedded(file_).size();
    if (end >= size) return;
    report_.AddAt(Rule::kHeaderTrailingBytes, end,
                  fmt::format("{} bytes at the end are of no section", size - end));
  }

  Bytes file_;
  const Reader& reader_;
  const FileHeader& header_;
  Report& report_;
};

}  // namespace

void CheckHeader(const Reader& reader, Report& report) {
  if (reader.container() == Container::kPipe) return;
  std::vector<std::string> ignored;
  const Result<FileHeader> header = ReadFileHeader(reader.file(), reader.order(), ignored);
  if (header) HeaderChecks(reader, *header, report).Check();
}

}  // namespace perftape::perfdata
