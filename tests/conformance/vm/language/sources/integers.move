/// Every operator on every width of integer.
module language::integers;

public fun add_u8(a: u8, b: u8): u8 { a + b }
public fun subtract_u8(a: u8, b: u8): u8 { a - b }
public fun multiply_u8(a: u8, b: u8): u8 { a * b }
public fun divide_u8(a: u8, b: u8): u8 { a / b }
public fun modulo_u8(a: u8, b: u8): u8 { a % b }
public fun both_u8(a: u8, b: u8): u8 { a & b }
public fun either_u8(a: u8, b: u8): u8 { a | b }
public fun exclusive_u8(a: u8, b: u8): u8 { a ^ b }
public fun left_u8(a: u8, b: u8): u8 { a << b }
public fun right_u8(a: u8, b: u8): u8 { a >> b }
public fun compare_u8(a: u8, b: u8): vector<bool> { vector[a < b, a <= b, a > b, a >= b, a == b, a != b] }
public fun u8_as_u8(a: u8): u8 { (a as u8) }
public fun u8_as_u16(a: u8): u16 { (a as u16) }
public fun u8_as_u32(a: u8): u32 { (a as u32) }
public fun u8_as_u64(a: u8): u64 { (a as u64) }
public fun u8_as_u128(a: u8): u128 { (a as u128) }
public fun u8_as_u256(a: u8): u256 { (a as u256) }

public fun add_u16(a: u16, b: u16): u16 { a + b }
public fun subtract_u16(a: u16, b: u16): u16 { a - b }
public fun multiply_u16(a: u16, b: u16): u16 { a * b }
public fun divide_u16(a: u16, b: u16): u16 { a / b }
public fun modulo_u16(a: u16, b: u16): u16 { a % b }
public fun both_u16(a: u16, b: u16): u16 { a & b }
public fun either_u16(a: u16, b: u16): u16 { a | b }
public fun exclusive_u16(a: u16, b: u16): u16 { a ^ b }
public fun left_u16(a: u16, b: u8): u16 { a << b }
public fun right_u16(a: u16, b: u8): u16 { a >> b }
public fun compare_u16(a: u16, b: u16): vector<bool> { vector[a < b, a <= b, a > b, a >= b, a == b, a != b] }
public fun u16_as_u8(a: u16): u8 { (a as u8) }
public fun u16_as_u16(a: u16): u16 { (a as u16) }
public fun u16_as_u32(a: u16): u32 { (a as u32) }
public fun u16_as_u64(a: u16): u64 { (a as u64) }
public fun u16_as_u128(a: u16): u128 { (a as u128) }
public fun u16_as_u256(a: u16): u256 { (a as u256) }

public fun add_u32(a: u32, b: u32): u32 { a + b }
public fun subtract_u32(a: u32, b: u32): u32 { a - b }
public fun multiply_u32(a: u32, b: u32): u32 { a * b }
public fun divide_u32(a: u32, b: u32): u32 { a / b }
public fun modulo_u32(a: u32, b: u32): u32 { a % b }
public fun both_u32(a: u32, b: u32): u32 { a & b }
public fun either_u32(a: u32, b: u32): u32 { a | b }
public fun exclusive_u32(a: u32, b: u32): u32 { a ^ b }
public fun left_u32(a: u32, b: u8): u32 { a << b }
public fun right_u32(a: u32, b: u8): u32 { a >> b }
public fun compare_u32(a: u32, b: u32): vector<bool> { vector[a < b, a <= b, a > b, a >= b, a == b, a != b] }
public fun u32_as_u8(a: u32): u8 { (a as u8) }
public fun u32_as_u16(a: u32): u16 { (a as u16) }
public fun u32_as_u32(a: u32): u32 { (a as u32) }
public fun u32_as_u64(a: u32): u64 { (a as u64) }
public fun u32_as_u128(a: u32): u128 { (a as u128) }
public fun u32_as_u256(a: u32): u256 { (a as u256) }

