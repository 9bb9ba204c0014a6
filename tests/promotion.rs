//! `lanecast::promote` against the systems: every cell of the tables measured on them (`promotion.tsv`), numbers, 0-d arrays,
//! castings; and the plans.
#![cfg(feature = "promote")]

use crate::support;
use crate::support::data::{Section, dtype, rows, sections};
use lanecast::promote::{
    Casting, NumberKind, Operand, Promotion, Refusal, Standard, can_cast, is_lossless, promote_all,
};
use lanecast::{CastError, CastOptions, DType, DTypeKind, FloatRound, Kind, promote};

fn standard(name: &str) -> Standard {
    name.parse().unwrap_or_else(|e| panic!("{e}"))
}

fn kind(name: &str) -> NumberKind {
    *NumberKind::ALL.iter().find(|kind| kind.name() == name).unwrap_or_else(|| panic!("{name:?}"))
}

/// The sections whose title starts with this word, each with the other words.
fn tables(word: &str) -> Vec<(Vec<&'static str>, Section<'static>)> {
    let mut found = Vec::new();
    for section in sections(data!("promotion.tsv")) {
        let mut words = section.title.split(' ');
        if words.next() == Some(word) {
            found.push((words.collect(), section));
        }
    }
    assert!(!found.is_empty(), "{word}");
    found
}

/// The rules that the words of a title name.
fn rules(words: &[&str]) -> Promotion {
    let rules = Promotion::new(standard(words[0]));
    match words.get(1) {
        None => rules,
        Some(&"x32") => rules.with_x64(false).expect("JAX"),
        Some(float) => rules.with_float(dtype(float)).expect("PyTorch"),
    }
}

/// What the name of a row or a column may stand for: a weak type is that of a number, or of an array made of one.
fn operands(rules: &Promotion, name: &str) -> Vec<Operand> {
    match name.strip_suffix('*') {
        None => vec![Operand::Array(dtype(name)), Operand::ZeroDim(dtype(name))],
        Some(name) => {
            let default = rules.default_dtype(kind(name)).expect("JAX has all");
            vec![Operand::Number(kind(name)), Operand::Weak(default)]
        }
    }
}

/// A result as it is written: `i16`, `f64*`, `float*` (a weak default dtype), `-`.
fn result(rules: &Promotion, cell: &str) -> Option<(DType, bool)> {
    match cell.strip_suffix('*') {
        None if cell == "-" => None,
        None => Some((dtype(cell), false)),
        Some("int" | "float" | "complex") => {
            rules.default_dtype(kind(&cell[..cell.len() - 1])).map(|dtype| (dtype, true))
        }
        Some(name) => Some((dtype(name), true)),
    }
}

#[test]
fn every_pair_is_the_measured_one() {
    for (words, section) in tables("pairs").into_iter().filter(|(words, _)| words != &["Onnx"]) {
        let rules = rules(&words);
        let (standard, mut cells) = (rules.standard(), 0);
        for (a, b, cell) in section.cells() {
            let expected = result(&rules, cell);
            for left in operands(&rules, a) {
                for right in operands(&rules, b) {
                    // Of 0-d arrays only those of PyTorch are special, and they have a test of their own.
                    let zero_dim = [left, right].iter().any(|o| matches!(o, Operand::ZeroDim(_)));
                    if standard == Standard::Torch && zero_dim {
                        continue;
                    }
                    let found = rules.promote_all(&[left, right]);
                    assert_eq!(
                        found.ok().map(|r| (r.dtype, r.weak)),
                        expected,
                        "{standard}: {left}, {right}"
                    );
                    let refusal = found.err().map(|error| error.reason);
                    assert!(!matches!(refusal, Some(Refusal::NotInStandard(_) | Refusal::ResultNotHere(_))));
                    let planned = rules.plan(left, right).ok();
                    assert_eq!(planned.as_ref().map(|plan| (plan.result, plan.weak)), expected);
                    for (operand, cast) in
                        planned.map_or(vec![], |p| vec![(left, p.left.clone()), (right, p.right.clone())])
                    {
                        let needed = operand.dtype().filter(|from| Some(*from) != expected.map(|(to, _)| to));
                        assert_eq!(
                            cast.as_ref().map(|cast| cast.source().dtype()),
                            needed,
                            "{standard}: {left}, {right}"
                        );
                        assert!(
                            cast.is_none_or(|cast| Some(cast.target().dtype()) == expected.map(|(to, _)| to))
                        );
                    }
                }
            }
            let strong = |name: &str| (!name.ends_with('*')).then(|| dtype(name));
            if let (Some(a), Some(b)) = (strong(a), strong(b)) {
                let found = rules.promote(a, b).ok();
                assert_eq!(found, expected.map(|(dtype, _)| dtype), "{standard}: {a}, {b}");
            }
            cells += 1;
        }
        let names: Vec<DType> =
            section.columns.iter().filter(|c| !c.ends_with('*')).map(|c| dtype(c)).collect();
        assert!(standard.dtypes().all(|dtype| names.contains(&dtype)), "{standard} has more dtypes");
        support::say(&format!("{}: {cells} cells", section.title));
    }
}

