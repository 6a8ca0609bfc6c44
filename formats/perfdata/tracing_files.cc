// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/tracing_files.h"

#include <cstdint>

#include "formats/perfdata/feature_layout.h"

namespace perftape::perfdata {
namespace {

template <class Size, class Cursor, class TextRef>
void FileLayout(Cursor& at, TextRef& file) {
  auto size = static_cast<Size>(file.size());
  Bytes bytes = AsBytes(file);
  at.Fixed(size);        // { u32 or u64 size;
  at.Blob(bytes, size);  //   char file[size]; }
  if constexpr (Cursor::kReads) file = AsText(bytes);
}

template <class Cursor, class VectorRef>
void FilesLayout(Cursor& at, VectorRef& files) {
  ListLayout<std::uint32_t>(at, files, sizeof(std::uint64_t),
                            [&](auto& file) { FileLayout<std::uint64_t>(at, file); });
}

// A file after its name. The name is always the same.
template <class Cursor, class TextRef>
void NamedFileLayout(Cursor& at, std::string_view name, TextRef& file) {
  std::string_view found = name;
  TerminatedTextLayout(at, found);
  if constexpr (Cursor::kReads) {
    if (found != name) at.Break();
  }
  FileLayout<std::uint64_t>(at, file);
}

template <class Cursor, MaybeConst<TracingFiles> Ref>
void TracingFilesLayout(Cursor& at, Ref& files) {
  NamedFileLayout(at, "header_page", files.header_page);
  NamedFileLayout(at, "header_event", files.header_event);
  FilesLayout(at, files.ftrace_formats);
  constexpr std::size_t kSmallestSubsystem = 1 + sizeof(std::uint32_t);
  ListLayout<std::uint32_t>(at, files.subsystems, kSmallestSubsystem, [&](auto& subsystem) {
    TerminatedTextLayout(at, subsystem.name);
    FilesLayout(at, subsystem.formats);
  });
  FileLayout<std::uint32_t>(at, files.kallsyms);
  FileLayout<std::uint32_t>(at, files.printk_formats);
}

}  // namespace

DecodedTracingFiles DecodeTracingFiles(Bytes formats, std::endian order) {
  DecodedTracingFiles decoded;
  ByteReader at(formats, order);
  TracingFilesLayout(at, decoded.files);
  decoded.is_complete = at.ok();
  FileLayout<std::uint64_t>(at, decoded.files.saved_cmdlines);
  return decoded;
}

std::vector<std::byte> EncodeTracingFiles(const TracingFiles& files) {
  std::vector<std::byte> formats;
  ByteWriter at(formats);
  TracingFilesLayout(at, files);
  FileLayout<std::uint64_t>(at, files.saved_cmdlines);
  return formats;
}

}  // namespace perftape::perfdata