public fun add_u64(a: u64, b: u64): u64 { a + b }
public fun subtract_u64(a: u64, b: u64): u64 { a - b }
public fun multiply_u64(a: u64, b: u64): u64 { a * b }
public fun divide_u64(a: u64, b: u64): u64 { a / b }
public fun modulo_u64(a: u64, b: u64): u64 { a % b }
public fun both_u64(a: u64, b: u64): u64 { a & b }
public fun either_u64(a: u64, b: u64): u64 { a | b }
public fun exclusive_u64(a: u64, b: u64): u64 { a ^ b }
public fun left_u64(a: u64, b: u8): u64 { a << b }
public fun right_u64(a: u64, b: u8): u64 { a >> b }
public fun compare_u64(a: u64, b: u64): vector<bool> { vector[a < b, a <= b, a > b, a >= b, a == b, a != b] }
public fun u64_as_u8(a: u64): u8 { (a as u8) }
public fun u64_as_u16(a: u64): u16 { (a as u16) }
public fun u64_as_u32(a: u64): u32 { (a as u32) }
public fun u64_as_u64(a: u64): u64 { (a as u64) }
public fun u64_as_u128(a: u64): u128 { (a as u128) }
public fun u64_as_u256(a: u64): u256 { (a as u256) }

public fun add_u128(a: u128, b: u128): u128 { a + b }
public fun subtract_u128(a: u128, b: u128): u128 { a - b }
public fun multiply_u128(a: u128, b: u128): u128 { a * b }
public fun divide_u128(a: u128, b: u128): u128 { a / b }
public fun modulo_u128(a: u128, b: u128): u128 { a % b }
public fun both_u128(a: u128, b: u128): u128 { a & b }
public fun either_u128(a: u128, b: u128): u128 { a | b }
public fun exclusive_u128(a: u128, b: u128): u128 { a ^ b }
public fun left_u128(a: u128, b: u8): u128 { a << b }
public fun right_u128(a: u128, b: u8): u128 { a >> b }
public fun compare_u128(a: u128, b: u128): vector<bool> { vector[a < b, a <= b, a > b, a >= b, a == b, a != b] }
public fun u128_as_u8(a: u128): u8 { (a as u8) }
public fun u128_as_u16(a: u128): u16 { (a as u16) }
public fun u128_as_u32(a: u128): u32 { (a as u32) }
public fun u128_as_u64(a: u128): u64 { (a as u64) }
public fun u128_as_u128(a: u128): u128 { (a as u128) }
public fun u128_as_u256(a: u128): u256 { (a as u256) }

public fun add_u256(a: u256, b: u256): u256 { a + b }
public fun subtract_u256(a: u256, b: u256): u256 { a - b }
public fun multiply_u256(a: u256, b: u256): u256 { a * b }
public fun divide_u256(a: u256, b: u256): u256 { a / b }
public fun modulo_u256(a: u256, b: u256): u256 { a % b }
public fun both_u256(a: u256, b: u256): u256 { a & b }
public fun either_u256(a: u256, b: u256): u256 { a | b }
public fun exclusive_u256(a: u256, b: u256): u256 { a ^ b }
public fun left_u256(a: u256, b: u8): u256 { a << b }
public fun right_u256(a: u256, b: u8): u256 { a >> b }
public fun compare_u256(a: u256, b: u256): vector<bool> { vector[a < b, a <= b, a > b, a >= b, a == b, a != b] }
public fun u256_as_u8(a: u256): u8 { (a as u8) }
public fun u256_as_u16(a: u256): u16 { (a as u16) }
public fun u256_as_u32(a: u256): u32 { (a as u32) }
public fun u256_as_u64(a: u256): u64 { (a as u64) }
public fun u256_as_u128(a: u256): u128 { (a as u128) }
public fun u256_as_u256(a: u256): u256 { (a as u256) }
