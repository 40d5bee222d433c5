/// Names that the generated module also uses.
module names::classes;

use names::bcs::Codec;
use names::inputs::Input;
use sui::coin::Coin as Money;
use sui::table::Table;

/// A keyword of Python.
const None: u64 = 1;
/// The name of the table of errors in the generated module.
const ERRORS: u64 = 2;

public struct ClassVar has copy, drop, store { ClassVar: u8, ClassVar_: u8 }
public struct Package has copy, drop, store { Package: u64, package: Input, _bcs: u8, Codec: Codec }
public struct Coin<phantom T> has key { id: UID, Coin: Money<T>, Table: Table<u8, u8>, Collection: bool }
public struct Generic<T, int, staticmethod> has copy, drop, store { T: T, int: int, of: staticmethod }
public struct TypeVar<_T, T_> has copy, drop, store { left: _T, right: T_, T: vector<_T> }
public struct MoveStruct<bytes> has copy, drop, store { bytes: vector<u8>, bytes_: bytes }
public struct AnyEvent has copy, drop { staticmethod: u8, MoveStruct: MoveStruct<u8> }

public enum Result<T, E> has copy, drop, store { Result(T), Error(E), Void }
public enum Variant has copy, drop, store { Variant(u8), MoveVariant, TypeAlias(u16), _bcs, bcs }
public enum Other<T> has copy, drop, store { Generic(Generic<T, u8, u8>), T, Other { Other: T, it: u8 } }

public fun Address(owner: address): address { owner }
public fun annotations(_1: u64, _Address: vector<Codec>): u64 { _1 + _Address.length() }
public fun staticmethod(result: u64): (u64, u64) { (result, result) }
public fun int(items: vector<Input>): u64 { items.length() }

public fun fail(is: bool) {
    if (is) abort None;
    abort ERRORS
}

public fun tell() { sui::event::emit(AnyEvent { staticmethod: 1, MoveStruct: MoveStruct { bytes: b"", bytes_: 2 } }) }
