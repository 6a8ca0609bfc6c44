// SPDX-License-Identifier: Apache-2.0
#include "formats/json/value.h"

#include <algorithm>
#include <ranges>
#include <utility>

namespace perftape::json {
namespace {

// Returns the value of the type, which replaces null.
template <class Type, class Variant>
Type& As(Variant& value) {
  if (std::holds_alternative<std::nullptr_t>(value)) value.template emplace<Type>();
  return std::get<Type>(value);
}

}  // namespace

Value::Value() = default;
Value::Value(const Value&) = default;
Value::Value(Value&&) noexcept = default;
Value& Value::operator=(const Value&) = default;
Value& Value::operator=(Value&&) noexcept = default;
Value::~Value() = default;

Value::Value(std::string text) : value_(std::move(text)) {}
Value::Value(std::string_view text) : value_(std::string(text)) {}
Value::Value(const char* text) : value_(std::string(text)) {}

Value::Value(const Scalar& scalar) {
  std::visit([this](auto value) { value_ = value; }, scalar);
}

Value::Value(std::initializer_list<Member> members) : value_(Members()) {
  auto& own = std::get<Members>(value_);
  own.reserve(members.size());
  for (const Member& member : members) own.push_back({member.key, std::move(member.value)});
}

Value Value::EmptyList() {
  Value list;
  list.value_ = List();
  return list;
}

Value Value::EmptyObject() {
  Value object;
  object.value_ = Members();
  return object;
}

Value& Value::push_back(Value element) {
  List& list = As<List>(value_);
  list.push_back(std::move(element));
  return list.back();
}

Value& Value::operator[](std::string_view key) {
  Members& members = As<Members>(value_);
  const auto found = std::ranges::find(members, key, &Member::key);
  if (found != members.end()) return found->value;
  return AddMember(std::string(key), Value());
}

Value& Value::AddMember(std::string key, Value value) {
  Members& members = As<Members>(value_);
  members.push_back({.key = std::move(key), .value = std::move(value)});
  return members.back().value;
}

void Value::Merge(Value object) {
  for (Member& member : As<Members>(object.value_)) {
    (*this)[member.key] = std::move(member.value);
  }
}

void Value::Erase(std::string_view key) {
  std::erase_if(As<Members>(value_), [key](const Member& member) { return member.key == key; });
}

std::optional<bool> Value::AsBool() const {
  const bool* const value = std::get_if<bool>(&value_);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

std::optional<std::uint64_t> Value::AsUnsigned() const {
  const std::uint64_t* const value = std::get_if<std::uint64_t>(&value_);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

std::optional<std::int64_t> Value::AsInteger() const {
  if (const auto value = AsUnsigned()) return static_cast<std::int64_t>(*value);
  const std::int64_t* const value = std::get_if<std::int64_t>(&value_);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

std::optional<double> Value::AsNumber() const {
  if (const double* const value = std::get_if<double>(&value_)) return *value;
  if (const auto value = AsUnsigned()) return static_cast<double>(*value);
  if (const auto value = AsInteger()) return static_cast<double>(*value);
  return std::nullopt;
}

const std::string* Value::AsText() const {
  return std::get_if<std::string>(&value_);
}

std::span<const Value> Value::elements() const {
  const List* const list = std::get_if<List>(&value_);
  return list == nullptr ? std::span<const Value>() : std::span<const Value>(*list);
}

std::span<Value> Value::elements() {
  List* const list = std::get_if<List>(&value_);
  return list == nullptr ? std::span<Value>() : std::span<Value>(*list);
}

std::span<const Member> Value::members() const {
  const Members* const members = std::get_if<Members>(&value_);
  return members == nullptr ? std::span<const Member>() : std::span<const Member>(*members);
}

const Value* Value::Find(std::string_view key) const {
  for (const Member& member : members() | std::views::reverse) {
    if (member.key == key) return &member.value;
  }
  return nullptr;
}

}  // namespace perftape::json
