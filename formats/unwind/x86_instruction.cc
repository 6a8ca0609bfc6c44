// SPDX-License-Identifier: Apache-2.0
#include "formats/unwind/x86_instruction.h"

#include <algorithm>
#include <cstddef>

namespace perftape::unwind {
namespace {

// The opcode maps: those of one byte, behind 0f, behind 0f 38 and behind 0f 3a.
enum class Map : std::uint8_t { kOne = 0, kTwo = 1, k38 = 2, k3a = 3, kFp16 = 5 };
enum class Encoding : std::uint8_t { kLegacy, kVex, kEvex };

constexpr bool IsIn(std::uint8_t opcode, std::uint8_t first, std::uint8_t last) {
  return first <= opcode && opcode <= last;
}

class X86Decoder {
 public:
  explicit X86Decoder(Bytes code) : code_(code.first(std::min<std::size_t>(code.size(), 15))) {}

  std::optional<X86Instruction> Run() {
    ReadPrefixes();
    ReadOpcode();
    if (has_modrm_) ReadModRm();
    const std::size_t operand = at_;
    at_ += ImmediateSize();
    if (!ok_ || at_ > code_.size()) return std::nullopt;
    immediate_ = Signed(operand, at_ - operand);
    X86Instruction instruction;
    instruction.size = static_cast<std::uint8_t>(at_);
    if (!Describe(instruction)) return std::nullopt;
    return instruction;
  }

 private:
  using Type = X86Instruction::Type;

  std::uint8_t Byte() {
    if (at_ >= code_.size()) {
      ok_ = false;
      return 0;
    }
    return static_cast<std::uint8_t>(code_[at_++]);
  }
  std::int64_t Signed(std::size_t from, std::size_t size) const {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) {
      value |= std::uint64_t{static_cast<std::uint8_t>(code_[from + i])} << (8 * i);
    }
    if (size == 0 || size >= 8) return static_cast<std::int64_t>(value);
    const std::uint64_t sign = std::uint64_t{1} << (8 * size - 1);
    return static_cast<std::int64_t>((value ^ sign) - sign);
  }

  void ReadPrefixes() {
    while (ok_) {
      const std::uint8_t byte = Byte();
      switch (byte) {
        case 0x66:
          has_66_ = true;
          continue;
        case 0x67:
          has_67_ = true;
          continue;
        case 0xf2:
        case 0xf3:
          repeat_ = byte;
          continue;
        case 0xf0:
        case 0x2e:
        case 0x36:
        case 0x3e:
        case 0x26:
        case 0x64:
        case 0x65:
          continue;
        default:
          break;
      }
      if ((byte & 0xf0) == 0x40) {
        rex_ = byte;  // the opcode follows
        opcode_ = Byte();
      } else {
        opcode_ = byte;
      }
      return;
    }
  }

  void ReadOpcode() {
    if (rex_ == 0 && (opcode_ == 0xc4 || opcode_ == 0xc5)) return ReadVex(opcode_);
    if (rex_ == 0 && opcode_ == 0x62) return ReadEvex();
    if (opcode_ == 0x0f) {
      map_ = Map::kTwo;
      opcode_ = Byte();
      if (opcode_ == 0x38 || opcode_ == 0x3a) {
        map_ = opcode_ == 0x38 ? Map::k38 : Map::k3a;
        opcode_ = Byte();
      }
    }
    if (!IsKnown()) ok_ = false;
    has_modrm_ = HasModRm();
  }

  // The prefix holds the inverted bits of a REX prefix.
  void ReadVex(std::uint8_t prefix) {
    encoding_ = Encoding::kVex;
    const std::uint8_t first = Byte();
    rex_ = static_cast<std::uint8_t>(0x40 | (~first >> 5 & 4));  // R
    std::uint8_t last = first;
    map_ = Map::kTwo;
    if (prefix == 0xc4) {
      rex_ = static_cast<std::uint8_t>(rex_ | (~first >> 5 & 3));  // X, B
      map_ = static_cast<Map>(first & 0x1f);
      last = Byte();
      if ((last & 0x80) != 0) rex_ |= 8;
    }
    ReadVector(last);
    if (map_ < Map::kTwo || map_ > Map::k3a) ok_ = false;
    has_modrm_ = map_ != Map::kTwo || opcode_ != 0x77;  // vzeroupper
  }
  void ReadEvex() {
    encoding_ = Encoding::kEvex;
    const std::uint8_t first = Byte();
    rex_ = static_cast<std::uint8_t>(0x40 | (~first >> 5 & 7));
    map_ = static_cast<Map>(first & 7);
    const std::uint8_t second = Byte();
    if ((second & 0x80) != 0) rex_ |= 8;
    (void)Byte();
    ReadVector(second);
    if (map_ == Map::kOne || map_ == static_cast<Map>(4) || map_ == static_cast<Map>(7))
      ok_ = false;
    if (map_ == static_cast<Map>(6)) map_ = Map::kFp16;
    has_modrm_ = true;
  }
  void ReadVector(std::uint8_t last) {
    vector_register_ = static_cast<std::uint8_t>(~last >> 3 & 15);
    constexpr std::uint8_t kPrefixes[] = {0, 0x66, 0xf3, 0xf2};
    const std::uint8_t prefix = kPrefixes[last & 3];
    has_66_ = prefix == 0x66;
    repeat_ = prefix == 0x66 ? std::uint8_t{0} : prefix;
    opcode_ = Byte();
  }

