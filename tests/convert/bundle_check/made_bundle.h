// SPDX-License-Identifier: Apache-2.0
// Makes bundles for the tests of the verbs: as the writer makes them, or with any members of a tar.
#pragma once

#include <fcntl.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "formats/base/file.h"
#include "formats/bundle/bundle.h"
#include "formats/bundle/bundle_writer.h"
#include "tests/support/temp_dir.h"

namespace perftape::bundle_check {

struct MadeFile {
  bundle::BundledFile about;
  std::vector<std::byte> content;
};

template <class T>
T ValueOf(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return *std::move(result);
}

// Returns a bundle of BundleWriter; files without kept content are missing.
inline bundle::Bundle BundleWith(std::vector<MadeFile> files) {
  const TempDir dir;
  const std::string path = dir / "bundle";
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  auto writer = ValueOf(bundle::BundleWriter::Create(std::move(fd), 1));
  for (MadeFile& file : files) {
    if (file.about.kept == bundle::Kept::kNothing) {
      writer.AddMissing(std::move(file.about));
    } else if (const Status added = writer.Add(std::move(file.about), file.content); !added) {
      throw std::runtime_error(added.error().message);
    }
  }
  ValueOf(std::move(writer).Finish({}));
  return ValueOf(bundle::Bundle::Open(path));
}

}  // namespace perftape::bundle_check