/// ONNX measures `Add`, which does not accept all dtypes: the others still are equal to themselves.
#[test]
fn onnx_wants_equal_dtypes() {
    let (_, section) = tables("pairs").into_iter().find(|(words, _)| words == &["Onnx"]).expect("a table");
    let mut cells = 0;
    for (a, b, cell) in section.cells() {
        let found = promote(Standard::Onnx, dtype(a), dtype(b)).ok();
        assert_eq!(found, (a == b).then(|| dtype(a)), "{a}, {b}");
        assert!(cell == "-" || found == Some(dtype(cell)), "{a}, {b}");
        cells += 1;
    }
    support::say(&format!("{}: {cells} cells", section.title));
    let number = [DType::Float32.into(), NumberKind::Float.into()];
    assert_eq!(promote_all(Standard::Onnx, &number).map_err(|e| e.reason), Err(Refusal::NoNumbers));
}

#[test]
fn every_number_is_the_measured_one() {
    for (words, section) in tables("numbers") {
        let rules = rules(&words);
        let mut cells = 0;
        for (array, number, cell) in section.cells() {
            let (array, number) = (Operand::Array(dtype(array)), Operand::Number(kind(number)));
            for operands in [[array, number], [number, array]] {
                let found = rules.promote_all(&operands);
                match cell {
                    "complex32" | "bcomplex32" => {
                        let missing = Refusal::ResultNotHere(if cell == "complex32" {
                            "complex32"
                        } else {
                            "bcomplex32"
                        });
                        assert_eq!(
                            found.map_err(|e| e.reason),
                            Err(missing),
                            "{}: {array}, {number}",
                            section.title
                        );
                    }
                    "-" => {
                        let refused = found.expect_err("refused").reason;
                        assert!(
                            matches!(refused, Refusal::Number(..)),
                            "{}: {array}, {number}: {refused:?}",
                            section.title
                        );
                    }
                    _ => assert_eq!(
                        found.map(|r| r.dtype),
                        Ok(dtype(cell)),
                        "{}: {array}, {number}",
                        section.title
                    ),
                }
            }
            cells += 1;
        }
        support::say(&format!("{}: {cells} cells", section.title));
    }
}

