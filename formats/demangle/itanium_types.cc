// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>

#include "formats/demangle/itanium.h"
#include "formats/demangle/itanium_operators.h"

namespace perftape::demangle {
ItaniumName::Type ItaniumName::ReadType() {
  if (!CanGoOn()) return {};
  ++depth_;
  Type type;
  if (auto builtin = Builtin()) {
    type = *std::move(builtin);
  } else {
    bool is_recorded = false;
    type = TypeWithoutRecord(is_recorded);
    if (!is_recorded && !has_failed_) substitutions_.push_back(type);
  }
  --depth_;
  const bool is_large = type.left.size() + type.right.size() > kLongestPart;
  if (is_large || substitutions_.size() > kMostParts) has_failed_ = true;
  return type;
}

std::optional<ItaniumName::Type> ItaniumName::Builtin() {
  for (const auto& [code, text] : kBuiltinTypes) {
    if (Eat(code)) return Type{std::string(text), {}};
  }
  return std::nullopt;
}

// Sets `is_recorded` if the type is a substitution, or was added to these.
ItaniumName::Type ItaniumName::TypeWithoutRecord(bool& is_recorded) {
  switch (Peek()) {
    case 'r':
    case 'V':
    case 'K':
      return Qualified();
    case 'P':
      return Pointer("*");
    case 'R':
      return Pointer("&");
    case 'O':
      return Pointer("&&");
    case 'A':
      return Array();
    case 'F':
      return FunctionType({});
    case 'M':
      return MemberPointer();
    case 'D':
      return ExtendedBuiltin();
    case 'T': {
      if (Eat("Ts") || Eat("Tu") || Eat("Te")) return {ReadName(Scope::kType).text, {}};
      Type type = TemplateParameter();
      if (Peek() != 'I') return type;
      substitutions_.push_back(type);
      return {type.text() + Arguments(Scope::kType), {}};
    }
    case 'S': {
      if (Peek(1) == 't') break;
      Type type = Substitution();
      if (Peek() != 'I') {
        is_recorded = true;
        return type;
      }
      return {type.text() + Arguments(Scope::kType), {}};
    }
    case 'u':
      ++at_;
      is_recorded = Peek() == '\0';
      return {SourceName(), {}};
    default:
      break;
  }
  return {ReadName(Scope::kType).text, {}};
}

ItaniumName::Type ItaniumName::Qualified() {
  std::string qualifiers;
  if (Eat("r")) qualifiers += " restrict";
  if (Eat("V")) qualifiers += " volatile";
  if (Eat("K")) qualifiers += " const";
  if (Peek() == 'F') return FunctionType(qualifiers);
  Type type = ReadType();
  type.left += qualifiers;
  return type;
}

ItaniumName::Type ItaniumName::Pointer(std::string_view mark) {
  ++at_;
  Type type = ReadType();
  // A reference to a reference, of template arguments, is one reference.
  if (mark != "*" && type.right.empty()) {
    if (type.left.ends_with("&&")) type.left.resize(type.left.size() - (mark == "&" ? 2 : 0));
    if (type.left.ends_with('&')) return type;
  }
  if (!type.right.empty() && !type.right.starts_with(')')) {
    type.left += " (";
    type.right.insert(0, ")");
  }
  type.left += mark;
  return type;
}

ItaniumName::Type ItaniumName::Array() {
  ++at_;
  std::string size;
  if (Peek() >= '0' && Peek() <= '9') {
    size = std::to_string(Number());
  } else if (Peek() != '_') {
    size = Expression();
  }
  if (!Eat("_")) return {Fail(), {}};
  Type type = ReadType();
  type.right.insert(0, " [" + size + "]");
  return type;
}

ItaniumName::Type ItaniumName::FunctionType(std::string_view qualifiers) {
  if (!Eat("F")) return {Fail(), {}};
  (void)Eat("Y");
  Type of_return = ReadType();
  std::string parameters;
  bool is_first = true;
  std::string reference;
  while (!has_failed_ && !Eat("E")) {
    if (Eat("RE")) {
      reference = " &";
      break;
    }
    if (Eat("OE")) {
      reference = " &&";
      break;
    }
    const std::string text = ReadType().text();
    if (text.empty()) continue;
    if (!is_first) parameters += ", ";
    is_first = false;
    parameters += text;
  }
  if (parameters == "void") parameters.clear();
  return {of_return.left + (of_return.right.empty() ? " " : ""),
          "(" + parameters + ")" + std::string(qualifiers) + reference + of_return.right};
}

ItaniumName::Type ItaniumName::MemberPointer() {
  ++at_;
  const std::string owner = ReadType().text();
  Type type = ReadType();
  if (!type.right.empty()) {
    type.left += type.left.ends_with(' ') ? "(" : " (";
    type.right.insert(0, ")");
  } else {
    type.left += ' ';
  }
  type.left += owner + "::*";
  return type;
}

ItaniumName::Type ItaniumName::ExtendedBuiltin() {
  if (Eat("Dp")) return Expansion();
  if (Eat("Dt") || Eat("DT")) {
    std::string text = "decltype (" + Expression() + ")";
    if (!Eat("E")) has_failed_ = true;
    return {std::move(text), {}};
  }
  // A placeholder with a constraint: "Num auto".
  if (Eat("Dk")) return {ReadName(Scope::kType).text + " auto", {}};
  if (Eat("DK")) return {ReadName(Scope::kType).text + " decltype(auto)", {}};
  if (Eat("Do")) {
    Type type = FunctionType({});
    type.right += " noexcept";
    return type;
  }
  if (Eat("DB") || Eat("DU")) {
    const bool is_signed = text_[at_ - 1] == 'B';
    const std::string size =
        Peek() >= '0' && Peek() <= '9' ? std::to_string(Number()) : Expression();
    if (!Eat("_")) has_failed_ = true;
    return {std::string(is_signed ? "" : "unsigned ") + "_BitInt(" + size + ")", {}};
  }
  return {Fail(), {}};
}

// The pattern once for each type of the pack that it refers to.
ItaniumName::Type ItaniumName::Expansion() {
  const std::size_t start = at_;
  const auto outer_index = std::exchange(pack_index_, 0);
  const auto outer_size = std::exchange(pack_size_, std::nullopt);
  std::string text = ReadType().text();
  const std::size_t end = at_, recorded = substitutions_.size();
  const auto size = pack_size_;
  if (!size) {
    text += "...";
  } else if (*size == 0) {
    text.clear();
  }
  for (std::size_t i = 1; size && i < *size && !has_failed_; ++i) {
    at_ = start;
    pack_index_ = i;
    text += ", " + ReadType().text();
    substitutions_.resize(recorded);
    if (text.size() > kLongestPart) has_failed_ = true;
  }
  at_ = end;
  pack_index_ = outer_index;
  pack_size_ = outer_size;
  return {std::move(text), {}};
}

ItaniumName::Type ItaniumName::Substitution() {
  for (const auto& [code, text] : kStandardNames) {
    if (Eat(code)) return {std::string(text) + AbiTags(), {}};
  }
  if (!Eat("S")) return {Fail(), {}};
  const std::size_t index = SequenceId();
  if (has_failed_ || index >= substitutions_.size()) return {Fail(), {}};
  return substitutions_[index];
}

ItaniumName::Type ItaniumName::TemplateParameter() {
  if (!Eat("T")) return {Fail(), {}};
  bool is_of_inner_level = false;
  if (Eat("L")) {  // the level of a template in a template, from 1
    (void)Number();
    if (!Eat("_")) return {Fail(), {}};
    is_of_inner_level = true;
  }
  const std::size_t index = SequenceId();
  if (has_failed_) return {};
  // A parameter of a generic lambda, whose arguments are not in its name.
  if (is_of_inner_level || lambda_depth_ > 0) return {"auto:" + std::to_string(index + 1), {}};
  if (index >= arguments_.size()) return {Fail(), {}};
  const Argument& argument = arguments_[index];
  if (!argument.is_pack) return argument.types.empty() ? Type{Fail(), {}} : argument.types[0];
  if (pack_index_) {
    pack_size_ = argument.types.size();
    return *pack_index_ < argument.types.size() ? argument.types[*pack_index_] : Type{};
  }
  std::string text;
  for (const Type& type : argument.types) text += (text.empty() ? "" : ", ") + type.text();
  return {std::move(text), {}};
}

}  // namespace perftape::demangle
