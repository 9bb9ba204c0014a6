//! The rules behind the tables: each standard's closed rule restated in code and compared with every cell; what the documents
//! give as examples; the algebra of the tables; and any number of operands in any order.
#![cfg(feature = "promote")]

use DType::*;
use lanecast::DType;
use lanecast::promote::{NumberKind, Operand, Promotion, Standard, is_lossless, promote_all};
use proptest::prelude::*;

fn promote(standard: Standard, a: DType, b: DType) -> Option<DType> {
    lanecast::promote(standard, a, b).ok()
}

fn kind(dtype: DType) -> NumberKind {
    NumberKind::of(dtype)
}

/// Width and whether there is a sign, for integers.
fn int(dtype: DType) -> Option<(u32, bool)> {
    dtype.iinfo().map(|info| (info.bits, info.min < 0))
}

fn int_of(bits: u32, signed: bool) -> Option<DType> {
    DType::ALL.iter().copied().find(|dtype| int(*dtype) == Some((bits, signed)))
}

/// The join of integers: the wider one of two of a sign; else the signed one that holds both, if there is one.
fn join(a: DType, b: DType) -> Option<DType> {
    let ((m, x), (n, y)) = (int(a)?, int(b)?);
    match (x, y) {
        _ if x == y => int_of(m.max(n), x),
        (true, _) => int_of(m.max(2 * n), true),
        (_, _) => int_of(n.max(2 * m), true),
    }
}

fn small_float(dtype: DType) -> bool {
    kind(dtype) == NumberKind::Float && dtype.bits() <= 8
}

fn wide_unsigned(dtype: DType) -> bool {
    [UInt16, UInt32, UInt64].contains(&dtype)
}

/// The wider of two floats or complex numbers; float16 with bfloat16 is float32.
fn wider(a: DType, b: DType) -> DType {
    match (a, b) {
        (Float16, BFloat16) | (BFloat16, Float16) => Float32,
        _ if a.bits() >= b.bits() => a,
        _ => b,
    }
}

/// The two in the order of their kinds.
fn ordered(a: DType, b: DType) -> (DType, DType) {
    if kind(a) <= kind(b) { (a, b) } else { (b, a) }
}

fn mindspore(a: DType, b: DType) -> Option<DType> {
    let (low, high) = ordered(a, b);
    match (kind(low), kind(high)) {
        _ if a == b => Some(a),
        _ if small_float(a) || small_float(b) => None,
        _ if wide_unsigned(a) || wide_unsigned(b) => {
            (kind(low) == NumberKind::Bool).then_some(high).filter(|d| wide_unsigned(*d))
        }
        (NumberKind::Int, NumberKind::Int) => join(a, b),
        (x, y) if x == y => Some(wider(a, b)),
        (NumberKind::Float, NumberKind::Complex) if low == Float64 => Some(Complex128),
        _ => Some(high),
    }
}

fn megengine(a: DType, b: DType) -> Option<DType> {
    let (low, high) = ordered(a, b);
    match (kind(low), kind(high)) {
        (NumberKind::Int, NumberKind::Int) => join(a, b),
        (x, y) if x == y => Some(wider(a, b)),
        _ => Some(high),
    }
}

fn megengine_core(a: DType, b: DType) -> Option<DType> {
    if a == b {
        return Some(a);
    }
    let [a, b] = [a, b].map(|dtype| if dtype == Float16 { Float32 } else { dtype });
    match (int(a), int(b)) {
        (Some((_, x)), Some((_, y))) if x != y => None,
        (Some(_), Some(_)) => join(a, b),
        _ => Some(Float32),
    }
}

fn array_api(a: DType, b: DType) -> Option<DType> {
    match (kind(a), kind(b)) {
        (NumberKind::Bool, NumberKind::Bool) => Some(Bool),
        (NumberKind::Int, NumberKind::Int) => join(a, b),
        (NumberKind::Float | NumberKind::Complex, NumberKind::Float | NumberKind::Complex) => {
            Some(complex_if(kind(a) != kind(b) || kind(a) == NumberKind::Complex, wider(part(a), part(b))))
        }
        _ => None,
    }
}

