// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "convert/import/from_other_programs.h"
#include "convert/model/profile_builder.h"
#include "formats/base/utf8_text.h"
#include "formats/jemalloc/heap_v2.h"

namespace perftape::convert {
namespace {

using jemalloc::HeapFile;
using jemalloc::HeapMapping;
using jemalloc::HeapNumbers;
using jemalloc::HeapStack;

class HeapImporter {
 public:
  HeapImporter(HeapFile& file, ImportReport& report) : file_(file), report_(report) {
    std::ranges::sort(file_.mappings, {}, &HeapMapping::start);
    for (const HeapMapping& mapping : file_.mappings) {
      ids_.push_back(builder_.Add(Mapping{.filename = builder_.Add(mapping.path),
                                          .start = mapping.start,
                                          .limit = mapping.limit,
                                          .file_offset = mapping.offset,
                                          .type = MappingType::kUser}));
    }
  }

  Profile Import() && {
    const bool has_all = std::ranges::any_of(
        file_.stacks, [](const HeapStack& stack) { return stack.numbers.all_objects != 0; });
    for (const HeapStack& stack : file_.stacks) {
      const StackId id = StackOf(stack);
      const HeapNumbers numbers = jemalloc::Unsampled(stack.numbers, file_.rate);
      Add(id, "inuse_objects", "count", numbers.objects);
      Add(id, "inuse_space", "bytes", numbers.bytes);
      if (has_all) {
        Add(id, "alloc_objects", "count", numbers.all_objects);
        Add(id, "alloc_space", "bytes", numbers.all_bytes);
      }
      ++report_.samples;
      report_.frames += stack.addresses.size();
    }
    return std::move(builder_).Finish();
  }

 private:
  // All are return addresses: the innermost one is where the allocation was called.
  StackId StackOf(const HeapStack& stack) {
    StackId at;
    for (std::size_t i = stack.addresses.size(); i-- > 0;) {
      const std::uint64_t address = stack.addresses[i];
      at = builder_.Push(at, LocationOf(address == 0 ? 0 : address - 1));
    }
    return at;
  }

  LocationId LocationOf(std::uint64_t address) {
    auto after = std::ranges::upper_bound(file_.mappings, address, {}, &HeapMapping::start);
    if (after == file_.mappings.begin() || address >= (--after)->limit) {
      ++report_.unmapped_frames;
      return builder_.Add(Location{.offset = FileOffset{address}});
    }
    const auto index = static_cast<std::size_t>(after - file_.mappings.begin());
    return builder_.Add(Location{.mapping = ids_[index],
                                 .offset = FileOffset{address - after->start + after->offset}});
  }

  void Add(StackId stack, std::string_view event, std::string_view unit, std::int64_t value) {
    builder_.Add(Sample{.stack = stack,
                        .event = builder_.Add(Event{.name = builder_.Add(event),
                                                    .unit = builder_.Add(unit),
                                                    .values = EventValues::kPlain}),
                        .period = value});
  }

  HeapFile& file_;
  ImportReport& report_;
  ProfileBuilder builder_;
  std::vector<MappingId> ids_;  // of the file's mappings
};

}  // namespace

bool IsJemallocHeap(const Input& input) {
  return jemalloc::IsHeapV2(Utf8Text(input.first(64)).view());
}

Result<Profile> ReadJemallocHeap(Input& input, const ImportOptions&, ImportReport& report) {
  TRY_ASSIGN(const Bytes bytes, input.All());
  const Utf8Text text(bytes);
  TRY_ASSIGN(HeapFile file, jemalloc::ReadHeapV2(text.view()));
  Profile profile = HeapImporter(file, report).Import();
  if (file.bad_lines != 0) {
    report.problems.push_back(
        fmt::format("{} lines are not jemalloc's and were left out; the first is line {}",
                    file.bad_lines, file.first_bad));
  }
  return profile;
}

}  // namespace perftape::convert
