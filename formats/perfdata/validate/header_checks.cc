// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "formats/bundle/embedding.h"
#include "formats/perfdata/header.h"
#include "formats/perfdata/validate/checks.h"

namespace perftape::perfdata {
namespace {

// Offsets of fields of struct perf_file_header.
constexpr std::uint64_t kSizeAt = 8, kAttrSizeAt = 16, kAttrsAt = 24, kDataOffsetAt = 40,
                        kDataSizeAt = 48;

class HeaderChecks {
 public:
  HeaderChecks(const Reader& reader, const FileHeader& header, Report& report)
      : file_(reader.file()), reader_(reader), header_(header), report_(report) {}

  void Check() {
    CheckVersion();
    if (header_.size != FileHeader::kSize && header_.size != FileHeader::kSizeWithoutFeatures) {
      report_.AddAt(Rule::kHeaderSize, kSizeAt, fmt::format("the header size is {}", header_.size));
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
    // attr_file_abi_sizes (tools/perf/util/header.c): VER0 to VER4, each plus a section.
    constexpr auto kSizes = std::to_array<std::uint64_t>({80, 88, 96, 112, 120});
    if (std::ranges::find(kSizes, header_.attr_size) == kSizes.end()) {
      report_.AddAt(Rule::kHeaderVersion1AttrSize, kAttrSizeAt,
                    fmt::format("attr_size is {} in a PERFFILE", header_.attr_size));
    }
  }

  void CheckAttrTable() {
    const std::optional<Bytes> table = BytesOf(header_.attrs, file_);
    if (!table) {
      report_.AddAt(Rule::kHeaderAttrsOutside, kAttrsAt,
                    fmt::format("the attribute table has {} bytes at {:#x}, but the file has {}",
                                header_.attrs.size, header_.attrs.offset, file_.size()));
      return;
    }
    if (header_.attr_size < EventAttr::kSmallestSize + sizeof(Section)) {
      report_.AddAt(
          Rule::kHeaderAttrSize, kAttrSizeAt,
          fmt::format("attr_size is {}, less than the smallest entry", header_.attr_size));
      return;
    }
    if (header_.attr_size > table->size() && !table->empty()) {
      report_.AddAt(Rule::kHeaderAttrSize, kAttrSizeAt,
                    fmt::format("attr_size is {}, but the table has {} bytes", header_.attr_size,
                                table->size()));
      return;
    }
    CheckEntries(*table);
  }

  void CheckEntries(Bytes table) {
    for (std::uint64_t at = 0; table.size() - at >= header_.attr_size; at += header_.attr_size) {
      constexpr std::uint64_t kStoredSizeAt = 4;
      auto stored = LoadFixed<std::uint32_t>(table.data() + at + kStoredSizeAt, reader_.order());
      if (stored == 0) stored = EventAttr::kSmallestSize;  // as perf reads it
      if (stored + sizeof(Section) == header_.attr_size) continue;
      report_.AddAt(Rule::kHeaderAttrSize, header_.attrs.offset + at + kStoredSizeAt,
                    fmt::format("the attribute has {} bytes, but its entry has {}", stored,
                                header_.attr_size));
    }
  }

  void CheckData() {
    const std::uint64_t size = file_.size();
    if (header_.data.size == 0) {
      const std::uint64_t left = size - std::min(size, header_.data.offset);
      report_.AddAt(Rule::kHeaderDataEmpty, kDataSizeAt,
                    fmt::format("data.size is 0; the file has {} bytes from data.offset on", left));
    } else if (!BytesOf(header_.data, file_)) {
      report_.AddAt(Rule::kHeaderDataOutside, kDataOffsetAt,
                    fmt::format("the data section has {} bytes at {:#x}, but the file has {}",
                                header_.data.size, header_.data.offset, size));
    }
    if (header_.data.offset % 8 != 0) {
      report_.AddAt(Rule::kHeaderDataUnaligned, kDataOffsetAt,
                    fmt::format("data.offset is {:#x}, not a multiple of 8", header_.data.offset));
    }
  }

  struct Range {
    std::string_view name;
    Section section;
  };

  void CheckOverlap() {
    std::vector<Range> ranges = {{"the header", {0, std::min(header_.size, FileHeader::kSize)}},
                                 {"the attribute table", header_.attrs},
                                 {"the data section", header_.data}};
    std::erase_if(ranges, [&](const Range& range) {
      return range.section.size == 0 || !BytesOf(range.section, file_);
    });
    std::ranges::sort(ranges, {}, [](const Range& range) { return range.section.offset; });
    for (std::size_t i = 1; i < ranges.size(); ++i) {
      const Range& before = ranges[i - 1];
      const Range& after = ranges[i];
      if (before.section.offset + before.section.size <= after.section.offset) continue;
      report_.AddAt(Rule::kHeaderOverlap, after.section.offset,
                    fmt::format("{} overlaps {}", before.name, after.name));
    }
  }

  // Looks for bytes after the last section that the header points to.
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
    // If the attributes come after the data, so do their ids.
    if (header_.attrs.offset > header_.data.offset) end += ids;
    const std::uint64_t size = bundle::WithoutEmbedded(file_).size();
    if (end >= size) return;
    report_.AddAt(Rule::kHeaderTrailingBytes, end,
                  fmt::format("the last {} bytes belong to no section", size - end));
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