  // Instructions of the kernel, and those that do not exist in 64-bit mode, are not known.
  bool IsKnown() const {
    const std::uint8_t op = opcode_;
    switch (map_) {
      case Map::kOne:
        if (op < 0x40) return (op & 7) < 6;
        return !IsIn(op, 0x60, 0x62) && op != 0x82 && op != 0x9a && op != 0xc4 && op != 0xc5 &&
               op != 0xc8 && op != 0xca && op != 0xcb && op != 0xce && op != 0xcf &&
               !IsIn(op, 0xd4, 0xd6) && !IsIn(op, 0xe4, 0xe7) && op != 0xea &&
               !IsIn(op, 0xec, 0xef) && op != 0xf1;
      case Map::kTwo:
        return op == 0x01 || op == 0x05 || op == 0x0b || op == 0x0d || IsIn(op, 0x10, 0x1f) ||
               IsIn(op, 0x28, 0x2f) || op == 0x31 || IsIn(op, 0x40, 0x77) || op == 0x7c ||
               IsIn(op, 0x7d, 0x9f) || op == 0xa2 || IsIn(op, 0xa3, 0xa5) || IsIn(op, 0xab, 0xb1) ||
               op == 0xb3 || IsIn(op, 0xb6, 0xb8) || IsIn(op, 0xba, 0xfe);
      default:
        return true;
    }
  }
  bool HasModRm() const {
    const std::uint8_t op = opcode_;
    if (map_ == Map::k38 || map_ == Map::k3a) return true;
    if (map_ == Map::kTwo) {
      return op != 0x05 && op != 0x0b && op != 0x31 && op != 0x77 && !IsIn(op, 0x80, 0x8f) &&
             op != 0xa2 && !IsIn(op, 0xc8, 0xcf);
    }
    if (op < 0x40) return (op & 7) < 4;
    return op == 0x63 || op == 0x69 || op == 0x6b || IsIn(op, 0x80, 0x8f) || IsIn(op, 0xc0, 0xc1) ||
           IsIn(op, 0xc6, 0xc7) || IsIn(op, 0xd0, 0xd3) || IsIn(op, 0xd8, 0xdf) ||
           IsIn(op, 0xf6, 0xf7) || IsIn(op, 0xfe, 0xff);
  }

  void ReadModRm() {
    const std::uint8_t byte = Byte();
    mod_ = byte >> 6;
    reg_ = static_cast<std::uint8_t>((byte >> 3 & 7) | (rex_ << 1 & 8));
    rm_ = byte & 7;
    const std::uint8_t extension = rex_ << 3 & 8;
    if (mod_ == 3) {
      rm_ |= extension;
      return;
    }
    std::size_t displacement = mod_ == 1 ? 1 : mod_ == 2 ? 4 : 0;
    if (rm_ == 4) {
      const std::uint8_t sib = Byte();
      base_ = static_cast<std::uint8_t>((sib & 7) | extension);
      has_index_ = (sib >> 3 & 7) != 4 || (rex_ & 2) != 0;
      if (mod_ == 0 && (sib & 7) == 5) {
        displacement = 4;
        base_ = X86Instruction::kNoRegister;
      }
    } else if (mod_ == 0 && rm_ == 5) {
      displacement = 4;  // from the next instruction
    } else {
      base_ = rm_ | extension;
    }
    const std::size_t from = at_;
    at_ += displacement;
    if (at_ > code_.size()) {
      ok_ = false;
      return;
    }
    displacement_ = Signed(from, displacement);
  }

