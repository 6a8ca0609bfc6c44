// SPDX-License-Identifier: Apache-2.0
// Program text that was moved to memory without a file: to huge pages, or with its process. Such
// programs copy their code and put the copy at the addresses of the original, so the memory is
// still the text of the file: iodlr, HHVM, ClickHouse, MySQL, BOLT's hugify, node
// --use-largepages, libhugetlbfs, CRIU. quipper of perf_data_converter finds it in a similar way
// (src/quipper/huge_page_deducer.cc); perf does not.
//
// Memory of a just-in-time compiler has addresses at which no file is mapped. So an executable
// mapping without a file that is inside the executable range of one file is its text.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace perftape::perfdata {

// MAP_HUGETLB of an MMAP2's flags (asm-generic/mman.h). The kernel sets it for all memory on a
// hugetlbfs, also for its files.
inline constexpr std::uint32_t kMapHugeTlb = 0x40000;

// Whether a mapping with this name and these flags can hold moved text: it has no file, or a file
// of huge pages.
bool MayHoldMovedText(std::string_view mapping_name, std::uint32_t flags);

// Whether the mapping is of a file from which text can be moved.
bool IsTextOfFile(std::string_view mapping_name);

// An executable mapping.
struct TextMapping {
  std::uint64_t start = 0, end = 0, page_offset = 0;
  // Equal for the mappings of one file. Nothing if it is not IsTextOfFile.
  std::optional<std::uint64_t> file;
};

// [start, end) of memory without a file replaces (parts of) the mappings `replaced`, which are all
// that it overlaps, sorted by address. Returns the offset of `start` in their file, if the memory
// is its text: they are one file, without a gap, and have all of its addresses. Whole huge pages of
// 2 MiB may begin and end up to a huge page outside, because a program may round its text's
// addresses.
std::optional<std::uint64_t> OffsetOfMovedText(std::uint64_t start, std::uint64_t end,
                                               std::span<const TextMapping> replaced);

}  // namespace perftape::perfdata
