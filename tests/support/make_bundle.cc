// SPDX-License-Identifier: Apache-2.0
// make_bundle OUT FILE...: writes a bundle of these files, whole, under their absolute paths.
#include <fcntl.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "formats/base/file.h"
#include "formats/bundle/bundle_writer.h"
#include "formats/elf/build_id.h"

namespace perftape {
namespace {

Status AddFile(bundle::BundleWriter& writer, const std::filesystem::path& path) {
  TRY_ASSIGN(const MappedFile file, MappedFile::Open(path));
  TRY_ASSIGN(const BuildId id, elf::BuildIdOf(file.bytes()));
  return writer.Add({.path = std::filesystem::absolute(path),
                     .build_id = id,
                     .kept = bundle::Kept::kWhole,
                     .size = file.bytes().size()},
                    file.bytes());
}

Status Make(int argc, char** argv) {
  UniqueFd fd(open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!fd) return FailErrno(argv[1], errno);
  TRY_ASSIGN(bundle::BundleWriter writer, bundle::BundleWriter::Create(std::move(fd), 3));
  for (int i = 2; i < argc; ++i) TRY(AddFile(writer, argv[i]));
  TRY(std::move(writer).Finish({}));
  return {};
}

}  // namespace
}  // namespace perftape

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const auto made = perftape::Make(argc, argv);
  if (!made) std::fprintf(stderr, "make_bundle: %s\n", made.error().message.c_str());
  return made ? 0 : 1;
}