/// The dtype of the parts of a complex one.
fn part(dtype: DType) -> DType {
    match dtype {
        Complex64 => Float32,
        Complex128 => Float64,
        real => real,
    }
}

/// The complex dtype with these parts, at least complex64.
fn complex_if(complex: bool, part: DType) -> DType {
    match part {
        _ if !complex => part,
        Float64 => Complex128,
        _ => Complex64,
    }
}

/// The dtypes of NumPy itself.
fn numpy_own() -> Vec<DType> {
    let own = |d: &DType| d.bits() >= 8 && !small_float(*d) && *d != BFloat16;
    DType::ALL.iter().copied().filter(own).collect()
}

fn numpy(a: DType, b: DType) -> Option<DType> {
    // An integer beside a float is read as this one.
    let read = |dtype: DType| match int(dtype) {
        Some((8, _)) => Float16,
        Some((16, _)) => Float32,
        Some(_) => Float64,
        None => part(dtype),
    };
    let (low, high) = ordered(a, b);
    match (kind(low), kind(high)) {
        (NumberKind::Bool, _) => Some(high),
        (NumberKind::Int, NumberKind::Int) => join(a, b).or(Some(Float64)),
        (_, top) => Some(complex_if(top == NumberKind::Complex, wider(read(a), read(b)))),
    }
}

fn torch(a: DType, b: DType) -> Option<DType> {
    let (low, high) = ordered(a, b);
    match (kind(low), kind(high)) {
        _ if a == b => Some(a),
        _ if small_float(a) || small_float(b) => None,
        (NumberKind::Int, NumberKind::Float) => Some(high),
        _ if wide_unsigned(a) || wide_unsigned(b) => None,
        (NumberKind::Int, NumberKind::Int) => join(a, b),
        (NumberKind::Float | NumberKind::Complex, top) => {
            Some(complex_if(top == NumberKind::Complex, wider(part(a), part(b))))
        }
        _ => Some(high),
    }
}

fn equal(a: DType, b: DType) -> Option<DType> {
    (a == b).then_some(a)
}

/// A node of the lattice of JAX: a dtype, or the weak type of a kind.
type Node = Result<DType, NumberKind>;

/// What stands directly above a node.
fn above(node: Node) -> Vec<Node> {
    let (weak_int, weak_float, weak_complex) = (NumberKind::Int, NumberKind::Float, NumberKind::Complex);
    match node {
        Ok(Bool) => vec![Err(weak_int)],
        Err(NumberKind::Int) => [UInt8, Int8, Int2, Int4, UInt2, UInt4].map(Ok).into(),
        Err(NumberKind::Float) => {
            let floats = DType::ALL.iter().filter(|d| small_float(**d) || [Float16, BFloat16].contains(d));
            floats.copied().map(Ok).chain([Err(weak_complex)]).collect()
        }
        Err(_) => vec![Ok(Complex64)],
        Ok(UInt8) => vec![Ok(Int16), Ok(UInt16)],
        Ok(UInt16) => vec![Ok(Int32), Ok(UInt32)],
        Ok(UInt32) => vec![Ok(Int64), Ok(UInt64)],
        Ok(Int8) => vec![Ok(Int16)],
        Ok(Int16) => vec![Ok(Int32)],
        Ok(Int32) => vec![Ok(Int64)],
        Ok(Int64 | UInt64) => vec![Err(weak_float)],
        Ok(Float16 | BFloat16) => vec![Ok(Float32)],
        Ok(Float32) => vec![Ok(Float64), Ok(Complex64)],
        Ok(Float64 | Complex64) => vec![Ok(Complex128)],
        Ok(_) => vec![],
    }
}