#[test]
fn zero_dimensional_tensors_of_torch() {
    let (_, section) = tables("torch").pop().expect("a table");
    let mut cells = 0;
    for (array, zero_dim, cell) in section.cells() {
        let (array, zero_dim) = (Operand::Array(dtype(array)), Operand::ZeroDim(dtype(zero_dim)));
        for operands in [[array, zero_dim], [zero_dim, array]] {
            let found = promote_all(Standard::Torch, &operands);
            let expected = match cell {
                "-" => Err(None),
                "complex32" => Err(Some("complex32")),
                "bcomplex32" => Err(Some("bcomplex32")),
                _ => Ok(dtype(cell)),
            };
            let found = found.map(|r| r.dtype).map_err(|e| match e.reason {
                Refusal::ResultNotHere(name) => Some(name),
                _ => None,
            });
            assert_eq!(found, expected, "{array}, {zero_dim}");
        }
        cells += 1;
    }
    support::say(&format!("{}: {cells} cells", section.title));
    // Of a number beside both only the kind counts for a float, though the pair of 0-d float16 would be complex32.
    let all = [Operand::Array(DType::Float32), Operand::ZeroDim(DType::Float16), NumberKind::Complex.into()];
    assert_eq!(promote_all(Standard::Torch, &all).map(|r| r.dtype), Ok(DType::Complex64));
    let all = [Operand::Array(DType::Int8), Operand::ZeroDim(DType::Bool), NumberKind::Float.into()];
    assert_eq!(promote_all(Standard::Torch, &all).map(|r| r.dtype), Ok(DType::Float32));
    // Among themselves they are ordinary.
    for (a, b) in pairs(Standard::Torch) {
        let zero_dim = promote_all(Standard::Torch, &[Operand::ZeroDim(a), Operand::ZeroDim(b)]);
        assert_eq!(zero_dim.map(|r| r.dtype).ok(), promote(Standard::Torch, a, b).ok(), "{a}, {b}");
    }
}

fn pairs(standard: Standard) -> impl Iterator<Item = (DType, DType)> {
    standard.dtypes().flat_map(move |a| standard.dtypes().map(move |b| (a, b)))
}

#[test]
fn every_dtype_elsewhere_is_refused() {
    for &standard in Standard::ALL {
        for &absent in DType::ALL.iter().filter(|dtype| !standard.has(**dtype)) {
            for pair in [(absent, DType::Float32), (DType::Float32, absent), (absent, absent)] {
                let reason = promote(standard, pair.0, pair.1).expect_err("refused").reason;
                assert_eq!(reason, Refusal::NotInStandard(absent), "{standard}");
            }
            assert!(can_cast(standard, DType::Float32, absent, Casting::Unsafe).is_err());
        }
    }
}

#[test]
fn every_casting_is_the_measured_one() {
    for (words, section) in tables("can_cast") {
        let standard = standard(words[0]);
        let casting = match words[1] {
            "safe" => Casting::Safe,
            "same_kind" => Casting::SameKind,
            _ => Casting::Unsafe,
        };
        let mut cells = 0;
        for (from, to, cell) in section.cells() {
            let (from, to) = (dtype(from), dtype(to));
            // The text of the array API defines complex to bool, array-api-strict refuses it.
            let by_the_text = standard == Standard::ArrayApi
                && casting == Casting::Unsafe
                && to == DType::Bool
                && NumberKind::of(from) == NumberKind::Complex;
            let found = can_cast(standard, from, to, casting);
            assert_eq!(found, Ok(cell == "1" || by_the_text), "{standard}, {casting:?}: {from} to {to}");
            cells += 1;
        }
        support::say(&format!("{}: {cells} cells", section.title));
    }
    for &standard in Standard::ALL {
        for (from, to) in pairs(standard) {
            let allowed = [Casting::Safe, Casting::SameKind, Casting::Unsafe]
                .map(|casting| can_cast(standard, from, to, casting).expect("both are there"));
            // Cast of ONNX has no complex numbers, not even from a dtype to itself.
            let to_itself = standard == Standard::Onnx && from == to && from.kind() == Kind::Complex;
            assert!(allowed.is_sorted() || to_itself, "{standard}: {from} to {to}: {allowed:?}");
        }
    }
}

#[test]
fn lossless_is_the_exact_table() {
    let rows = rows(data!("lossless.tsv"));
    for row in &rows[1..] {
        for (to, cell) in rows[0][1..].iter().zip(&row[1..]) {
            assert_eq!(is_lossless(dtype(row[0]), dtype(to)), *cell == "1", "{} to {to}", row[0]);
        }
    }
}

