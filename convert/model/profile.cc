// SPDX-License-Identifier: Apache-2.0
#include "convert/model/profile.h"

#include "formats/base/unknown_name.h"

namespace perftape::convert {

Profile::Profile() : tables_(std::make_shared<const ProfileTables>()) {}

// Modulo 2^64: the file offset of a kernel mapping may exceed its start.
RuntimeAddress Profile::AddressOf(const Location& location) const {
  const Mapping& mapping = (*this)[location.mapping];
  return {mapping.start + (location.offset.value - mapping.file_offset)};
}

AddressKind Profile::CallerAddress(StackId stack) const {
  const auto type_of = [this](StackId id) {
    return (*this)[(*this)[(*this)[id].leaf].mapping].type;
  };
  const StackId caller = (*this)[stack].caller;
  const bool is_return = caller != StackId{} && type_of(caller) == type_of(stack) &&
                         !(*this)[(*this)[caller].leaf].is_outer_instruction;
  return is_return ? AddressKind::kReturn : AddressKind::kInstruction;
}

std::string_view BaseName(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

std::string NameOfUnresolved(std::string_view mapping) {
  const std::string_view name = BaseName(mapping);
  if (name.empty()) return std::string(kUnknownName);
  return name.front() == '[' ? std::string(name) : "[" + std::string(name) + "]";
}

}  // namespace perftape::convert
