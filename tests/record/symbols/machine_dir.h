// SPDX-License-Identifier: Apache-2.0
// A machine in a directory: the files in /proc, /sys and elsewhere that a bundle is made of.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "formats/base/file.h"
#include "formats/bundle/bundle.h"
#include "formats/bundle/bundle_writer.h"
#include "record/symbols/kernel_symbols.h"
#include "tests/support/elf_builder.h"
#include "tests/support/process_dir.h"

namespace perftape::record {

inline constexpr std::string_view kKernelId = "kernel-0123456789abc";

struct MachineDir : ProcessDir {
  MachineDir() {
    dir.Write("proc/kallsyms",
              "ffffffff81000000 T _text\nffffffff81000000 T startup\nffffffffc0000000 t m\t[m]\n");
    dir.Write("proc/sys/kernel/random/boot_id", "11111111-2222-3333-4444-555555555555\n");
    dir.Write("sys/kernel/notes", ElfNote(std::string_view("GNU\0", 4), 3, kKernelId));
    dir.Write("proc/modules", "m 4096 1 other, Live 0xffffffffc0000000 (OE)\n");
    dir.Write("sys/module/m/notes/.note.gnu.build-id",
              ElfNote(std::string_view("GNU\0", 4), 3, "module-0123456789abc"));
  }

  KernelRoots kernel() const { return {.proc = dir / "proc", .sys = dir / "sys"}; }

  UniqueFd Open(std::string_view name) const {
    return UniqueFd(::open((dir / name).c_str(), O_RDONLY | O_CLOEXEC));
  }

  // Returns a writer of a bundle into a new file.
  bundle::BundleWriter Writer() const {
    UniqueFd fd(::open((dir / "bundle").c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    return bundle::BundleWriter::Create(std::move(fd), 1).value();
  }
};

}  // namespace perftape::record