#[test]
fn ints_are_checked_by_the_rules_of_the_standard() {
    let value =
        |standard, value, dtype| Promotion::new(standard).int_value(value, dtype).map_err(|e| e.reason);
    for standard in [Standard::NumPy, Standard::ArrayApi] {
        assert_eq!(value(standard, 255, DType::UInt8), Ok(255));
        assert_eq!(value(standard, -1, DType::UInt8), Err(Refusal::OutOfRange(-1, DType::UInt8)));
        let out = promote_all(standard, &[DType::UInt8.into(), Operand::Int(300)]);
        assert_eq!(out.map_err(|e| e.reason), Err(Refusal::OutOfRange(300, DType::UInt8)));
    }
    for standard in [Standard::MindSpore, Standard::MegEngine, Standard::Torch, Standard::Jax] {
        let all =
            [(300, DType::UInt8, 44), (-1, DType::UInt8, 255), (200, DType::Int8, -56), (7, DType::Int8, 7)];
        for (int, dtype, wrapped) in all {
            assert_eq!(value(standard, int, dtype), Ok(wrapped), "{standard}");
        }
        assert!(value(standard, 1 << 64, DType::UInt8).is_err(), "{standard}");
        // The rounding of a float is the cast's. JAX makes an array of its default int first.
        let float = value(standard, 1 << 80, DType::Float32);
        assert_eq!(float.is_ok(), standard != Standard::Jax, "{standard}: {float:?}");
    }
    assert_eq!(value(Standard::Torch, 1 << 63, DType::Int64), Ok(i64::MIN.into()));
    assert!(value(Standard::Jax, 1 << 63, DType::UInt64).is_err());
    let x32 = Promotion::new(Standard::Jax).with_x64(false).expect("JAX");
    assert!(
        x32.int_value(1 << 31, DType::Int8).is_err() && x32.int_value((1 << 31) - 1, DType::Int8) == Ok(-1)
    );
}

#[test]
fn default_dtypes() {
    let rules = Promotion::new(Standard::Torch);
    assert_eq!(rules.with_float(DType::Int8).map_err(|e| e.reason), Err(Refusal::NotADefault(DType::Int8)));
    let half = rules.with_float(DType::Float16).expect("allowed");
    assert_eq!(half.default_dtype(NumberKind::Complex), None);
    let numbers = [NumberKind::Int.into(), NumberKind::Float.into()];
    assert_eq!(half.promote_all(&numbers).map(|r| r.dtype), Ok(DType::Float16));
    assert!(Promotion::new(Standard::NumPy).with_float(DType::Float32).is_err());
    assert!(Promotion::new(Standard::NumPy).with_x64(false).is_err());
    let narrow =
        Promotion::new(Standard::ArrayApi).with_int(DType::Int32).and_then(|r| r.with_float(DType::Float32));
    assert_eq!(narrow.expect("allowed").default_dtype(NumberKind::Complex), Some(DType::Complex64));
    assert_eq!(Promotion::new(Standard::MegEngine).index_dtype(), DType::Int32);
    assert_eq!(Promotion::new(Standard::Onnx).default_dtype(NumberKind::Bool), None);
    // What a standard starts with can be set again.
    for &standard in Standard::ALL {
        let rules = Promotion::new(standard);
        for (kind, set) in [
            (NumberKind::Int, Promotion::with_int as fn(_, _) -> _),
            (NumberKind::Float, Promotion::with_float),
        ] {
            if let Some(dtype) = rules.default_dtype(kind) {
                assert_eq!(set(rules, dtype), Ok(rules), "{standard}");
            }
        }
    }
}

#[test]
fn standards_have_names() {
    for &standard in Standard::ALL {
        assert_eq!((standard.id().parse(), standard.name().parse()), (Ok(standard), Ok(standard)));
    }
    assert_eq!("MegEngine-Core".parse(), Ok(Standard::MegEngineCore));
    let unknown = "fortran".parse::<Standard>().expect_err("no standard").to_string();
    assert!(unknown.ends_with(
        "the names are mindspore, megengine, megengine_core, array_api, numpy, torch, jax, jax_strict, onnx"
    ));
}

