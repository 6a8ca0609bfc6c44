// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/print_expression.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "formats/base/text.h"

namespace perftape::perfdata {
namespace {

using Expression = PrintExpression;
using Kind = Expression::Kind;

std::optional<FieldValue> FieldOf(const Expression& expression, const PrintedSample& sample) {
  const TracepointField* field = sample.format.Find(expression.text);
  if (field == nullptr) return {};
  return ValueOf(*field, sample.raw, sample.format.order);
}

Bytes BytesOf(const std::optional<FieldValue>& value) {
  if (!value) return {};
  return value->content == TracepointField::Content::kText ? AsBytes(value->text) : value->array;
}

std::uint64_t Element(const FieldValue& value, std::uint64_t index) {
  const Bytes bytes = BytesOf(value);
  const std::size_t size = value.element_size;
  if (size == 0 || index >= bytes.size() / size) return 0;
  const std::byte* const at = bytes.data() + index * size;
  switch (size) {
    case 1:
      return std::to_integer<std::uint64_t>(*at);
    case 2:
      return LoadFixed<std::uint16_t>(at, value.order);
    case 4:
      return LoadFixed<std::uint32_t>(at, value.order);
    default:
      return LoadFixed<std::uint64_t>(at, value.order);
  }
}

std::uint64_t Apply(std::string_view operation, std::uint64_t left, std::uint64_t right) {
  const auto signed_left = static_cast<std::int64_t>(left);
  const auto signed_right = static_cast<std::int64_t>(right);
  const bool is_defined = right < 64;
  if (operation == "+") return left + right;
  if (operation == "-") return left - right;
  if (operation == "*") return left * right;
  if (operation == "/" || operation == "%") {
    if (right == 0 || right == ~std::uint64_t{0}) return operation == "/" ? 0 - left * right : 0;
    return static_cast<std::uint64_t>(operation == "/" ? signed_left / signed_right
                                                       : signed_left % signed_right);
  }
  if (operation == "<<") return is_defined ? left << right : 0;
  if (operation == ">>") return is_defined ? left >> right : 0;
  if (operation == "&") return left & right;
  if (operation == "|") return left | right;
  if (operation == "^") return left ^ right;
  if (operation == "&&") return left != 0 && right != 0 ? 1 : 0;
  if (operation == "||") return left != 0 || right != 0 ? 1 : 0;
  if (operation == "==") return left == right ? 1 : 0;
  if (operation == "!=") return left != right ? 1 : 0;
  if (operation == "<") return signed_left < signed_right ? 1 : 0;
  if (operation == ">") return signed_left > signed_right ? 1 : 0;
  if (operation == "<=") return signed_left <= signed_right ? 1 : 0;
  return signed_left >= signed_right ? 1 : 0;
}

std::uint64_t Cast(std::uint64_t number, unsigned bits, bool is_signed) {
  const unsigned unused = 64 - bits;
  const std::uint64_t high = number << unused;
  if (!is_signed) return high >> unused;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(high) >> unused);
}

// As libtraceevent does: 0 is no flag, and a negative flag is the name of 0.
void AppendFlags(std::string& out, std::uint64_t value, const Expression& expression) {
  bool has_some = false;
  for (const Expression::Choice& flag : expression.choices) {
    const auto bits = static_cast<std::int64_t>(flag.value);
    if (value == 0 && bits < 0) {
      out += flag.text;
      break;
    }
    if (bits <= 0 || (value & flag.value) != flag.value) continue;
    if (has_some) out += expression.text;
    out += flag.text;
    has_some = true;
    value &= ~flag.value;
  }
  if (value == 0) return;
  if (has_some) out += expression.text;
  AppendFormat(out, "0x{:x}", value);
}

void AppendSymbolic(std::string& out, std::uint64_t value, const Expression& expression) {
  const auto found = std::ranges::find(expression.choices, value, &Expression::Choice::value);
  if (found != expression.choices.end()) {
    out += found->text;
  } else {
    AppendFormat(out, "0x{:x}", value);
  }
}

void AppendHexBytes(std::string& out, const Expression& expression, const PrintedSample& sample) {
  const std::optional<FieldValue> value = FieldOf(expression.operands[0], sample);
  Bytes bytes = BytesOf(value);
  bytes =
      bytes.first(std::min<std::uint64_t>(bytes.size(), NumberOf(expression.operands[1], sample)));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i != 0) out += expression.text;
    AppendFormat(out, "{:02x}", std::to_integer<unsigned>(bytes[i]));
  }
}