  std::size_t ImmediateSize() const {
    const std::uint8_t op = opcode_;
    const std::size_t word = has_66_ && !is_wide() ? 2 : 4;
    switch (map_) {
      case Map::k38:
      case Map::kFp16:
        return 0;
      case Map::k3a:
        return 1;
      case Map::kTwo:
        if (encoding_ == Encoding::kLegacy && IsIn(op, 0x80, 0x8f)) return 4;
        if (encoding_ == Encoding::kLegacy && (op == 0xa4 || op == 0xac || op == 0xba)) return 1;
        return IsIn(op, 0x70, 0x73) || op == 0xc2 || IsIn(op, 0xc4, 0xc6) ? 1 : 0;
      case Map::kOne:
        break;
    }
    if (op < 0x40) return (op & 7) == 4 ? 1 : (op & 7) == 5 ? word : 0;
    if (op == 0x68 || op == 0x69 || op == 0x81 || op == 0xa9 || op == 0xc7) return word;
    if (op == 0xe8 || op == 0xe9) return 4;
    if (IsIn(op, 0xb8, 0xbf)) return is_wide() ? 8 : word;
    if (IsIn(op, 0xa0, 0xa3)) return has_67_ ? 4 : 8;
    if (op == 0xc2) return 2;
    if (op == 0xf6) return (reg_ & 7) < 2 ? 1 : 0;
    if (op == 0xf7) return (reg_ & 7) < 2 ? word : 0;
    const bool has_byte = op == 0x6a || op == 0x6b || IsIn(op, 0x70, 0x7f) || op == 0x80 ||
                          op == 0x83 || op == 0xa8 || IsIn(op, 0xb0, 0xb7) || op == 0xc0 ||
                          op == 0xc1 || op == 0xc6 || op == 0xcd || IsIn(op, 0xe0, 0xe3) ||
                          op == 0xeb;
    return has_byte ? 1 : 0;
  }

  bool is_wide() const { return (rex_ & 8) != 0; }
  bool is_register() const { return has_modrm_ && mod_ == 3; }
  std::uint8_t opcode_register() const {
    return static_cast<std::uint8_t>((opcode_ & 7) | (rex_ << 3 & 8));
  }
  bool IsAtSp() const { return !is_register() && base_ == kX86Sp && !has_index_; }

  // Whether the instruction may change the general register `reg`. In doubt it may.
  bool Changes(std::uint8_t reg) const {
    const bool is_reg = has_modrm_ && reg_ == reg;
    const bool is_rm = is_register() && rm_ == reg;
    if (encoding_ == Encoding::kEvex) {
      if (map_ == Map::k3a) return IsIn(opcode_, 0x14, 0x17) && is_rm;
      return map_ != Map::k38 && ChangesByVector(is_reg, is_rm);
    }
    if (map_ == Map::kTwo) {
      return encoding_ == Encoding::kVex ? ChangesByVector(is_reg, is_rm)
                                         : ChangesByTwo(reg, is_reg, is_rm);
    }
    if (map_ == Map::k38) {
      const bool is_vector = encoding_ == Encoding::kVex && vector_register_ == reg;
      return IsIn(opcode_, 0xf0, 0xf7) && (is_reg || is_vector || (opcode_ == 0xf1 && is_rm));
    }
    if (map_ == Map::k3a) {
      return (IsIn(opcode_, 0x14, 0x17) && is_rm) || (opcode_ == 0xf0 && is_reg);
    }
    return ChangesByOne(reg, is_reg, is_rm);
  }
  // Vector instructions with a general register as their result.
  bool ChangesByVector(bool is_reg, bool is_rm) const {
    const std::uint8_t op = opcode_;
    if (op == 0x7e) return is_rm && repeat_ != 0xf3;
    const bool has_result = op == 0x2c || op == 0x2d || op == 0x50 || op == 0xc5 || op == 0xd7 ||
                            op == 0x93 || ((op == 0x78 || op == 0x79) && repeat_ != 0);
    return is_reg && has_result;
  }
  bool ChangesByTwo(std::uint8_t reg, bool is_reg, bool is_rm) const {
    const std::uint8_t op = opcode_;
    if (IsIn(op, 0x40, 0x4f) || op == 0xaf || IsIn(op, 0xb6, 0xb8) || IsIn(op, 0xbc, 0xbf)) {
      return is_reg;
    }
    if (IsIn(op, 0x90, 0x9f)) return is_rm && rex_ != 0;
    if (IsIn(op, 0xc0, 0xc1)) return is_reg || is_rm;
    if (IsIn(op, 0xc8, 0xcf)) return opcode_register() == reg;
    if (op == 0xba) return is_rm && (reg_ & 7) != 4;
    if (op == 0x01 || op == 0xa4 || op == 0xa5 || op == 0xab || op == 0xac || op == 0xad ||
        op == 0xae || op == 0xb0 || op == 0xb1 || op == 0xb3 || op == 0xbb || op == 0xc7) {
      return is_rm;
    }
    return ChangesByVector(is_reg, is_rm);
  }
  bool ChangesByOne(std::uint8_t reg, bool is_reg, bool is_rm) const {
    const std::uint8_t op = opcode_;
    // Without a REX prefix these numbers stand for ah, ch, dh and bh.
    const bool is_byte = (op < 0x40 && (op & 1) == 0) || op == 0x80 || op == 0x84 || op == 0x86 ||
                         op == 0x88 || op == 0x8a || op == 0xc0 || op == 0xc6 || op == 0xd0 ||
                         op == 0xd2 || op == 0xf6 || op == 0xfe || IsIn(op, 0xb0, 0xb7);
    if (is_byte && rex_ == 0) return false;
    if (op < 0x40) {
      if (op >= 0x38 || (op & 4) != 0) return false;  // cmp; the accumulator
      return (op & 2) != 0 ? is_reg : is_rm;
    }
    if (IsIn(op, 0x80, 0x83)) return is_rm && (reg_ & 7) != 7;
    if (IsIn(op, 0x84, 0x85) || op == 0x8e) return false;
    if (IsIn(op, 0x86, 0x87)) return is_reg || is_rm;
    if (IsIn(op, 0x88, 0x89) || op == 0x8c || op == 0x8f) return is_rm;
    if (op == 0x63 || op == 0x69 || op == 0x6b || IsIn(op, 0x8a, 0x8b) || op == 0x8d) return is_reg;
    if (IsIn(op, 0x90, 0x97) || IsIn(op, 0xb0, 0xbf)) return opcode_register() == reg;
    if (IsIn(op, 0xc0, 0xc1) || IsIn(op, 0xc6, 0xc7) || IsIn(op, 0xd0, 0xd3)) return is_rm;
    if (IsIn(op, 0xf6, 0xf7)) return is_rm && ((reg_ & 7) == 2 || (reg_ & 7) == 3);
    if (IsIn(op, 0xfe, 0xff)) return is_rm && (reg_ & 7) < 2;
    return false;
  }