#[test]
fn numbers_alone_and_nothing_at_all() {
    let numbers = [NumberKind::Bool.into(), NumberKind::Complex.into(), NumberKind::Int.into()];
    let alone = |standard| promote_all(standard, &numbers).map(|r| (r.dtype, r.weak)).map_err(|e| e.reason);
    assert_eq!(alone(Standard::NumPy), Ok((DType::Complex128, false)));
    assert_eq!(alone(Standard::Torch), Ok((DType::Complex64, false)));
    // A Python bool is strong, what stands beside it is not.
    assert_eq!(alone(Standard::Jax), Ok((DType::Complex128, true)));
    assert_eq!(alone(Standard::ArrayApi), Err(Refusal::OnlyNumbers));
    assert_eq!(alone(Standard::MegEngine), Err(Refusal::OnlyNumbers));
    assert_eq!(alone(Standard::Onnx), Err(Refusal::NoNumbers));
    for &standard in Standard::ALL {
        assert_eq!(promote_all(standard, &[]).map_err(|e| e.reason), Err(Refusal::NoOperands));
        for dtype in standard.dtypes() {
            assert_eq!(promote_all(standard, &[dtype.into()]).map(|r| (r.dtype, r.weak)), Ok((dtype, false)));
        }
    }
}

#[test]
fn weak_results_of_jax() {
    let weak = |operands: &[Operand]| promote_all(Standard::Jax, operands).map(|r| (r.dtype, r.weak));
    assert_eq!(weak(&[DType::UInt64.into(), DType::Int8.into()]), Ok((DType::Float64, true)));
    // It stays weak: float16 wins.
    let three = [DType::UInt64.into(), DType::Int8.into(), DType::Float16.into()];
    assert_eq!(weak(&three), Ok((DType::Float16, false)));
    assert_eq!(weak(&[Operand::Weak(DType::Float64), DType::Float16.into()]), Ok((DType::Float16, false)));
    // Weak operands keep their widths among themselves.
    assert_eq!(weak(&[Operand::Weak(DType::Int16), Operand::Weak(DType::Int8)]), Ok((DType::Int16, true)));
    assert_eq!(weak(&[Operand::Weak(DType::Float32), NumberKind::Int.into()]), Ok((DType::Float32, true)));
    let strict = promote_all(Standard::JaxStrict, &[NumberKind::Bool.into(), NumberKind::Int.into()]);
    assert_eq!(strict.map_err(|e| e.reason), Err(Refusal::Unequal));
    let elsewhere = promote_all(Standard::NumPy, &[Operand::Weak(DType::Int8), DType::Int8.into()]);
    assert_eq!(elsewhere.map_err(|e| e.reason), Err(Refusal::NoWeakTypes));
}

#[test]
fn plans_round_as_the_options_say() {
    for (round, expected) in [
        (FloatRound::Down, 16_777_216.0),
        (FloatRound::Up, 16_777_218.0),
        (FloatRound::NearestEven, 16_777_216.0),
    ] {
        let options = CastOptions::TORCH.with_float_round(round);
        let plan = Promotion::new(Standard::Torch)
            .with_options(&options)
            .plan(DType::Float32, DType::Int32)
            .expect("a plan");
        let (mut out, cast) = ([0.0_f32], plan.right.expect("a cast of the integer"));
        cast.run(&[16_777_217_i32], &mut out).expect("one element");
        assert_eq!(out, [expected], "{round:?}");
    }
}

