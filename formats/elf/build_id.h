// SPDX-License-Identifier: Apache-2.0
// Reads build ids from ELF files and from the notes that the kernel exports. It reads only headers
// and notes, so it is cheap enough for every binary that a recording samples. It does not map the
// file, so a file that shrinks meanwhile does no harm.
#pragma once

#include <bit>
#include <filesystem>

#include "formats/base/build_id.h"
#include "formats/base/bytes.h"
#include "formats/base/result.h"

namespace perftape::elf {

// The build id of the ELF file at `path`; empty where it has none, or where its notes are damaged.
// kUnsupported for what is no regular file (it is not read), kCorrupt for what is no ELF file,
// kTruncated for one that ends inside its header; else what the file system says.
Result<BuildId> ReadBuildId(const std::filesystem::path& path);

// The same for an open file, whatever its position; that stays.
Result<BuildId> ReadBuildId(int fd);

// The same for an ELF image in memory, as the vdso is.
Result<BuildId> BuildIdOf(Bytes elf_image);

// The build id among notes as they lie in a file: of PT_NOTE, of /sys/kernel/notes (the kernel's
// own), of /sys/module/*/notes/.note.gnu.build-id. Empty where there is none, or where the notes
// end or break before it. A note is { u32 name_size, desc_size, type; name; desc }, both padded to
// 4 bytes (elf(5)); the one meant has the name "GNU" and type 3, NT_GNU_BUILD_ID.
BuildId BuildIdFromNotes(Bytes notes, std::endian order = std::endian::native);

}  // namespace perftape::elf