  // False for an instruction whose effect on the stack pointer is not known.
  bool Describe(X86Instruction& to) {
    if (map_ == Map::kOne && DescribeOne(to)) return is_described_;
    if (!is_described_) return false;
    if (map_ == Map::kTwo && encoding_ == Encoding::kLegacy) DescribeTwo(to);
    if (Changes(kX86Sp)) return false;
    if (to.type == Type::kOther && Changes(kX86Fp)) to.type = Type::kChangesFp;
    if (to.type == Type::kOther && has_modrm_ && IsAtSp() && IsStore()) {
      to.type = Type::kStoreAtSp;
      to.value = displacement_;
    }
    return true;
  }

  // mov to memory, of general, vector and immediate values.
  bool IsStore() const {
    const std::uint8_t op = opcode_;
    if (map_ == Map::kOne) return IsIn(op, 0x88, 0x89) || IsIn(op, 0xc6, 0xc7);
    return map_ == Map::kTwo && (op == 0x11 || op == 0x29 || op == 0x7f);
  }

  void DescribeTwo(X86Instruction& to) const {
    if (IsIn(opcode_, 0x80, 0x8f)) {
      to.type = Type::kJumpIf;
      to.target = to.size + immediate_;
    } else if (opcode_ == 0x0b) {
      to.type = Type::kTrap;
    } else if (opcode_ == 0x1f || (opcode_ == 0x1e && repeat_ == 0xf3 && mod_ == 3)) {
      to.type = opcode_ == 0x1f ? Type::kPadding : Type::kOther;  // nop; endbr64
    }
  }

  // Sets is_described_ to false for an instruction that is not supported. Returns false if only
  // the changed registers matter.
  bool DescribeOne(X86Instruction& to) {
    const std::uint8_t op = opcode_;
    is_described_ = true;
    const auto is = [&](Type type) {
      to.type = type;
      return true;
    };
    if (IsIn(op, 0x50, 0x5f) || op == 0x68 || op == 0x6a || op == 0x8f || op == 0x9c ||
        op == 0x9d) {
      return DescribeStack(to);
    }
    if (IsIn(op, 0x70, 0x7f) || IsIn(op, 0xe0, 0xe3) || op == 0xe9 || op == 0xeb || op == 0xe8) {
      if (has_66_) is_described_ = false;
      to.target = to.size + immediate_;
      if (op == 0xe8) return is(Type::kCall);
      return is(op == 0xe9 || op == 0xeb ? Type::kJump : Type::kJumpIf);
    }
    if (op == 0xc3) return is(Type::kReturn);
    if (op == 0xc2) return is(Type::kReturnAndPop);
    if (op == 0xcc) return is(Type::kTrap);
    if (op == 0xf4) return is(Type::kHalt);
    if (op == 0xc9) return is(Type::kLeave);
    if (op == 0x90) return is(repeat_ == 0 && rex_ == 0 ? Type::kPadding : Type::kOther);
    if (op == 0xc7 && is_register() && (reg_ & 7) == 7) is_described_ = false;  // xbegin
    if (op == 0xff) return DescribeFf(to);
    return DescribePointers(to);
  }