/// A node and everything above it.
fn upwards(node: Node) -> Vec<Node> {
    let mut all = vec![node];
    let mut i = 0;
    while i < all.len() {
        for next in above(all[i]) {
            if !all.contains(&next) {
                all.push(next);
            }
        }
        i += 1;
    }
    all
}

/// The least upper bound: the common node above both that all others are above of.
fn jax(a: DType, b: DType) -> Option<DType> {
    let (a, b) = (upwards(Ok(a)), upwards(Ok(b)));
    let common: Vec<Node> = a.into_iter().filter(|node| b.contains(node)).collect();
    let least = common.iter().find(|least| common.iter().all(|node| upwards(**least).contains(node)))?;
    Some(least.unwrap_or_else(|kind| Promotion::new(Standard::Jax).default_dtype(kind).expect("JAX has all")))
}

/// A rule in code.
type Rule = fn(DType, DType) -> Option<DType>;

#[test]
fn tables_are_what_the_rules_say() {
    let rules: [(Standard, Rule); 9] = [
        (Standard::MindSpore, mindspore),
        (Standard::MegEngine, megengine),
        (Standard::MegEngineCore, megengine_core),
        (Standard::ArrayApi, array_api),
        (Standard::NumPy, numpy),
        (Standard::Torch, torch),
        (Standard::Jax, jax),
        (Standard::JaxStrict, equal),
        (Standard::Onnx, equal),
    ];
    assert_eq!(rules.map(|(standard, _)| standard).to_vec(), Standard::ALL);
    for (standard, rule) in rules {
        // No rule covers the dtypes of ml_dtypes in NumPy.
        let dtypes: Vec<DType> = match standard {
            Standard::NumPy => numpy_own(),
            _ => standard.dtypes().collect(),
        };
        for &a in &dtypes {
            for &b in &dtypes {
                assert_eq!(promote(standard, a, b), rule(a, b), "{standard}: {a}, {b}");
            }
        }
    }
}

/// The page `mindspore.dtype` is two tables, all of whose cells are compared elsewhere; these are the ones by which it differs
/// from other systems.
#[test]
fn what_the_mindspore_documents_stand_out_by() {
    let tensors = |a, b| promote(Standard::MindSpore, a, b);
    let number = |dtype: DType, kind: NumberKind| {
        promote_all(Standard::MindSpore, &[dtype.into(), kind.into()]).ok().map(|r| r.dtype)
    };
    // Numbers beside tensors.
    assert_eq!(number(Bool, NumberKind::Int), Some(Int64));
    assert_eq!(number(Bool, NumberKind::Float), Some(Float32));
    assert_eq!(number(Int32, NumberKind::Float), Some(Float32));
    assert_eq!(number(Int8, NumberKind::Int), Some(Int8));
    assert_eq!(number(UInt16, NumberKind::Int), None);
    assert_eq!(number(Float64, NumberKind::Float), Some(Float64));
    // Pairs that need a third dtype, and some that get less than they would need.
    assert_eq!(tensors(Int8, UInt8), Some(Int16));
    assert_eq!(tensors(Bool, UInt64), Some(UInt64));
    assert_eq!(tensors(Int64, Float16), Some(Float16));
    assert_eq!(tensors(Float16, BFloat16), Some(Float32));
    assert_eq!(tensors(Float64, Complex64), Some(Complex128));
    assert_eq!(tensors(Int32, UInt32), None);
}