#[test]
fn plans_are_ready_to_run() {
    let plan = Promotion::new(Standard::NumPy)
        .with_options(&CastOptions::NUMPY)
        .plan(DType::Bool, DType::BFloat16)
        .expect("a plan");
    assert!(plan.result == DType::BFloat16 && plan.right.is_none());
    let right = [0x80, 0x3F, 0x00];
    let (left, same) = plan.apply(&[0, 1], &right).expect("whole elements");
    assert_eq!(left.as_ref(), [0_u16.to_ne_bytes(), 0x3F80_u16.to_ne_bytes()].concat());
    assert!(std::ptr::eq(same.as_ref(), &right[..]));

    let both =
        Promotion::new(Standard::Torch).with_options(&CastOptions::TORCH).plan(DType::Float16, DType::Int32);
    let both = both.expect("a plan");
    let ints: Vec<u8> = [70000_i32, 2049].iter().flat_map(|i| i.to_ne_bytes()).collect();
    let (_, halves) = both.apply(&[], &ints).expect("whole elements");
    assert_eq!(halves.as_ref(), [0x7C00_u16.to_ne_bytes(), 0x6800_u16.to_ne_bytes()].concat());
    let torn = both.apply(&[], &ints[..7]).map(|_| ());
    assert!(matches!(torn, Err(CastError::BufferTooSmall { need: 8, have: 7, .. })), "{torn:?}");

    let number =
        Promotion::new(Standard::Jax).with_options(&CastOptions::JAX).plan(DType::Int4, NumberKind::Int);
    let number = number.expect("a plan");
    assert!(number.result == DType::Int4 && !number.weak && number.left.is_none() && number.right.is_none());
    let refused =
        Promotion::new(Standard::Onnx).with_options(&CastOptions::ONNX).plan(DType::Int4, DType::Int8);
    assert!(matches!(refused, Err(e) if e.reason == Refusal::Unequal));
}

#[test]
fn errors_are_one_sentence() {
    let text =
        |standard, operands: &[Operand]| promote_all(standard, operands).expect_err("refused").to_string();
    let arrays = |standard, a: DType, b: DType| text(standard, &[a.into(), b.into()]);
    let number = |standard, a: DType, kind: NumberKind| text(standard, &[a.into(), kind.into()]);
    for (found, expected) in [
        (
            arrays(Standard::MindSpore, DType::Int8, DType::UInt32),
            "no common dtype for int8 and uint32 under MindSpore rules (uint16, uint32 and uint64 do not promote); cast one operand first",
        ),
        (
            arrays(Standard::ArrayApi, DType::Int8, DType::UInt64),
            "no common dtype for int8 and uint64 under array API rules (signed with uint64 has no integer result); cast one operand first",
        ),
        (
            arrays(Standard::ArrayApi, DType::Int8, DType::Float32),
            "no common dtype for int8 and float32 under array API rules (bool, integer and floating are left undefined together); cast one operand first",
        ),
        (
            arrays(Standard::MindSpore, DType::Float8E5M2, DType::Float32),
            "no common dtype for float8_e5m2 and float32 under MindSpore rules (8-bit floats do not promote); cast one operand first",
        ),
        (
            arrays(Standard::MegEngineCore, DType::Int8, DType::UInt8),
            "no common dtype for int8 and uint8 under MegEngineCore rules (signed with unsigned is undefined); cast one operand first",
        ),
        (
            arrays(Standard::MegEngine, DType::Float64, DType::Int8),
            "MegEngine has no dtype float64; cast to one that it has first",
        ),
        (
            number(Standard::ArrayApi, DType::Int32, NumberKind::Float),
            "a Python float cannot be combined with an int32 array under array API rules; cast the array first",
        ),
        (
            number(Standard::Torch, DType::Float16, NumberKind::Complex),
            "float16 and a Python complex compute in complex32 under PyTorch rules, a dtype that lanecast lacks; cast one operand first",
        ),
        (
            text(Standard::NumPy, &[DType::UInt8.into(), Operand::Int(300)]),
            "300 does not fit uint8 (0 to 255); cast the array first",
        ),
    ] {
        assert_eq!(found, expected);
    }
}

#[test]
fn every_kind_is_the_measured_one() {
    let (_, section) = tables("isdtype").pop().expect("a table");
    for (dtype_name, kind, cell) in section.cells() {
        let kind = kind.replace('_', " ").parse::<DTypeKind>().expect("a kind");
        assert_eq!(dtype(dtype_name).is(kind), cell == "1", "{dtype_name}, {kind:?}");
    }
    assert_eq!(section.rows.len(), DType::ALL.len());
}