  bool DescribeFf(X86Instruction& to) {
    const std::uint8_t operation = reg_ & 7;
    if (operation < 2) return false;
    if (operation == 2) to.type = Type::kCall;
    if (operation == 4) to.type = Type::kIndirectJump;
    if (operation == 6) to.type = Type::kPush;
    if (operation == 3 || operation == 5 || operation == 7 || has_66_) is_described_ = false;
    return true;
  }

  bool DescribeStack(X86Instruction& to) {
    const std::uint8_t op = opcode_;
    if (has_66_) is_described_ = false;
    const bool is_push = IsIn(op, 0x50, 0x57) || op == 0x68 || op == 0x6a || op == 0x9c;
    to.type = is_push ? Type::kPush : Type::kPop;
    if (IsIn(op, 0x50, 0x5f)) to.reg = opcode_register();
    if (op == 0x8f) {
      if ((reg_ & 7) != 0) is_described_ = false;
      to.reg = is_register() ? rm_ : X86Instruction::kNoRegister;
    }
    if (!is_push && to.reg == kX86Sp) is_described_ = false;
    return true;
  }

  // The instructions that compute one of the pointers. Returns false for all others.
  bool DescribePointers(X86Instruction& to) {
    const std::uint8_t op = opcode_;
    const auto is = [&](Type type, std::int64_t value) {
      to.type = type;
      to.value = value;
      return true;
    };
    if (!is_wide()) return false;
    const std::uint8_t operation = reg_ & 7;
    if ((op == 0x81 || op == 0x83) && is_register() && rm_ == kX86Sp) {
      if (operation == 0) return is(Type::kAddToSp, immediate_);
      if (operation == 5) return is(Type::kAddToSp, -immediate_);
      if (operation == 4) return is(Type::kAlignSp, 0);
      return false;
    }
    // sub %reg,%rsp in both encodings
    if ((op == 0x29 && is_register() && rm_ == kX86Sp) || (op == 0x2b && reg_ == kX86Sp)) {
      return is(Type::kAlignSp, 0);
    }
    if (op == 0x8d && !has_index_ && (reg_ == kX86Sp || reg_ == kX86Fp)) {
      const bool is_sp = reg_ == kX86Sp;
      if (base_ == kX86Sp) return is(is_sp ? Type::kAddToSp : Type::kFpFromSp, displacement_);
      if (base_ == kX86Fp && is_sp) return is(Type::kSpFromFp, displacement_);
      return false;
    }
    if (op != 0x89 && op != 0x8b) return false;
    if (is_register()) {
      const std::uint8_t to_reg = op == 0x89 ? rm_ : reg_, from = op == 0x89 ? reg_ : rm_;
      if (to_reg == kX86Fp && from == kX86Sp) return is(Type::kFpFromSp, 0);
      if (to_reg == kX86Sp && from == kX86Fp) return is(Type::kSpFromFp, 0);
      return false;
    }
    if (reg_ != kX86Fp || !IsAtSp()) return false;
    return is(op == 0x89 ? Type::kSaveFp : Type::kRestoreFp, displacement_);
  }

  Bytes code_;
  std::size_t at_ = 0;
  bool ok_ = true;
  bool is_described_ = true;
  bool has_66_ = false, has_67_ = false;
  std::uint8_t repeat_ = 0;  // f2, f3 or 0
  std::uint8_t rex_ = 0;
  std::uint8_t opcode_ = 0;
  Map map_ = Map::kOne;
  Encoding encoding_ = Encoding::kLegacy;
  std::uint8_t vector_register_ = 0;
  bool has_modrm_ = false;
  std::uint8_t mod_ = 0, reg_ = 0, rm_ = 0;
  std::uint8_t base_ = X86Instruction::kNoRegister;
  bool has_index_ = false;
  std::int64_t displacement_ = 0, immediate_ = 0;
};

}  // namespace

std::optional<X86Instruction> DecodeX86(Bytes code) {
  return X86Decoder(code).Run();
}

}  // namespace perftape::unwind
