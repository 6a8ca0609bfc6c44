// SPDX-License-Identifier: Apache-2.0
// Reads build ids from ELF files and from the notes that the kernel exports. It reads only headers
// and a MiB of notes (symbol_limits.h), so it is fast enough for every binary that a recording
// samples. It does not map the file, so a file that shrinks meanwhile causes no SIGBUS.
#pragma once

#include <bit>
#include <filesystem>

#include "formats/base/build_id.h"
#include "formats/base/bytes.h"
#include "formats/base/result.h"

namespace perftape::elf {

// Reads the build id of the ELF file at `path`. Empty if the file has none, or if its notes are
// damaged. Returns kUnsupported for a file that is not regular (it is not read) and kCorrupt for
// one that is not ELF. Returns kTruncated for one that ends inside its header, and otherwise the
// error of the file system.
Result<BuildId> ReadBuildId(const std::filesystem::path& path);

// The same for an open file. Neither uses nor changes its position.
Result<BuildId> ReadBuildId(int fd);

// The same for an ELF image in memory, such as the vdso.
Result<BuildId> BuildIdOf(Bytes elf_image);

// Finds the build id in notes: those of a PT_NOTE, /sys/kernel/notes (the kernel's own), or
// /sys/module/*/notes/.note.gnu.build-id. Empty if there is none before the notes end or are
// damaged. A note is { u32 name_size, desc_size, type; name; desc }, with name and desc padded to 4
// bytes (elf(5)). The build id has the name "GNU" and the type 3, NT_GNU_BUILD_ID.
BuildId BuildIdFromNotes(Bytes notes, std::endian order = std::endian::native);

}  // namespace perftape::elf
