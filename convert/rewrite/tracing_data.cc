// SPDX-License-Identifier: Apache-2.0
#include "convert/rewrite/tracing_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <string>

namespace perftape::rewrite {
namespace {

using namespace std::string_view_literals;

// { u8 magic[3]; char "tracing"[7]; char version[]; u8 is_big_endian, long_size; u32 page_size; }
constexpr std::string_view kMagic = "\x17\x08\x44tracing"sv;
constexpr std::string_view kVersion = "0.6\0"sv;
constexpr std::string_view kHeaderPage = "header_page\0"sv;
constexpr std::string_view kHeaderEvent = "header_event\0"sv;

// The content of tracefs/events/header_page on a 64-bit machine. perf rejects an empty one.
constexpr std::string_view kPageText =
    "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
    "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
    "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
    "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";

// The fields that trace_define_common_fields in kernel/trace/trace_events.c adds to each event.
constexpr std::string_view kCommonFields =
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n";

// Reads a section sequentially. Each of its parts begins with its size.
class SectionReader {
 public:
  SectionReader(Bytes bytes, std::endian order) : at_(bytes, order) {}

  void Text(std::string_view expected) {
    Bytes bytes;
    at_.Blob(bytes, expected.size());
    if (AsText(bytes) != expected) at_.Break();
  }
  void Skip(std::uint64_t size) { at_.Padding(size); }
  // A text of any length, with its NUL.
  void Name() {
    for (std::uint8_t letter = 1; letter != 0 && at_.ok();) at_.Fixed(letter);
  }
  template <class Size>
  void Sized() {
    Size size = 0;
    at_.Fixed(size);
    at_.Padding(size);
  }
  template <class Part>
  void Counted(Part part) {
    std::uint32_t count = 0;
    at_.Fixed(count);
    for (std::uint32_t i = 0; i < count && at_.ok(); ++i) part();
  }
  bool ok() const { return at_.ok(); }

 private:
  ByteReader at_;
};

struct Tracepoint {
  std::string name;
  std::uint64_t id = 0;
};
using Systems = std::map<std::string, std::vector<Tracepoint>>;

bool IsIdentifier(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char letter) {
    return std::isalnum(letter) != 0 || letter == '_';
  });
}

// Groups them by their names, "sched:sched_switch", if these are known.
Systems TracepointsOf(std::span<const perfdata::Event> events) {
  Systems systems;
  for (const perfdata::Event& event : events) {
    if (event.attr.type != perfdata::kTypeTracepoint) continue;
    const std::string_view full = event.name;
    const std::size_t colon = full.find(':');
    std::string system = "unknown", name = fmt::format("tracepoint_{}", event.attr.config);
    if (colon != std::string_view::npos && IsIdentifier(full.substr(0, colon)) &&
        IsIdentifier(full.substr(colon + 1)) && full.substr(0, colon) != "tracepoint") {
      system = full.substr(0, colon);
      name = full.substr(colon + 1);
    }
    std::vector<Tracepoint>& known = systems[system];
    if (std::ranges::find(known, event.attr.config, &Tracepoint::id) == known.end()) {
      known.push_back({std::move(name), event.attr.config});
    }
  }
  return systems;
}

void AppendText(std::string_view text, std::vector<std::byte>& out) {
  ByteWriter(out).Blob(AsBytes(text), text.size());
}

}  // namespace

bool IsTracingData(Bytes section) {
  const std::string_view text = AsText(section);
  if (!text.starts_with(kMagic)) return false;
  const std::size_t version_end = text.find('\0', kMagic.size());
  if (version_end == std::string_view::npos || version_end + 1 >= text.size()) return false;
  const bool is_little = text[version_end + 1] == 0;
  SectionReader at(section.subspan(version_end + 2),
                   is_little ? std::endian::little : std::endian::big);
  at.Skip(5);  // long_size, page_size
  at.Text(kHeaderPage);
  at.Sized<std::uint64_t>();
  at.Text(kHeaderEvent);
  at.Sized<std::uint64_t>();
  at.Counted([&] { at.Sized<std::uint64_t>(); });  // formats of ftrace itself
  at.Counted([&] {                                 // systems
    at.Name();
    at.Counted([&] { at.Sized<std::uint64_t>(); });
  });
  at.Sized<std::uint32_t>();  // kallsyms, which perf leaves empty
  at.Sized<std::uint32_t>();  // printk formats
  return at.ok();             // saved_cmdlines follow, since version 0.6
}

std::vector<std::byte> MakeTracingData(std::span<const perfdata::Event> events) {
  const Systems systems = TracepointsOf(events);
  std::vector<std::byte> section;
  ByteWriter at(section);
  AppendText(kMagic, section);
  AppendText(kVersion, section);
  at.Fixed(std::uint8_t{0});      // little endian
  at.Fixed(std::uint8_t{8});      // sizeof(long)
  at.Fixed(std::uint32_t{4096});  // page size
  AppendText(kHeaderPage, section);
  at.Fixed(std::uint64_t{kPageText.size()});
  AppendText(kPageText, section);
  AppendText(kHeaderEvent, section);
  at.Fixed(std::uint64_t{0});
  at.Fixed(std::uint32_t{0});  // formats of ftrace itself
  at.Fixed(static_cast<std::uint32_t>(systems.size()));
  for (const auto& [system, tracepoints] : systems) {
    AppendText(system, section);
    at.Padding(1);
    at.Fixed(static_cast<std::uint32_t>(tracepoints.size()));
    for (const Tracepoint& tracepoint : tracepoints) {
      const std::string format = fmt::format("name: {}\nID: {}\nformat:\n{}\n\nprint fmt: \"\"\n",
                                             tracepoint.name, tracepoint.id, kCommonFields);
      at.Fixed(std::uint64_t{format.size()});
      AppendText(format, section);
    }
  }
  at.Fixed(std::uint32_t{0});  // kallsyms
  at.Fixed(std::uint32_t{0});  // printk formats
  at.Fixed(std::uint64_t{0});  // saved_cmdlines
  return section;
}

}  // namespace perftape::rewrite