/// The examples of the section on type promotion of the user guide, and the default dtypes that it names.
#[test]
fn examples_of_the_megengine_documents() {
    let documented = |operands: &[Operand]| promote_all(Standard::MegEngine, operands).ok().map(|r| r.dtype);
    let core = |operands: &[Operand]| promote_all(Standard::MegEngineCore, operands).ok().map(|r| r.dtype);
    let (int, float) = (Operand::Number(NumberKind::Int), Operand::Number(NumberKind::Float));
    let examples: [(&[Operand], DType); 4] = [
        (&[Int8.into(), UInt8.into()], Int16),
        (&[Int16.into(), Float32.into()], Float32),
        (&[Int16.into(), int], Int16),
        (&[Int16.into(), float], Float32),
    ];
    for (operands, result) in examples {
        assert_eq!(documented(operands), Some(result), "{operands:?}");
    }
    let defaults = Promotion::new(Standard::MegEngine);
    let numbers = [NumberKind::Int, NumberKind::Float].map(|kind| defaults.default_dtype(kind));
    assert_eq!((numbers, defaults.index_dtype()), ([Some(Int32), Some(Float32)], Int32));

    // The operators have refused the first example since 1.9, and have another rule where kinds differ.
    assert_eq!(core(examples[0].0), None);
    assert_eq!(documented(&[Int32.into(), Float16.into()]), Some(Float16));
    assert_eq!(core(&[Int32.into(), Float16.into()]), Some(Float32));
    assert_eq!(core(&[Bool.into(), Int8.into()]), Some(Float32));
}

#[test]
fn tables_are_commutative_and_idempotent() {
    for &standard in Standard::ALL {
        for a in standard.dtypes() {
            assert_eq!(promote(standard, a, a), Some(a), "{standard}");
            for b in standard.dtypes() {
                assert_eq!(promote(standard, a, b), promote(standard, b, a), "{standard}: {a}, {b}");
            }
        }
    }
}

/// How many ordered triples give another result when the other pair is promoted first, and how many are then refused.
fn violations(standard: Standard, dtypes: &[DType]) -> (usize, usize) {
    let (mut other, mut refused) = (0, 0);
    for &a in dtypes {
        for &b in dtypes {
            for &c in dtypes {
                let left = promote(standard, a, b).and_then(|ab| promote(standard, ab, c));
                let right = promote(standard, b, c).and_then(|bc| promote(standard, a, bc));
                match (left, right) {
                    (Some(left), Some(right)) => other += usize::from(left != right),
                    (None, None) => {}
                    _ => refused += 1,
                }
            }
        }
    }
    (other, refused)
}

/// Associative, or exactly so far from it. JAX is, with its weak types, which dtypes alone do not show:
/// [`any_order_of_jax_operands_is_the_same`].
#[test]
fn associativity_is_as_known() {
    for (standard, expected) in [
        (Standard::MindSpore, (0, 0)),
        (Standard::MegEngine, (0, 0)),
        (Standard::MegEngineCore, (0, 96)),
        (Standard::ArrayApi, (0, 0)),
        (Standard::NumPy, (40, 3620)),
        (Standard::Torch, (0, 432)),
        (Standard::JaxStrict, (0, 0)),
        (Standard::Onnx, (0, 0)),
    ] {
        let dtypes: Vec<DType> = standard.dtypes().collect();
        assert_eq!(violations(standard, &dtypes), expected, "{standard}");
    }
    assert_eq!(violations(Standard::NumPy, &numpy_own()), (28, 0));
}

/// A common dtype is of no lower kind than its operands, and bool only for bool: no cast is from float to integer, from complex
/// to real, or to bool.
#[test]
fn no_operand_is_cast_to_a_lower_kind() {
    for &standard in Standard::ALL {
        for a in standard.dtypes() {
            for b in standard.dtypes() {
                if let Some(result) = promote(standard, a, b) {
                    assert!(kind(result) >= kind(a).max(kind(b)), "{standard}: {a}, {b}");
                }
            }
        }
    }
}

/// In how many ordered pairs an operand may lose value on the way to the common dtype.
#[test]
fn lossy_pairs_are_as_many_as_known() {
    for (standard, expected) in [
        (Standard::MindSpore, 24),
        (Standard::MegEngine, 8),
        (Standard::MegEngineCore, 8),
        (Standard::ArrayApi, 0),
        (Standard::JaxStrict, 0),
        (Standard::Onnx, 0),
    ] {
        let lossy = |a, b| {
            promote(standard, a, b).is_some_and(|result| !is_lossless(a, result) || !is_lossless(b, result))
        };
        let count: usize =
            standard.dtypes().map(|a| standard.dtypes().filter(|b| lossy(a, *b)).count()).sum();
        assert_eq!(count, expected, "{standard}");
    }
}