void AppendArray(std::string& out, const Expression& expression, const PrintedSample& sample) {
  std::optional<FieldValue> value = FieldOf(expression.operands[0], sample);
  const std::uint64_t count = NumberOf(expression.operands[1], sample);
  out += '{';
  if (value) {
    const std::uint64_t size = NumberOf(expression.operands[2], sample);
    if (size == 1 || size == 2 || size == 4 || size == 8) {
      value->element_size = static_cast<std::uint8_t>(size);
    }
    const std::uint64_t most =
        BytesOf(value).size() / std::max<std::size_t>(value->element_size, 1);
    for (std::uint64_t i = 0; i < std::min(count, most); ++i) {
      if (i != 0) out += expression.text;
      AppendFormat(out, "0x{:x}", Element(*value, i));
    }
  }
  out += '}';
}

}  // namespace

std::uint64_t NumberOf(const PrintExpression& expression, const PrintedSample& sample) {
  const auto operand = [&](std::size_t i) { return NumberOf(expression.operands[i], sample); };
  switch (expression.kind) {
    case Kind::kNumber:
      return expression.number;
    case Kind::kField: {
      const std::optional<FieldValue> value = FieldOf(expression, sample);
      return value ? value->number : 0;
    }
    case Kind::kFieldLength: {
      const std::optional<FieldValue> value = FieldOf(expression, sample);
      return BytesOf(value).size();
    }
    case Kind::kElement: {
      const std::optional<FieldValue> value = FieldOf(expression, sample);
      return value ? Element(*value, operand(0)) : 0;
    }
    case Kind::kUnary:
      if (expression.operation == "!") return operand(0) == 0 ? 1 : 0;
      if (expression.operation == "~") return ~operand(0);
      return expression.operation == "-" ? 0 - operand(0) : operand(0);
    case Kind::kBinary:
      return Apply(expression.operation, operand(0), operand(1));
    case Kind::kConditional:
      return operand(0) != 0 ? operand(1) : operand(2);
    case Kind::kCast:
      return Cast(operand(0), expression.cast_bits, expression.cast_is_signed);
    default:
      return 0;
  }
}

void AppendTextOf(std::string& out, const PrintExpression& expression,
                  const PrintedSample& sample) {
  const auto operand = [&](std::size_t i) { return NumberOf(expression.operands[i], sample); };
  switch (expression.kind) {
    case Kind::kText:
      out += expression.text;
      return;
    case Kind::kField: {
      const std::optional<FieldValue> value = FieldOf(expression, sample);
      if (!value) return;
      if (value->is_number()) {
        AppendFormat(out, "{:x}", value->number);
      } else if (value->content == TracepointField::Content::kText) {
        out += value->text;
      } else {
        const std::string_view text = AsText(value->array);
        out += text.substr(0, text.find('\0'));
      }
      return;
    }
    case Kind::kConditional:
      return AppendTextOf(out, expression.operands[operand(0) != 0 ? 1 : 2], sample);
    case Kind::kFlags:
      return AppendFlags(out, operand(0), expression);
    case Kind::kSymbolic:
      return AppendSymbolic(out, operand(0), expression);
    case Kind::kHex:
      return AppendHexBytes(out, expression, sample);
    case Kind::kArray:
      return AppendArray(out, expression, sample);
    default:
      AppendFormat(out, "{}", static_cast<std::int64_t>(NumberOf(expression, sample)));
  }
}

}  // namespace perftape::perfdata