/// What the array API defines is also what NumPy, JAX and MegEngine (as far as it has the dtypes) do. MindSpore and PyTorch
/// depart from it for uint16, uint32 and uint64 only.
#[test]
fn the_array_api_is_a_part_of_others() {
    for (standard, departures) in [
        (Standard::NumPy, 0),
        (Standard::Jax, 0),
        (Standard::MegEngine, 0),
        (Standard::MindSpore, 28),
        (Standard::Torch, 28),
    ] {
        let mut other = 0;
        let both = || Standard::ArrayApi.dtypes().filter(|dtype| standard.has(*dtype));
        for (a, b) in both().flat_map(|a| both().map(move |b| (a, b))) {
            if promote(Standard::ArrayApi, a, b).is_some_and(|result| promote(standard, a, b) != Some(result))
            {
                assert!(wide_unsigned(a) || wide_unsigned(b), "{standard}: {a}, {b}");
                other += 1;
            }
        }
        assert_eq!(other, departures, "{standard}");
    }
}

/// All orders of three.
fn orders<T: Copy>([a, b, c]: [T; 3]) -> [[T; 3]; 6] {
    [[a, b, c], [a, c, b], [b, a, c], [b, c, a], [c, a, b], [c, b, a]]
}

/// `promote_all` takes NumPy's own dtypes by kinds, so that their order does not matter, and the example of integers that are
/// narrower than their join holds.
#[test]
fn any_order_of_numpy_operands_is_the_same() {
    let own = numpy_own();
    for &a in &own {
        for &b in &own {
            for &c in &own {
                let results =
                    orders([a, b, c]).map(|order| promote_all(Standard::NumPy, &order.map(Operand::from)));
                assert!(results[0].is_ok() && results.iter().all(|r| r == &results[0]), "{a}, {b}, {c}");
            }
        }
    }
    let result = |operands: &[Operand]| promote_all(Standard::NumPy, operands).map(|r| r.dtype);
    assert_eq!(result(&[Int8.into(), UInt8.into(), Float16.into()]), Ok(Float16));
    assert_eq!(result(&[Int16.into(), UInt16.into(), Float32.into()]), Ok(Float32));
    assert_eq!(result(&[Int8.into(), UInt8.into(), NumberKind::Float.into()]), Ok(Float64));
}

#[test]
fn any_order_of_jax_operands_is_the_same() {
    for standard in [Standard::Jax, Standard::JaxStrict] {
        let numbers = NumberKind::ALL.map(Operand::Number);
        let operands: Vec<Operand> = standard.dtypes().map(Operand::from).chain(numbers).collect();
        for &a in &operands {
            for &b in &operands {
                for &c in &operands {
                    let results = orders([a, b, c]).map(|order| promote_all(standard, &order).ok());
                    assert!(
                        results.iter().all(|r| r == &results[0]),
                        "{standard}: {a}, {b}, {c}: {results:?}"
                    );
                }
            }
        }
    }
}

proptest! {
    /// Four and five operands of NumPy, in two orders.
    #[test]
    fn more_operands_of_numpy(dtypes in prop::collection::vec(prop::sample::select(numpy_own()), 4..=5), by in 0..5_usize) {
        let operands: Vec<Operand> = dtypes.iter().copied().map(Operand::from).collect();
        let mut other = operands.clone();
        other.rotate_left(by % operands.len());
        other.swap(0, 1);
        prop_assert_eq!(promote_all(Standard::NumPy, &operands), promote_all(Standard::NumPy, &other));
    }
}
